// SPDX-License-Identifier: GPL-2.0-or-later
/* A load that knows its states: the thread "worker" burns and waits for a futex in turns of the given length
 * (seconds, 2); "mixed" runs for 1 ms and waits for a pipe for 1 ms; "reader" reads a pipe that nobody writes.
 * A second argument starts as many threads more that sleep, a third one as many that burn. */
#define _GNU_SOURCE
#include <linux/futex.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static double turn = 2;
static int never[2];

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

__attribute__((noinline)) static void burn(double until)
{
    while (now() < until)
        ;
}

__attribute__((noinline)) static void await(double until)
{
    static unsigned word;
    for (double left; (left = until - now()) > 0;) {
        struct timespec t = { (time_t)left, (long)((left - (double)(time_t)left) * 1e9) };
        syscall(SYS_futex, &word, FUTEX_WAIT, 0, &t, NULL, 0);
    }
}

/* Turns begin at whole multiples of their length, so that a test knows them. */
static void *worker(void *arg)
{
    pthread_setname_np(pthread_self(), "worker");
    for (;;) {
        double n = (double)(long)(now() / turn);
        if ((long)n % 2)
            await((n + 1) * turn);
        else
            burn((n + 1) * turn);
    }
    return arg;
}

static void *mixed(void *arg)
{
    pthread_setname_np(pthread_self(), "mixed");
    for (;;) {
        burn(now() + 0.001);
        await(now() + 0.001);
    }
    return arg;
}

static void *reader(void *arg)
{
    char byte;
    pthread_setname_np(pthread_self(), "reader");
    while (read(never[0], &byte, 1) >= 0)
        ;
    return arg;
}

static void *sleeper(void *arg)
{
    pthread_setname_np(pthread_self(), "sleeper");
    for (;;)
        sleep(1);
    return arg;
}

static void *burner(void *arg)
{
    pthread_setname_np(pthread_self(), "burner");
    burn(now() + 3600);
    return arg;
}

static bool start(void *(*run)(void *), int n)
{
    pthread_t t;
    while (n-- > 0)
        if (pthread_create(&t, NULL, run, NULL))
            return false;
    return true;
}

int main(int argc, char **argv)
{
    turn = argc > 1 ? atof(argv[1]) : turn;
    if (pipe(never) || !start(worker, 1) || !start(mixed, 1) || !start(reader, 1) ||
        !start(sleeper, argc > 2 ? atoi(argv[2]) : 0) || !start(burner, argc > 3 ? atoi(argv[3]) : 0))
        return 1;
    alarm(3600);
    for (;;)
        pause();
}
