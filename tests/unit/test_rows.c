// SPDX-License-Identifier: GPL-2.0-or-later
#include <string.h>

#include "base/mem.h"
#include "unit_test.h"
#include "unwind/rowbuild.h"
#include "unwind_row.h"

#define MANY 5000

static struct unwind_entry entry(unsigned kind, int32_t cfa)
{
    return (struct unwind_entry){ .kind = (uint8_t)kind, .cfa_offset = cfa, .ra_offset = -8 };
}

static void add_row(struct rowbuild *b, uint64_t offset, unsigned kind, int32_t cfa, bool function)
{
    struct unwind_entry e = entry(kind, cfa);

    rowbuild_add(b, offset, &e, function);
}

static void *finish(struct rowbuild *b, struct unwind_rows *t, size_t *size)
{
    void *blob = NULL;
    struct error e = { 0 };

    assert_true(
        rowbuild_finish(b, UNWIND_ARCH_X86_64, (const uint8_t *)"12345678901234567890", 20, &blob, size, &e));
    assert_true(unwind_rows_view(t, blob, *size, &e));
    rowbuild_done(b);
    return blob;
}

/* Two functions of 0x20 and 0x10 bytes with a gap between them. */
static void *two_functions(struct unwind_rows *t, size_t *size)
{
    struct rowbuild b = { 0 };

    add_row(&b, 0x1000, UNWIND_ROW_SP, 8, true);
    add_row(&b, 0x1001, UNWIND_ROW_SP, 16, false);
    add_row(&b, 0x1004, UNWIND_ROW_FP, 16, false);
    add_row(&b, 0x1020, UNWIND_ROW_NONE, 0, false);
    add_row(&b, 0x1040, UNWIND_ROW_SP, 8, true);
    add_row(&b, 0x1050, UNWIND_ROW_NONE, 0, false);
    return finish(&b, t, size);
}

static int cfa_at(const struct unwind_rows *t, uint64_t offset)
{
    struct unwind_row row;

    return unwind_rows_find(t, offset, &row) ? row.cfa_offset : -1;
}

/* Few rows as far apart as 32 bits allow: the index has two blocks, and is built quickly. */
TEST(few_rows_may_be_far_apart)
{
    static const uint64_t lasts[] = { INT32_MAX, UINT64_C(1) << 31, (UINT64_C(1) << 31) + 0x10, UINT32_MAX };

    for (size_t i = 0; i < sizeof lasts / sizeof *lasts; i++) {
        for (unsigned n = 1; n <= 5; n++) {
            struct rowbuild b = { 0 };
            struct unwind_rows t;
            size_t size;
            void *blob;
            for (unsigned row = 0; row + 1 < n; row++)
                add_row(&b, 0x1000 + row, UNWIND_ROW_SP, 8 + (int32_t)row, true);
            add_row(&b, 0x1000 + (n > 1 ? lasts[i] : 0), UNWIND_ROW_FP, 16, true);
            blob = finish(&b, &t, &size);
            assert_true(t.header->index_shift < 32);
            assert_true(size < 1024);
            assert_int_equal(cfa_at(&t, 0x1000 + lasts[i]), 16);
            if (n > 1)
                assert_int_equal(cfa_at(&t, 0x1000), 8);
            mem_free(blob);
        }
    }
}

TEST(a_row_applies_up_to_the_next_one)
{
    struct unwind_rows t;
    struct unwind_row row;
    size_t size;
    void *blob = two_functions(&t, &size);

    assert_int_equal(cfa_at(&t, 0xfff), -1);
    assert_int_equal(cfa_at(&t, 0x1000), 8);
    assert_int_equal(cfa_at(&t, 0x1001), 16);
    assert_true(unwind_rows_find(&t, 0x101f, &row));
    assert_int_equal(row.kind, UNWIND_ROW_FP);
    assert_int_equal(row.ra_offset, -8);
    assert_int_equal(cfa_at(&t, 0x1020), -1);
    assert_int_equal(cfa_at(&t, 0x103f), -1);
    assert_int_equal(cfa_at(&t, 0x1040), 8);
    assert_int_equal(cfa_at(&t, 0x1050), -1);
    assert_int_equal(cfa_at(&t, 0x1000 + (UINT64_C(1) << 32)), -1);
    assert_int_equal(cfa_at(&t, UINT64_MAX), -1);
    mem_free(blob);
}

TEST(functions_have_a_begin_and_an_end)
{
    struct unwind_rows t;
    size_t size;
    uint64_t start, length;
    void *blob = two_functions(&t, &size);

    assert_true(unwind_rows_function(&t, 0x1010, &start, &length));
    assert_int_equal(start, 0x1000);
    assert_int_equal(length, 0x20);
    assert_true(unwind_rows_function(&t, 0x1040, &start, &length));
    assert_int_equal(start, 0x1040);
    assert_int_equal(length, 0x10);
    assert_false(unwind_rows_function(&t, 0x1030, &start, &length));
    assert_false(unwind_rows_function(&t, 0x1050, &start, &length));
    assert_false(unwind_rows_function(&t, 0x10, &start, &length));
    mem_free(blob);
}

TEST(a_table_names_its_module_and_machine)
{
    struct unwind_rows t, empty = { 0 };
    size_t size;
    uint8_t id[20];
    void *blob = two_functions(&t, &size);

    assert_int_equal(unwind_rows_build_id(&t, id), 20);
    assert_memory_equal(id, "12345678901234567890", 20);
    assert_int_equal(unwind_rows_arch(&t), UNWIND_ARCH_X86_64);
    assert_int_equal(unwind_rows_count(&t), 6);
    assert_int_equal(unwind_rows_count(&empty), 0);
    assert_int_equal(unwind_rows_build_id(&empty, id), 0);
    assert_int_equal(cfa_at(&empty, 0x1000), -1);
    mem_free(blob);
}

TEST(equal_rows_are_kept_once)
{
    struct rowbuild b = { 0 };
    struct unwind_rows t;
    size_t size;
    void *blob;

    add_row(&b, 0x10, UNWIND_ROW_SP, 8, true);
    add_row(&b, 0x18, UNWIND_ROW_SP, 8, false);
    add_row(&b, 0x20, UNWIND_ROW_SP, 16, false);
    add_row(&b, 0x20, UNWIND_ROW_SP, 24, false); /* the later one counts */
    add_row(&b, 0x30, UNWIND_ROW_SP, 24, true);  /* a function begins */
    blob = finish(&b, &t, &size);
    assert_int_equal(unwind_rows_count(&t), 3);
    assert_int_equal(cfa_at(&t, 0x1f), 8);
    assert_int_equal(cfa_at(&t, 0x20), 24);
    mem_free(blob);
}

/* Far and near rows, so that blocks of the index are empty, full, and hold several. */
TEST(the_index_finds_what_a_linear_search_finds)
{
    static uint64_t offsets[MANY];
    struct rowbuild b = { 0 };
    struct unwind_rows t;
    uint64_t seed = 88172645463325252u, at = 7;
    size_t size;
    void *blob;

    for (int i = 0; i < MANY; i++) {
        seed ^= seed << 13, seed ^= seed >> 7, seed ^= seed << 17;
        at += 1 + (seed % 100 == 0 ? seed % 100000 : seed % 17);
        offsets[i] = at;
        add_row(&b, at, UNWIND_ROW_SP, i % 1000, false);
    }
    blob = finish(&b, &t, &size);
    for (int i = 0; i < MANY; i++) {
        assert_int_equal(cfa_at(&t, offsets[i]), i % 1000);
        assert_int_equal(cfa_at(&t, offsets[i] - 1), i && offsets[i] - 1 >= offsets[0] ? (i - 1) % 1000 : -1);
    }
    mem_free(blob);
}

TEST(too_many_distinct_states_end_the_table_only)
{
    struct rowbuild b = { 0 };
    struct unwind_rows t;
    size_t size;
    void *blob;

    for (uint32_t i = 0; i < UNWIND_ENTRIES_MAX + 10; i++)
        add_row(&b, i, UNWIND_ROW_SP, (int32_t)i, false);
    assert_true(b.full);
    blob = finish(&b, &t, &size);
    assert_int_equal(cfa_at(&t, UNWIND_ENTRIES_MAX - 3), UNWIND_ENTRIES_MAX - 3);
    assert_int_equal(cfa_at(&t, UNWIND_ENTRIES_MAX + 5), -1);
    mem_free(blob);
}

TEST(truncated_blobs_and_other_versions_are_refused)
{
    struct unwind_rows t;
    struct error e = { 0 };
    size_t size;
    void *blob = two_functions(&t, &size);
    struct unwind_rows_header *h = blob;

    for (size_t n = 0; n < size; n++)
        assert_false(unwind_rows_view(&t, blob, n, &e));
    assert_null(t.header);
    h->version++;
    assert_false(unwind_rows_view(&t, blob, size, &e));
    h->version--;
    h->n_rows++;
    assert_false(unwind_rows_view(&t, blob, size, &e));
    h->n_rows--;
    h->index_shift = 40;
    assert_false(unwind_rows_view(&t, blob, size, &e));
    h->index_shift = 4;
    h->build_id_size = 21;
    assert_false(unwind_rows_view(&t, blob, size, &e));
    mem_free(blob);
}

TEST(a_wrong_index_stays_within_the_table)
{
    struct unwind_rows t;
    struct unwind_row row;
    size_t size;
    void *blob = two_functions(&t, &size);
    uint32_t *index = (void *)((struct unwind_rows_header *)blob + 1);
    uint64_t start, length;

    memset(index, 0xff, t.header->n_index * sizeof *index);
    memset((void *)(uintptr_t)t.rows, 0xff, t.header->n_rows * sizeof *t.rows);
    for (uint64_t offset = 0xff0; offset < 0x1100; offset++) {
        assert_false(unwind_rows_find(&t, offset, &row));
        unwind_rows_function(&t, offset, &start, &length);
    }
    mem_free(blob);
}

TEST(no_rows_give_no_table)
{
    struct rowbuild b = { 0 };
    struct error e = { 0 };
    void *blob;
    size_t size;

    assert_false(rowbuild_finish(&b, UNWIND_ARCH_X86_64, NULL, 0, &blob, &size, &e));
    assert_int_equal(e.class, ERROR_MISSING);
    rowbuild_done(&b);
}

TEST_MAIN(NULL, NULL)
