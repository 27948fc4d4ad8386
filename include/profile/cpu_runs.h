// SPDX-License-Identifier: GPL-2.0-or-later
/* Who ran on each CPU in the last seconds: tells who ran while another thread waited for the CPU. Threads of
 * the same name count as one: where hundreds of equal threads wait for each other, each wait would consist of
 * hundreds of runs.
 * Follows the records of the scheduler, which must come in order of time (perf/order.h). Records of all CPUs
 * (PERF_RECORD_SWITCH_CPU_WIDE) name the thread before or after, too, so that also a thread is known whose
 * own records are missing. Those of single processes do not: between two of their threads nothing is
 * known. */
#ifndef FLAMETOP_PROFILE_CPU_RUNS_H
#define FLAMETOP_PROFILE_CPU_RUNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/mem.h"

#define CPU_RUNS_MAX     4096                 /* of a CPU */
#define CPU_RUNS_KEPT_NS UINT64_C(2000000000) /* older ones make room */
#define CPU_UNSEEN       UINT32_MAX           /* as a thread: what ran is not known */

struct cpu_thread {
    uint32_t pid, tid; /* tid 0: the idle task */
    uint64_t name;     /* hash of its name */
};
struct cpu_run {
    struct cpu_thread thread;
    uint64_t from_ns, to_ns;
};
struct cpu_runs_cpu {
    struct cpu_run *ring; /* ended runs */
    uint32_t cap, first, n;
    struct cpu_run now; /* the run that goes on; from_ns 0: nothing was seen yet */
};
/* Zero-initialised: nothing is known. */
struct cpu_runs {
    BUFFER(struct cpu_runs_cpu) cpus;
};
/* A thread leaves the CPU, and `next` comes; its tid is CPU_UNSEEN if the record does not say. */
void cpu_runs_leave(struct cpu_runs *c, uint32_t cpu, uint64_t time_ns, struct cpu_thread next);
/* A thread comes onto the CPU. */
void cpu_runs_come(struct cpu_runs *c, uint32_t cpu, uint64_t time_ns, struct cpu_thread thread);
/* The thread that runs on the CPU, as far as records say. */
struct cpu_thread cpu_runs_now(const struct cpu_runs *c, uint32_t cpu);
void cpu_runs_forget(struct cpu_runs *c, uint32_t cpu); /* records of this CPU were lost */
void cpu_runs_forget_all(struct cpu_runs *c);

struct cpu_share {
    struct cpu_thread thread;
    uint64_t ns;
};
#define CPU_SHARES_MAX 64
/* How long the threads of each name ran on the CPU between two times: fills out[CPU_SHARES_MAX], each name
 * once, with one of its threads. The shares add up to the time between. What is not known, is no longer
 * known, or does not fit, is a share of CPU_UNSEEN. Returns their number. */
size_t cpu_runs_between(const struct cpu_runs *c, uint32_t cpu, uint64_t from_ns, uint64_t to_ns,
                        struct cpu_share *out);
void cpu_runs_done(struct cpu_runs *c);

#endif
