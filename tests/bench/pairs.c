// SPDX-License-Identifier: GPL-2.0-or-later
/* A load that switches: pairs ROUNDS SECONDS [PAIRS]. In each pair of processes one asks and one replies
 * through pipes, ROUNDS times per second and pair (0: as often as possible); a round has two switches on one
 * CPU. Prints the rounds per second of all pairs, the CPU time per round, and the switches per round. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void answer(int from, int to)
{
    char byte;
    while (read(from, &byte, 1) == 1 && write(to, &byte, 1) == 1)
        ;
    _exit(0);
}

static long ask(int to, int from, double rate, double seconds)
{
    double start = now_s(), end = start + seconds;
    long n = 0;
    char byte = 'x';
    for (double now = start; now < end; now = now_s()) {
        if (write(to, &byte, 1) != 1 || read(from, &byte, 1) != 1)
            abort();
        double ahead = rate > 0 ? start + (double)++n / rate - now : (n++, 0);
        if (ahead > 0.002)
            nanosleep(&(struct timespec){ 0, (long)(ahead * 1e9) }, NULL);
    }
    return n;
}

static void pair(double rate, double seconds, int report)
{
    int asked[2], answered[2];
    if (pipe(asked) || pipe(answered))
        abort();
    if (fork() == 0) {
        close(asked[1]);
        answer(asked[0], answered[1]);
    }
    long n = ask(asked[1], answered[0], rate, seconds);
    close(asked[1]);
    wait(NULL);
    if (write(report, &n, sizeof n) != sizeof n)
        abort();
    _exit(0);
}

int main(int argc, char **argv)
{
    double rate = argc > 1 ? atof(argv[1]) : 0, seconds = argc > 2 ? atof(argv[2]) : 5;
    int pairs = argc > 3 ? atoi(argv[3]) : 1, report[2];
    long all = 0, n;
    struct rusage used;
    if (pipe(report))
        abort();
    for (int i = 0; i < pairs; i++)
        if (fork() == 0)
            pair(rate, seconds, report[1]);
    close(report[1]);
    while (read(report[0], &n, sizeof n) == sizeof n)
        all += n;
    while (wait(NULL) > 0)
        ;
    getrusage(RUSAGE_CHILDREN, &used);
    double cpu_us = (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) * 1e6 +
                    (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec);
    printf("%.0f rounds/s  %.3f us/round  %.2f switches/round\n", (double)all / seconds, cpu_us / (double)all,
           (double)(used.ru_nvcsw + used.ru_nivcsw) / (double)all);
    return 0;
}
