// SPDX-License-Identifier: GPL-2.0-or-later
/* Counts samples over time, per row (a thread, a CPU, or all) and time bucket.
 *
 * Only buckets with samples use memory, so that many short-lived rows stay cheap. */
#ifndef FLAMETOP_PROFILE_TIMELINE_H
#define FLAMETOP_PROFILE_TIMELINE_H

#include <stddef.h>
#include <stdint.h>

#include "base/map.h"

#define TIMELINE_BUCKETS_MAX (1u << 20) /* of a row; later samples are left out */

#define TIMELINE_PARTS        256 /* parts of one sample */
#define TIMELINE_HOLD_BUCKETS 32  /* a sample that covers more buckets is counted only in its own */

/* A sample at a frequency covers the time since the previous one. Its parts are spread over the buckets
 * of that time, so that a steady load has equal parts in each bucket, whatever the ratio of interval to
 * bucket. */
struct timeline_cell {
    uint32_t bucket, count, parts;
};
struct timeline_row {
    uint64_t key, samples;
    struct timeline_cell *cells; /* by bucket */
    uint32_t n;
    size_t cap;
};
/* Zero-initialised at first; its memory is reused. */
struct timeline {
    uint64_t from_ns, to_ns; /* bucket 0 begins at from_ns; samples after to_ns are ignored; 0: open */
    uint64_t bucket_ns;
    struct timeline_row *rows; /* in order of creation */
    uint32_t n_rows;
    size_t rows_cap;
    struct map index;
    uint64_t samples;
};
/* Empties it. */
void timeline_begin(struct timeline *t, uint64_t from_ns, uint64_t to_ns, uint64_t bucket_ns);
uint32_t timeline_row(struct timeline *t, uint64_t key); /* returns its number; creates new rows */
/* Adds a sample that covers `hold_ns` up to its time; 0: only its own moment. Samples must be nearly in
 * order of time: others are expensive. */
void timeline_add(struct timeline *t, uint32_t row, uint64_t time_ns, uint64_t hold_ns);
/* Adds n samples of this moment. */
void timeline_add_many(struct timeline *t, uint32_t row, uint64_t time_ns, uint32_t n);
/* Sums the samples of `per` buckets each, from bucket `first` on. Returns the largest sum. */
uint32_t timeline_sums(const struct timeline_row *row, uint32_t first, uint32_t per, uint32_t *dst,
                       uint32_t n);
/* The same for the samples' parts, which the chart shows. */
uint32_t timeline_parts(const struct timeline_row *row, uint32_t first, uint32_t per, uint32_t *dst,
                        uint32_t n);
void timeline_done(struct timeline *t);

#endif
