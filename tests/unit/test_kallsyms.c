// SPDX-License-Identifier: GPL-2.0-or-later
#include <string.h>

#include "base/mem.h"
#include "symbols/kallsyms.h"
#include "unit_test.h"

static const char sample[] = "0000000000000000 A fixed_percpu_data\n"
                             "ffffffff81000000 T _stext\n"
                             "ffffffff81000000 T _text\n"
                             "ffffffff81000000 T startup_64\n"
                             "ffffffff81000100 t local_function\n"
                             "ffffffff81000180 W weak_function\n"
                             "ffffffff81000180 T __x64_sys_read\n"
                             "ffffffff81000200 D jiffies\n"
                             "ffffffff81000300 T default_idle\n"
                             "ffffffffc0000000 t xfs_read\t[xfs]\n"
                             "ffffffffc0000100 t bpf_prog_1234\t[bpf]\n";

static void *parse(const char *text, size_t n, struct table *t)
{
    struct table_builder b = { 0 };
    void *blob;
    size_t size;

    kallsyms_parse(text, n, &b);
    assert_true(table_build(&b, TABLE_REPLACED, &blob, &size, NULL));
    assert_true(table_view(t, blob, size, NULL));
    table_builder_done(&b);
    return blob;
}

static const char *name_at(const struct table *t, uint64_t offset)
{
    struct table_entry entry;

    return table_find(t, offset, &entry) ? entry.name : "-";
}

TEST(functions_of_kernel_modules_and_bpf_are_found)
{
    struct table t;
    void *blob = parse(sample, sizeof sample - 1, &t);

    assert_string_equal(name_at(&t, UINT64_C(0xffffffff81000005)), "startup_64");
    assert_string_equal(name_at(&t, UINT64_C(0xffffffff81000100)), "local_function");
    assert_string_equal(name_at(&t, UINT64_C(0xffffffff81000190)), "__x64_sys_read");
    assert_string_equal(name_at(&t, UINT64_C(0xffffffffc0000000)), "xfs_read");
    assert_string_equal(name_at(&t, UINT64_C(0xffffffffc0000120)), "bpf_prog_1234");
    assert_int_equal(t.header->reference, UINT64_C(0xffffffff81000000));
    assert_false(t.header->flags & TABLE_HIDDEN);
    mem_free(blob);
}

TEST(data_and_gaps_between_sections_have_no_name)
{
    struct table t;
    void *blob = parse(sample, sizeof sample - 1, &t);

    assert_string_equal(name_at(&t, 0), "-");
    assert_string_equal(name_at(&t, UINT64_C(0xffffffff80ffffff)), "-");
    assert_string_equal(name_at(&t, UINT64_C(0xffffffffa0000000)), "-");
    assert_string_equal(name_at(&t, UINT64_C(0xffffffffd0000000)), "-");
    mem_free(blob);
}

TEST(all_zero_addresses_are_reported_as_hidden)
{
    static const char hidden[] =
        "0000000000000000 T _text\n0000000000000000 t f\n0000000000000000 t g\t[m]\n";
    struct table t;
    void *blob = parse(hidden, sizeof hidden - 1, &t);

    assert_true(t.header->flags & TABLE_HIDDEN);
    assert_int_equal(t.header->n, 0);
    mem_free(blob);
}

TEST(invalid_lines_are_skipped)
{
    static const char text[] = "\n\n \nT\nffffffff81000000\nffffffff81000000 \nffffffff81000000 T\n"
                               "ffffffff81000000 T \nfffffffff81000000 T seventeen_digits\n"
                               "zz T name\nffffffff81000040 Tname\n\0\1\2\n"
                               "ffffffff81000010 T good\nffffffff81000020 t unfinished_but_whole";
    struct table t;
    void *blob = parse(text, sizeof text - 1, &t);

    assert_int_equal(t.header->n, 2);
    assert_string_equal(name_at(&t, UINT64_C(0xffffffff81000010)), "good");
    assert_string_equal(name_at(&t, UINT64_C(0xffffffff81000020)), "unfinished_but_whole");
    mem_free(blob);
}

TEST(a_text_truncated_anywhere_is_handled)
{
    size_t n;

    for (n = 0; n < sizeof sample; n++) {
        struct table t;
        char *copy = mem_alloc(n);
        void *blob;
        memcpy(copy, sample, n);
        blob = parse(copy, n, &t);
        mem_free(copy);
        mem_free(blob);
    }
}

TEST(idle_functions_and_their_clones_are_recognized)
{
    assert_true(kallsyms_is_idle("default_idle"));
    assert_true(kallsyms_is_idle("pv_native_safe_halt"));
    assert_true(kallsyms_is_idle("intel_idle_ibrs"));
    assert_true(kallsyms_is_idle("mwait_idle_with_hints.constprop.0"));
    assert_true(kallsyms_is_idle("acpi_idle_do_entry"));
    assert_false(kallsyms_is_idle("default_idle_helper"));
    assert_false(kallsyms_is_idle("idle_cpu"));
    assert_false(kallsyms_is_idle("schedule"));
    assert_false(kallsyms_is_idle(""));
}

TEST_MAIN(NULL, NULL)
