// SPDX-License-Identifier: GPL-2.0-or-later
/* Binary search in sorted arrays of any type. */
#ifndef FLAMETOP_BASE_SEARCH_H
#define FLAMETOP_BASE_SEARCH_H

#include <stddef.h>

/* Returns the first i in [from, to) for which `condition`, an expression of i, is true; `to` if there is none.
 * `i` is a name of the caller's choice. From the first i for which the condition is true, it must stay true.
 * The number of values in a sorted array that are at most x: `SEARCH_FIRST(i, 0, n, values[i] > x)`. */
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

#endif
