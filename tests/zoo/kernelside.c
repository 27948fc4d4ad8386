// SPDX-License-Identifier: GPL-2.0-or-later
/* Sampled in the kernel (reads of /dev/zero) and in the vdso, far down a path.
 * truth: @start;main;first;second;third;fourth;fifth;sixth;reading;~.*read.*;*
 * truth: @start;main;first;second;third;fourth;fifth;sixth;timing;~.*clock_gettime.*;*
 */
#include <fcntl.h>
#include <time.h>
#include <unistd.h>

#include "zoo.h"

static int zero;
static char space[65536];

static FRAME uint64_t reading(uint64_t x, int n)
{
    for (int i = 0; i < n; i++)
        x += (uint64_t)read(zero, space, sizeof space);
    return x;
}

static FRAME uint64_t timing(uint64_t x, int n)
{
    struct timespec now;
    for (int i = 0; i < n * 100; i++) {
        clock_gettime(CLOCK_MONOTONIC, &now);
        x += (uint64_t)now.tv_nsec;
    }
    return x;
}

static FRAME uint64_t sixth(uint64_t x, int n)
{
    return timing(x, n) + reading(x, n);
}

static LEVEL(fifth, sixth)
static LEVEL(fourth, fifth)
static LEVEL(third, fourth)
static LEVEL(second, third)
static LEVEL(first, second)

int main(void)
{
    volatile uint64_t x = 1;
    zero = open("/dev/zero", O_RDONLY);
    if (zero < 0)
        return 1;
    zoo_ready();
    for (;;)
        x = first(x, 100);
}
