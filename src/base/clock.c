// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/clock.h"

uint64_t clock_read_ns(clockid_t id)
{
    struct timespec ts = { 0 };

    clock_gettime(id, &ts);
    return (uint64_t)ts.tv_sec * NS_PER_SEC + (uint64_t)ts.tv_nsec;
}

uint64_t clock_now_ns(void)
{
    return clock_read_ns(CLOCK_MONOTONIC);
}

uint64_t clock_self_cpu_ns(void)
{
    return clock_read_ns(CLOCK_PROCESS_CPUTIME_ID);
}

uint64_t clock_thread_cpu_ns(void)
{
    return clock_read_ns(CLOCK_THREAD_CPUTIME_ID);
}
