// SPDX-License-Identifier: GPL-2.0-or-later
/* Shared by loads that measure themselves. Include it after _GNU_SOURCE is defined. */
#ifndef FLAMETOP_TESTS_LIVE_LOAD_H
#define FLAMETOP_TESTS_LIVE_LOAD_H

#include <sched.h>
#include <stdio.h>
#include <time.h>

static inline long long now_ns(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return t.tv_sec * 1000000000LL + t.tv_nsec;
}

/* How long the calling thread has waited for a CPU, in ns (/proc/PID/schedstat, its second field); -1: the
 * kernel does not count it. */
static inline long long queued_ns(void)
{
    long long ran, waited = -1;
    FILE *f = fopen("/proc/thread-self/schedstat", "r");
    if (!f || fscanf(f, "%lld %lld", &ran, &waited) != 2)
        waited = -1;
    if (f)
        fclose(f);
    return waited;
}

/* Binds the calling thread to the last CPU that it may use. */
static inline void share_last_cpu(void)
{
    cpu_set_t all, last;
    int cpu = 0;
    sched_getaffinity(0, sizeof all, &all);
    for (int i = 0; i < CPU_SETSIZE; i++)
        cpu = CPU_ISSET(i, &all) ? i : cpu;
    CPU_ZERO(&last);
    CPU_SET(cpu, &last);
    sched_setaffinity(0, sizeof last, &last);
}

#endif
