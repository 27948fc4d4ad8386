// SPDX-License-Identifier: GPL-2.0-or-later
/* BPF programs that copy an interpreter's frames from a thread's memory, at each sample of the CPU, when a
 * wait begins, and at other tracepoints.
 *
 * Frames change with every call: read a moment later they belong to another stack. The programs only follow
 * pointers by the offsets given; its caller interprets the words (symbols/interpreter.h). Needs Linux 5.8
 * with BPF, and root or CAP_BPF and CAP_PERFMON. Single-threaded. */
#ifndef FLAMETOP_PERF_STACKPROBE_H
#define FLAMETOP_PERF_STACKPROBE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

#define STACKPROBE_FRAMES_MAX 192
#define STACKPROBE_NONE       UINT32_MAX

/* Where an interpreter keeps its frames. Each failed read yields 0. */
struct stackprobe_layout {
    uint64_t current; /* address of the pointer to the state of the thread that holds the lock */
    uint64_t threads; /* address of the pointer to the first thread's state; 0: none */
    uint32_t next;    /* offset in the state: the next thread's state */
    uint32_t thread;  /* offset in the state: the thread's id (pthread_self) */
    uint32_t top;     /* offset in the state: the innermost frame, or a pointer to what holds it */
    /* offset of the frame in what `top` points to; STACKPROBE_NONE: `top` is the frame itself */
    uint32_t indirect;
    uint32_t code, instr, flags, back; /* offsets of four words in a frame */
    /* offset in what `code` points to: a word that distinguishes two objects at the same address */
    uint32_t ident;
    uint32_t tag; /* caller's value, returned with samples */
};
struct stackprobe_frame {
    uint64_t address, code, instr, flags, ident;
};
/* One sample, as a program writes it to its ring. */
struct stackprobe_sample {
    uint32_t tid, pid;
    uint64_t time_ns; /* CLOCK_MONOTONIC, shortly before the sample's own time */
    uint64_t state, thread;
    uint64_t outer; /* the word at `top` */
    uint32_t tag;
    uint32_t n;
    uint64_t rest;   /* next frame if there are more than FRAMES_MAX; else 0 */
    uint64_t listed; /* 1: the state was found in the list of threads */
    struct stackprobe_frame frames[STACKPROBE_FRAMES_MAX]; /* innermost first */
};

struct stackprobe;
/* Load the programs. NULL: e says why. */
struct stackprobe *stackprobe_open(struct error *e);
void stackprobe_close(struct stackprobe *p);
/* Where a program can run. */
enum stackprobe_where {
    STACKPROBE_NOWHERE,
    STACKPROBE_SAMPLES,     /* with events that sample the CPU */
    STACKPROBE_WAITS,       /* at sched:sched_switch, when a thread begins to wait */
    STACKPROBE_TRACEPOINTS, /* at another tracepoint, or at a probe of a function */
};
/* False: the kernel refuses the program, or the format of sched:sched_switch is not known. p may be NULL. */
bool stackprobe_can(const struct stackprobe *p, enum stackprobe_where where);
/* Run the program with this event from now on. Again: no effect. */
bool stackprobe_sample(const struct stackprobe *p, int event_fd);
/* Run a program at this tracepoint until stackprobe_leave_tracepoint has been called as often: once each time
 * the tracepoint is met, whoever meets it, and whichever events there are. */
bool stackprobe_meet(struct stackprobe *p, enum stackprobe_where where, uint64_t tracepoint_id);
void stackprobe_leave_tracepoint(struct stackprobe *p, enum stackprobe_where where, uint64_t tracepoint_id);
/* Read the frames of this process from now on. Of too many processes, the least recently sampled are given
 * up. */
void stackprobe_follow(struct stackprobe *p, uint32_t pid, const struct stackprobe_layout *layout);
/* Set the state of a thread, for when it runs but `current` names another, where the programs cannot tell
 * which of `threads` it is; 0: forget it. */
void stackprobe_set_thread(struct stackprobe *p, uint32_t tid, uint64_t state);
/* Pass what the programs have written since the last call, oldest first; *s is valid until fn returns. */
typedef void stackprobe_fn(void *ctx, const struct stackprobe_sample *s);
void stackprobe_read(struct stackprobe *p, stackprobe_fn *fn, void *ctx);

#endif
