// SPDX-License-Identifier: GPL-2.0-or-later
/* A load that waits for a CPU, and knows how long: starved SECONDS. The thread "starves" (SCHED_IDLE) shares
 * a CPU with two threads that spin with the highest priority of ordinary ones. It sleeps for a millisecond
 * whenever it runs, and otherwise waits for seconds. At the end it prints how long, according to the kernel:
 * "queue MICROSECONDS". */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "load.h"

static volatile bool stop;

static void *spin(void *arg)
{
    pthread_setname_np(pthread_self(), "spins");
    share_last_cpu();
    if (setpriority(PRIO_PROCESS, 0, -20))
        exit(1);
    while (!stop)
        ;
    return arg;
}

static void *starve(void *arg)
{
    struct sched_param none = { 0 };
    pthread_setname_np(pthread_self(), "starves");
    share_last_cpu();
    sched_setscheduler(0, SCHED_IDLE, &none);
    while (!stop)
        usleep(1000);
    if (queued_ns() >= 0)
        printf("queue %lld\n", queued_ns() / 1000);
    return arg;
}

int main(int argc, char **argv)
{
    pthread_t threads[3];
    for (int i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, i < 2 ? spin : starve, NULL);
    sleep(argc > 1 ? (unsigned)atoi(argv[1]) : 3);
    stop = true;
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
