// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdbool.h>

#include "base/search.h"
#include "unit_test.h"

static const uint32_t values[] = { 3, 5, 5, 5, 8, 13 };

static size_t count_below(size_t n, uint32_t x)
{
    return SEARCH_FIRST(i, 0, n, values[i] >= x);
}

TEST(an_empty_range_gives_its_end)
{
    assert_int_equal(SEARCH_FIRST(i, 0, 0, true), 0);
    assert_int_equal(SEARCH_FIRST(i, 4, 4, false), 4);
    assert_int_equal(SEARCH_FIRST(i, 4, 2, true), 4);
}

TEST(one_value_is_before_or_after)
{
    assert_int_equal(count_below(1, 2), 0);
    assert_int_equal(count_below(1, 3), 0);
    assert_int_equal(count_below(1, 4), 1);
}

TEST(the_first_of_equal_values_is_found)
{
    assert_int_equal(count_below(6, 5), 1);
    assert_int_equal(SEARCH_FIRST(i, 0, 6, values[i] > 5), 4);
    assert_int_equal(SEARCH_FIRST(i, 2, 6, values[i] >= 5), 2);
}

TEST(every_length_and_value_matches_a_scan)
{
    for (size_t from = 0; from <= 6; from++)
        for (size_t to = from; to <= 6; to++)
            for (uint32_t x = 0; x < 16; x++) {
                size_t first = from;
                while (first < to && values[first] < x)
                    first++;
                assert_int_equal(SEARCH_FIRST(i, from, to, values[i] >= x), first);
            }
}

TEST(a_huge_range_takes_one_step_per_bit)
{
    unsigned steps = 0;

    assert_int_equal(SEARCH_FIRST(i, 0, SIZE_MAX, (steps++, i >= SIZE_MAX - 1)), SIZE_MAX - 1);
    assert_int_equal(steps, 64);
    assert_int_equal(SEARCH_FIRST(i, 0, SIZE_MAX, false), SIZE_MAX);
    assert_int_equal(SEARCH_FIRST(i, 0, SIZE_MAX, true), 0);
}

TEST_MAIN(NULL, NULL)
