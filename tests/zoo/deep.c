// SPDX-License-Identifier: GPL-2.0-or-later
/* Stacks of about 40 KB and of about 60 KB: argv[1] frames of about 500 bytes above one another.
 * truth: @start;main;down+;bottom;last;hot
 */
#include <stdlib.h>

#include "zoo.h"

static HOT(hot)
static LEVEL(last, hot)
static LEVEL(bottom, last)

static FRAME uint64_t down(uint64_t x, int n, int depth)
{
    volatile char space[464];
    space[x % sizeof space] = 1;
    x = depth > 1 ? down(x, n, depth - 1) : bottom(x, n);
    return x + (uint64_t)space[0];
}

int main(int argc, char **argv)
{
    volatile uint64_t x = 1;
    if (argc < 2)
        return 2;
    zoo_ready();
    for (;;)
        x = down(x, 10 * LONG, atoi(argv[1]));
}
