// SPDX-License-Identifier: GPL-2.0-or-later
/* Shared by the programs of the zoo. Each of them states its true stacks in lines that tests/lib/zoo.py reads. */
#ifndef ZOO_H
#define ZOO_H

#include <stdint.h>
#include <stdio.h>

/* A function that the compiler does not inline, clone, split, or analyse for its callers; built with
 * -fno-optimize-sibling-calls. */
#if defined __clang__
#define FRAME __attribute__((noinline))
#else
#define FRAME __attribute__((noipa))
#endif
/* Keeps a value in a register. */
#define KEEP(x) __asm__ volatile("" : "+r"(x))

#define SPIN(x, n)                                                                                                   \
    for (int spin_ = 0; spin_ < (n); spin_++) {                                                                      \
        (x) ^= (x) << 13;                                                                                            \
        (x) ^= (x) >> 7;                                                                                             \
        (x) ^= (x) << 17;                                                                                            \
    }
#define HOT(name)                                                                                                    \
    FRAME uint64_t name(uint64_t x, int n)                                                                           \
    {                                                                                                                \
        SPIN(x, n);                                                                                                  \
        return x;                                                                                                    \
    }
/* A step of a path. */
#define LEVEL(name, below)                                                                                           \
    FRAME uint64_t name(uint64_t x, int n)                                                                           \
    {                                                                                                                \
        return below(x, n) + 1;                                                                                      \
    }
#define LONG 200000 /* iterations: a good part of a millisecond, so that the rest is negligible */
#define SHORT 20    /* so few that prologues and epilogues are sampled too */

static inline void zoo_ready(void)
{
    puts("ready");
    fflush(stdout);
}

#endif
