// SPDX-License-Identifier: GPL-2.0-or-later
/* What rows did over time, compared with adding up each nanosecond. */
#include <string.h>

#include "profile/activity.h"
#include "unit_test.h"

#define FROM   UINT64_C(1000000)
#define BUCKET UINT64_C(100)
#define STEPS  20

static struct activity all;
static uint64_t sums[STEPS][ACTIVITY_KINDS];

static int tear_down(void **state)
{
    activity_done(&all);
    return 0;
}

#define FIXTURE_TEST(name) TEST_WITH(name, NULL, tear_down)

static void add(uint32_t row, uint32_t kind, uint64_t from, uint64_t to, uint64_t ns)
{
    activity_add(&all, row, (struct activity_span){ FROM + from, FROM + to, ns, kind });
}

static void sum(uint32_t row, uint64_t from, uint64_t step)
{
    activity_sums(&all.rows[row], FROM + from, step, sums, STEPS);
}

FIXTURE_TEST(a_span_is_in_the_columns_that_it_covers)
{
    activity_begin(&all, FROM, 0, BUCKET);
    add(0, 3, 150, 420, 270);
    sum(0, 0, 100);
    assert_int_equal(sums[0][3], 0);
    assert_int_equal(sums[1][3], 50);
    assert_int_equal(sums[2][3], 100);
    assert_int_equal(sums[3][3], 100);
    assert_int_equal(sums[4][3], 20);
    assert_int_equal(sums[5][3], 0);
    sum(0, 200, 7); /* columns need not be buckets */
    assert_int_equal(sums[0][3], 7);
}

/* Short waits that were merged into one sample, with running in between. */
FIXTURE_TEST(time_of_several_parts_is_spread_evenly)
{
    activity_begin(&all, FROM, 0, BUCKET);
    add(0, 1, 0, 1000, 250);
    add(0, 0, 0, 1000, 750);
    sum(0, 0, 100);
    for (int i = 0; i < 10; i++) {
        assert_int_equal(sums[i][1], 25);
        assert_int_equal(sums[i][0], 75);
    }
}

FIXTURE_TEST(parts_outside_the_range_are_left_out)
{
    activity_begin(&all, FROM, FROM + 500, BUCKET);
    activity_add(&all, 0, (struct activity_span){ FROM - 300, FROM + 100, 400, 2 });
    add(0, 2, 450, 900, 450);
    add(0, 2, 600, 900, 300);
    sum(0, 0, 1000);
    assert_int_equal(sums[0][2], 100 + 50);
    uint64_t from, to;
    assert_true(activity_extent(&all.rows[0], &from, &to));
    assert_int_equal(from, FROM);
    assert_int_equal(to, FROM + 500);
}

/* A file may say anything. */
FIXTURE_TEST(impossible_spans_do_no_harm)
{
    activity_begin(&all, FROM, 0, BUCKET);
    add(0, 1, 500, 400, 100);
    add(0, 1, 100, 200, UINT64_MAX);
    activity_add(&all, 0, (struct activity_span){ 0, UINT64_MAX, UINT64_MAX, 40 });
    sum(0, 0, 100);
    assert_int_equal(sums[1][1], 100);
    assert_int_equal(sums[4][1], 0);
}

/* A thread that sleeps for hours is reported again and again, a busy one switches thousands of times. */
FIXTURE_TEST(many_spans_take_little_memory_and_keep_their_times)
{
    uint64_t naive[STEPS][2] = { { 0 } };
    activity_begin(&all, FROM, 0, BUCKET);
    for (uint64_t at = 0; at < 1000; at += 10) {
        add(0, 5, at, at + 10, 10);
        add(1, 0, at, at + 4, 4);
        add(1, 1, at + 4, at + 10, 6);
        naive[at / 100][0] += 4;
        naive[at / 100][1] += 6;
    }
    assert_int_equal(all.rows[0].n, 1);
    assert_true(all.rows[1].n <= 2 * 1000 / BUCKET);
    sum(1, 0, 100);
    for (int i = 0; i < 10; i++)
        for (int kind = 0; kind < 2; kind++)
            assert_int_equal(sums[i][kind], naive[i][kind]);
    assert_int_equal(sums[10][0], 0);
}

FIXTURE_TEST(an_open_wait_counts_until_it_is_replaced)
{
    uint64_t from, to;
    activity_begin(&all, FROM, 0, BUCKET);
    add(0, 1, 0, 100, 100);
    activity_set_open(&all, 0, (struct activity_span){ FROM + 100, FROM + 300, 200, 4 });
    sum(0, 0, 1000);
    assert_int_equal(sums[0][4], 200);
    assert_true(activity_extent(&all.rows[0], &from, &to));
    assert_int_equal(to, FROM + 300);
    activity_set_open(&all, 0, (struct activity_span){ 0 });
    sum(0, 0, 1000);
    assert_int_equal(sums[0][4], 0);
    assert_int_equal(sums[0][1], 100);
    activity_begin(&all, FROM, 0, BUCKET);
    activity_set_open(&all, 3, (struct activity_span){ 0 });
    assert_int_equal(all.n_rows, 4);
    assert_false(activity_extent(&all.rows[0], &from, &to));
}

TEST_MAIN(NULL, NULL)
