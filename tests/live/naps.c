// SPDX-License-Identifier: GPL-2.0-or-later
/* A load whose waits are counted: a thread naps COUNT times for 5 ms and once for 200 ms, and main waits for it.
 * Prints how long the longest nap was, the median and all of them, in microseconds. With "forever" as COUNT the
 * thread does so again and again. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static long long took_ns[1000];
static int count, n;

static long long now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000LL + t.tv_nsec;
}

__attribute__((noinline)) static void nap(long ms)
{
    long long start_ns = now_ns();
    struct timespec t = { 0, ms * 1000000 };
    nanosleep(&t, NULL);
    took_ns[n++ % 1000] = now_ns() - start_ns;
}

static int by_length(const void *a, const void *b)
{
    const long long *x = a, *y = b;
    return *x < *y ? -1 : *x > *y;
}

static void *naps(void *forever)
{
    pthread_setname_np(pthread_self(), "naps");
    do {
        for (int i = 0; i < count; i++)
            nap(5);
        nap(200);
    } while (forever);
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t thread;
    int forever = argc > 1 && !strcmp(argv[1], "forever");
    count = argc > 1 && !forever ? atoi(argv[1]) : 100;
    pthread_create(&thread, NULL, naps, forever ? &count : NULL);
    pthread_join(thread, NULL);
    long long all_ns = 0;
    for (int i = 0; i < n; i++)
        all_ns += took_ns[i];
    qsort(took_ns, (size_t)n, sizeof *took_ns, by_length);
    printf("longest %lld\nmedian %lld\nall %lld\n", took_ns[n - 1] / 1000, took_ns[n / 2] / 1000,
           all_ns / 1000);
    return 0;
}
