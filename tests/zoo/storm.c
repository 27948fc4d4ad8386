// SPDX-License-Identifier: GPL-2.0-or-later
/* Endless signals: sampled in the handler, and in the kernel on the way to it and back.
 * truth: @start;main;first;second;third;storming;*
 */
#include <signal.h>

#include "zoo.h"

static volatile uint64_t caught;

static void on_signal(int number)
{
    uint64_t x = (uint64_t)number;
    SPIN(x, 10 * SHORT);
    caught = x;
}

static FRAME uint64_t storming(uint64_t x, int n)
{
    for (int i = 0; i < n; i++)
        x += (uint64_t)raise(SIGUSR1);
    return x;
}

static LEVEL(third, storming)
static LEVEL(second, third)
static LEVEL(first, second)

int main(void)
{
    volatile uint64_t x = 1;
    signal(SIGUSR1, on_signal);
    zoo_ready();
    for (;;)
        x = first(x, 100);
}
