// SPDX-License-Identifier: GPL-2.0-or-later
/* A load whose sleeps have two modes: quick() sleeps for 1.2 ms, slow() for 40 ms, on another path. It counts
 * its sleeps by powers of two of the ns that they took. At the end it writes the counts to FILE, a line each:
 * "EXPONENT COUNT". Its priority, if it may have one, keeps other programs from running between the end of a
 * sleep and the look at the clock.
 * Usage: modes FILE ROUNDS: a round is 20 quick sleeps and a slow one. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "load.h"

static unsigned counts[64];

/* Inlined into its callers, which the stacks are to name. */
__attribute__((always_inline)) static inline void sleep_for(long ns)
{
    struct timespec t = { 0, ns };
    long long from_ns = now_ns(CLOCK_MONOTONIC);
    syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, &t, NULL);
    counts[63 - __builtin_clzll((unsigned long long)(now_ns(CLOCK_MONOTONIC) - from_ns))]++;
}

__attribute__((noinline)) static void quick(void)
{
    sleep_for(1200000);
}

__attribute__((noinline)) static void slow(void)
{
    sleep_for(40000000);
}

__attribute__((noinline)) static void quick_path(void)
{
    for (int i = 0; i < 20; i++)
        quick();
}

__attribute__((noinline)) static void slow_path(void)
{
    slow();
}

int main(int argc, char **argv)
{
    struct sched_param priority = { .sched_priority = 1 };
    if (argc != 3)
        return 2;
    sched_setscheduler(0, SCHED_FIFO, &priority);
    prctl(PR_SET_TIMERSLACK, 1);
    for (int round = 0; round < atoi(argv[2]); round++) {
        quick_path();
        slow_path();
    }
    FILE *to = fopen(argv[1], "w");
    for (int i = 0; to && i < 64; i++)
        if (counts[i])
            fprintf(to, "%d %u\n", i, counts[i]);
    return !to || fclose(to);
}
