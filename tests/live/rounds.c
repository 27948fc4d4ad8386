// SPDX-License-Identifier: GPL-2.0-or-later
/* A load that waits often, and knows how long: rounds SECONDS MICROSECONDS. A thread asks and another replies
 * after this time, through pipes: the first thread waits in first() and second() by turns, equally often. At
 * the end it prints for each of them, and for "sleeper", which sleeps 50 ms at a time, for how many
 * microseconds it was off the CPU, by its own clocks: "NAME MICROSECONDS", and then "rounds NUMBER". After
 * SIGUSR1 each reply takes 20 ms. */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static int asked[2], answered[2];
static long long end_ns;
static volatile sig_atomic_t answer_us;

static long long now_ns(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return t.tv_sec * 1000000000LL + t.tv_nsec;
}

/* Time off the CPU so far, of the calling thread. */
static long long off_ns(void)
{
    return now_ns(CLOCK_MONOTONIC) - now_ns(CLOCK_THREAD_CPUTIME_ID);
}

static void tell(const char *name, long long begun_ns)
{
    printf("%s %lld\n", name, (off_ns() - begun_ns) / 1000);
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
    nanosleep(&(struct timespec){ 0, us * 1000 }, NULL);
}

static void *answer(void *arg)
{
    char byte;
    long long begun_ns = off_ns();
    pthread_setname_np(pthread_self(), "answer");
    while (read(asked[0], &byte, 1) == 1 && byte != 'q') {
        sleep_us(answer_us);
        if (write(answered[1], &byte, 1) != 1)
            abort();
    }
    tell("answer", begun_ns);
    return arg;
}

static void *sleeper(void *arg)
{
    long long begun_ns = off_ns();
    pthread_setname_np(pthread_self(), "sleeper");
    while (now_ns(CLOCK_MONOTONIC) < end_ns)
        sleep_us(50000);
    tell("sleeper", begun_ns);
    return arg;
}

static void on_signal(int number)
{
    (void)number;
    answer_us = 20000;
}

static long ask(void)
{
    long n = 0;
    for (char byte = 'x'; now_ns(CLOCK_MONOTONIC) < end_ns; n++) {
        if (write(asked[1], &byte, 1) != 1)
            abort();
        if (n % 2)
            second(&byte);
        else
            first(&byte);
    }
    return n;
}

int main(int argc, char **argv)
{
    pthread_t threads[2];
    if (argc < 3 || pipe(asked) || pipe(answered))
        return 1;
    answer_us = atoi(argv[2]);
    signal(SIGUSR1, on_signal);
    end_ns = now_ns(CLOCK_MONOTONIC) + (long long)(atof(argv[1]) * 1e9);
    pthread_setname_np(pthread_self(), "ask");
    if (pthread_create(&threads[0], NULL, answer, NULL) || pthread_create(&threads[1], NULL, sleeper, NULL))
        return 1;
    long long begun_ns = off_ns();
    long n = ask();
    tell("ask", begun_ns);
    if (write(asked[1], "q", 1) != 1)
        return 1;
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    printf("rounds %ld\n", n);
    return 0;
}
