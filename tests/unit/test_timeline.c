// SPDX-License-Identifier: GPL-2.0-or-later
/* Counts over time compared with counting sample by sample. */
#include <string.h>

#include "base/mem.h"
#include "profile/timeline.h"
#include "unit_test.h"

#define SAMPLES 5000
#define ROWS    7
#define FROM    UINT64_C(1000000)
#define BUCKET  UINT64_C(50)
#define BUCKETS 300

static struct timeline line;
static uint64_t random_state = 88172645463325252u;

static uint32_t random_below(uint32_t n)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return (uint32_t)((random_state >> 16) % n);
}

static int tear_down(void **state)
{
    timeline_done(&line);
    return 0;
}

#define FIXTURE_TEST(name) TEST_WITH(name, NULL, tear_down)

static uint32_t count_at(uint32_t row, uint32_t bucket)
{
    uint32_t count;

    timeline_sums(&line.rows[row], bucket, 1, &count, 1);
    return count;
}

FIXTURE_TEST(random_samples_agree_with_counting_one_by_one)
{
    static uint32_t counts[ROWS][BUCKETS];
    uint64_t to = FROM + BUCKET * BUCKETS - 1, samples = 0;

    timeline_begin(&line, FROM, to, BUCKET);
    for (uint32_t row = 0; row < ROWS; row++)
        assert_int_equal(timeline_row(&line, row * 1000), row);
    for (uint32_t i = 0; i < SAMPLES; i++) {
        /* slightly out of order, and beyond both ends */
        uint64_t time_ns = FROM - 500 + i * 4 + random_below(200);
        uint32_t row = random_below(ROWS);

        timeline_add(&line, timeline_row(&line, row * 1000), time_ns, 0);
        if (time_ns < FROM || time_ns > to)
            continue;
        counts[row][(time_ns - FROM) / BUCKET]++;
        samples++;
    }
    assert_int_equal(line.samples, samples);
    assert_true(samples < SAMPLES && samples > SAMPLES / 2);
    for (uint32_t row = 0; row < ROWS; row++)
        for (uint32_t bucket = 0; bucket < BUCKETS; bucket++)
            assert_int_equal(count_at(row, bucket), counts[row][bucket]);
}

FIXTURE_TEST(samples_in_any_order_are_counted_the_same)
{
    uint32_t counts[40] = { 0 };

    timeline_begin(&line, 0, 0, 10);
    timeline_row(&line, 0);
    for (uint32_t i = 0; i < 1000; i++) {
        uint32_t time_ns = random_below(400);
        timeline_add(&line, 0, time_ns, 0);
        counts[time_ns / 10]++;
    }
    for (uint32_t i = 0; i < 40; i++)
        assert_int_equal(count_at(0, i), counts[i]);
}

FIXTURE_TEST(a_sample_at_the_edge_of_two_buckets_is_in_the_later_one)
{
    timeline_begin(&line, FROM, FROM + 2 * BUCKET - 1, BUCKET);
    timeline_row(&line, 0);
    timeline_add(&line, 0, FROM - 1, 0);
    timeline_add(&line, 0, FROM, 0);
    timeline_add(&line, 0, FROM + BUCKET - 1, 0);
    timeline_add(&line, 0, FROM + BUCKET, 0);
    timeline_add(&line, 0, FROM + 2 * BUCKET - 1, 0);
    timeline_add(&line, 0, FROM + 2 * BUCKET, 0);
    assert_int_equal(count_at(0, 0), 2);
    assert_int_equal(count_at(0, 1), 2);
    assert_int_equal(count_at(0, 2), 0);
    assert_int_equal(line.rows[0].samples, 4);
}

FIXTURE_TEST(columns_are_sums_of_their_buckets)
{
    uint32_t sums[5];

    timeline_begin(&line, 0, 0, 1);
    timeline_row(&line, 0);
    for (uint64_t i = 0; i < 12; i++)
        for (uint64_t k = 0; k <= i; k++)
            timeline_add(&line, 0, i, 0);
    assert_int_equal(timeline_sums(&line.rows[0], 2, 3, sums, 5), 10 + 11 + 12 - 3);
    assert_int_equal(sums[0], 3 + 4 + 5);
    assert_int_equal(sums[1], 6 + 7 + 8);
    assert_int_equal(sums[2], 9 + 10 + 11);
    assert_int_equal(sums[3], 12);
    assert_int_equal(sums[4], 0);
}

FIXTURE_TEST(empty_and_distant_ranges_have_no_samples)
{
    uint32_t sums[3] = { 7, 7, 7 };

    timeline_begin(&line, 100, 0, 1);
    timeline_row(&line, 0);
    assert_int_equal(timeline_sums(&line.rows[0], 0, 1, sums, 3), 0);
    assert_int_equal(sums[0] + sums[1] + sums[2], 0);
    timeline_add(&line, 0, UINT64_MAX, 0);
    timeline_add(&line, 0, 100 + TIMELINE_BUCKETS_MAX, 0);
    assert_int_equal(line.samples, 0);
    timeline_add(&line, 0, 100 + TIMELINE_BUCKETS_MAX - 1, 0);
    assert_int_equal(line.samples, 1);
    assert_int_equal(timeline_sums(&line.rows[0], TIMELINE_BUCKETS_MAX, 1, sums, 3), 0);
}

/* 99 Hz and buckets of 40 ms: each has three or four samples, in turn. */
FIXTURE_TEST(a_steady_load_is_even_for_any_ratio_of_interval_and_bucket)
{
    static uint32_t counts[4000], parts[4000];
    static const uint64_t buckets[] = { 1000000, 5000000, 10000000, 20000000, 25000000, 40000000, 100000000 };
    const uint64_t interval = 1000000000 / 99;

    for (size_t i = 0; i < sizeof buckets / sizeof *buckets; i++) {
        uint32_t n = (uint32_t)(4000000000 / buckets[i]), least = UINT32_MAX, most, odd = 0;
        uint64_t sum = 0;
        timeline_begin(&line, 0, 4000000000, buckets[i]);
        timeline_row(&line, 0);
        for (uint64_t k = 1; k <= 4 * 99 + 1; k++)
            timeline_add(&line, 0, k * interval, interval);
        timeline_sums(&line.rows[0], 0, 1, counts, n);
        most = timeline_parts(&line.rows[0], 0, 1, parts, n);
        for (uint32_t k = 0; k < n; k++) {
            least = parts[k] < least ? parts[k] : least;
            odd += counts[k] != counts[0];
            sum += parts[k];
        }
        assert_true(buckets[i] == 100000000 || odd > 0); /* the samples interfere with the bucket size */
        assert_true(most - least <= 4);
        assert_in_range(sum, (4 * 99 - 1) * TIMELINE_PARTS, (4 * 99 + 1) * TIMELINE_PARTS);
    }
}

FIXTURE_TEST(a_sample_is_spread_over_its_period)
{
    uint32_t parts[8];

    timeline_begin(&line, 1000, 1799, 100);
    timeline_row(&line, 0);
    timeline_add(&line, 0, 1250, 200);
    timeline_parts(&line.rows[0], 0, 1, parts, 8);
    assert_int_equal(parts[0], TIMELINE_PARTS / 4);
    assert_int_equal(parts[1], TIMELINE_PARTS / 2);
    assert_int_equal(parts[2], TIMELINE_PARTS / 4);
    assert_int_equal(count_at(0, 0) + count_at(0, 1), 0);
    assert_int_equal(count_at(0, 2), 1);
    timeline_add(&line, 0, 1050, 100); /* half of it is before the beginning */
    timeline_add(&line, 0, 1850, 100); /* after the end: it counts for the part of its period before that */
    timeline_parts(&line.rows[0], 0, 1, parts, 8);
    assert_int_equal(parts[0], TIMELINE_PARTS / 4 + TIMELINE_PARTS / 2);
    assert_int_equal(parts[7], TIMELINE_PARTS / 2);
    assert_int_equal(line.samples, 2);
    timeline_add(&line, 0, 1450, 100 * TIMELINE_HOLD_BUCKETS); /* too long to be spread */
    timeline_parts(&line.rows[0], 4, 1, parts, 1);
    assert_int_equal(parts[0], TIMELINE_PARTS);
}

FIXTURE_TEST(a_restart_drops_rows_and_counts)
{
    timeline_begin(&line, 0, 0, 10);
    for (uint64_t key = 0; key < 5; key++)
        timeline_add(&line, timeline_row(&line, key), key * 10, 0);
    timeline_begin(&line, 0, 0, 20);
    assert_int_equal(line.n_rows, 0);
    assert_int_equal(line.samples, 0);
    assert_int_equal(timeline_row(&line, 4), 0);
    assert_int_equal(line.rows[0].samples, 0);
    assert_int_equal(count_at(0, 0), 0);
}

TEST_MAIN(NULL, NULL)
