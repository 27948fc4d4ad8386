// SPDX-License-Identifier: GPL-2.0-or-later
#include <link.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "symbols/livestacks.h"
#include "symbols/livestacks_report.h"
#include "unit_test.h"
#include "unwind/ehframe.h"

static void add_head(struct buf *b, enum error_class class, const char *text)
{
    struct livestacks_head head = { .magic = LIVESTACKS_MAGIC, .class = class };
    snprintf(head.text, sizeof head.text, "%s", text);
    buf_add(b, &head, sizeof head);
}

static void add_record(struct buf *b, struct livestacks_record r, uint32_t frames)
{
    buf_add(b, &r, sizeof r);
    for (uint64_t i = 0; i < frames; i++)
        buf_add(b, &i, sizeof i);
}

TEST(stacks_are_found_by_thread)
{
    struct livestacks s = { 0 };
    struct error e = { 0 };
    struct buf b = { 0 };
    add_head(&b, ERROR_NONE, "");
    add_record(&b, (struct livestacks_record){ .tid = 9, .n = 3, .holder = 4, .stopped_ns = 70 }, 3);
    add_record(&b, (struct livestacks_record){ .tid = 4, .refused = 1 }, 0);
    assert_true(livestacks_parse(b.data, b.len, &s, &e));
    assert_int_equal(s.n, 2);
    assert_int_equal(livestacks_of(&s, 9)->n, 3);
    assert_int_equal(livestacks_of(&s, 9)->frames[2], 2);
    assert_int_equal(livestacks_of(&s, 9)->holder, 4);
    assert_int_equal(livestacks_of(&s, 4)->refused, 1);
    assert_null(livestacks_of(&s, 5));
    assert_int_equal(s.longest_ns, 70);
    livestacks_done(&s);
    buf_done(&b);
}

TEST(paths_are_cleaned_and_bounded)
{
    struct livestacks s = { 0 };
    struct error e = { 0 };
    struct buf b = { 0 };
    char longest[LIVESTACKS_PATH_MAX];
    memset(longest, 'x', sizeof longest);
    add_head(&b, ERROR_NONE, "");
    add_record(&b, (struct livestacks_record){ .tid = 1, .n = 2, .path = 5, .path_at = 7 }, 2);
    buf_puts(&b, "/a\033\nb");
    add_record(&b, (struct livestacks_record){ .tid = 2, .path = sizeof longest }, 0);
    buf_add(&b, longest, sizeof longest);
    add_record(&b, (struct livestacks_record){ .tid = 3 }, 0);
    assert_true(livestacks_parse(b.data, b.len, &s, &e));
    assert_string_equal(livestacks_of(&s, 1)->path, "/a??b");
    assert_int_equal(livestacks_of(&s, 1)->path_at, 7);
    assert_string_equal(livestacks_of(&s, 2)->path + sizeof longest - 1, "x...");
    assert_null(livestacks_of(&s, 3)->path);
    livestacks_done(&s);
    buf_done(&b);
}

/* Every prefix of a report is parsed without harm, and is an error unless it ends after a record. */
TEST(a_truncated_report_keeps_its_whole_stacks)
{
    struct buf b = { 0 };
    add_head(&b, ERROR_NONE, "");
    add_record(&b, (struct livestacks_record){ .tid = 9, .n = 1 }, 1);
    size_t whole = b.len;
    add_record(&b, (struct livestacks_record){ .tid = 4, .n = 2, .path = 3 }, 2);
    buf_puts(&b, "abc");
    for (size_t n = 0; n <= b.len; n++) {
        struct livestacks s = { 0 };
        struct error e = { 0 };
        bool complete = n == sizeof(struct livestacks_head) || n == whole || n == b.len;
        assert_int_equal(livestacks_parse(b.data, n, &s, &e), complete);
        assert_int_equal(s.n, n == b.len ? 2 : n >= whole);
        livestacks_done(&s);
    }
    buf_done(&b);
}

TEST(wrong_numbers_are_refused)
{
    const struct livestacks_record wrong[] = { { .end = REMOTE_ENDS },
                                               { .n = LIVESTACKS_FRAMES_MAX + 1 },
                                               { .path = LIVESTACKS_PATH_MAX + 1 } };
    for (size_t i = 0; i < 3; i++) {
        struct livestacks s = { 0 };
        struct error e = { 0 };
        struct buf b = { 0 };
        add_head(&b, ERROR_NONE, "");
        add_record(&b, wrong[i], LIVESTACKS_FRAMES_MAX + 1);
        assert_false(livestacks_parse(b.data, b.len, &s, &e));
        assert_int_equal(s.n, 0);
        livestacks_done(&s);
        buf_done(&b);
    }
}

TEST(the_error_of_the_child_is_cleaned)
{
    struct livestacks s = { 0 };
    struct error e = { 0 };
    struct buf b = { 0 };
    add_head(&b, ERROR_PERMISSION, "no\033[31m");
    assert_false(livestacks_parse(b.data, b.len, &s, &e));
    assert_int_equal(e.class, ERROR_PERMISSION);
    assert_string_equal(e.text, "no?[31m");
    buf_done(&b);
}

static bool read_own(void *ctx, uint64_t address, void *to, size_t n)
{
    (void)ctx;
    memcpy(to, (const void *)(uintptr_t)address, n);
    return true;
}

static int check_object(struct dl_phdr_info *info, size_t size, void *found)
{
    const void *header = NULL, *start = NULL;
    struct ehframe f;
    (void)size;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        if (p->p_type == PT_GNU_EH_FRAME)
            header = (const void *)(info->dlpi_addr + p->p_vaddr);
        if (p->p_type == PT_LOAD && p->p_offset == 0)
            start = (const void *)(info->dlpi_addr + p->p_vaddr);
    }
    if (!header || !start)
        return 0;
    assert_true(ehframe_find(read_own, NULL, (uintptr_t)start, &f));
    assert_int_equal(f.header, (uintptr_t)header);
    assert_true(f.entries > 0 && f.table > f.header);
    ++*(int *)found;
    return 0;
}

TEST(tables_of_loaded_files_are_found)
{
    int found = 0;
    dl_iterate_phdr(check_object, &found);
    assert_true(found > 0);
}

TEST_MAIN(NULL, NULL)
