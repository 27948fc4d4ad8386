// SPDX-License-Identifier: GPL-2.0-or-later
/* Takes the present user stacks of all threads of a process, in a child process that can fail. */
#ifndef FLAMETOP_SYMBOLS_LIVESTACKS_H
#define FLAMETOP_SYMBOLS_LIVESTACKS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/mem.h"
#include "unwind/remote.h"

#define LIVESTACKS_ARG        "--thread-stacks" /* hidden argument that makes the program call livestacks_main */
#define LIVESTACKS_FRAMES_MAX 1024u
#define LIVESTACKS_MAX        32768u

struct livestack_script {
    uint32_t group;   /* 0: of the innermost native function that runs frames, see interpreter_frames.h */
    const char *text; /* cleaned, see interpreter_frame_text */
};
struct livestack {
    uint32_t tid;
    int refused; /* errno: the thread was not stopped. EBUSY: blocked in the kernel; ETIME: no time was left */
    uint64_t stopped_ns; /* how long it was stopped */
    enum remote_end end;
    uint32_t holder; /* of the lock that the thread waits for, see task_lock_holder; 0: unknown */
    /* The path at this address, of a call that has one; cleaned. NULL: not read. */
    char *path;
    uint64_t path_at;
    uint32_t n;
    uint64_t *frames;                 /* innermost first, see remote_unwind */
    struct livestack_script *scripts; /* frames of an interpreter, innermost first */
    uint32_t n_scripts, n_groups;
    bool scripts_truncated; /* more frames than were copied */
};
struct livestacks {
    struct livestack *items; /* by tid */
    uint32_t n;
    size_t cap;
    uint64_t longest_ns, total_ns; /* stops */
    struct arena strings;
};
/* Each thread is stopped once, alone, while its registers and its stack are copied. False: no stack; items
 * may hold the reason for each thread. With an error and true, stacks are missing: the child ended early.
 * When *cancelled becomes true, the child is killed, and all threads run on; NULL: never. */
bool livestacks_take(uint32_t pid, const atomic_bool *cancelled, struct livestacks *out, struct error *e);
const struct livestack *livestacks_of(const struct livestacks *s, uint32_t tid); /* NULL: none */
void livestacks_done(struct livestacks *s);

/* Parses the child's report, which it makes from the memory of the process. False: malformed; the stacks
 * before the fault are kept. */
bool livestacks_parse(const void *report, size_t n, struct livestacks *out, struct error *e);

/* main() of the child. */
_Noreturn void livestacks_main(const char *pid);

#endif
