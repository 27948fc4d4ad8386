// SPDX-License-Identifier: GPL-2.0-or-later
/* The frames that a thread of an interpreter runs: which thread has them, which native functions run them,
 * and how they are named. For copies of perf/stackprobe.h and of a stopped thread. */
#ifndef FLAMETOP_SYMBOLS_INTERPRETER_FRAMES_H
#define FLAMETOP_SYMBOLS_INTERPRETER_FRAMES_H

#include "process/maps.h"
#include "symbols/interpreter.h"

/* The mapping of an interpreter: of its library rather than of the program that is linked to it. Its first
 * bytes may be mapped at start - pgoff. name: the file's, in the entry. NULL: none. */
const struct maps_entry *interpreter_mapping(const struct maps *maps, const char **name);

/* Sets the tid of each thread, or 0. The C library keeps it in the descriptor at pthread_self, at a place
 * that is found in the main thread's descriptor: its tid is the pid. */
void interpreter_tids(const struct interpreter_memory *m, const struct interpreter_process *p, uint32_t pid,
                      struct interpreter_thread *all, uint32_t n);

/* The state of the thread with this stack pointer: of the nearest descriptor above it, as a descriptor is
 * above its own stack, and below those of threads with higher stacks. 0: none. */
uint64_t interpreter_state_of(const struct interpreter_process *p, const struct interpreter_thread *all,
                              uint32_t n, bool is_main, uint64_t sp);
/* Copies the frames of a stopped thread with this state as perf/stackprobe.h does of a running one; sets all
 * but tid, pid, time_ns and tag. */
void interpreter_copy(const struct interpreter_memory *m, const struct interpreter_process *p, uint64_t state,
                      struct stackprobe_sample *out);

struct interpreter_groups { /* frames by the native function ("evaluator") that runs them, innermost first */
    uint32_t n;
    uint16_t first[STACKPROBE_FRAMES_MAX], end[STACKPROBE_FRAMES_MAX];
    uint64_t shim;          /* address of the innermost frame on the native stack; 0: none */
    bool last_is_truncated; /* the outermost group has more frames than were copied */
};
void interpreter_group(const struct interpreter_process *p, const struct stackprobe_sample *t,
                       struct interpreter_groups *out);
/* True if the frames belong to the thread with this stack pointer, and `bytes` of stack behind it. The
 * interpreter keeps a record of each evaluator on the native stack (_PyCFrame, or a frame of its own there).
 * Versions without such a record provide the thread's descriptor, which is above the thread's stack. */
bool interpreter_is_on_stack(const struct interpreter_process *p, const struct stackprobe_sample *t,
                             const struct interpreter_groups *g, bool is_main, uint64_t sp, uint64_t bytes);
/* Finds the group that the innermost evaluator runs; -1: it has no group yet, or no longer. whole: the native
 * stack is known up to its root. truncated: there are more frames than were copied. False: evaluators and
 * groups do not match. */
bool interpreter_align(uint32_t n_evaluators, bool whole, uint32_t n_groups, bool truncated, int *shift);
/* Whether a native function of the interpreter's module runs frames. */
bool interpreter_evaluates(const struct interpreter *of, const char *function);

/* "receive (server.py:12)"; line 0: the code could not be read. Not cleaned. */
#define INTERPRETER_TEXT_MAX (2 * INTERPRETER_NAME_MAX + 32)
void interpreter_frame_text(char *dst, size_t cap, const struct interpreter *of,
                            const struct interpreter_code *c, uint32_t line);

#endif
