// SPDX-License-Identifier: GPL-2.0-or-later
#include <string.h>

#include "ui/columns.h"
#include "unit_test.h"

TEST(shown_columns_survive_saving_and_loading)
{
    for (uint32_t hidden = 0; hidden < 1u << COLUMN_FUNCTION; hidden++) {
        struct buf list = { 0 };
        columns_shown(hidden, &list);
        assert_int_equal(columns_hidden_but(buf_str(&list)), hidden);
        buf_done(&list);
    }
}

TEST(the_function_column_is_always_shown)
{
    struct buf list = { 0 };
    assert_int_equal(columns_hidden_but("self") & 1u << COLUMN_FUNCTION, 0);
    columns_shown(UINT32_MAX, &list);
    assert_string_equal(buf_str(&list), "function");
    buf_done(&list);
}

TEST(an_invalid_list_hides_no_column_and_suggests_the_nearest_name)
{
    enum column columns[COLUMN_COUNT];
    uint32_t n;
    struct error e = { 0 };
    assert_int_equal(columns_hidden_but("slef"), 0);
    assert_false(columns_parse("slef", columns, &n, &e));
    assert_non_null(strstr(e.text, "\"self\""));
}

TEST_MAIN(NULL, NULL)
