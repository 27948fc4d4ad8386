// SPDX-License-Identifier: GPL-2.0-or-later
/* Checks, in a thread of its own, on which CPUs events are not recorded that happen in interrupts of the
 * idle task. Some kernels count them, write no record, and report no loss: wakeups by timers and ends of
 * operations are missing there. The thread sleeps on each CPU several times for a millisecond, and compares
 * the wakeups by its timer that are counted with those that are recorded. */
#ifndef FLAMETOP_PERF_IDLE_CHECK_H
#define FLAMETOP_PERF_IDLE_CHECK_H

#include <stdbool.h>
#include <stdint.h>

/* How often the thread left a CPU to the idle task, and how many of the wakeups after it had no record. */
struct idle_naps {
    uint32_t idle, hidden;
};
enum idle_finding {
    IDLE_UNKNOWN, /* the CPU was busy, or events cannot be recorded there */
    IDLE_RECORDED,
    IDLE_HIDDEN,
};
enum idle_finding idle_judge(const struct idle_naps *n);

struct idle_check;
struct idle_check *idle_check_new(void);
/* Starts the thread, for CPUs of which nothing is known yet. False: it runs already; or there is nothing to
 * check, as all CPUs are known or tracepoints cannot be counted. */
bool idle_check_start(struct idle_check *c);
enum idle_finding idle_check_of(const struct idle_check *c, uint32_t cpu);
uint32_t idle_check_cpus(const struct idle_check *c); /* the highest number of a known CPU, plus one */
void idle_check_leave(struct idle_check *c);          /* frees it, once the thread has ended; NULL is fine */

#endif
