// SPDX-License-Identifier: GPL-2.0-or-later
/* Threads that wait in known functions. threads deadlock: two threads lock two mutexes in opposite order;
 * threads many N: N threads wait for the same condition; threads count: one thread waits, the other prints a
 * number every 10 ms; threads leaderless: the first thread has ended; threads blocked: the first thread waits
 * for a vfork child, which the kernel counts as blocked; threads signal: it waits in a signal handler;
 * threads restless N: N threads sleep and compute by turns. Prints "ready" when all wait. */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static pthread_mutex_t first = PTHREAD_MUTEX_INITIALIZER, second = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t work = PTHREAD_COND_INITIALIZER;
static pthread_barrier_t both;

static void lock_other(pthread_mutex_t *m)
{
    pthread_mutex_lock(m);
}

static void *first_then_second(void *arg)
{
    pthread_mutex_lock(&first);
    pthread_barrier_wait(&both);
    lock_other(&second);
    return arg;
}

static void *second_then_first(void *arg)
{
    pthread_mutex_lock(&second);
    pthread_barrier_wait(&both);
    lock_other(&first);
    return arg;
}

static void *wait_for_work(void *arg)
{
    pthread_mutex_lock(&first);
    for (;;)
        pthread_cond_wait(&work, &first);
    return arg;
}

static void *sleep_and_compute(void *arg)
{
    for (;;) {
        usleep(2000);
        for (volatile int i = 0; i < 100000; i++)
            ;
    }
    return arg;
}

static void start(void *(*body)(void *))
{
    pthread_attr_t small;
    pthread_t thread;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 65536);
    if (pthread_create(&thread, &small, body, NULL)) {
        perror("pthread_create");
        exit(1);
    }
}

static void wait_for_ever(void)
{
    for (;;)
        pause();
}

static void on_signal(int number)
{
    (void)number;
    wait_for_ever();
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "";
    int n = argc > 2 ? atoi(argv[2]) : 1;
    setvbuf(stdout, NULL, _IOLBF, 0);
    pthread_barrier_init(&both, NULL, 2);
    if (!strcmp(how, "deadlock")) {
        start(first_then_second);
        start(second_then_first);
    } else
        while (n-- > 0)
            start(strcmp(how, "restless") ? wait_for_work : sleep_and_compute);
    usleep(300000);
    puts("ready");
    if (!strcmp(how, "leaderless"))
        pthread_exit(NULL);
    if (!strcmp(how, "signal")) {
        signal(SIGUSR1, on_signal);
        raise(SIGUSR1);
    }
    if (!strcmp(how, "blocked") && vfork() == 0)
        for (;;)
            pause();
    for (unsigned long i = 1; !strcmp(how, "count"); i++) {
        printf("%lu\n", i);
        usleep(10000);
    }
    wait_for_ever();
}
