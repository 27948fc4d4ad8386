// SPDX-License-Identifier: GPL-2.0-or-later
#include "symbols/spans.h"
#include "unit_test.h"

static void assert_at(const struct spans *s, uint64_t address, uint32_t expected)
{
    uint32_t what = 0;

    assert_true(spans_find(s, address, &what));
    assert_int_equal(what, expected);
}

static void assert_nothing_at(const struct spans *s, uint64_t address)
{
    uint32_t what;

    assert_false(spans_find(s, address, &what));
}

TEST(the_innermost_range_is_found)
{
    struct spans s = { 0 };

    assert_true(spans_add(&s, 100, 200, 1));
    assert_true(spans_add(&s, 120, 160, 2));
    assert_true(spans_add(&s, 130, 140, 3));
    assert_true(spans_sort(&s));
    assert_nothing_at(&s, 99);
    assert_at(&s, 100, 1);
    assert_at(&s, 129, 2);
    assert_at(&s, 130, 3);
    assert_at(&s, 140, 2);
    assert_at(&s, 199, 1);
    assert_nothing_at(&s, 200);
    spans_done(&s);
}

TEST(the_later_of_equal_ranges_is_found)
{
    struct spans s = { 0 };

    assert_true(spans_add(&s, 10, 20, 7));
    assert_true(spans_add(&s, 10, 20, 9));
    assert_true(spans_add(&s, 10, 20, 8));
    assert_true(spans_sort(&s));
    assert_at(&s, 15, 9);
    spans_done(&s);
}

TEST(an_empty_or_crossed_range_is_left_out)
{
    struct spans s = { 0 };

    assert_true(spans_add(&s, 10, 10, 1));
    assert_true(spans_add(&s, 20, 10, 1));
    assert_true(spans_sort(&s));
    assert_nothing_at(&s, 10);
    assert_nothing_at(&s, 15);
    spans_done(&s);
}

TEST(the_ends_of_the_address_space_are_ordinary)
{
    struct spans s = { 0 };

    assert_true(spans_add(&s, 0, 1, 1));
    assert_true(spans_add(&s, UINT64_MAX - 1, UINT64_MAX, 2));
    assert_true(spans_sort(&s));
    assert_at(&s, 0, 1);
    assert_at(&s, UINT64_MAX - 1, 2);
    assert_nothing_at(&s, UINT64_MAX);
    spans_done(&s);
}

/* The bounds around an address by a linear search over all ranges. */
static void check_narrow(const struct spans *s, const struct span *all, uint32_t n, uint64_t address)
{
    uint64_t low = 0, high = 2300, lowest = 0, highest = 2300;
    uint32_t i, k;

    for (i = 0; i < n; i++)
        for (k = 0; k < 2; k++) {
            uint64_t bound = k ? all[i].high : all[i].low;
            if (bound <= address && bound > lowest)
                lowest = bound;
            if (bound > address && bound < highest)
                highest = bound;
        }
    spans_narrow(s, address, &low, &high);
    assert_int_equal(low, lowest);
    assert_int_equal(high, highest);
}

TEST(lookups_agree_with_a_linear_search)
{
    struct spans s = { 0 };
    struct span all[300];
    uint64_t random = 1, address;
    uint32_t i, what;

    for (i = 0; i < 300; i++) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        all[i] = (struct span){ (random >> 33) % 2000, 0, i };
        all[i].high = all[i].low + 1 + (random >> 50) % 200;
        assert_true(spans_add(&s, all[i].low, all[i].high, i));
    }
    assert_true(spans_sort(&s));
    for (address = 0; address < 2300; address++) {
        const struct span *best = NULL;
        for (i = 0; i < 300; i++)
            if (all[i].low <= address && address < all[i].high &&
                (!best || all[i].high - all[i].low <= best->high - best->low))
                best = &all[i];
        assert_int_equal(spans_find(&s, address, &what), best != NULL);
        if (best)
            assert_int_equal(what, best->what);
        check_narrow(&s, all, 300, address);
    }
    spans_done(&s);
}

TEST_MAIN(NULL, NULL)
