// SPDX-License-Identifier: GPL-2.0-or-later
/* A load with a known number of page faults: rounds of touching new pages, and of computing, which causes none and takes
 * a quarter of the time. argv[1] rounds (0: endless); at the end it prints the number of pages touched. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define PAGES  4000
#define AGAIN  20 /* per round, so that a round is longer than a sampling period */

static volatile uint64_t sink;

static uint64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

__attribute__((noinline)) void compute(uint64_t until_ns)
{
    while (now_ns() < until_ns)
        for (uint64_t i = 0; i < 1000000; i++)
            sink += i;
}

__attribute__((noinline)) void touch_pages(char *pages, size_t page)
{
    for (size_t i = 0; i < PAGES; i++)
        pages[i * page] = 1;
}

int main(int argc, char **argv)
{
    long rounds = argc > 1 ? atol(argv[1]) : 1;
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    for (long i = 0; rounds == 0 || i < rounds; i++) {
        uint64_t began_ns = now_ns(), ended_ns;
        for (int k = 0; k < AGAIN; k++) {
            char *pages = mmap(NULL, PAGES * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
            if (pages == MAP_FAILED)
                return 1;
            madvise(pages, PAGES * page, MADV_NOHUGEPAGE);
            touch_pages(pages, page);
            munmap(pages, PAGES * page);
        }
        ended_ns = now_ns();
        compute(ended_ns + (ended_ns - began_ns) / 4);
    }
    printf("touched %ld\n", rounds * PAGES * AGAIN);
    return 0;
}
