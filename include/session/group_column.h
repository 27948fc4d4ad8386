// SPDX-License-Identifier: GPL-2.0-or-later
/* Rates per function: latency and parallelism, and from the other events of the group instructions per cycle,
 * miss rates, and plain sums. */
#ifndef FLAMETOP_SESSION_GROUP_COLUMN_H
#define FLAMETOP_SESSION_GROUP_COLUMN_H

#include <stdbool.h>
#include <stdint.h>

enum group_column_kind {
    GROUP_COLUMN_LATENCY, /* with session_config.latency */
    GROUP_COLUMN_PARALLELISM,
    GROUP_COLUMN_IPC,
    GROUP_COLUMN_CACHE_MISS,
    GROUP_COLUMN_BRANCH_MISS,
    GROUP_COLUMN_OTHER_1, /* other pairs that make a rate, then single events */
    GROUP_COLUMN_OTHER_2,
    GROUP_COLUMN_OTHER_3,
    GROUP_COLUMN_OTHER_4,
    GROUP_COLUMN_KINDS
};
#define GROUP_COLUMN_LEAST 10 /* fewest samples for a meaningful rate */

struct view_group_column {
    char title[16]; /* "IPC", "LLC-MISS%", "PAGE-FAULTS"; "": unused */
    enum {
        GROUP_COLUMN_SUM,
        GROUP_COLUMN_RATE,
        GROUP_COLUMN_PERCENT,
        GROUP_COLUMN_SHARE /* of `all`, in percent */
    } unit;
    /* Indices of sums, or GROUP_COLUMN_ITSELF: numerator and denominator. A GROUP_COLUMN_SUM and a
     * GROUP_COLUMN_SHARE have no denominator. */
    int8_t over, under;
    uint64_t all; /* of a share: the sum of all rows */
};
#define GROUP_COLUMN_ITSELF (-1) /* the weight of the shown event */

/* Computes the number from these sums (struct result.group_sums) and this weight. False: too few samples, or
 * the denominator is 0. */
bool group_column_value(const struct view_group_column *b, const uint64_t *sums, uint64_t weight,
                        uint32_t count, double *value);
/* True if the number is an estimate: over half of the weight is from samples for which the group was
 * multiplexed on the PMU. */
bool group_column_is_partial(const uint64_t *sums, uint32_t group_events, uint64_t weight);
/* Formats a value: "0.83", "12.5", "1.2 M". cap: at least 16. */
char *group_column_text(const struct view_group_column *b, double value, char *dst, unsigned cap);

struct session;
struct query;
struct result;
/* Makes the query sum the other events of the shown event's group, and latencies. Under store.lock. */
void group_column_choose(const struct session *s, struct query *q,
                         struct view_group_column out[GROUP_COLUMN_KINDS]);
/* After the query: sets `all` of shares. */
void group_column_total(struct view_group_column columns[GROUP_COLUMN_KINDS], const struct result *r);

#endif
