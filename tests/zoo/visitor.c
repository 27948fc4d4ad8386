// SPDX-License-Identifier: GPL-2.0-or-later
/* The library's half of a path that alternates between a program (guest.c) and a library. */
#include "visitor.h"

FRAME uint64_t visitor_tick(uint64_t x)
{
    return x * 6364136223846793005u + 1;
}

static HOT(visitor_hot)
LEVEL(visitor_inner, visitor_hot)

static FRAME uint64_t visitor_middle(uint64_t x, int n, visitor_callback *back)
{
    return back(x, n) + 1;
}

FRAME uint64_t visitor_outer(uint64_t x, int n, visitor_callback *back)
{
    return visitor_middle(x, n, back) + 1;
}
