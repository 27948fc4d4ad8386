// SPDX-License-Identifier: GPL-2.0-or-later
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "base/intern.h"

static uint32_t add(struct intern *in, const char *s)
{
    return intern_add(in, s, strlen(s));
}

static void the_empty_string_is_zero(void **state)
{
    struct intern *in = intern_new();

    (void)state;
    assert_int_equal(intern_add(in, "", 0), 0);
    assert_int_equal(intern_add(in, NULL, 0), 0);
    assert_string_equal(intern_str(in, 0), "");
    assert_int_equal(intern_count(in), 1);
    intern_free(in);
}

static void equal_strings_get_equal_ids_dense_from_one(void **state)
{
    struct intern *in = intern_new();

    (void)state;
    assert_int_equal(add(in, "bash"), 1);
    assert_int_equal(add(in, "mysqld"), 2);
    assert_int_equal(add(in, "bash"), 1);
    assert_int_equal(add(in, "bas"), 3);
    assert_string_equal(intern_str(in, 2), "mysqld");
    assert_int_equal(intern_count(in), 4);
    intern_free(in);
}

static void only_n_bytes_up_to_a_nul_count(void **state)
{
    struct intern *in = intern_new();

    (void)state;
    assert_int_equal(intern_add(in, "abcdef", 3), intern_add(in, "abc\0xyz", 7));
    assert_string_equal(intern_str(in, 1), "abc");
    assert_int_equal(intern_add(in, "\0abc", 4), 0);
    intern_free(in);
}

static void an_unknown_id_is_an_empty_string(void **state)
{
    struct intern *in = intern_new();

    (void)state;
    assert_string_equal(intern_str(in, 1), "");
    assert_string_equal(intern_str(in, UINT32_MAX), "");
    intern_free(in);
}

static void strings_stay_where_they_are_while_many_are_added(void **state)
{
    struct intern *in = intern_new();
    const char *first;
    size_t before;
    char name[32];
    uint32_t i;

    (void)state;
    first = intern_str(in, add(in, "first"));
    before = intern_bytes(in);
    for (i = 0; i < 20000; i++) {
        snprintf(name, sizeof name, "function_%u", i);
        assert_int_equal(add(in, name), i + 2);
    }
    for (i = 0; i < 20000; i++) {
        snprintf(name, sizeof name, "function_%u", i);
        assert_int_equal(add(in, name), i + 2);
        assert_string_equal(intern_str(in, i + 2), name);
    }
    assert_ptr_equal(intern_str(in, 1), first);
    assert_true(intern_bytes(in) > before + 20000 * 10);
    intern_free(in);
}

static void freeing_nothing_is_fine(void **state)
{
    (void)state;
    intern_free(NULL);
}

static void what_was_added_is_found(void **state)
{
    struct intern *in = intern_new();
    uint32_t id, found;

    (void)state;
    assert_false(intern_find(in, "one", 3, &found));
    id = intern_add(in, "one", 3);
    assert_true(intern_find(in, "one", 3, &found));
    assert_int_equal(found, id);
    assert_false(intern_find(in, "on", 2, &found));
    assert_true(intern_find(in, "", 0, &found));
    assert_int_equal(found, 0);
    assert_int_equal(intern_count(in), 2);
    intern_free(in);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_empty_string_is_zero),
        cmocka_unit_test(equal_strings_get_equal_ids_dense_from_one),
        cmocka_unit_test(only_n_bytes_up_to_a_nul_count),
        cmocka_unit_test(an_unknown_id_is_an_empty_string),
        cmocka_unit_test(strings_stay_where_they_are_while_many_are_added),
        cmocka_unit_test(freeing_nothing_is_fine),
        cmocka_unit_test(what_was_added_is_found),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
