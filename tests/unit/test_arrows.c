// SPDX-License-Identifier: GPL-2.0-or-later
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "ui/arrows.h"
#include "unit_test.h"

#define NOWHERE UINT32_MAX

/* Instructions of one byte; from[i] jumps to to[i]. */
static void make_arrows(struct arrows *a, uint32_t rows, const uint32_t (*jumps)[2], size_t n)
{
    struct code_row *code = mem_array(rows, sizeof *code);
    struct code_view v = { .header = { .n_rows = rows }, .rows = code };

    for (uint32_t i = 0; i < rows; i++)
        code[i] = (struct code_row){ .offset = i, .size = 1, .target = CODE_NO_TARGET };
    for (size_t i = 0; i < n; i++) {
        code[jumps[i][0]].kind = CODE_JUMP;
        code[jumps[i][0]].target = jumps[i][1];
    }
    arrows_make(a, &v);
    mem_free(code);
}

/* Returns the arrows drawn in ASCII, one row per line. */
static const char *draw_ascii(const struct arrows *a, uint32_t first, uint32_t rows)
{
    static struct buf text;
    uint8_t cells[ARROWS_COLS];

    buf_clear(&text);
    for (uint32_t row = first; row < first + rows; row++) {
        int n = arrows_cells(a, row, false, NOWHERE, cells);
        for (int i = 0; i < n; i++)
            buf_puts(&text, arrow_text(cells[i], false));
        buf_putc(&text, '\n');
    }
    return buf_str(&text);
}

TEST(a_loop_is_drawn_as_an_upward_arrow)
{
    static const uint32_t jumps[][2] = { { 3, 1 } };
    struct arrows a = { 0 };

    make_arrows(&a, 5, jumps, 1);
    assert_string_equal(draw_ascii(&a, 0, 5), "  \n+>\n| \n+-\n  \n");
    arrows_done(&a);
}

TEST(inner_jumps_are_drawn_closer_to_the_instructions)
{
    static const uint32_t jumps[][2] = { { 0, 4 }, { 2, 1 }, { 5, 6 } };
    struct arrows a = { 0 };

    make_arrows(&a, 7, jumps, 3);
    assert_int_equal(a.lanes, 2);
    assert_string_equal(draw_ascii(&a, 0, 7), "+--\n|+>\n|+-\n|  \n+->\n +-\n +>\n");
    arrows_done(&a);
}

TEST(crossing_lines_are_drawn_as_crossings)
{
    static const uint32_t jumps[][2] = { { 0, 2 }, { 1, 4 } };
    struct arrows a = { 0 };

    make_arrows(&a, 5, jumps, 2);
    assert_string_equal(draw_ascii(&a, 0, 5), " +-\n++-\n|+>\n|  \n+->\n");
    arrows_done(&a);
}

TEST(jumps_out_of_the_function_or_into_an_instruction_have_no_arrow)
{
    struct code_row rows[] = { { .offset = 10, .size = 4, .kind = CODE_JUMP, .target = 12 },
                               { .offset = 14, .size = 4, .kind = CODE_JUMP, .target = 100 },
                               { .offset = 18, .size = 4, .kind = CODE_CALL, .target = 10 } };
    struct code_view v = { .header = { .n_rows = 3 }, .rows = rows };
    struct arrows a = { 0 };
    uint8_t cells[ARROWS_COLS];

    arrows_make(&a, &v);
    assert_int_equal(a.n, 0);
    assert_int_equal(arrows_cells(&a, 0, false, 0, cells), 0);
    arrows_done(&a);
}

TEST(jumps_without_a_lane_are_drawn_only_under_the_cursor)
{
    uint32_t jumps[ARROWS_LANES + 3][2];
    struct arrows a = { 0 };
    uint8_t cells[ARROWS_COLS];
    const uint32_t n = ARROWS_LANES + 3, last = n - 1;

    for (uint32_t i = 0; i < n; i++) { /* nested */
        jumps[i][0] = i;
        jumps[i][1] = 40 - i;
    }
    make_arrows(&a, 41, (const uint32_t(*)[2])jumps, n);
    assert_int_equal(a.lanes, ARROWS_LANES);
    assert_int_equal(arrows_cells(&a, last, false, NOWHERE, cells), ARROWS_COLS);
    assert_int_not_equal(cells[ARROWS_COLS - 1], 0); /* the innermost jump */
    arrows_cells(&a, 0, false, NOWHERE, cells);
    for (int i = 0; i < ARROWS_COLS; i++)
        assert_int_equal(cells[i], 0);
    arrows_cells(&a, 0, false, 0, cells);
    assert_int_equal(cells[0], ARROW_DOWN | ARROW_RIGHT | ARROW_HERE);
    arrows_cells(&a, 40, false, 0, cells);
    assert_int_not_equal(cells[ARROWS_COLS - 1] & ARROW_HEAD, 0);
    arrows_done(&a);
}

/* A source line shows only the arrows that pass it. */
TEST(arrows_pass_source_lines_above_their_instruction)
{
    static const uint32_t jumps[][2] = { { 1, 3 } };
    struct arrows a = { 0 };
    uint8_t cells[ARROWS_COLS];

    make_arrows(&a, 4, jumps, 1);
    arrows_cells(&a, 1, true, NOWHERE, cells);
    assert_int_equal(cells[0], 0);
    arrows_cells(&a, 2, true, NOWHERE, cells);
    assert_int_equal(cells[0], ARROW_UP | ARROW_DOWN);
    arrows_cells(&a, 3, true, NOWHERE, cells);
    assert_int_equal(cells[0], ARROW_UP | ARROW_DOWN);
    arrows_done(&a);
}

TEST_MAIN(NULL, NULL)
