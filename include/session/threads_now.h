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
    const char *name; /* cleaned, demangled; without a name as in struct symbol */
    const char *module;
};
/* Threads with equal states, calls and stacks. */
struct threads_now_row {
    const struct task_now **threads; /* by tid */
    uint32_t n;
    enum wait_reason reason;
    /* The user stack, innermost first. NULL: none; then `refused` is the reason, or 0. */
    const struct livestack *stack;
    int refused;
    struct threads_now_frame *frames; /* stack->n */
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
};
/* Reads all threads, stops each for a moment, and waits for names. False with an error: there is no such
 * process. no_cache: see struct symbolizer_config. */
bool threads_now_take(uint32_t pid, bool no_cache, struct threads_now *out, struct error *e);
void threads_now_done(struct threads_now *t);

#endif
