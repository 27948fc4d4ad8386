// SPDX-License-Identifier: GPL-2.0-or-later
/* A load that makes a known number of system calls, and measures the long ones: calls. At the end it prints a
 * line each: "NAME COUNT", and behind it the sum of their times in ns for those that sleep. Names are those of
 * the kernel. Calls that the C library makes by itself are not counted. Its priority, if it may have one, keeps
 * other programs from running between the end of a call and the look at the clock. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "load.h"

static long long sum_ns;

static void count_since(long long from_ns, long result)
{
    if (result < 0)
        abort();
    sum_ns += now_ns(CLOCK_MONOTONIC) - from_ns;
}

__attribute__((noinline)) static void sleep_a_while(void)
{
    struct timespec t = { 0, 7000000 };
    long long from_ns = now_ns(CLOCK_MONOTONIC);
    count_since(from_ns, syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, &t, NULL));
}

__attribute__((noinline)) static void wait_in_poll(void)
{
    struct timespec t = { 0, 12000000 };
    long long from_ns = now_ns(CLOCK_MONOTONIC);
    count_since(from_ns, syscall(SYS_ppoll, NULL, 0, &t, NULL, 8));
}

static void report(const char *name, int count, int with_sum)
{
    printf("%s %d", name, count);
    if (with_sum)
        printf(" %lld", sum_ns);
    printf("\n");
    sum_ns = 0;
}

int main(void)
{
    char byte;
    struct sched_param priority = { .sched_priority = 1 };
    sched_setscheduler(0, SCHED_FIFO, &priority);
    int file = open("/dev/zero", O_RDONLY | O_CLOEXEC);
    for (int i = 0; i < 60; i++)
        sleep_a_while();
    report("clock_nanosleep", 60, 1);
    for (int i = 0; i < 40; i++)
        wait_in_poll();
    report("ppoll", 40, 1);
    for (int i = 0; i < 3000; i++)
        syscall(SYS_getppid);
    report("getppid", 3000, 0);
    for (int i = 0; i < 500; i++)
        if (pread(file, &byte, 1, 0) != 1)
            abort();
    report("pread64", 500, 0);
    for (int i = 0; i < 25; i++)
        syscall(SYS_flock, -1, 0); /* fails */
    report("flock", 25, 0);
    return 0;
}
