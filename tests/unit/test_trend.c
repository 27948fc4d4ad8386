// SPDX-License-Identifier: GPL-2.0-or-later
#include "ui/trend.h"
#include "unit_test.h"

/* Eighths of 100 ns each, from 1000 on. */
static struct trend_time time_at(uint64_t now_ns)
{
    return (struct trend_time){ .from_ns = 1000, .to_ns = 1799, .now_ns = now_ns };
}

TEST(the_current_eighth_counts_by_its_rate)
{
    const uint64_t weights[QUERY_TREND] = { 10, 20, 30, 5 };
    struct trend_time t = time_at(1350);
    uint64_t picture[QUERY_TREND];
    trend_picture(picture, weights, &t);
    assert_int_equal(trend_newest(&t), 3);
    assert_int_equal(picture[0], 10);
    assert_int_equal(picture[2], 30);
    assert_int_equal(picture[3], 10);
    assert_int_equal(picture[4], 0);
}

TEST(an_eighth_that_just_began_is_not_exaggerated)
{
    const uint64_t weights[QUERY_TREND] = { 10, 1 };
    struct trend_time t = time_at(1101);
    uint64_t picture[QUERY_TREND];
    trend_picture(picture, weights, &t);
    assert_int_equal(picture[1], 1);
}

TEST(a_finished_range_is_drawn_as_counted)
{
    const uint64_t weights[QUERY_TREND] = { 1, 2, 3, 4, 5, 6, 7, 8 };
    uint64_t picture[QUERY_TREND];
    struct trend_time times[] = { time_at(1800), time_at(5000), { 0 }, { 5, 9, 7 } };
    for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
        trend_picture(picture, weights, &times[i]);
        assert_memory_equal(picture, weights, sizeof weights);
        assert_int_equal(trend_newest(&times[i]), QUERY_TREND - 1);
    }
}

TEST(the_beat_falls_at_a_quarter_and_at_three_quarters)
{
    uint64_t changes[8], beat = 0;
    size_t n = 0;
    for (uint64_t now = 1100; now < 1300; now++) {
        struct trend_time t = time_at(now);
        if (now > 1100 && trend_beat(&t) != beat && n < 8)
            changes[n++] = now;
        beat = trend_beat(&t);
    }
    assert_int_equal(n, 4);
    assert_int_equal(changes[0], 1125);
    assert_int_equal(changes[1], 1175);
    assert_int_equal(changes[2], 1225);
    assert_int_equal(changes[3], 1275);
}

TEST(a_range_that_moves_on_by_an_eighth_keeps_the_beat)
{
    struct trend_time before = { 1000, 1799, 1798 }, after = { 1100, 1899, 1801 };
    assert_int_equal(trend_beat(&before), trend_beat(&after));
}

TEST(hostile_times_and_weights_stay_in_bounds)
{
    const uint64_t weights[QUERY_TREND] = { UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX,
                                            UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX };
    uint64_t picture[QUERY_TREND];
    struct trend_time times[] = {
        { UINT64_MAX, 0, 5 }, { 0, UINT64_MAX, UINT64_MAX - 1 }, { 5, 5, 5 }, { 0, 17, 16 }, time_at(1399)
    };
    for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
        assert_true(trend_newest(&times[i]) < QUERY_TREND);
        trend_picture(picture, weights, &times[i]);
        assert_int_equal(picture[trend_newest(&times[i])], UINT64_MAX);
        (void)trend_beat(&times[i]);
    }
}

TEST(a_sparkline_scales_by_its_highest_eighth)
{
    const uint64_t picture[QUERY_TREND] = { 0, 1, UINT64_MAX / 7 * 5, UINT64_MAX };
    const uint64_t small[QUERY_TREND] = { 0, 1, 2, 4 };
    char text[64];
    trend_spark(text, sizeof text, picture, true);
    assert_memory_equal(text, " \u2581\u2585\u2587", 10);
    trend_spark(text, sizeof text, small, true);
    assert_memory_equal(text, " \u2582\u2584\u2587", 10);
}

TEST_MAIN(NULL, NULL)
