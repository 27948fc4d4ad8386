// SPDX-License-Identifier: GPL-2.0-or-later
/* spread N ROUNDS PAUSE FAULTS: runs a process on each of the first N online CPUs. In each of ROUNDS rounds (0: endless) it causes
 * FAULTS page faults below fault(), spins a little below spin() and pauses for PAUSE microseconds. */
#define _GNU_SOURCE
#include <sched.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile unsigned sink;

__attribute__((noinline)) void spin(unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        sink += i;
}

__attribute__((noinline)) void fault(volatile char *pages, size_t n)
{
    for (size_t i = 0; i < n; i++)
        pages[i * 4096] = 1;
}

static void rounds(long n, long pause, size_t faults)
{
    char *pages = mmap(NULL, (faults + 1) * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    for (long i = 0; n == 0 || i < n; i++) {
        fault(pages, faults);
        madvise(pages, (faults + 1) * 4096, MADV_DONTNEED);
        spin(3000);
        usleep(pause);
    }
}

int main(int argc, char **argv)
{
    if (argc < 5)
        return 2;
    int left = atoi(argv[1]);
    cpu_set_t online;
    sched_getaffinity(0, sizeof(online), &online);
    for (int cpu = 0; cpu < CPU_SETSIZE && left > 0; cpu++) {
        if (!CPU_ISSET(cpu, &online))
            continue;
        left--;
        if (fork() == 0) {
            cpu_set_t own;
            CPU_ZERO(&own);
            CPU_SET(cpu, &own);
            sched_setaffinity(0, sizeof(own), &own);
            rounds(atol(argv[2]), atol(argv[3]), (size_t)atol(argv[4]));
            _exit(0);
        }
    }
    while (wait(NULL) > 0)
        ;
    return 0;
}
