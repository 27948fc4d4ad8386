// SPDX-License-Identifier: GPL-2.0-or-later
/* Samples over time: counts per row (a thread, a CPU, all of them) and bucket of time. Only buckets with samples take
 * memory, so that many rows that live shortly cost no more than what they have. */
#ifndef FLAMETOP_PROFILE_TIMELINE_H
#define FLAMETOP_PROFILE_TIMELINE_H

#include <stddef.h>
#include <stdint.h>

#include "base/map.h"

#define TIMELINE_BUCKETS_MAX (1u << 20) /* of a row; what is behind them is left out */

#define TIMELINE_PARTS        256 /* that a sample has */
#define TIMELINE_HOLD_BUCKETS 32  /* a sample that stands for more buckets than that is in its own one only */

/* A sample by frequency stands for the time since the one before it. Its parts lie in the buckets of that time, so that
 * a steady load has the same parts in each bucket, whatever the ratio of the interval and the bucket. */
struct timeline_cell {
    uint32_t bucket, count, parts;
};
struct timeline_row {
    uint64_t key, samples;
    struct timeline_cell *cells; /* by bucket */
    uint32_t n;
    size_t cap;
};
struct timeline {            /* zero-initialised at first; its memory is reused */
    uint64_t from_ns, to_ns; /* bucket 0 begins at from_ns; nothing behind to_ns counts, 0: open */
    uint64_t bucket_ns;
    struct timeline_row *rows; /* in the order in which they were met */
    uint32_t n_rows;
    size_t rows_cap;
    struct map index;
    uint64_t samples;
};
void timeline_begin(struct timeline *t, uint64_t from_ns, uint64_t to_ns,
                    uint64_t bucket_ns);                 /* empties it */
uint32_t timeline_row(struct timeline *t, uint64_t key); /* its number; new ones are made */
/* A sample that stands for the `hold_ns` before it; 0: for its own moment. Samples come in order of time, nearly: others
 * cost more. */
void timeline_add(struct timeline *t, uint32_t row, uint64_t time_ns, uint64_t hold_ns);
/* Sums of the samples in `per` buckets each, from bucket `first` on; returns the largest. */
uint32_t timeline_sums(const struct timeline_row *row, uint32_t first, uint32_t per, uint32_t *dst,
                       uint32_t n);
/* The same of the samples' parts: what is drawn. */
uint32_t timeline_parts(const struct timeline_row *row, uint32_t first, uint32_t per, uint32_t *dst,
                        uint32_t n);
void timeline_done(struct timeline *t);

#endif
