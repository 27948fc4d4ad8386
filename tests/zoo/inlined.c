// SPDX-License-Identifier: GPL-2.0-or-later
/* Functions inlined three deep, twice: in the leaf, and in the middle of the path.
 * truth: @start;main;first;second;middle;=into_one;=into_two;=into_three;third;fourth;leaf;=in_one;=in_two;=in_three
 */
#include "zoo.h"

#define INLINE static inline __attribute__((always_inline))

INLINE uint64_t in_three(uint64_t x, int n)
{
    SPIN(x, n);
    return x;
}

INLINE uint64_t in_two(uint64_t x, int n)
{
    return in_three(x, n) + 1;
}

INLINE uint64_t in_one(uint64_t x, int n)
{
    return in_two(x, n) + 1;
}

static LEVEL(leaf, in_one)
static LEVEL(fourth, leaf)
static LEVEL(third, fourth)

INLINE uint64_t into_three(uint64_t x, int n)
{
    return third(x, n) + 1;
}

INLINE uint64_t into_two(uint64_t x, int n)
{
    return into_three(x, n) + 1;
}

INLINE uint64_t into_one(uint64_t x, int n)
{
    return into_two(x, n) + 1;
}

static LEVEL(middle, into_one)
static LEVEL(second, middle)
static LEVEL(first, second)

int main(void)
{
    volatile uint64_t x = 1;
    zoo_ready();
    for (;;)
        x = first(x, LONG);
}
