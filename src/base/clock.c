// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/clock.h"

uint64_t clock_read_ns(clockid_t id)
{
    struct timespec ts = { 0 };

    clock_gettime(id, &ts);
    return (uint64_t)ts.tv_sec * NS_PER_SEC + (uint64_t)ts.tv_nsec;
}

struct timespec clock_deadline(clockid_t id, uint64_t wait_ns)
{
    uint64_t end_ns = clock_read_ns(id) + wait_ns;

    return (struct timespec){ .tv_sec = (time_t)(end_ns / NS_PER_SEC),
                              .tv_nsec = (long)(end_ns % NS_PER_SEC) };
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
