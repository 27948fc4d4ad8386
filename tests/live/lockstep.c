// SPDX-License-Identifier: GPL-2.0-or-later
/* Runs first_half() in the first half of each period of argv[1] nanoseconds and second_half() in the other,
 * by the clock, until SIGTERM. Then it prints the nanoseconds of CPU time of each half, because other processes
 * may have had the CPU meanwhile. */
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static volatile sig_atomic_t stop;

static void on_term(int signal)
{
    (void)signal;
    stop = 1;
}

static uint64_t now_ns(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static volatile uint64_t sum;

__attribute__((noinline)) void first_half(uint64_t end)
{
    while (now_ns(CLOCK_MONOTONIC) < end)
        for (int i = 0; i < 500; i++)
            sum += (uint64_t)i;
}

__attribute__((noinline)) void second_half(uint64_t end)
{
    while (now_ns(CLOCK_MONOTONIC) < end)
        for (int i = 0; i < 500; i++)
            sum -= (uint64_t)i;
}

int main(int argc, char **argv)
{
    uint64_t period = argc > 1 ? strtoull(argv[1], NULL, 10) : 1000000, cpu[3], had[2] = { 0 };
    signal(SIGTERM, on_term);
    puts("ready");
    fflush(stdout);
    while (!stop) {
        uint64_t now = now_ns(CLOCK_MONOTONIC), start = now - now % period;
        cpu[0] = now_ns(CLOCK_PROCESS_CPUTIME_ID);
        first_half(start + period / 2);
        cpu[1] = now_ns(CLOCK_PROCESS_CPUTIME_ID);
        second_half(start + period);
        cpu[2] = now_ns(CLOCK_PROCESS_CPUTIME_ID);
        had[0] += cpu[1] - cpu[0];
        had[1] += cpu[2] - cpu[1];
    }
    printf("%llu %llu\n", (unsigned long long)had[0], (unsigned long long)had[1]);
    return 0;
}
