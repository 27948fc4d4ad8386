// SPDX-License-Identifier: GPL-2.0-or-later
/* What each row (a thread) did over time: spans of time by kind.
 *
 * A kind is a number; the caller says what it means (session/timeline_query.h). Times that no span covers are
 * unknown. */
#ifndef FLAMETOP_PROFILE_ACTIVITY_H
#define FLAMETOP_PROFILE_ACTIVITY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ACTIVITY_KINDS 32

/* The row did this for ns of the time between from_ns and to_ns, evenly spread as far as anyone knows. */
struct activity_span {
    uint64_t from_ns, to_ns, ns;
    uint32_t kind;
};
struct activity_row {
    struct activity_span *spans; /* nearly by to_ns */
    uint32_t n;
    size_t cap;
    struct activity_span open; /* what it has been doing since, up to now; ns 0: unknown */
};
/* Zero-initialised at first; its memory is reused. */
struct activity {
    uint64_t from_ns, to_ns, bucket_ns; /* as in struct timeline */
    struct activity_row *rows;
    uint32_t n_rows;
    size_t rows_cap;
};
/* Empties it. Spans of one kind within a bucket may be merged. */
void activity_begin(struct activity *a, uint64_t from_ns, uint64_t to_ns, uint64_t bucket_ns);
/* Adds a span to a row, which is created if it is new. Parts before from_ns and after to_ns are left out. */
void activity_add(struct activity *a, uint32_t row, struct activity_span span);
void activity_set_open(struct activity *a, uint32_t row, struct activity_span span);
/* The time of each kind in [from, from + step), for n consecutive steps: dst[n][ACTIVITY_KINDS]. */
void activity_sums(const struct activity_row *row, uint64_t from_ns, uint64_t step_ns,
                   uint64_t (*dst)[ACTIVITY_KINDS], uint32_t n);
/* Returns false for a row without any span; else the time from the first one to the end of the last. */
bool activity_extent(const struct activity_row *row, uint64_t *from_ns, uint64_t *to_ns);
void activity_done(struct activity *a);

#endif
