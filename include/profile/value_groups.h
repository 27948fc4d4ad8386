// SPDX-License-Identifier: GPL-2.0-or-later
/* Counts values in groups, by a text key. If the values have a number: also its sum, extremes and
 * distribution. */
#ifndef FLAMETOP_PROFILE_VALUE_GROUPS_H
#define FLAMETOP_PROFILE_VALUE_GROUPS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/map.h"
#include "base/mem.h"
#include "profile/durations.h"

#define VALUE_GROUPS_MAX 10000 /* values with other keys are counted in `other` */

struct value_number { /* two's complement; not negative: up to UINT64_MAX */
    uint64_t bits;
    bool is_negative;
};
struct value_group {
    const char *key; /* valid as long as the groups; of `all` and `other` "" */
    uint64_t hash;   /* of the key: stable identity */
    uint64_t count;
    uint64_t numbers;        /* how many of them have a number */
    uint64_t below;          /* how many numbers are negative */
    uint64_t plus, minus;    /* sums of the absolute numbers, which stay at UINT64_MAX */
    struct value_number max; /* if there are numbers */
    struct durations *sizes; /* of the numbers that are not negative; NULL: there are none */
};
struct value_groups { /* zero-initialise */
    VEC(struct value_group) groups;
    struct value_group all, other;
    struct map by_hash; /* private */
    struct arena strings;
};
/* Counts a value; number NULL: it has none. */
void value_groups_add(struct value_groups *g, const char *key, const struct value_number *number);
void value_groups_clear(struct value_groups *g);
void value_groups_done(struct value_groups *g);

/* Sum of the numbers, rounded. */
double value_group_sum(const struct value_group *g);
/* Appends the sum or a number in digits; a sum that is too large follows a '>'. */
void value_group_put_sum(const struct value_group *g, struct buf *out);
void value_number_put(const struct value_number *n, struct buf *out);
/* The number that `share` (0 to 1) of the numbers do not exceed, exact to 3 %. False: it is negative, or
 * there are no numbers. */
bool value_group_percentile(const struct value_group *g, double share, uint64_t *number);

#endif
