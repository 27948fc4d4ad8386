// SPDX-License-Identifier: GPL-2.0-or-later
/* Ranges of addresses that nest, and the innermost one at an address. */
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
    uint64_t *reach; /* the highest `high` up to and with this one, once sorted */
    size_t n, cap;
};

/* An empty range is left out. False: no memory, or too many. */
bool spans_add(struct spans *s, uint64_t low, uint64_t high, uint32_t what);
/* Makes it ready for spans_find. False: no memory. */
bool spans_sort(struct spans *s);
/* The smallest range that holds the address; among equal ones the one with the highest number. */
bool spans_find(const struct spans *s, uint64_t address, uint32_t *what);
/* Makes [*low, *high), which holds the address, so small that no range begins or ends inside it: spans_find gives the
 * same for all that is left. */
void spans_narrow(const struct spans *s, uint64_t address, uint64_t *low, uint64_t *high);
size_t spans_bytes(const struct spans *s);
void spans_done(struct spans *s);

#endif
