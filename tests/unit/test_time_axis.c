// SPDX-License-Identifier: GPL-2.0-or-later
#include <string.h>

#include "base/clock.h"
#include "ui/time_axis.h"
#include "unit_test.h"

#define FROM UINT64_C(123456789012)

/* Every moment has a column, and the columns leave no moment out. */
static void check(const struct time_axis *x, uint64_t from, uint64_t to, uint32_t columns)
{
    assert_true(x->columns >= 1 && x->columns <= columns);
    assert_int_equal(time_axis_ns(x, 0), from);
    assert_true(time_axis_ns(x, x->columns) > to);
    for (uint32_t i = 0; i < x->columns; i++) {
        assert_int_equal(time_axis_column(x, time_axis_ns(x, i)), i);
        assert_int_equal(time_axis_column(x, time_axis_ns(x, i + 1) - 1), i);
    }
    assert_int_equal(time_axis_column(x, 0), 0);
    assert_int_equal(time_axis_column(x, UINT64_MAX), x->columns - 1);
}

TEST(a_fixed_range_fills_the_screen)
{
    for (uint64_t span = 0; span < 1000 * NS_PER_SEC; span = span * 3 + 7) {
        struct time_axis x = { 0 };
        time_axis_fit(&x, FROM, FROM + span, 80, false);
        check(&x, FROM, FROM + span, 80);
        if (span > 1000)
            assert_true(x.columns >= 70);
    }
}

TEST(a_growing_range_is_rarely_recounted)
{
    struct time_axis x = { 0 };
    uint32_t anew = 0;
    for (uint64_t second = 0; second < 20000; second++) {
        uint64_t bucket = x.bucket_ns, to = FROM + second * NS_PER_SEC;
        time_axis_fit(&x, FROM, to, 80, true);
        check(&x, FROM, to, 80);
        anew += bucket != x.bucket_ns;
    }
    assert_true(anew < 10);
}

TEST(an_empty_range_or_screen_has_one_column)
{
    struct time_axis x = { 0 };
    time_axis_fit(&x, FROM, FROM, 0, false);
    check(&x, FROM, FROM, 1);
    time_axis_fit(&x, FROM, 5, 80, false); /* ends before it begins */
    check(&x, FROM, FROM, 80);
}

TEST(times_from_a_file_may_have_any_value)
{
    struct time_axis x = { 0 };
    for (uint32_t columns = 1; columns < 300; columns += 13) {
        time_axis_fit(&x, 0, UINT64_MAX, columns, false);
        check(&x, 0, x.to_ns, columns);
        time_axis_fit(&x, 1, UINT64_MAX, columns, true);
        check(&x, 1, x.to_ns, columns);
        assert_true(x.to_ns > UINT64_C(365) * 86400 * NS_PER_SEC);
        time_axis_fit(&x, UINT64_MAX - 5, UINT64_MAX, columns, false);
        assert_true(x.bucket_ns > 0 && x.columns >= 1 && x.columns <= columns);
    }
}

TEST(round_lengths_are_round)
{
    static const uint64_t all[][2] = {
        { 0, 1 },
        { 1, 1 },
        { 2, 2 },
        { 3, 5 },
        { 6, 10 },
        { 101, 200 },
        { NS_PER_SEC, NS_PER_SEC },
        { 3 * NS_PER_SEC, 5 * NS_PER_SEC },
        { 6 * NS_PER_SEC, 10 * NS_PER_SEC },
        { 21 * NS_PER_SEC, 30 * NS_PER_SEC },
        { 61 * NS_PER_SEC, 120 * NS_PER_SEC },
        { 3601 * NS_PER_SEC, 7200 * NS_PER_SEC },
        { 86401 * NS_PER_SEC, 2 * 86400 * NS_PER_SEC },
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        assert_int_equal(time_round(all[i][0]), all[i][1]);
}

TEST(times_have_as_many_digits_as_needed)
{
    char text[32];
    assert_string_equal(time_text(text, sizeof text, 12345678901, NS_PER_SEC), "12s");
    assert_string_equal(time_text(text, sizeof text, 12345678901, NS_PER_SEC / 10), "12.3s");
    assert_string_equal(time_text(text, sizeof text, 12345678901, 20 * NS_PER_MS), "12.34s");
    assert_string_equal(time_text(text, sizeof text, 5, 1), "0.000000s");
    assert_string_equal(time_text(text, sizeof text, 125 * NS_PER_SEC, NS_PER_SEC), "2:05");
    assert_string_equal(time_text(text, sizeof text, 3725 * NS_PER_SEC + 50 * NS_PER_MS, 10 * NS_PER_MS),
                        "1:02:05.05");
    assert_string_equal(time_length_text(text, sizeof text, 1800 * NS_PER_MS), "1.8s");
    assert_string_equal(time_length_text(text, sizeof text, 150 * NS_PER_MS), "150ms");
    assert_string_equal(time_length_text(text, sizeof text, 12000), "12us");
    assert_string_equal(time_length_text(text, sizeof text, 300 * NS_PER_SEC), "5:00");
}

TEST_MAIN(NULL, NULL)
