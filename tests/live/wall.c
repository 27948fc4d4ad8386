// SPDX-License-Identifier: GPL-2.0-or-later
/* A load that knows where the time of its threads goes: wall SECONDS [SLEEPERS]. Each thread runs in burn()
 * for some milliseconds and waits in rest() for others, several hundred times a thread. At the end it prints
 * a line for each thread: "NAME LIFETIME BURN REST", in microseconds: its lifetime, the time on a CPU in
 * burn() and the time off the CPU in rest(); and "stolen TIME": what the host took from the CPUs meanwhile,
 * which is no CPU time of a thread. The times of the turns vary, so that no rate of samples keeps pace with
 * them. With SLEEPERS, SLEEPERS threads sleep from the start; the others
 * are started when a line was read, and begin when a second one was. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "load.h"

static double seconds = 3;
static pthread_barrier_t begin;

/* Names of threads, and how long they burn and rest in turn. "still" sleeps all the time. */
struct turn {
    const char *name;
    long burn_us, rest_us;
    long long life_ns, burnt_ns, rested_ns;
};
static struct turn turns[] = { { .name = "burner", .burn_us = 7000, .rest_us = 3000 },
                               { .name = "sleeper", .burn_us = 200, .rest_us = 9800 },
                               { .name = "still", .burn_us = 0, .rest_us = 1000000 } };
#define THREADS (sizeof turns / sizeof *turns)

__attribute__((noinline)) static void burn(long us)
{
    for (long long end = now_ns(CLOCK_THREAD_CPUTIME_ID) + us * 1000; now_ns(CLOCK_THREAD_CPUTIME_ID) < end;)
        ;
}

__attribute__((noinline)) static void rest(long us)
{
    struct timespec t = { us / 1000000, us % 1000000 * 1000 };
    nanosleep(&t, NULL);
}

static void *take_turns(void *arg)
{
    struct turn *t = arg;
    pthread_setname_np(pthread_self(), t->name);
    pthread_barrier_wait(&begin);
    long long start = now_ns(CLOCK_MONOTONIC), end = start + (long long)(seconds * 1e9);
    unsigned seed = 1;
    while (now_ns(CLOCK_MONOTONIC) < end) {
        long long cpu = now_ns(CLOCK_THREAD_CPUTIME_ID);
        if (t->burn_us)
            burn(t->burn_us * (750 + rand_r(&seed) % 500) / 1000);
        t->burnt_ns += now_ns(CLOCK_THREAD_CPUTIME_ID) - cpu;
        long long wall = now_ns(CLOCK_MONOTONIC);
        cpu = now_ns(CLOCK_THREAD_CPUTIME_ID);
        rest(t->rest_us);
        cpu = now_ns(CLOCK_THREAD_CPUTIME_ID) - cpu;
        t->rested_ns += now_ns(CLOCK_MONOTONIC) - wall - cpu;
    }
    t->life_ns = now_ns(CLOCK_MONOTONIC) - start;
    return NULL;
}

static void *sleep_always(void *arg)
{
    for (;;)
        pause();
    return arg;
}

static int read_line(void)
{
    char line[16];
    return fgets(line, sizeof line, stdin) != NULL;
}

static int wait_with(long sleepers)
{
    pthread_t thread;
    for (long i = 0; i < sleepers; i++)
        if (pthread_create(&thread, NULL, sleep_always, NULL))
            return 1;
    return puts("ready") < 0 || fflush(stdout) || !read_line();
}

/* Of all CPUs, in clock ticks (proc_stat(5)). */
static long long stolen(void)
{
    long long ticks = 0;
    FILE *f = fopen("/proc/stat", "r");
    if (f && fscanf(f, "cpu %*d %*d %*d %*d %*d %*d %*d %lld", &ticks) != 1)
        ticks = 0;
    if (f)
        fclose(f);
    return ticks;
}

int main(int argc, char **argv)
{
    pthread_t threads[THREADS];
    if (argc > 1)
        seconds = atof(argv[1]);
    if (pthread_barrier_init(&begin, NULL, THREADS + 1) || (argc > 2 && wait_with(atol(argv[2]))))
        return 1;
    for (size_t i = 0; i < THREADS; i++)
        if (pthread_create(&threads[i], NULL, take_turns, &turns[i]))
            return 1;
    if (argc > 2 && !read_line())
        return 1;
    long long before = stolen();
    pthread_barrier_wait(&begin);
    for (size_t i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    for (size_t i = 0; i < THREADS; i++)
        printf("%s %lld %lld %lld\n", turns[i].name, turns[i].life_ns / 1000, turns[i].burnt_ns / 1000,
               turns[i].rested_ns / 1000);
    printf("stolen %lld\n", (stolen() - before) * 1000000 / sysconf(_SC_CLK_TCK));
    return 0;
}
