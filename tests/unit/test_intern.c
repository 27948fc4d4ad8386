// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdio.h>
#include <string.h>

#include "base/intern.h"
#include "unit_test.h"

static uint32_t intern_text(struct intern *in, const char *s)
{
    return intern_add(in, s, strlen(s));
}

static void the_empty_string_has_id_zero(void **state)
{
    struct intern *in = intern_new();

    assert_int_equal(intern_add(in, "", 0), 0);
    assert_int_equal(intern_add(in, NULL, 0), 0);
    assert_string_equal(intern_str(in, 0), "");
    assert_int_equal(intern_count(in), 1);
    intern_free(in);
}

static void equal_strings_get_equal_ids_dense_from_one(void **state)
{
    struct intern *in = intern_new();

    assert_int_equal(intern_text(in, "bash"), 1);
    assert_int_equal(intern_text(in, "mysqld"), 2);
    assert_int_equal(intern_text(in, "bash"), 1);
    assert_int_equal(intern_text(in, "bas"), 3);
    assert_string_equal(intern_str(in, 2), "mysqld");
    assert_int_equal(intern_count(in), 4);
    intern_free(in);
}

static void strings_end_after_n_bytes_or_at_a_nul(void **state)
{
    struct intern *in = intern_new();

    assert_int_equal(intern_add(in, "abcdef", 3), intern_add(in, "abc\0xyz", 7));
    assert_string_equal(intern_str(in, 1), "abc");
    assert_int_equal(intern_add(in, "\0abc", 4), 0);
    intern_free(in);
}

static void an_unknown_id_gives_the_empty_string(void **state)
{
    struct intern *in = intern_new();

    assert_string_equal(intern_str(in, 1), "");
    assert_string_equal(intern_str(in, UINT32_MAX), "");
    intern_free(in);
}

static void strings_keep_their_address_while_many_are_added(void **state)
{
    struct intern *in = intern_new();
    const char *first;
    size_t before;
    char name[32];
    uint32_t i;

    first = intern_str(in, intern_text(in, "first"));
    before = intern_bytes(in);
    for (i = 0; i < 20000; i++) {
        snprintf(name, sizeof name, "function_%u", i);
        assert_int_equal(intern_text(in, name), i + 2);
    }
    for (i = 0; i < 20000; i++) {
        snprintf(name, sizeof name, "function_%u", i);
        assert_int_equal(intern_text(in, name), i + 2);
        assert_string_equal(intern_str(in, i + 2), name);
    }
    assert_ptr_equal(intern_str(in, 1), first);
    assert_true(intern_bytes(in) > before + 20000 * 10);
    intern_free(in);
}

static void freeing_null_is_allowed(void **state)
{
    intern_free(NULL);
}

static void added_strings_are_found(void **state)
{
    struct intern *in = intern_new();
    uint32_t id, found;

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
        cmocka_unit_test(the_empty_string_has_id_zero),
        cmocka_unit_test(equal_strings_get_equal_ids_dense_from_one),
        cmocka_unit_test(strings_end_after_n_bytes_or_at_a_nul),
        cmocka_unit_test(an_unknown_id_gives_the_empty_string),
        cmocka_unit_test(strings_keep_their_address_while_many_are_added),
        cmocka_unit_test(freeing_null_is_allowed),
        cmocka_unit_test(added_strings_are_found),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
