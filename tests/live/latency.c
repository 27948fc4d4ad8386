// SPDX-License-Identifier: GPL-2.0-or-later
/* A serial part and a parallel one, again and again: foo runs in one thread for 9 parts of the time, then bar in
 * two threads, each on its own CPU, for 1 part. Of the CPU time, bar has 2 of 11 parts; of the time that a user
 * waits, 1 of 10. Parts are measured in CPU time, so that other programs do not change them; after them, it
 * rests for as long as bar takes.
 * Usage: latency SECONDS [SECONDS OF A ROUND] */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

static pthread_barrier_t both;
static uint64_t part_ns;

static uint64_t read_ns(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* Loops in its caller, which the samples are to name. */
#define SPIN(ns)                                                                                             \
    for (uint64_t end_ns = read_ns(CLOCK_THREAD_CPUTIME_ID) + (ns);                                          \
         read_ns(CLOCK_THREAD_CPUTIME_ID) < end_ns;)                                                         \
        for (volatile int i = 0; i < 1000000; i++)

__attribute__((noinline)) static void foo(void)
{
    SPIN(9 * part_ns);
}

__attribute__((noinline)) static void bar(void)
{
    SPIN(part_ns);
}

/* Goes to the n-th CPU that this process may use. */
static void stay_on(int n)
{
    cpu_set_t may, one;
    sched_getaffinity(0, sizeof may, &may);
    CPU_ZERO(&one);
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
        if (CPU_ISSET(cpu, &may) && !n--)
            CPU_SET(cpu, &one);
    sched_setaffinity(0, sizeof one, &one);
}

/* At a real-time priority: the kernel keeps a twentieth of each CPU for other threads, and would give it to
 * them in the middle of a part. */
static void rest(void)
{
    nanosleep(&(struct timespec){ .tv_nsec = (long)part_ns }, NULL);
}

static void *other(void *nothing)
{
    stay_on(1);
    for (;;) {
        pthread_barrier_wait(&both);
        bar();
        pthread_barrier_wait(&both);
    }
    return nothing;
}

int main(int argc, char **argv)
{
    double seconds = argc > 1 ? strtod(argv[1], NULL) : 3, round = argc > 2 ? strtod(argv[2], NULL) : 0.5;
    uint64_t end_ns = read_ns(CLOCK_MONOTONIC) + (uint64_t)(seconds * 1e9);
    pthread_t second;
    part_ns = (uint64_t)(round * 1e8);
    pthread_barrier_init(&both, NULL, 2);
    pthread_create(&second, NULL, other, NULL);
    stay_on(0);
    while (read_ns(CLOCK_MONOTONIC) < end_ns) {
        foo();
        pthread_barrier_wait(&both);
        bar();
        pthread_barrier_wait(&both);
        rest();
    }
    return 0;
}
