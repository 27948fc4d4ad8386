// SPDX-License-Identifier: GPL-2.0-or-later
/* Rates from the other events of the group, per function: instructions per cycle, miss rates, and plain
 * sums. */
#ifndef FLAMETOP_SESSION_BESIDE_H
#define FLAMETOP_SESSION_BESIDE_H

#include <stdbool.h>
#include <stdint.h>

enum beside_kind {
    BESIDE_IPC,
    BESIDE_CACHE_MISS,
    BESIDE_BRANCH_MISS,
    BESIDE_OTHER_1, /* other pairs that make a rate, then single events */
    BESIDE_OTHER_2,
    BESIDE_OTHER_3,
    BESIDE_OTHER_4,
    BESIDE_KINDS
};
#define BESIDE_LEAST 10 /* fewest samples for a meaningful rate */

struct view_beside {
    char title[16]; /* "IPC", "LLC-MISS%", "PAGE-FAULTS"; "": unused */
    enum { BESIDE_SUM, BESIDE_RATE, BESIDE_PERCENT } unit;
    /* Indices of sums, or BESIDE_ITSELF: numerator and denominator. A BESIDE_SUM has no denominator. */
    int8_t over, under;
};
#define BESIDE_ITSELF (-1) /* the weight of the shown event */

/* Computes the number from these sums (struct result.beside) and this weight. False: too few samples, or
 * the denominator is 0. */
bool beside_value(const struct view_beside *b, const uint64_t *sums, uint64_t weight, uint32_t count,
                  double *value);
/* True if the number is an estimate: over half of the weight is from samples for which the group was
 * multiplexed on the PMU. */
bool beside_is_partly(const uint64_t *sums, uint32_t besides, uint64_t weight);
/* Formats a value: "0.83", "12.5", "1.2 M". cap: at least 16. */
char *beside_text(const struct view_beside *b, double value, char *dst, unsigned cap);

struct session;
struct query;
/* Makes the query sum the other events of the shown event's group. Under the session's lock. */
void beside_choose(const struct session *s, struct query *q, struct view_beside out[BESIDE_KINDS]);

#endif
