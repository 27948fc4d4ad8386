// SPDX-License-Identifier: GPL-2.0-or-later
/* Calls a library that calls back, and calls its smallest function so often that the PLT entry is sampled.
 * truth: @start;main;first;second;third;visitor_outer;visitor_middle;called_back;visitor_inner;visitor_hot
 * truth: @start;main;first;second;third;fourth;fifth;sixth;ticking;visitor_tick@plt
 * truth: @start;main;first;second;third;fourth;fifth;sixth;ticking;visitor_tick
 * truth: @start;main;first;second;third;visitor_outer@plt
 * truth: @start;main;first;second;third;visitor_outer;visitor_middle;called_back;visitor_inner@plt
 */
#include "visitor.h"

static FRAME uint64_t ticking(uint64_t x, int n)
{
    for (int i = 0; i < n / 2; i++)
        x = visitor_tick(x);
    return x;
}

static LEVEL(sixth, ticking)
static LEVEL(fifth, sixth)
static LEVEL(fourth, fifth)
static LEVEL(called_back, visitor_inner)

static FRAME uint64_t third(uint64_t x, int n)
{
    return visitor_outer(x, n, called_back) + fourth(x, n);
}

static LEVEL(second, third)
static LEVEL(first, second)

int main(void)
{
    volatile uint64_t x = 1;
    zoo_ready();
    for (;;)
        x = first(x, LONG);
}
