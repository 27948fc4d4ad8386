// SPDX-License-Identifier: GPL-2.0-or-later
/* Samples over time: counts per row (a thread, a CPU, all of them) and bucket of time. Only buckets with samples take
 * memory, so that many rows that live shortly cost no more than what they have. */
#ifndef FLAMETOP_PROFILE_TIMELINE_H
#define FLAMETOP_PROFILE_TIMELINE_H

#include <stddef.h>
#include <stdint.h>

#include "base/map.h"

#define TIMELINE_BUCKETS_MAX (1u << 20) /* of a row; what is behind them is left out */

struct timeline_cell {
    uint32_t bucket, count;
};
struct timeline_row {
    uint64_t key, samples;
    struct timeline_cell *cells; /* by bucket */
    uint32_t n;
    size_t cap;
};
struct timeline { /* zero-initialised at first; its memory is reused */
    uint64_t from_ns, to_ns; /* bucket 0 begins at from_ns; nothing behind to_ns counts, 0: open */
    uint64_t bucket_ns;
    struct timeline_row *rows; /* in the order in which they were met */
    uint32_t n_rows;
    size_t rows_cap;
    struct map index;
    uint64_t samples;
};
void timeline_begin(struct timeline *t, uint64_t from_ns, uint64_t to_ns, uint64_t bucket_ns); /* empties it */
uint32_t timeline_row(struct timeline *t, uint64_t key); /* its number; new ones are made */
/* Samples come in order of time, nearly: others cost more. */
void timeline_add(struct timeline *t, uint32_t row, uint64_t time_ns);
/* Sums of `per` buckets each, from bucket `first` on; returns the largest. */
uint32_t timeline_sums(const struct timeline_row *row, uint32_t first, uint32_t per, uint32_t *dst, uint32_t n);
void timeline_done(struct timeline *t);

#endif
