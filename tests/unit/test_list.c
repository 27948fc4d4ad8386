// SPDX-License-Identifier: GPL-2.0-or-later
#include "ui/list.h"
#include "unit_test.h"

static uint64_t key_of(const void *ctx, uint32_t row)
{
    return ((const uint64_t *)ctx)[row];
}

static bool is_even(const void *ctx, uint32_t row, const char *needle)
{
    (void)needle;
    return ((const uint64_t *)ctx)[row] % 2 == 0;
}

TEST(an_untouched_cursor_stays_on_the_first_row)
{
    const uint64_t before[] = { 1, 2, 3 }, after[] = { 3, 1, 2 };
    struct list l = { 0 };
    list_update(&l, 3, key_of, before);
    list_update(&l, 3, key_of, after);
    assert_int_equal(l.cursor, 0);
    assert_int_equal(l.key, 3);
}

TEST(a_moved_cursor_stays_with_its_row)
{
    const uint64_t before[] = { 1, 2, 3 }, after[] = { 3, 1, 2 };
    struct list l = { 0 };
    list_update(&l, 3, key_of, before);
    assert_true(list_act(&l, ACTION_DOWN, key_of, before));
    list_update(&l, 3, key_of, after);
    assert_int_equal(l.cursor, 2);
    assert_int_equal(l.key, 2);
}

TEST(a_found_row_keeps_the_cursor_also_if_it_was_the_first)
{
    const uint64_t before[] = { 2, 1, 3 }, after[] = { 3, 1, 2 };
    struct list l = { 0 };
    list_update(&l, 3, key_of, before);
    assert_int_equal(list_find(&l, 0, "", is_even, key_of, before), SEARCH_FOUND);
    assert_int_equal(l.cursor, 0);
    list_update(&l, 3, key_of, after);
    assert_int_equal(l.cursor, 2);
    assert_int_equal(l.key, 2);
}

TEST(the_cursor_stays_in_place_when_its_row_disappears)
{
    const uint64_t before[] = { 1, 2, 3, 4 }, after[] = { 1, 3, 4 }, last[] = { 9 };
    struct list l = { 0 };
    list_update(&l, 4, key_of, before);
    list_go(&l, 1, key_of, before);
    list_update(&l, 3, key_of, after);
    assert_int_equal(l.cursor, 1);
    assert_int_equal(l.key, 3);
    list_update(&l, 1, key_of, last);
    assert_int_equal(l.cursor, 0);
    list_update(&l, 0, key_of, NULL);
    assert_int_equal(l.cursor, 0);
    assert_int_equal(l.key, 0);
}

TEST(a_new_query_shows_the_first_rows)
{
    uint64_t rows[100];
    struct list l = { 0 };
    for (uint64_t i = 0; i < 100; i++)
        rows[i] = i + 1;
    list_update(&l, 100, key_of, rows);
    list_fit(&l, 10);
    list_go(&l, 50, key_of, rows);
    list_fit(&l, 10);
    assert_int_equal(l.top, 41);
    uint64_t other[20];
    for (uint64_t i = 0; i < 20; i++)
        other[i] = i == 3 ? 51 : 1000 + i; /* the cursor's row is now the fourth */
    list_restart(&l);
    list_update(&l, 20, key_of, other);
    list_fit(&l, 10);
    assert_int_equal(l.cursor, 3);
    assert_int_equal(l.top, 0);
    other[3] = 2000; /* the row disappears later, and the cursor was not moved */
    list_update(&l, 20, key_of, other);
    assert_int_equal(l.cursor, 0);
    assert_false(l.moved);
    list_go(&l, 15, key_of, other);
    list_restart(&l);
    list_update(&l, 20, key_of, rows); /* the row disappears at once */
    list_fit(&l, 10);
    assert_int_equal(l.cursor, 0);
    assert_int_equal(l.top, 0);
}

TEST(a_saved_position_is_restored)
{
    uint64_t rows[100], later[100];
    struct list l = { 0 };
    struct view_position at = { 0 };
    for (uint64_t i = 0; i < 100; i++) {
        rows[i] = i + 1;
        later[i] = (i + 100 - 5) % 100 + 1; /* moved down by five rows */
    }
    list_update(&l, 100, key_of, rows);
    list_fit(&l, 10);
    list_go(&l, 50, key_of, rows);
    list_fit(&l, 10);
    list_act(&l, ACTION_UP, key_of, rows);
    list_act(&l, ACTION_UP, key_of, rows);
    list_save(&l, &at);
    list_go(&l, 0, key_of, rows);
    list_fit(&l, 10);
    list_update(&l, 100, key_of, later);
    list_restore(&l, &at, key_of, later);
    list_fit(&l, 10);
    assert_int_equal(l.key, 49);
    assert_int_equal(l.cursor, 53);
    assert_int_equal(l.top, 46);
    at.row_key = 12345; /* no such row: the position is used */
    list_restore(&l, &at, key_of, later);
    assert_int_equal(l.cursor, 48);
    assert_true(l.moved);
    at.moved = false;
    list_restore(&l, &at, key_of, later);
    assert_int_equal(l.cursor, 0);
}

TEST(the_cursor_is_always_visible)
{
    uint64_t rows[100];
    struct list l = { 0 };
    for (uint64_t i = 0; i < 100; i++)
        rows[i] = i + 1;
    list_update(&l, 100, key_of, rows);
    list_fit(&l, 10);
    list_act(&l, ACTION_END, key_of, rows);
    list_fit(&l, 10);
    assert_int_equal(l.top, 90);
    list_act(&l, ACTION_PAGE_UP, key_of, rows);
    list_fit(&l, 10);
    assert_int_equal(l.cursor, 90);
    assert_int_equal(l.top, 90);
    list_act(&l, ACTION_PAGE_UP, key_of, rows);
    list_fit(&l, 10);
    assert_int_equal(l.top, 81);
    list_fit(&l, 50); /* the screen became taller */
    assert_int_equal(l.top, 50);
    list_act(&l, ACTION_TOP, key_of, rows);
    list_fit(&l, 50);
    assert_int_equal(l.top, 0);
}

TEST(moving_stops_at_both_ends)
{
    const uint64_t rows[] = { 1, 2 };
    struct list l = { 0 };
    list_update(&l, 2, key_of, rows);
    list_act(&l, ACTION_UP, key_of, rows);
    assert_int_equal(l.cursor, 0);
    list_act(&l, ACTION_PAGE_DOWN, key_of, rows);
    list_act(&l, ACTION_DOWN, key_of, rows);
    list_act(&l, ACTION_DOWN, key_of, rows);
    assert_int_equal(l.cursor, 1);
    assert_false(list_act(&l, ACTION_QUIT, key_of, rows));
}

TEST(search_wraps_at_the_end)
{
    const uint64_t rows[] = { 2, 3, 4, 5 };
    struct list l = { 0 };
    list_update(&l, 4, key_of, rows);
    assert_int_equal(list_search(&l, 0, "", is_even, rows), 0);
    assert_int_equal(list_search(&l, 1, "", is_even, rows), 2);
    assert_int_equal(list_search(&l, -1, "", is_even, rows), 2);
    assert_true(list_went_round(&l, -1, 2) && list_went_round(&l, 1, 0));
    assert_false(list_went_round(&l, 1, 2) || list_went_round(&l, 0, 0));
    list_go(&l, 2, key_of, rows);
    assert_true(list_went_round(&l, 1, 0));
    assert_false(list_went_round(&l, -1, 0));
    assert_int_equal(list_search(&l, 1, "", is_even, rows), 0);
}

TEST(search_reports_when_nothing_matches)
{
    const uint64_t rows[] = { 1, 3 };
    struct list l = { 0 };
    assert_int_equal(list_search(&l, 1, "", is_even, rows), -1);
    list_update(&l, 2, key_of, rows);
    assert_int_equal(list_search(&l, -1, "", is_even, rows), -1);
}

TEST(screen_lines_map_to_rows_only_where_rows_are_drawn)
{
    const uint64_t keys[] = { 1, 2, 3, 4, 5 };
    struct list l = { 0 };
    uint32_t row;
    assert_false(list_row_at(&l, 0, &row));
    list_update(&l, 5, key_of, keys);
    list_go(&l, 4, key_of, keys);
    list_fit(&l, 3); /* rows 2, 3, 4 */
    assert_true(list_row_at(&l, 0, &row));
    assert_int_equal(row, 2);
    assert_true(list_row_at(&l, 2, &row));
    assert_int_equal(row, 4);
    assert_false(list_row_at(&l, 3, &row));
    assert_false(list_row_at(&l, -1, &row));
    list_update(&l, 3, key_of, keys);
    assert_false(list_row_at(&l, 1, &row));
}

TEST_MAIN(NULL, NULL)
