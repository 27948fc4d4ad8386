// SPDX-License-Identifier: GPL-2.0-or-later
#include <locale.h>
#include <stdlib.h>
#include <string.h>

#include "ui/term_grid.h"
#include "unit_test.h"

#define ROWS 3
#define COLS 12
#define NONE 9 /* the style of undrawn cells */
#define WIDE "\xe6\xbc\xa2"

static struct term_grid g;

static int setup(void **state)
{
    term_grid_begin(&g, ROWS, COLS, NONE);
    return 0;
}

static int teardown(void **state)
{
    term_grid_done(&g);
    return 0;
}

#define FIXTURE_TEST(name) TEST_WITH(name, setup, teardown)

static void show_frame(void)
{
    int x, n;
    for (int y = 0; y < ROWS; y++)
        (void)term_grid_changed(&g, y, &x, &n);
    g.whole = false;
}

/* Each cell: '=' for the right half of a wide character, 'W' for its left half. */
static void assert_cells(const uint32_t *cells, int n, const char *characters, const char *styles)
{
    assert_int_equal(n, strlen(characters));
    for (int i = 0; i < n; i++) {
        uint32_t ch = term_grid_character(cells[i]);
        assert_int_equal(ch == 0 ? '=' : ch == 0x6f22 ? 'W' : ch, characters[i]);
        if (styles)
            assert_int_equal(cells[i] >> TERM_GRID_STYLE, styles[i] - '0');
    }
}

static void assert_sent(int y, const char *characters, const char *styles)
{
    int x, n;
    const uint32_t *cells = term_grid_changed(&g, y, &x, &n);
    assert_non_null(cells);
    assert_cells(cells, n, characters, styles);
}

FIXTURE_TEST(the_first_frame_is_sent_whole)
{
    int x, n;
    (void)term_grid_text(&g, 1, 2, 5, 1, "ab", true);
    g.whole = true;
    const uint32_t *cells = term_grid_changed(&g, 1, &x, &n);
    assert_non_null(cells);
    assert_int_equal(x, 0);
    assert_cells(cells, n, "  ab        ", "991199999999");
}

FIXTURE_TEST(only_changed_cells_of_a_row_are_sent)
{
    int x, n;
    (void)term_grid_text(&g, 0, 0, COLS, 1, "0123456789ab", true);
    show_frame();
    term_grid_begin(&g, ROWS, COLS, NONE);
    (void)term_grid_text(&g, 0, 0, COLS, 1, "012x456y89ab", true);
    const uint32_t *cells = term_grid_changed(&g, 0, &x, &n);
    assert_int_equal(x, 3);
    assert_cells(cells, n, "x456y", "11111");
    assert_null(term_grid_changed(&g, 0, &x, &n));
    assert_null(term_grid_changed(&g, 1, &x, &n));
    term_grid_restyle(&g, 0, 11, 5, 2);
    cells = term_grid_changed(&g, 0, &x, &n);
    assert_int_equal(x, 11);
    assert_cells(cells, n, "b", "2");
}

FIXTURE_TEST(a_frame_clears_cells_it_does_not_draw)
{
    int x, n;
    term_grid_fill(&g, 2, 4, 3, 1, '-');
    show_frame();
    term_grid_begin(&g, ROWS, COLS, NONE);
    const uint32_t *cells = term_grid_changed(&g, 2, &x, &n);
    assert_int_equal(x, 4);
    assert_cells(cells, n, "   ", "999");
}

FIXTURE_TEST(a_resized_frame_is_sent_whole)
{
    int x, n;
    show_frame();
    term_grid_begin(&g, ROWS, COLS + 1, NONE);
    assert_non_null(term_grid_changed(&g, 0, &x, &n));
    assert_int_equal(n, COLS + 1);
}

FIXTURE_TEST(nothing_is_drawn_beyond_the_edges)
{
    int x, n;
    show_frame();
    assert_int_equal(term_grid_text(&g, -1, 0, 5, 1, "abc", true), 0);
    assert_int_equal(term_grid_text(&g, ROWS, 0, 5, 1, "abc", true), 0);
    assert_int_equal(term_grid_text(&g, 0, COLS, 5, 1, "abc", true), 0);
    assert_int_equal(term_grid_text(&g, 0, -1, 5, 1, "abc", true), 0);
    assert_int_equal(term_grid_text(&g, 0, 0, 0, 1, "abc", true), 0);
    term_grid_fill(&g, ROWS, 0, 5, 1, '-');
    term_grid_restyle(&g, 0, COLS, 5, 1);
    for (int y = 0; y < ROWS; y++)
        assert_null(term_grid_changed(&g, y, &x, &n));
    assert_int_equal(term_grid_text(&g, 0, COLS - 2, 5, 1, "abc", true), 2);
    term_grid_fill(&g, 1, COLS - 1, 5, 1, '-');
    assert_sent(0, "ab", "11");
    assert_sent(1, "-", "1");
}

FIXTURE_TEST(text_is_truncated_to_the_columns)
{
    assert_int_equal(term_grid_text(&g, 0, 0, 4, 1, "abcdef", true), 4);
    assert_cells(g.now, COLS, "abcd        ", "111199999999");
    assert_int_equal(term_grid_text(&g, 1, 0, 4, 1, "ab", true), 2);
    assert_int_equal(term_grid_text(&g, 1, 0, 4, 1, "", true), 0);
    assert_int_equal(term_grid_text(&g, 2, 0, 2, 1, "a" WIDE "z", true), 1);
    assert_int_equal(term_grid_text(&g, 2, 1, 1, 1, WIDE, true), 0);
    assert_cells(g.now + (ptrdiff_t)2 * COLS, COLS, "a           ", "199999999999");
}

FIXTURE_TEST(without_unicode_cells_are_question_marks)
{
    assert_int_equal(term_grid_text(&g, 0, 0, 10, 1, "\xc3\xa9" WIDE "x", false), 4);
    assert_cells(g.now, COLS, "???x        ", "111199999999");
}

FIXTURE_TEST(control_characters_never_reach_the_terminal)
{
    (void)term_grid_text(&g, 0, 0, COLS, 1, "a\033[2J\177\x01z", true);
    assert_cells(g.now, COLS, "a[2Jz       ", "111119999999");
}

FIXTURE_TEST(a_wide_character_fills_two_cells_and_its_row_is_sent_whole)
{
    show_frame();
    assert_int_equal(term_grid_text(&g, 0, 3, 5, 1, "a" WIDE "b", true), 4);
    assert_sent(0, "   aW=b     ", "999111199999");
    assert_int_equal(term_grid_text(&g, 0, 3, 2, 1, "a" WIDE, true), 1); /* no room for half of it */
    term_grid_begin(&g, ROWS, COLS, NONE);
    assert_sent(0, "            ", "999999999999");
}

FIXTURE_TEST(half_a_wide_character_becomes_a_space)
{
    (void)term_grid_text(&g, 0, 2, 9, 1, WIDE WIDE WIDE, true);
    (void)term_grid_text(&g, 0, 3, 2, 2, "xy", true);
    assert_cells(g.now, COLS, "   xy W=    ", "991221119999");
    term_grid_fill(&g, 0, 7, 1, 3, '-');
    assert_cells(g.now, COLS, "   xy  -    ", "991221139999");
}

FIXTURE_TEST(a_line_of_maximum_length_is_drawn_to_its_end)
{
    char text[1301];
    memset(text, 'a', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    term_grid_begin(&g, 1, 1400, NONE);
    assert_int_equal(term_grid_text(&g, 0, 0, 1400, 1, text, true), 1300);
    assert_int_equal(term_grid_character(g.now[1299]), 'a');
    assert_int_equal(term_grid_character(g.now[1300]), ' ');
}

/* Whatever is drawn: the sent updates add up to the frame. */
FIXTURE_TEST(sent_updates_add_up_to_the_frame)
{
    uint32_t screen[ROWS * COLS] = { 0 };
    srandom(7);
    g.whole = true;
    for (int frame = 0; frame < 2000; frame++) {
        term_grid_begin(&g, ROWS, COLS, NONE);
        for (int i = 0; i < 4; i++) {
            static const char *const texts[] = { "ab", WIDE,           "a" WIDE "b" WIDE,
                                                 "",   WIDE WIDE WIDE, "longer than a line" };
            int y = (int)(random() % (ROWS + 2)) - 1, x = (int)(random() % (COLS + 2)) - 1,
                cols = (int)(random() % COLS);
            (void)term_grid_text(&g, y, x, cols, (unsigned)random() % 3, texts[random() % 6], true);
            if (random() % 3 == 0)
                term_grid_fill(&g, y, x + 2, cols, 4, ' ');
        }
        for (int y = 0; y < ROWS; y++) {
            int x, n;
            const uint32_t *cells = term_grid_changed(&g, y, &x, &n);
            if (cells)
                memcpy(screen + y * COLS + x, cells, (size_t)n * sizeof *cells);
            for (int i = 0; i < COLS; i++) {
                bool right = !term_grid_character(g.now[y * COLS + i]);
                bool wide = i && term_grid_character(g.now[y * COLS + i - 1]) == 0x6f22;
                assert_int_equal(right, wide);
            }
        }
        g.whole = false;
        assert_memory_equal(screen, g.now, sizeof screen);
    }
}

int main(void)
{
    assert_non_null(setlocale(LC_ALL, "C.UTF-8"));
    return run_listed_tests(NULL, NULL);
}
