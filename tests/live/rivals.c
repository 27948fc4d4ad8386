// SPDX-License-Identifier: GPL-2.0-or-later
/* Three threads that want the same CPU all the time, with different priorities: rivals SECONDS. While one
 * waits, another one runs. Prints what each had after they began together, a line each: "NAME CPU QUEUE", the
 * time on a CPU and, according to the kernel, waiting for one (-1: it does not count), in microseconds. */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "load.h"

static const char *const names[] = { "rival-a", "rival-b", "rival-c" };
static pthread_barrier_t start;
static long long ran_ns[3], waited_ns[3], seconds = 3;

static void *rival(void *number)
{
    int i = *(int *)number;
    pthread_setname_np(pthread_self(), names[i]);
    share_last_cpu();
    setpriority(PRIO_PROCESS, 0, 2 * i);
    pthread_barrier_wait(&start);
    long long end = now_ns(CLOCK_MONOTONIC) + seconds * 1000000000, queue = queued_ns();
    long long cpu = now_ns(CLOCK_THREAD_CPUTIME_ID);
    while (now_ns(CLOCK_MONOTONIC) < end)
        ;
    ran_ns[i] = now_ns(CLOCK_THREAD_CPUTIME_ID) - cpu;
    waited_ns[i] = queue < 0 ? -1000 : queued_ns() - queue;
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t threads[3];
    int numbers[3] = { 0, 1, 2 };
    seconds = argc > 1 ? atoi(argv[1]) : seconds;
    pthread_barrier_init(&start, NULL, 3);
    for (int i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, rival, &numbers[i]);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < 3; i++)
        printf("%s %lld %lld\n", names[i], ran_ns[i] / 1000, waited_ns[i] / 1000);
    return 0;
}
