// SPDX-License-Identifier: GPL-2.0-or-later
/* Burns CPU time in short threads (argv[1] "threads") or child processes ("forks"), one after the other, each
 * of argv[2] microseconds of CPU time, until it is killed. "family": a child and its thread, which existed
 * before sampling, burn instead. */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static long burn_us;

static long cpu_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

__attribute__((noinline)) void *burn(void *arg)
{
    volatile long n = 0;
    for (long end = cpu_us() + burn_us; cpu_us() < end;)
        for (int i = 0; i < 1000; i++)
            n += i;
    return arg;
}

static void run_thread(void)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, burn, NULL))
        exit(1);
    pthread_join(thread, NULL);
}

static void run_child(void)
{
    pid_t pid = fork();
    if (!pid) {
        burn(NULL);
        _exit(0);
    }
    waitpid(pid, NULL, 0);
}

__attribute__((noinline)) void *burn_for_ever(void *arg)
{
    for (;;)
        burn(arg);
}

static void run_family(void)
{
    if (fork()) {
        puts("ready");
        fflush(stdout);
        for (;;)
            pause();
    }
    pthread_t thread;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    pthread_create(&thread, NULL, burn_for_ever, NULL);
    burn_for_ever(NULL);
}

int main(int argc, char **argv)
{
    if (argc < 3)
        return 1;
    burn_us = atol(argv[2]);
    if (!strcmp(argv[1], "family"))
        run_family();
    puts("ready");
    fflush(stdout);
    for (;;)
        if (!strcmp(argv[1], "threads"))
            run_thread();
        else
            run_child();
}
