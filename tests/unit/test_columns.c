// SPDX-License-Identifier: GPL-2.0-or-later
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "ui/columns.h"

static void the_columns_that_are_shown_come_back_as_they_were(void **state)
{
    (void)state;
    for (uint32_t hidden = 0; hidden < 1u << COLUMN_FUNCTION; hidden++) {
        struct buf list = { 0 };
        columns_shown(hidden, &list);
        assert_int_equal(columns_hidden_but(buf_str(&list)), hidden);
        buf_done(&list);
    }
}

static void the_function_is_always_shown(void **state)
{
    struct buf list = { 0 };
    (void)state;
    assert_int_equal(columns_hidden_but("self") & 1u << COLUMN_FUNCTION, 0);
    columns_shown(UINT32_MAX, &list);
    assert_string_equal(buf_str(&list), "function");
    buf_done(&list);
}

static void a_bad_list_hides_nothing_and_names_the_nearest(void **state)
{
    enum column columns[COLUMN_COUNT];
    uint32_t n;
    struct error e = { 0 };
    (void)state;
    assert_int_equal(columns_hidden_but("slef"), 0);
    assert_false(columns_parse("slef", columns, &n, &e));
    assert_non_null(strstr(e.text, "\"self\""));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_columns_that_are_shown_come_back_as_they_were),
        cmocka_unit_test(the_function_is_always_shown),
        cmocka_unit_test(a_bad_list_hides_nothing_and_names_the_nearest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
