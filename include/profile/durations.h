// SPDX-License-Identifier: GPL-2.0-or-later
/* Counts durations in buckets of relative width, so that percentiles are known within 3 %, from
 * nanoseconds to days. */
#ifndef FLAMETOP_PROFILE_DURATIONS_H
#define FLAMETOP_PROFILE_DURATIONS_H

#include <stdint.h>

/* 16 buckets per doubling. The last one also has all durations from 2^46 ns (20 hours) on. */
#define DURATION_DOUBLING 16
#define DURATION_BUCKETS  (44 * DURATION_DOUBLING)

/* Buckets by powers of two: 0 has the duration 0, and P has 2^(P - 1) to 2^P - 1 ns. */
#define DURATION_POWERS 48

uint32_t duration_bucket(uint64_t ns);
uint64_t duration_least_ns(uint32_t bucket); /* shortest duration in a bucket; it grows with the bucket */

struct durations { /* zero-initialised: empty */
    uint32_t n, counts[DURATION_BUCKETS];
};
void durations_add(struct durations *d, uint32_t bucket, uint32_t count);
/* Number of durations in a bucket by powers of two; the last one also has all longer ones. */
uint64_t durations_power(const struct durations *d, uint32_t power);
/* The duration that `share` (0 to 1) of all durations do not exceed: the middle of its bucket. 0: there are
 * none. */
uint64_t durations_percentile_ns(const struct durations *d, double share);
/* The same, but not above the longest duration, which may be in the lower half of its bucket. */
uint64_t durations_percentile_below(const struct durations *d, double share, uint64_t max_ns);

#endif
