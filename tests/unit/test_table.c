// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdio.h>
#include <string.h>

#include "base/map.h"
#include "base/mem.h"
#include "symbols/table.h"
#include "unit_test.h"

static void add_symbol(struct table_builder *b, uint64_t start, uint64_t size, const char *name,
                       enum table_rank rank)
{
    table_add(b, start, size, UINT64_MAX, name, strlen(name), rank);
}

static void *build_table(struct table_builder *b, enum table_overlap overlap, struct table *t, size_t *size)
{
    void *blob = NULL;
    struct error e = { 0 };

    assert_true(table_build(b, overlap, &blob, size, &e));
    assert_true(table_view(t, blob, *size, &e));
    table_builder_done(b);
    return blob;
}

static const char *name_at(const struct table *t, uint64_t offset)
{
    struct table_entry entry;

    return table_find(t, offset, &entry) ? entry.name : "-";
}

TEST(entries_cover_their_range_and_nothing_else)
{
    struct table_builder b = { 0 };
    struct table_entry entry;
    struct table t;
    size_t size;
    void *blob;

    add_symbol(&b, 0x2000, 0x10, "second", TABLE_GLOBAL);
    add_symbol(&b, 0x1000, 0x20, "first", TABLE_GLOBAL);
    blob = build_table(&b, TABLE_NESTED, &t, &size);
    assert_string_equal(name_at(&t, 0xfff), "-");
    assert_string_equal(name_at(&t, 0x1000), "first");
    assert_string_equal(name_at(&t, 0x101f), "first");
    assert_string_equal(name_at(&t, 0x1020), "-");
    assert_string_equal(name_at(&t, 0x2010), "-");
    assert_true(table_find(&t, 0x200f, &entry));
    assert_int_equal(entry.start, 0x2000);
    assert_int_equal(entry.size, 0x10);
    assert_string_equal(entry.name, "second");
    mem_free(blob);
}

TEST(an_empty_table_finds_nothing)
{
    struct table_builder b = { 0 };
    struct table_entry entry;
    struct table t;
    size_t size;
    void *blob = build_table(&b, TABLE_NESTED, &t, &size);

    assert_false(table_find(&t, 0, &entry));
    assert_false(table_find(&t, UINT64_MAX, &entry));
    assert_null(table_debuglink(&t));
    mem_free(blob);
    t = (struct table){ 0 };
    assert_false(table_find(&t, 0, &entry));
}

TEST(the_best_alias_is_chosen_whatever_the_order)
{
    static const struct {
        const char *name;
        enum table_rank rank;
        uint64_t size;
    } aliases[] = { { "__libc_malloc", TABLE_GLOBAL, 16 },   { "malloc_is_weak_here", TABLE_WEAK, 16 },
                    { "malloc", TABLE_GLOBAL, 16 },          { "mal", TABLE_GLOBAL, 16 },
                    { "malloc_local_one", TABLE_LOCAL, 16 }, { "malloc_without_size", TABLE_GLOBAL, 0 } };
    size_t n = sizeof aliases / sizeof *aliases, first, i, size;

    for (first = 0; first < n; first++) {
        struct table_builder b = { 0 };
        struct table t;
        void *blob;
        for (i = 0; i < n; i++)
            add_symbol(&b, 64, aliases[(first + i) % n].size, aliases[(first + i) % n].name,
                       aliases[(first + i) % n].rank);
        blob = build_table(&b, TABLE_NESTED, &t, &size);
        assert_int_equal(t.header->n, 1);
        assert_string_equal(name_at(&t, 64), "malloc");
        mem_free(blob);
    }
}

TEST(an_entry_without_size_reaches_to_the_next_or_its_limit)
{
    struct table_builder b = { 0 };
    struct table t;
    size_t size;
    void *blob;

    table_add(&b, 0x1000, 0, 0x9000, "_start", 6, TABLE_GLOBAL);
    table_add(&b, 0x1100, 0x10, 0x9000, "main", 4, TABLE_GLOBAL);
    table_add(&b, 0x1200, 0, 0x1234, "last", 4, TABLE_GLOBAL);
    blob = build_table(&b, TABLE_NESTED, &t, &size);
    assert_string_equal(name_at(&t, 0x10ff), "_start");
    assert_string_equal(name_at(&t, 0x1100), "main");
    assert_string_equal(name_at(&t, 0x1110), "-");
    assert_string_equal(name_at(&t, 0x1233), "last");
    assert_string_equal(name_at(&t, 0x1234), "-");
    mem_free(blob);
}

TEST(an_outer_function_continues_after_an_inner_one)
{
    struct table_builder b = { 0 };
    struct table t;
    size_t size;
    void *blob;

    add_symbol(&b, 100, 100, "outer", TABLE_GLOBAL);
    add_symbol(&b, 110, 10, "inner", TABLE_GLOBAL);
    add_symbol(&b, 112, 2, "innermost", TABLE_GLOBAL);
    add_symbol(&b, 115, 30, "across", TABLE_GLOBAL);
    blob = build_table(&b, TABLE_NESTED, &t, &size);
    assert_string_equal(name_at(&t, 109), "outer");
    assert_string_equal(name_at(&t, 111), "inner");
    assert_string_equal(name_at(&t, 113), "innermost");
    assert_string_equal(name_at(&t, 114), "inner");
    assert_string_equal(name_at(&t, 120), "across");
    assert_string_equal(name_at(&t, 144), "across");
    assert_string_equal(name_at(&t, 145), "outer");
    assert_string_equal(name_at(&t, 199), "outer");
    assert_string_equal(name_at(&t, 200), "-");
    mem_free(blob);
}

TEST(later_jit_code_replaces_overlapping_entries)
{
    struct table_builder b = { 0 };
    struct table t;
    size_t size;
    void *blob;

    add_symbol(&b, 100, 50, "old", TABLE_GLOBAL);
    add_symbol(&b, 300, 10, "same place, old", TABLE_GLOBAL);
    add_symbol(&b, 140, 20, "new", TABLE_GLOBAL);
    add_symbol(&b, 300, 10, "same place, new", TABLE_GLOBAL);
    add_symbol(&b, 500, 10, "untouched", TABLE_GLOBAL);
    blob = build_table(&b, TABLE_REPLACED, &t, &size);
    assert_string_equal(name_at(&t, 110), "-");
    assert_string_equal(name_at(&t, 140), "new");
    assert_string_equal(name_at(&t, 159), "new");
    assert_string_equal(name_at(&t, 305), "same place, new");
    assert_string_equal(name_at(&t, 505), "untouched");
    mem_free(blob);
}

TEST(starts_far_apart_are_kept_whole)
{
    struct table_builder b = { 0 };
    struct table t;
    size_t size;
    void *blob;

    add_symbol(&b, 0x1000, 16, "low", TABLE_GLOBAL);
    add_symbol(&b, UINT64_C(0xffffffff81000000), 16, "high", TABLE_GLOBAL);
    add_symbol(&b, UINT64_MAX - 8, 100, "top", TABLE_GLOBAL);
    blob = build_table(&b, TABLE_NESTED, &t, &size);
    assert_true(t.header->flags & TABLE_WIDE);
    assert_string_equal(name_at(&t, 0x100f), "low");
    assert_string_equal(name_at(&t, UINT64_C(0xffffffff8100000f)), "high");
    assert_string_equal(name_at(&t, UINT64_MAX - 1), "top");
    mem_free(blob);
}

TEST(identity_and_debug_link_are_kept)
{
    struct table_builder b = { .header = {
                                   .build_id_size = 3, .build_id = { 1, 2, 3 }, .flags = TABLE_FULL } };
    struct table t;
    size_t size;
    void *blob;

    strcpy(b.debuglink, "x.debug");
    add_symbol(&b, 1, 1, "f", TABLE_GLOBAL);
    blob = build_table(&b, TABLE_NESTED, &t, &size);
    assert_string_equal(table_debuglink(&t), "x.debug");
    assert_int_equal(t.header->build_id_size, 3);
    assert_int_equal(t.header->build_id[2], 3);
    assert_int_equal(t.header->flags, TABLE_FULL);
    assert_string_equal(name_at(&t, 1), "f");
    mem_free(blob);
}

TEST(overlong_names_are_truncated)
{
    struct table_builder b = { 0 };
    static char name[TABLE_NAME_MAX + 100];
    struct table t;
    size_t size;
    void *blob;

    memset(name, 'x', sizeof name - 1);
    add_symbol(&b, 1, 1, name, TABLE_GLOBAL);
    blob = build_table(&b, TABLE_NESTED, &t, &size);
    assert_int_equal(strlen(name_at(&t, 1)), TABLE_NAME_MAX);
    mem_free(blob);
}

/* Every entry found must equal that of a linear search of the input. */
TEST(a_random_table_agrees_with_a_linear_search)
{
    enum { N = 3000, SPAN = 100000 };
    static uint64_t starts[N], sizes[N];
    struct table_builder b = { 0 };
    struct table t;
    char name[16];
    size_t size, i;
    void *blob;
    uint64_t at;

    for (i = 0; i < N; i++) {
        starts[i] = i * 32 + map_mix(i) % 16;
        sizes[i] = 1 + map_mix(i + N) % 16;
        snprintf(name, sizeof name, "f%zu", i);
        add_symbol(&b, starts[i], sizes[i], name, TABLE_GLOBAL);
    }
    blob = build_table(&b, TABLE_NESTED, &t, &size);
    for (at = 0; at < SPAN; at++) {
        i = at / 32;
        snprintf(name, sizeof name, "f%zu", i);
        if (i < N && at >= starts[i] && at < starts[i] + sizes[i])
            assert_string_equal(name_at(&t, at), name);
        else
            assert_string_equal(name_at(&t, at), "-");
    }
    mem_free(blob);
}

/* The copy has exactly the blob's size, so that a sanitizer detects any read outside it. */
TEST(a_damaged_blob_stays_within_its_bounds)
{
    struct table_builder b = { 0 };
    struct table_entry entry;
    struct table t;
    size_t size, i, cut, found = 0;
    char *blob, *copy;

    strcpy(b.debuglink, "l");
    add_symbol(&b, 16, 16, "a", TABLE_GLOBAL);
    add_symbol(&b, 64, 16, "b", TABLE_GLOBAL);
    add_symbol(&b, 128, 16, "c", TABLE_GLOBAL);
    blob = build_table(&b, TABLE_NESTED, &t, &size);
    for (cut = 0; cut < size; cut++) {
        copy = mem_alloc(cut);
        memcpy(copy, blob, cut);
        assert_false(table_view(&t, copy, cut, NULL));
        mem_free(copy);
    }
    for (i = 0; i < size * 8; i++) {
        copy = mem_alloc(size);
        memcpy(copy, blob, size);
        copy[i / 8] ^= (char)(1 << i % 8);
        if (table_view(&t, copy, size, NULL)) {
            for (cut = 0; cut < 200; cut += 8)
                found += table_find(&t, cut, &entry) && strlen(entry.name) < size;
            table_debuglink(&t);
        }
        mem_free(copy);
    }
    assert_true(found > 0);
    mem_free(blob);
}

TEST_MAIN(NULL, NULL)
