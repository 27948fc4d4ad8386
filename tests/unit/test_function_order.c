// SPDX-License-Identifier: GPL-2.0-or-later
/* The order of functions in exports. */

#include "export/function_order.h"
#include "unit_test.h"

static struct view_function funcs[] = { { 0 },
                                        { .name = "middle", .module = "b.so" },
                                        { .name = "middle", .module = "a.so" },
                                        { .name = "first", .module = "c.so" } };
static struct view_group_info groups[] = { { .full = "late" }, { .full = "early" } };
static const struct view of = { .funcs = funcs, .n_funcs = 4, .groups = groups, .n_groups = 2 };

TEST(functions_with_equal_shares_are_in_order_of_their_names)
{
    struct function_row rows[] = { { .func = 1, .self_weight = 5, .total_weight = 7 },
                                   { .func = 2, .self_weight = 5, .total_weight = 7 },
                                   { .func = 3, .self_weight = 5, .total_weight = 7 },
                                   { .func = 3, .group = 1, .self_weight = 5, .total_weight = 7 },
                                   { .func = 1, .self_weight = 5, .total_weight = 8 },
                                   { .func = 1, .self_weight = 6, .total_weight = 6, .self_count = 1 } };
    struct functions f = { .rows = rows, .n = 6 };
    function_order(&f, &of, false);
    assert_int_equal(rows[0].self_weight, 6);
    assert_int_equal(rows[1].total_weight, 8);
    assert_true(rows[2].func == 3 && rows[2].group == 1);
    assert_true(rows[3].func == 3 && rows[3].group == 0);
    assert_int_equal(rows[4].func, 2);
    assert_int_equal(rows[5].func, 1);
}

TEST(the_number_of_samples_can_come_before_the_weight)
{
    struct function_row rows[] = { { .func = 1, .self_weight = 9, .self_count = 1 },
                                   { .func = 2, .self_weight = 1, .self_count = 2 } };
    struct functions f = { .rows = rows, .n = 2 };
    function_order(&f, &of, true);
    assert_int_equal(rows[0].func, 2);
    function_order(&f, &of, false);
    assert_int_equal(rows[0].func, 1);
    f.n = 0;
    function_order(&f, &of, false);
}

TEST_MAIN(NULL, NULL)
