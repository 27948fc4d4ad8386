// SPDX-License-Identifier: GPL-2.0-or-later
/* Flame charts of stacks from one small trie, whose functions are letters. */
#include <stdio.h>
#include <string.h>

#include "profile/chart.h"
#include "unit_test.h"

/* Stacks: 1 main, 2 main/a, 3 main/a/b, 4 main/c, 5 main/c/b, 6 main/?/d with its middle frame omitted, 7
 * the middle frame. */
static const uint32_t parents[] = { 0, 0, 1, 2, 1, 4, 7, 1 };
static const uint32_t frames[] = { 0, 1, 2, 3, 4, 3, 6, 5 };
static const uint32_t funcs[] = { 0, 'm', 'a', 'b', 'c', 0, 'd' };
static const struct chart_trie trie = { parents, frames, funcs, NULL, 8 };

static struct chart chart;
static char text[4096];

static int tear_down(void **state)
{
    chart_done(&chart);
    return 0;
}

#define FIXTURE_TEST(name) TEST_WITH(name, NULL, tear_down)

/* Returns the function letter at each column, rows separated by "/": "mmm-/aab-". */
static const char *draw_chart(uint32_t columns)
{
    size_t n = 0;

    for (uint32_t row = 0; row < chart.rows; row++) {
        if (row)
            text[n++] = '/';
        for (uint32_t x = 0; x < columns; x++) {
            int box = chart_box_at(&chart, row, x);
            text[n++] = box < 0 ? '-' : (char)chart.boxes[box].func;
        }
    }
    text[n] = '\0';
    return text;
}

static void one_sample_per_bucket(const char *nodes)
{
    chart_begin(&chart, 1000, 0, 10, 10);
    for (uint32_t i = 0; nodes[i]; i++)
        if (nodes[i] != ' ')
            chart_add(&chart, 1000 + i * 10 + 9, (uint32_t)(nodes[i] - '0'));
}

FIXTURE_TEST(equal_frames_of_adjacent_columns_share_a_box)
{
    one_sample_per_bucket("2334");
    chart_lay_out(&chart, &trie, 1, 4);
    assert_string_equal(draw_chart(4), "mmmm/aaac/-bb-");
    assert_int_equal(chart.n, 4); /* m, a, c, b */
    assert_int_equal(chart.boxes[0].width, 4);
    assert_int_equal(chart.boxes[1].width, 3);
    assert_int_equal(chart_box_at(&chart, 3, 0), -1);
    assert_int_equal(chart_box_at(&chart, 0, 4), -1);
}

FIXTURE_TEST(a_function_under_another_caller_has_its_own_box)
{
    one_sample_per_bucket("35");
    chart_lay_out(&chart, &trie, 1, 2);
    assert_string_equal(draw_chart(2), "mm/ac/bb");
    assert_int_equal(chart.n, 5);
    assert_int_not_equal(chart_box_at(&chart, 2, 0), chart_box_at(&chart, 2, 1));
}

FIXTURE_TEST(idle_time_leaves_a_gap)
{
    one_sample_per_bucket("2  2");
    chart_lay_out(&chart, &trie, 1, 4);
    assert_string_equal(draw_chart(4), "m--m/a--a");
    assert_int_equal(chart.n, 4);
}

FIXTURE_TEST(frames_without_a_function_are_omitted)
{
    one_sample_per_bucket("6");
    chart_lay_out(&chart, &trie, 1, 1);
    assert_string_equal(draw_chart(1), "m/d");
}

FIXTURE_TEST(a_column_shows_the_stack_with_most_time)
{
    one_sample_per_bucket("3324");
    chart_lay_out(&chart, &trie, 4, 1); /* b has two of a's three samples */
    assert_string_equal(draw_chart(1), "m/a/b");
    one_sample_per_bucket("3224");
    chart_lay_out(&chart, &trie, 4, 1); /* more samples end in a than in b */
    assert_string_equal(draw_chart(1), "m/a");
    one_sample_per_bucket("32454");
    chart_lay_out(&chart, &trie, 5, 1);
    assert_string_equal(draw_chart(1), "m/c");
}

FIXTURE_TEST(a_sample_covers_the_time_since_the_previous_sample)
{
    chart_begin(&chart, 1000, 0, 10, 30);
    chart_add(&chart, 1019, 2); /* from the start */
    chart_add(&chart, 1044, 4); /* since time 1019 */
    chart_add(&chart, 1099, 2); /* for 30 only: the thread slept before */
    chart_lay_out(&chart, &trie, 1, 10);
    assert_string_equal(draw_chart(10), "mmmmm--mmm/aaccc--aaa");
}

FIXTURE_TEST(out_of_order_and_out_of_range_samples_are_harmless)
{
    chart_begin(&chart, 1000, 1039, 10, 10);
    chart_add(&chart, 999, 2);
    chart_add(&chart, 1040, 2);
    chart_add(&chart, UINT64_MAX, 2);
    chart_add(&chart, 1029, 4);
    chart_add(&chart, 1009, 2);
    chart_add(&chart, 1039, 77); /* no such stack: treated as empty */
    assert_int_equal(chart.samples, 3);
    chart_lay_out(&chart, &trie, 1, 4);
    assert_string_equal(draw_chart(4), "m-m-/a-c-");
}

FIXTURE_TEST(a_chart_without_samples_has_no_boxes)
{
    chart_begin(&chart, 0, 0, 0, 0);
    chart_lay_out(&chart, &trie, 1, 80);
    assert_int_equal(chart.n, 0);
    assert_int_equal(chart.rows, 0);
    assert_int_equal(chart_box_at(&chart, 0, 0), -1);
}

/* The oracle: lays out each column alone, from the parts of its samples. */
FIXTURE_TEST(random_charts_match_a_per_column_oracle)
{
    uint64_t random = 88172645463325252u;
    char nodes[401] = { 0 }, expected[401];

    for (int i = 0; i < 400; i++) {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        nodes[i] = (char)('1' + (random >> 16) % 6);
    }
    one_sample_per_bucket(nodes);
    chart_lay_out(&chart, &trie, 1, 400);
    for (uint32_t i = 0; i < 400; i++)
        expected[i] = 'm';
    expected[400] = '\0';
    assert_memory_equal(draw_chart(400), expected, 400);
    for (uint32_t x = 0; x < 400; x++) {
        uint32_t path[4], depth = 0;
        for (uint32_t node = (uint32_t)(nodes[x] - '0'); node; node = parents[node])
            if (funcs[frames[node]])
                path[depth++] = funcs[frames[node]];
        for (uint32_t row = 0; row < depth; row++)
            assert_int_equal(chart.boxes[chart_box_at(&chart, row, x)].func, path[depth - 1 - row]);
        assert_int_equal(chart_box_at(&chart, depth, x), -1);
    }
}

TEST_MAIN(NULL, NULL)
