// SPDX-License-Identifier: GPL-2.0-or-later
/* Nested address ranges: find the innermost one at an address. */
#ifndef FLAMETOP_SYMBOLS_SPANS_H
#define FLAMETOP_SYMBOLS_SPANS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SPANS_MAX (16u << 20)

struct span {
    uint64_t low, high; /* [low, high) */
    uint32_t what;      /* the caller's number */
};
struct spans { /* zero-initialised is empty */
    struct span *items;
    /* Once sorted: the highest `high` up to and including this item. */
    uint64_t *reach;
    size_t n, cap;
};

/* Add a range; an empty one is left out. False: no memory, or too many. */
bool spans_add(struct spans *s, uint64_t low, uint64_t high, uint32_t what);
/* Prepare for spans_find. False: no memory. */
bool spans_sort(struct spans *s);
/* Find the smallest range that contains the address; of equal ones, the one with the highest number. */
bool spans_find(const struct spans *s, uint64_t address, uint32_t *what);
/* Shrink [*low, *high), which contains the address, until no range begins or ends inside: spans_find then
 * returns the same for all of it. */
void spans_narrow(const struct spans *s, uint64_t address, uint64_t *low, uint64_t *high);
void spans_done(struct spans *s);

#endif
