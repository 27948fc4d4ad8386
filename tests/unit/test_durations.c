// SPDX-License-Identifier: GPL-2.0-or-later
#include <string.h>

#include "profile/wait_summary.h"
#include "unit_test.h"

TEST(a_duration_is_in_its_bucket)
{
    for (uint64_t ns = 0; ns < UINT64_C(1) << 45; ns += 1 + ns / 7) {
        uint32_t bucket = duration_bucket(ns);
        assert_true(duration_least_ns(bucket) <= ns && ns < duration_least_ns(bucket + 1));
    }
    assert_int_equal(duration_bucket(UINT64_MAX), DURATION_BUCKETS - 1);
}

TEST(buckets_are_narrow)
{
    for (uint32_t i = DURATION_DOUBLING; i + 1 < DURATION_BUCKETS; i++) {
        double from = (double)duration_least_ns(i), to = (double)duration_least_ns(i + 1);
        assert_true(to > from && (to - from) / 2 <= 0.032 * from);
    }
}

TEST(percentiles)
{
    struct durations d = { 0 };
    assert_int_equal(durations_percentile_ns(&d, 0.5), 0);
    for (uint64_t us = 1; us <= 1000; us++)
        durations_add(&d, duration_bucket(us * 1000), 1);
    assert_in_range(durations_percentile_ns(&d, 0.5), 485000, 515000);
    assert_in_range(durations_percentile_ns(&d, 0.99), 960000, 1020000);
    assert_in_range(durations_percentile_ns(&d, 0), 1, 1100);
    durations_add(&d, UINT32_MAX, 1); /* of a damaged file: the last bucket */
    assert_int_equal(d.counts[DURATION_BUCKETS - 1], 1);
}

TEST(a_summary_survives)
{
    struct wait_summary w = { WAIT_SUMMARY_MAGIC, 'D', 2, 100, 700, 900, { { 5, 3 }, { 80, 1 } } }, back;
    unsigned char bytes[sizeof w + 1];
    memcpy(bytes + 1, &w, sizeof w); /* payloads may be at any address */
    wait_summary_read(&back, bytes + 1, wait_summary_size(&w), 1000);
    assert_memory_equal(&back, &w, wait_summary_size(&w));
    assert_false(wait_summary_is_plain(&back, 1000));
}

TEST(anything_else_is_one_wait)
{
    struct wait_summary w = { WAIT_SUMMARY_MAGIC, 'S', 1, 100, 700, 900, { { 5, 3 } } }, back;
    uint32_t size = wait_summary_size(&w);
    struct wait_summary wrong[] = { w, w, w };
    wrong[0].magic++;
    wrong[1].n = DURATION_BUCKETS + 1;
    wrong[2].durations[0].bucket = DURATION_BUCKETS;
    for (size_t i = 0; i < 3; i++) {
        wait_summary_read(&back, &wrong[i], size, 1000);
        assert_true(wait_summary_is_plain(&back, 1000));
    }
    wait_summary_read(&back, &w, size - 1, 1000); /* cut off */
    assert_true(wait_summary_is_plain(&back, 1000));
    wait_summary_read(&back, NULL, 0, 1000);
    assert_true(wait_summary_is_plain(&back, 1000));
}

TEST(a_waker_follows_the_summary)
{
    struct wait_summary w = { WAIT_SUMMARY_MAGIC, 'S', 1, 100, 700, 900, { { 5, 3 } } };
    struct wait_waker waker = { WAIT_WAKER_MAGIC, 1, 2, 30, 31, 0, 0 }, back;
    uint32_t size = wait_summary_size(&w), all = size + (uint32_t)sizeof waker + 16;
    char bytes[sizeof w + sizeof waker + 16] = "";
    memcpy(bytes, &w, size);
    assert_int_equal(wait_waker_at(&back, bytes, all), 0);
    memcpy(bytes + size, &waker, sizeof waker);
    assert_int_equal(wait_waker_at(&back, bytes, all), size);
    assert_memory_equal(&back, &waker, sizeof waker);
    assert_int_equal(wait_waker_at(&back, bytes, all + 8), size); /* padded */
    assert_int_equal(wait_waker_at(&back, bytes, all - 1), 0);    /* its chain is cut off */
    assert_int_equal(wait_waker_at(&back, bytes, size + 8), 0);
    assert_int_equal(wait_waker_at(&back, bytes, size), 0);
    assert_int_equal(wait_waker_at(&back, NULL, 0), 0);
    bytes[size]++;
    assert_int_equal(wait_waker_at(&back, bytes, all), 0);
}

TEST_MAIN(NULL, NULL)
