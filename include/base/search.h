// SPDX-License-Identifier: GPL-2.0-or-later
/* Binary search in sorted arrays of any type, and the order of numbers for qsort(3). */
#ifndef FLAMETOP_BASE_SEARCH_H
#define FLAMETOP_BASE_SEARCH_H

#include <stddef.h>
#include <stdint.h>

/* Returns the first i in [from, to) for which `condition`, an expression of i, is true; `to`: none. `i` is a
 * name of the caller's choice. From the first i for which the condition is true, it must stay true. The
 * number of values in a sorted array that are at most x: `SEARCH_FIRST(i, 0, n, values[i] > x)`. */
#define SEARCH_FIRST(i, from, to, condition)                                                                 \
    ({                                                                                                       \
        size_t search_low_ = (from), search_high_ = (to);                                                    \
        while (search_low_ < search_high_) {                                                                 \
            size_t i = search_low_ + (search_high_ - search_low_) / 2;                                       \
            if (condition)                                                                                   \
                search_high_ = i;                                                                            \
            else                                                                                             \
                search_low_ = i + 1;                                                                         \
        }                                                                                                    \
        search_low_;                                                                                         \
    })

static inline int search_compare_u32(const void *left, const void *right)
{
    uint32_t l = *(const uint32_t *)left, r = *(const uint32_t *)right;

    return l < r ? -1 : l > r;
}
static inline int search_compare_u64(const void *left, const void *right)
{
    uint64_t l = *(const uint64_t *)left, r = *(const uint64_t *)right;

    return l < r ? -1 : l > r;
}

#endif
