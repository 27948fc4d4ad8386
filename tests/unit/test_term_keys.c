// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/clock.h"
#include "ui/term_keys.h"
#include "unit_test.h"

TEST(a_double_click_is_two_quick_presses_at_one_cell)
{
    struct term_click last = { 0 };
    struct term_mouse here = { .y = 3, .x = 4 }, there = { .y = 3, .x = 5 };
    uint64_t now = 1000 * NS_PER_MS;
    assert_false(term_click_is_double(&last, &here, now));
    assert_true(term_click_is_double(&last, &here, now + 100 * NS_PER_MS));
    assert_false(term_click_is_double(&last, &here, now + 200 * NS_PER_MS)); /* the third restarts */
    assert_false(term_click_is_double(&last, &there, now + 250 * NS_PER_MS));
    assert_false(term_click_is_double(&last, &there, now + 900 * NS_PER_MS));
}

TEST(every_sequence_has_a_named_key)
{
    for (size_t i = 0; i < term_sequences_n; i++) {
        assert_int_equal(term_sequences[i].text[0], '\033');
        assert_true(term_sequences[i].key > TK_BASE && term_sequences[i].key < TK_LAST);
    }
}

TEST_MAIN(NULL, NULL)
