// SPDX-License-Identifier: GPL-2.0-or-later
/* A BPF program that copies an interpreter's frames out of a thread's memory at the moment of each sample.
 *
 * The frames change with every call: read a moment later they belong to another stack. The program only follows pointers by
 * offsets that it is given; what the words mean is decided by its caller (symbols/interpreter.h). Needs Linux 5.8 with BPF, and
 * root or CAP_BPF and CAP_PERFMON. One thread at a time. */
#ifndef FLAMETOP_PERF_STACKPROBE_H
#define FLAMETOP_PERF_STACKPROBE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

#define STACKPROBE_FRAMES_MAX 192
#define STACKPROBE_NONE       UINT32_MAX

/* Where an interpreter keeps its frames. Each read that fails gives 0. */
struct stackprobe_layout {
    uint64_t current;  /* address of the word that holds the state of the thread that runs */
    uint32_t thread;   /* offset in that state: the thread's id (pthread_self) */
    uint32_t top;      /* offset in that state: the innermost frame … */
    uint32_t indirect; /* … or what has it at this offset; STACKPROBE_NONE: the frame itself */
    uint32_t code, instr, flags, back; /* offsets in a frame: four words */
    uint32_t ident; /* offset in what `code` points to: a word that tells two apart which had one address */
    uint32_t tag;   /* the caller's own, handed back */
};
struct stackprobe_frame {
    uint64_t address, code, instr, flags, ident;
};
/* One sample, as the program leaves it in its ring. */
struct stackprobe_sample {
    uint32_t tid, pid;
    uint64_t time_ns; /* CLOCK_MONOTONIC, shortly before the sample's own */
    uint64_t state, thread;
    uint64_t outer; /* the word at `top` */
    uint32_t tag;
    uint32_t n;
    uint64_t rest; /* the next frame, where there are more than FRAMES_MAX; else 0 */
    struct stackprobe_frame frames[STACKPROBE_FRAMES_MAX]; /* innermost first */
};

struct stackprobe;
/* Loads the program. NULL: e says why. */
struct stackprobe *stackprobe_open(struct error *e);
void stackprobe_close(struct stackprobe *p);
/* The descriptor for PERF_EVENT_IOC_SET_BPF. */
int stackprobe_fd(const struct stackprobe *p);
/* From now on the frames of this process are read. False: there are too many processes. */
bool stackprobe_follow(struct stackprobe *p, uint32_t pid, const struct stackprobe_layout *layout);
void stackprobe_leave(struct stackprobe *p, uint32_t pid);
/* The state of a thread, for where it runs without being the one that `current` names; 0: not known any more. */
void stackprobe_set_thread(struct stackprobe *p, uint32_t tid, uint64_t state);
/* Hands out what the program has written since the last call, oldest first; *s is valid until fn returns. */
typedef void stackprobe_fn(void *ctx, const struct stackprobe_sample *s);
void stackprobe_read(struct stackprobe *p, stackprobe_fn *fn, void *ctx);

#endif
