// SPDX-License-Identifier: GPL-2.0-or-later
/* Threads that make a known number of system calls as fast as they can: storm THREADS CALLS. In the end it
 * prints "getppid COUNT", of all threads together. After SIGUSR1 they sleep between two calls. */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#define THREADS_MAX 64

static volatile sig_atomic_t slow;

static void slow_down(int sig)
{
    slow = sig;
}

static void *call(void *n)
{
    for (long i = 0; i < *(long *)n; i++) {
        syscall(SYS_getppid);
        if (slow)
            usleep(50000);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t threads[THREADS_MAX];
    int n_threads = argc > 1 ? atoi(argv[1]) : 0;
    long calls = argc > 2 ? atol(argv[2]) : 0;
    signal(SIGUSR1, slow_down);
    if (n_threads < 1 || n_threads > THREADS_MAX || calls < 1)
        return 2;
    for (int i = 0; i < n_threads; i++)
        if (pthread_create(&threads[i], NULL, call, &calls))
            return 1;
    for (int i = 0; i < n_threads; i++)
        pthread_join(threads[i], NULL);
    printf("getppid %ld\n", n_threads * calls);
    return 0;
}
