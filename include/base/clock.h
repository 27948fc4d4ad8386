// SPDX-License-Identifier: GPL-2.0-or-later
/* Time: CLOCK_MONOTONIC in nanoseconds, the clock that our perf events are stamped with. */
#ifndef FLAMETOP_BASE_CLOCK_H
#define FLAMETOP_BASE_CLOCK_H

#include <stdint.h>

#define NS_PER_SEC UINT64_C(1000000000)
#define NS_PER_MS  UINT64_C(1000000)

uint64_t clock_now_ns(void);
uint64_t clock_self_cpu_ns(void); /* CPU time of this process, all threads */

#endif
