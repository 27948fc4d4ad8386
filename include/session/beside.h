// SPDX-License-Identifier: GPL-2.0-or-later
/* What the other events of a group tell of the functions in which its samples were taken: instructions per cycle, miss
 * rates, and the plain numbers of whatever else was counted. */
#ifndef FLAMETOP_SESSION_BESIDE_H
#define FLAMETOP_SESSION_BESIDE_H

#include <stdbool.h>
#include <stdint.h>

enum beside_kind {
    BESIDE_IPC,
    BESIDE_CACHE_MISS,
    BESIDE_BRANCH_MISS,
    BESIDE_OTHER_1, /* other pairs that make a rate, then events that make none */
    BESIDE_OTHER_2,
    BESIDE_OTHER_3,
    BESIDE_OTHER_4,
    BESIDE_KINDS
};
#define BESIDE_LEAST 10 /* samples below which a rate says nothing */

struct view_beside {
    char title[16]; /* "IPC", "LLC-MISS%", "PAGE-FAULTS"; "": there is no such number */
    enum { BESIDE_SUM, BESIDE_RATE, BESIDE_PERCENT } unit;
    int8_t over, under; /* which of the sums, or BESIDE_ITSELF; under: unless it is a sum */
};
#define BESIDE_ITSELF (-1) /* the weight of the event that is shown */

/* The number for something with these sums (struct result.beside) and this weight; false: too few samples, or nothing
 * below the line. */
bool beside_value(const struct view_beside *b, const uint64_t *sums, uint64_t weight, uint32_t count,
                  double *value);
/* More than half of the weight is of samples before which the group had to share the PMU: the number is an estimate. */
bool beside_is_partly(const uint64_t *sums, uint32_t besides, uint64_t weight);
/* "0.83", "12.5", "1.2 M"; cap at least 16. */
char *beside_text(const struct view_beside *b, double value, char *dst, unsigned cap);

struct session;
struct query;
/* Under the session's lock: the events of the group of the one that is shown are summed up beside it. */
void beside_choose(const struct session *s, struct query *q, struct view_beside out[BESIDE_KINDS]);

#endif
