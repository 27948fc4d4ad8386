// SPDX-License-Identifier: GPL-2.0-or-later
/* Compiled with different PLUGINs: libraries of the same size, loaded and unloaded at the same address. ORDER changes
 * the order of functions, so that the table of one gives wrong names for the other. */
#include "zoo.h"

#define PASTE(a, b) a##_##b
#define NAMED(a, b) PASTE(a, b)
#define NAME(of) NAMED(PLUGIN, of)

uint64_t NAME(hot)(uint64_t x, int n);
uint64_t NAME(fourth)(uint64_t x, int n);
uint64_t NAME(third)(uint64_t x, int n);
uint64_t NAME(second)(uint64_t x, int n);
uint64_t plugin_run(uint64_t x, int n);

#if ORDER
HOT(NAME(hot))
LEVEL(NAME(fourth), NAME(hot))
LEVEL(NAME(third), NAME(fourth))
LEVEL(NAME(second), NAME(third))
#else
FRAME uint64_t NAME(second)(uint64_t x, int n)
{
    volatile char space[200];
    space[x % sizeof space] = 1;
    return NAME(third)(x, n) + (uint64_t)space[0];
}
LEVEL(NAME(third), NAME(fourth))
LEVEL(NAME(fourth), NAME(hot))
HOT(NAME(hot))
#endif
LEVEL(plugin_run, NAME(second))
