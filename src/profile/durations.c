// SPDX-License-Identifier: GPL-2.0-or-later
#include "profile/durations.h"

#define SHIFT 4 /* log2 of DURATION_DOUBLING */

uint32_t duration_bucket(uint64_t ns)
{
    if (ns < DURATION_DOUBLING)
        return (uint32_t)ns;
    uint32_t top = 63 - (uint32_t)__builtin_clzll(ns); /* the highest bit */
    uint32_t bucket =
        (top - SHIFT + 1) << SHIFT | ((uint32_t)(ns >> (top - SHIFT)) & (DURATION_DOUBLING - 1));
    return bucket < DURATION_BUCKETS ? bucket : DURATION_BUCKETS - 1;
}

uint64_t duration_least_ns(uint32_t bucket)
{
    uint32_t doubling = bucket >> SHIFT;
    uint64_t part = bucket & (DURATION_DOUBLING - 1);
    return doubling ? (DURATION_DOUBLING + part) << (doubling - 1) : part;
}

void durations_add(struct durations *d, uint32_t bucket, uint32_t count)
{
    d->counts[bucket < DURATION_BUCKETS ? bucket : DURATION_BUCKETS - 1] += count;
    d->n += count;
}

uint64_t durations_power(const struct durations *d, uint32_t power)
{
    uint64_t n = 0;
    uint32_t from = power ? duration_bucket(UINT64_C(1) << (power - 1)) : 0;
    uint32_t to = power + 1 < DURATION_POWERS ? duration_bucket(UINT64_C(1) << power) : DURATION_BUCKETS;
    for (uint32_t i = from; i < to; i++)
        n += d->counts[i];
    return n;
}

uint64_t durations_percentile_ns(const struct durations *d, double share)
{
    double wanted = share * (double)d->n;
    uint64_t seen = 0;
    for (uint32_t i = 0; i < DURATION_BUCKETS; i++) {
        seen += d->counts[i];
        if (seen && (double)seen >= wanted)
            return (duration_least_ns(i) + duration_least_ns(i + 1)) / 2;
    }
    return 0;
}

uint64_t durations_percentile_below(const struct durations *d, double share, uint64_t max_ns)
{
    uint64_t ns = durations_percentile_ns(d, share);
    return ns < max_ns ? ns : max_ns;
}
