// SPDX-License-Identifier: GPL-2.0-or-later
/* A load that waits often, and knows how long: rounds SECONDS MICROSECONDS. One thread asks and one replies
 * after this time, through pipes: the first thread waits in first() and second() by turns, equally often. At
 * the end, or after SIGTERM, it prints for each of them, and for "sleeper", which sleeps 50 ms at a time, for
 * how many microseconds it was off the CPU, by its own clocks, and for how long at most at a time: "NAME
 * MICROSECONDS LONGEST", and then "rounds NUMBER". After SIGUSR1 each reply takes 20 ms. */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "load.h"

static int asked[2], answered[2];
static volatile long long end_ns;
static volatile sig_atomic_t answer_us;

/* Time off the CPU so far, of the calling thread. */
static long long off_ns(void)
{
    return now_ns(CLOCK_MONOTONIC) - now_ns(CLOCK_THREAD_CPUTIME_ID);
}

struct waiter {
    long long begun_ns, mark_ns, longest_ns;
};

/* The first mark is from before the thread was created. */
static struct waiter *begin(void *arg, const char *name)
{
    struct waiter *w = arg;
    pthread_setname_np(pthread_self(), name);
    w->begun_ns = off_ns();
    return w;
}

/* The thread runs now: it was off the CPU for no longer than since the last mark. */
static void mark(struct waiter *w)
{
    long long ns = now_ns(CLOCK_MONOTONIC);
    if (ns - w->mark_ns > w->longest_ns)
        w->longest_ns = ns - w->mark_ns;
    w->mark_ns = ns;
}

static void tell(const char *name, struct waiter *w)
{
    mark(w);
    printf("%s %lld %lld\n", name, (off_ns() - w->begun_ns) / 1000, w->longest_ns / 1000);
}

__attribute__((noinline)) static void first(char *byte)
{
    if (read(answered[0], byte, 1) != 1)
        abort();
}

__attribute__((noinline)) static void second(char *byte)
{
    if (read(answered[0], byte, 1) != 1)
        abort();
}

static void sleep_us(long us)
{
    if (us)
        nanosleep(&(struct timespec){ 0, us * 1000 }, NULL);
}

static void *answer(void *arg)
{
    char byte = 0;
    struct waiter *w = begin(arg, "rounds-answer");
    while (byte != 'q') {
        mark(w);
        if (read(asked[0], &byte, 1) != 1)
            abort();
        mark(w);
        sleep_us(answer_us);
        mark(w);
        if (write(answered[1], &byte, 1) != 1)
            abort();
    }
    tell("rounds-answer", w);
    return arg;
}

static void *sleeper(void *arg)
{
    struct waiter *w = begin(arg, "rounds-sleeper");
    while (now_ns(CLOCK_MONOTONIC) < end_ns) {
        mark(w);
        sleep_us(50000);
    }
    tell("rounds-sleeper", w);
    return arg;
}

static void on_signal(int number)
{
    if (number == SIGTERM)
        end_ns = 0;
    else
        answer_us = 20000;
}

static void *ask(void *arg)
{
    long n = 0;
    struct waiter *w = begin(arg, "rounds-ask");
    for (char byte = 'x'; now_ns(CLOCK_MONOTONIC) < end_ns; n++) {
        if (write(asked[1], &byte, 1) != 1)
            abort();
        mark(w);
        if (n % 2)
            second(&byte);
        else
            first(&byte);
        mark(w);
    }
    if (write(asked[1], "q", 1) != 1)
        abort();
    tell("rounds-ask", w);
    printf("rounds %ld\n", n);
    return arg;
}

int main(int argc, char **argv)
{
    static void *(*const work[])(void *) = { answer, sleeper, ask };
    struct waiter waiters[3] = { 0 };
    pthread_t threads[3];
    if (argc < 3 || pipe(asked) || pipe(answered))
        return 1;
    answer_us = atoi(argv[2]);
    signal(SIGUSR1, on_signal);
    signal(SIGTERM, on_signal);
    end_ns = now_ns(CLOCK_MONOTONIC) + (long long)(atof(argv[1]) * 1e9);
    for (int i = 0; i < 3; i++) {
        waiters[i].mark_ns = now_ns(CLOCK_MONOTONIC);
        if (pthread_create(&threads[i], NULL, work[i], &waiters[i]))
            return 1;
    }
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
