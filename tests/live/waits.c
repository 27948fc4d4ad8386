// SPDX-License-Identifier: GPL-2.0-or-later
/* A load that waits, and knows how long: waits SECONDS. Each function waits in its own way, and measures
 * the time that the thread was not on a CPU. At the end it prints "f1 MICROSECONDS" and so on, a line
 * each, and how long the main thread waited for a CPU according to the kernel, if it counts that: "queue
 * MICROSECONDS". */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "load.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int ends[2], file;
static volatile bool stop;

static void sleep_us(long us)
{
    struct timespec t = { 0, us * 1000 };
    nanosleep(&t, NULL);
}

__attribute__((noinline)) static void f1(void) /* a timer */
{
    sleep_us(30000);
}

__attribute__((noinline)) static void f2(void) /* a futex */
{
    pthread_mutex_lock(&lock);
    pthread_mutex_unlock(&lock);
}

__attribute__((noinline)) static void f3(void) /* a pipe */
{
    char byte;
    if (read(ends[0], &byte, 1) != 1)
        abort();
}

__attribute__((noinline)) static void f4(void) /* a disk, if there is one */
{
    if (pwrite(file, "x", 1, 0) != 1 || fsync(file))
        abort();
}

__attribute__((noinline)) static void f5(void) /* waits for nothing but a CPU */
{
    for (long long end = now_ns(CLOCK_MONOTONIC) + 5000000; now_ns(CLOCK_MONOTONIC) < end;)
        ;
}

/* Holds the lock when main asks for it. */
static void *holder(void *arg)
{
    pthread_setname_np(pthread_self(), "holder");
    while (!stop) {
        pthread_mutex_lock(&lock);
        sleep_us(20000);
        pthread_mutex_unlock(&lock);
        sleep_us(10000);
    }
    return arg;
}

static void *writer(void *arg)
{
    pthread_setname_np(pthread_self(), "writer");
    while (!stop) {
        sleep_us(50000);
        if (write(ends[1], "x", 1) != 1)
            abort();
    }
    return arg;
}

int main(int argc, char **argv)
{
    void (*const functions[])(void) = { f1, f2, f3, f4, f5 };
    long long waited_ns[5] = { 0 };
    double seconds = argc > 1 ? atof(argv[1]) : 3;
    char name[] = "waits.XXXXXX";
    pthread_t threads[2];
    if (pipe(ends) || (file = mkstemp(name)) < 0 || unlink(name))
        return 1;
    pthread_create(&threads[0], NULL, holder, NULL);
    pthread_create(&threads[1], NULL, writer, NULL);
    long long end = now_ns(CLOCK_MONOTONIC) + (long long)(seconds * 1e9);
    while (now_ns(CLOCK_MONOTONIC) < end)
        for (int i = 0; i < 5; i++) {
            long long wall = now_ns(CLOCK_MONOTONIC), cpu = now_ns(CLOCK_THREAD_CPUTIME_ID);
            functions[i]();
            cpu = now_ns(CLOCK_THREAD_CPUTIME_ID) - cpu;
            waited_ns[i] += now_ns(CLOCK_MONOTONIC) - wall - cpu;
        }
    stop = true;
    /* What follows waits for no CPU, as it is not in the numbers. */
    sched_setscheduler(0, SCHED_FIFO, &(struct sched_param){ 1 });
    for (int i = 0; i < 5; i++)
        printf("f%d %lld\n", i + 1, waited_ns[i] / 1000);
    if (queued_ns() >= 0)
        printf("queue %lld\n", queued_ns() / 1000);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    return 0;
}
