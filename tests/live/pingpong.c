// SPDX-License-Identifier: GPL-2.0-or-later
/* Two processes that wake each other: pingpong ROUNDS. In each round ping() works for 2 ms, wakes the other
 * process through a pipe, and waits for it; pong() waits, works for 2 ms, and wakes the first one. Both are
 * this program, mapped at different addresses. At the end each prints how often it waited in that function,
 * as the kernel counts it: "ping WAITS", "pong WAITS". They end with the process that started them. */
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static volatile unsigned long sum;

/* Until then the other process waits. */
static void work(void)
{
    struct timespec t, end;
    clock_gettime(CLOCK_MONOTONIC, &end);
    end.tv_nsec += 2000000;
    do {
        sum++;
        clock_gettime(CLOCK_MONOTONIC, &t);
    } while (t.tv_sec == end.tv_sec ? t.tv_nsec < end.tv_nsec
                                    : (t.tv_sec - end.tv_sec) * 1000000000 + t.tv_nsec < end.tv_nsec);
}

static void fail(const char *what)
{
    perror(what);
    exit(1);
}

__attribute__((noinline)) void ping(int from, int to, int rounds)
{
    char c = 0;
    for (int i = 0; i < rounds; i++) {
        work();
        if (write(to, &c, 1) != 1 || read(from, &c, 1) != 1)
            fail("ping");
    }
}

__attribute__((noinline)) void pong(int from, int to, int rounds)
{
    char c = 0;
    for (int i = 0; i < rounds; i++) {
        if (read(from, &c, 1) != 1)
            fail("pong");
        work();
        if (write(to, &c, 1) != 1)
            fail("pong");
    }
}

/* Each process has only its own ends of the pipes: without the other one, it ends. */
static void begin_other(const char *self, const int there[2], const int back[2], const char *rounds)
{
    char ends[2][16];
    snprintf(ends[0], sizeof ends[0], "%d", there[0]);
    snprintf(ends[1], sizeof ends[1], "%d", back[1]);
    if (!fork()) {
        close(there[1]);
        close(back[0]);
        execl(self, self, rounds, ends[0], ends[1], (char *)NULL);
        fail("exec");
    }
    close(there[0]);
    close(back[1]);
}

static long waits(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_nvcsw;
}

int main(int argc, char **argv)
{
    int there[2], back[2], rounds = argc > 1 ? atoi(argv[1]) : 100;
    if (argc == 4) {
        prctl(PR_SET_NAME, "pong");
        long before = waits();
        pong(atoi(argv[2]), atoi(argv[3]), rounds);
        printf("pong %ld\n", waits() - before);
        return 0;
    }
    if (pipe(there) || pipe(back))
        fail("pipe");
    prctl(PR_SET_NAME, "ping");
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    begin_other(argv[0], there, back, argc > 1 ? argv[1] : "100");
    long before = waits();
    ping(back[0], there[1], rounds);
    printf("ping %ld\n", waits() - before);
    fflush(stdout);
    wait(NULL);
    return 0;
}
