// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdio.h>
#include <string.h>

#include "base/intern.h"
#include "unit_test.h"

static uint32_t intern_text(struct intern *in, const char *s)
{
    return intern_add(in, s, strlen(s));
}

TEST(the_empty_string_has_id_zero)
{
    struct intern *in = intern_new();

    assert_int_equal(intern_add(in, "", 0), 0);
    assert_int_equal(intern_add(in, NULL, 0), 0);
    assert_string_equal(intern_str(in, 0), "");
    assert_int_equal(intern_count(in), 1);
    intern_free(in);
}

TEST(equal_strings_get_equal_ids_dense_from_one)
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

TEST(strings_end_after_n_bytes_or_at_a_nul)
{
    struct intern *in = intern_new();

    assert_int_equal(intern_add(in, "abcdef", 3), intern_add(in, "abc\0xyz", 7));
    assert_string_equal(intern_str(in, 1), "abc");
    assert_int_equal(intern_add(in, "\0abc", 4), 0);
    intern_free(in);
}

TEST(an_unknown_id_gives_the_empty_string)
{
    struct intern *in = intern_new();

    assert_string_equal(intern_str(in, 1), "");
    assert_string_equal(intern_str(in, UINT32_MAX), "");
    intern_free(in);
}

TEST(strings_keep_their_address_while_many_are_added)
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

TEST(freeing_null_is_allowed)
{
    intern_free(NULL);
}

TEST(added_strings_are_found)
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

TEST_MAIN(NULL, NULL)
