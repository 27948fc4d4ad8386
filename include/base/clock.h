// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads clocks in nanoseconds. CLOCK_MONOTONIC is the clock that stamps flametop's perf events. */
#ifndef FLAMETOP_BASE_CLOCK_H
#define FLAMETOP_BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

#define NS_PER_SEC UINT64_C(1000000000)
#define NS_PER_MS  UINT64_C(1000000)
#define NS_PER_US  UINT64_C(1000)

uint64_t clock_read_ns(clockid_t id); /* 0: there is no such clock */
/* The time in wait_ns from now, for functions that wait until then. */
struct timespec clock_deadline(clockid_t id, uint64_t wait_ns);
uint64_t clock_now_ns(void);        /* CLOCK_MONOTONIC */
uint64_t clock_self_cpu_ns(void);   /* CPU time of this process, all threads */
uint64_t clock_thread_cpu_ns(void); /* CPU time of this thread */

#endif
