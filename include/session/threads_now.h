// SPDX-License-Identifier: GPL-2.0-or-later
/* What the threads of a process do at this moment: state, reason, system call, kernel stack and user stack.
 * Needs no session: nothing is sampled. */
#ifndef FLAMETOP_SESSION_THREADS_NOW_H
#define FLAMETOP_SESSION_THREADS_NOW_H

#include "base/buf.h"
#include "base/error.h"
#include "process/task.h"
#include "process/wait_reason.h"
#include "symbols/livestacks.h"

struct threads_now_frame {
    uint64_t address; /* see remote_unwind; 0: a frame of an interpreter, without a module */
    const char *name; /* cleaned, demangled; without a name as in struct symbol */
    const char *module;
};
/* Threads with equal states, calls and stacks. */
struct threads_now_row {
    uint64_t key;                    /* the same for the same state, call and stacks: also later */
    const struct task_now **threads; /* by tid */
    uint32_t n;
    enum wait_reason reason;
    /* The user stack, innermost first. NULL: none; then `refused` is the reason, or 0. */
    const struct livestack *stack;
    int refused;
    bool moved; /* the thread ran between its kernel stack and its user stack: they are of two moments */
    struct threads_now_frame *frames; /* of the stack, with those of an interpreter */
    uint32_t n_frames;
};
struct threads_now {
    uint32_t pid;
    const char *comm;
    struct tasks tasks;
    struct livestacks stacks;
    struct threads_now_row *rows; /* blocked ones first */
    uint32_t n;
    /* Sentences about what is missing, one per line; "": nothing. */
    struct buf notes;
    struct arena strings;
    uint64_t read_ns; /* clock_now_ns when /proc was read */
};
struct threads_now_how {
    bool no_cache;       /* see struct symbolizer_config */
    bool no_interpreted; /* the interpreter's own functions */
};
/* Reads all threads, stops each for a moment, and waits for names. False with an error: there is no such
 * process. cancelled: see livestacks_take. */
bool threads_now_take(uint32_t pid, struct threads_now_how how, const atomic_bool *cancelled,
                      struct threads_now *out, struct error *e);
void threads_now_done(struct threads_now *t);
/* A thread that is stopped runs for a moment when it continues. This restores how long it waits: for threads
 * that have run since `earlier` only because they were stopped. */
void threads_now_follow(struct threads_now *t, const struct threads_now *earlier);

/* The same in a thread of its own, which follows the session's previous job if it was about the same process.
 * It uses only its own data, so it may outlive the session. */
struct session;
struct threads_job;
struct threads_job *threads_job_start(struct session *s, uint32_t pid);
bool threads_job_ready(const struct threads_job *j);
/* Of a job that is ready: what it found, owned by the job. NULL: e says why there is nothing. */
const struct threads_now *threads_job_result(const struct threads_job *j, struct error *e);
/* Frees the job. If it is not ready, it is cancelled, and the process runs on at once. NULL is fine. */
void threads_job_leave(struct threads_job *j);

#endif
