// SPDX-License-Identifier: GPL-2.0-or-later
#include <locale.h>
#include <string.h>

#include "base/clock.h"
#include "ui/term_cells.h"
#include "ui/term_keys.h"
#include "unit_test.h"

TEST(text_is_truncated_to_the_columns)
{
    struct term_cells c;
    term_cells_of(&c, "abcdef", 4, true);
    assert_int_equal(c.n, 4);
    assert_int_equal(c.cols, 4);
    assert_int_equal(c.len, 4);
    assert_memory_equal(c.text, L"abcd", 4 * sizeof(wchar_t));
    term_cells_of(&c, "ab", 4, true);
    assert_int_equal(c.cols, 2);
    term_cells_of(&c, "", 4, true);
    assert_int_equal(c.n, 0);
}

TEST(a_wide_character_that_does_not_fit_is_left_out)
{
    struct term_cells c;
    term_cells_of(&c, "a\xe6\xbc\xa2z", 2, true);
    assert_int_equal(c.cols, 1);
    assert_int_equal(c.len, 1);
    term_cells_of(&c, "\xe6\xbc\xa2", 1, true);
    assert_int_equal(c.len, 0);
}

TEST(without_unicode_cells_are_question_marks)
{
    struct term_cells c;
    term_cells_of(&c, "\xc3\xa9\xe6\xbc\xa2x", 10, false);
    assert_int_equal(c.cols, 4);
    assert_memory_equal(c.text, L"???x", 4 * sizeof(wchar_t));
}

TEST(control_characters_never_reach_the_terminal)
{
    struct term_cells c;
    term_cells_of(&c, "a\033[2J\177\x01z", 20, true);
    for (int i = 0; i < c.n; i++)
        assert_true(c.text[i] >= 0x20 && c.text[i] != 0x7f);
}

TEST(a_long_line_is_split_into_parts)
{
    char line[1200];
    struct term_cells c;
    size_t at = 0;
    int cols = 0;
    memset(line, 'x', sizeof line);
    line[sizeof line - 1] = '\0';
    do {
        term_cells_of(&c, line + at, 1100 - cols, true);
        assert_true(c.n <= TERM_CELLS_MAX + 1);
        at += c.len;
        cols += c.cols;
    } while (c.len && cols < 1100);
    assert_int_equal(cols, 1100);
}

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

int main(void)
{
    (void)setlocale(LC_ALL, "C.UTF-8");
    return run_listed_tests(NULL, NULL);
}
