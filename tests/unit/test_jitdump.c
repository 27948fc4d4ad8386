// SPDX-License-Identifier: GPL-2.0-or-later
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "jitdump_maker.h"
#include "opened.h"
#include "symbols/jitdump.h"
#include "unit_test.h"

struct reading {
    struct table t;
    void *blob;
};

static int file_of(const void *bytes, size_t n)
{
    int fd = memfd_create("jit", MFD_CLOEXEC);

    assert_true(fd >= 0);
    assert_int_equal(write(fd, bytes, n), (ssize_t)n);
    return fd;
}

static struct reading read_dump(const struct jitdump_maker *m)
{
    struct table_builder b = { 0 };
    struct error e = { 0 };
    struct reading r;
    size_t size;
    int fd = file_of(m->b.data, m->b.len);

    assert_true(jitdump_is_one(fd));
    if (!jitdump_read(fd, &b, &e))
        fail_msg("%s", e.text);
    assert_true(table_build(&b, TABLE_REPLACED, &r.blob, &size, NULL));
    assert_true(table_view(&r.t, r.blob, size, NULL));
    table_builder_done(&b);
    close(fd);
    return r;
}

static const char *name_at(const struct reading *r, uint64_t address)
{
    struct table_entry entry;

    return table_find(&r->t, address, &entry) ? entry.name : "-";
}

static void free_reading(struct jitdump_maker *m, struct reading *r)
{
    buf_done(&m->b);
    mem_free(r->blob);
}

static void check_all_kinds(bool swap)
{
    struct jitdump_maker m = { .swap = swap };
    struct reading r;

    maker_header(&m, 1);
    maker_other(&m, 2, 40);  /* line records */
    maker_other(&m, 4, 300); /* unwind records */
    maker_load(&m, 0x7f0000001000, 0x40, 1, "JS:*hot /srv/app.js:1:2", 0x40);
    maker_other(&m, 99, 8);
    maker_load(&m, 0x7f0000002000, 0x80, 2, "void java.lang.Object.<init>()", 0);
    maker_other(&m, 3, 0);
    r = read_dump(&m);
    assert_int_equal(r.t.header->n, 2);
    assert_string_equal(name_at(&r, 0x7f000000103f), "JS:*hot /srv/app.js:1:2");
    assert_string_equal(name_at(&r, 0x7f0000001040), "-");
    assert_string_equal(name_at(&r, 0x7f0000002000), "void java.lang.Object.<init>()");
    assert_false(r.t.header->flags & TABLE_CUT);
    free_reading(&m, &r);
}

TEST(loaded_code_has_its_name)
{
    check_all_kinds(false);
}

TEST(opposite_byte_order_is_read)
{
    check_all_kinds(true);
}

TEST(moved_code_has_its_name_at_both_addresses)
{
    struct jitdump_maker m = { 0 };
    struct reading r;

    maker_header(&m, 1);
    maker_load(&m, 0x1000, 0x40, 7, "moves", 0x40);
    maker_load(&m, 0x2000, 0x40, 8, "stays", 0x9000);
    maker_move(&m, 0x1000, 0x5000, 0x40, 7);
    maker_move(&m, 0x1000, 0x6000, 0x40, 99); /* no symbol */
    r = read_dump(&m);
    assert_string_equal(name_at(&r, 0x5010), "moves");
    assert_string_equal(name_at(&r, 0x1010), "moves");
    assert_string_equal(name_at(&r, 0x2010), "stays");
    assert_string_equal(name_at(&r, 0x6010), "-");
    free_reading(&m, &r);
}

TEST(later_code_replaces_earlier_code)
{
    struct jitdump_maker m = { 0 };
    struct reading r;

    maker_header(&m, 1);
    maker_load(&m, 0x1000, 0x100, 1, "old", 0);
    maker_load(&m, 0x1080, 0x100, 2, "new", 0);
    r = read_dump(&m);
    assert_string_equal(name_at(&r, 0x1080), "new");
    assert_string_equal(name_at(&r, 0x1000), "-");
    free_reading(&m, &r);
}

/* Returns the name at a time and when it next changes. */
static const char *name_then(const struct reading *r, uint64_t address, uint64_t time_ns, uint64_t *until_ns)
{
    struct table_entry entry;

    return table_find_at(&r->t, address, time_ns, &entry, until_ns) ? entry.name : "-";
}

static void load_at(struct jitdump_maker *m, uint64_t time_ns, uint64_t at, uint64_t size, const char *name)
{
    m->time_ns = time_ns;
    maker_load(m, at, size, time_ns, name, 0);
}

TEST(replaced_code_is_found_by_time)
{
    struct jitdump_maker m = { 0 };
    struct reading r;
    uint64_t until;

    maker_header(&m, 1);
    load_at(&m, 100, 0x1000, 0x100, "first");
    load_at(&m, 150, 0x2000, 0x100, "only");
    load_at(&m, 200, 0x1000, 0x80, "second");
    load_at(&m, 300, 0x1000, 0x80, "third");
    r = read_dump(&m);
    assert_true(r.t.header->flags & TABLE_DATED);
    assert_string_equal(name_at(&r, 0x1000), "third");
    assert_string_equal(name_then(&r, 0x1010, 100, &until), "first");
    assert_int_equal(until, 200);
    assert_string_equal(name_then(&r, 0x1010, 199, &until), "first");
    assert_string_equal(name_then(&r, 0x1010, 200, &until), "second");
    assert_int_equal(until, 300);
    assert_string_equal(name_then(&r, 0x1010, 300, &until), "third");
    assert_true(until == UINT64_MAX);
    /* replacing code also removes the rest of the old code */
    assert_string_equal(name_then(&r, 0x10f0, 150, &until), "first");
    assert_int_equal(until, 200);
    assert_string_equal(name_then(&r, 0x10f0, 250, &until), "-");
    assert_true(table_has_older(&r.t, 0x10f0) && table_has_older(&r.t, 0x1000));
    assert_false(table_has_older(&r.t, 0x2000));
    /* recorded only after it ran */
    assert_string_equal(name_then(&r, 0x1010, 50, &until), "first");
    assert_int_equal(until, 200);
    assert_string_equal(name_then(&r, 0x2010, 50, &until), "only");
    assert_true(until == UINT64_MAX);
    free_reading(&m, &r);
}

TEST(code_loaded_again_unchanged_is_not_a_change)
{
    struct jitdump_maker m = { 0 };
    struct reading r;
    uint64_t until;

    maker_header(&m, 1);
    load_at(&m, 100, 0x1000, 0x100, "same");
    load_at(&m, 200, 0x1000, 0x100, "same");
    load_at(&m, 300, 0x1000, 0x100, "same");
    r = read_dump(&m);
    assert_string_equal(name_then(&r, 0x1010, 100, &until), "same");
    assert_true(until == UINT64_MAX);
    free_reading(&m, &r);
}

TEST(moved_code_changes_its_address_at_the_recorded_time)
{
    struct jitdump_maker m = { 0 };
    struct reading r;
    uint64_t until;

    maker_header(&m, 1);
    load_at(&m, 100, 0x1000, 0x100, "lies");
    load_at(&m, 110, 0x2000, 0x100, "moves");
    m.time_ns = 200;
    maker_move(&m, 0x2000, 0x1000, 0x100, 110);
    r = read_dump(&m);
    assert_string_equal(name_then(&r, 0x1010, 199, &until), "lies");
    assert_int_equal(until, 200);
    assert_string_equal(name_then(&r, 0x1010, 200, &until), "moves");
    assert_string_equal(name_then(&r, 0x2010, 150, &until), "moves");
    free_reading(&m, &r);
}

static void check_undated(uint64_t first_ns, uint64_t second_ns, uint64_t flags)
{
    struct jitdump_maker m = { .flags = flags };
    struct reading r;
    uint64_t until;

    maker_header(&m, 1);
    m.time_ns = first_ns;
    maker_load(&m, 0x1000, 0x100, 1, "first", 0);
    m.time_ns = second_ns;
    maker_load(&m, 0x1000, 0x100, 2, "second", 0);
    r = read_dump(&m);
    assert_false(r.t.header->flags & TABLE_DATED);
    assert_string_equal(name_then(&r, 0x1010, first_ns, &until), "second");
    free_reading(&m, &r);
}

TEST(timestamps_of_another_clock_are_ignored)
{
    check_undated(100, 200, 1);                           /* CPU ticks */
    check_undated(100, UINT64_C(4000000000000000000), 0); /* in the future */
}

TEST(an_incomplete_record_is_read_later)
{
    struct jitdump_maker m = { 0 };
    struct reading r;

    maker_header(&m, 1);
    maker_load(&m, 0x1000, 0x40, 1, "whole", 0x40);
    maker_load(&m, 0x2000, 0x40, 2, "half", 0x40);
    m.b.len -= 0x20;
    r = read_dump(&m);
    assert_int_equal(r.t.header->n, 1);
    assert_false(r.t.header->flags & TABLE_CUT);
    free_reading(&m, &r);
}

TEST(a_record_of_size_zero_ends_the_dump)
{
    struct jitdump_maker m = { 0 };
    struct reading r;

    maker_header(&m, 1);
    maker_load(&m, 0x1000, 0x40, 1, "whole", 0x40);
    maker_load(&m, 0x2000, 0x40, 2, "small", 0x40);
    maker_size(&m, 15);
    maker_load(&m, 0x3000, 0x40, 3, "behind", 0x40);
    r = read_dump(&m);
    assert_int_equal(r.t.header->n, 1);
    assert_true(r.t.header->flags & TABLE_CUT);
    free_reading(&m, &r);
}

TEST(records_past_the_end_are_not_read)
{
    struct jitdump_maker m = { 0 };
    struct reading r;

    maker_header(&m, 1);
    maker_load(&m, 0x1000, 0x40, 1, "large", 0x40);
    maker_size(&m, UINT32_MAX);
    r = read_dump(&m);
    assert_int_equal(r.t.header->n, 0);
    free_reading(&m, &r);
}

TEST(invalid_records_are_skipped)
{
    struct jitdump_maker m = { 0 };
    struct reading r;

    maker_header(&m, 1);
    maker_other(&m, 0, 39); /* a load record with a truncated header */
    maker_other(&m, 1, 47); /* a move record */
    maker_load(&m, UINT64_MAX - 4, 0x40, 1, "wraps", 0);
    maker_load(&m, 0x1000, 0, 2, "empty", 0);
    maker_load(&m, 0x1000, 0x10, 3, "", 0x20);
    maker_load(&m, 0x2000, 0x10, 4, "unended", 0);
    m.b.data[m.b.len - 1] = 'x';
    maker_load(&m, 0x3000, 0x10, 5, "good", 0);
    r = read_dump(&m);
    assert_int_equal(r.t.header->n, 2);
    assert_string_equal(name_at(&r, 0x2000), "unendedx");
    assert_string_equal(name_at(&r, 0x3000), "good");
    free_reading(&m, &r);
}

TEST(dumps_larger_than_the_read_buffer_are_read)
{
    struct jitdump_maker m = { 0 };
    struct reading r;
    char name[32];
    int i;

    maker_header(&m, 1);
    for (i = 0; i < 3000; i++) {
        snprintf(name, sizeof name, "function_%d", i);
        maker_load(&m, 0x10000 + 0x100 * (uint64_t)i, 0x100, (uint64_t)i, name, (size_t)(i * 7 % 500));
    }
    r = read_dump(&m);
    assert_int_equal(r.t.header->n, 3000);
    for (i = 0; i < 3000; i++) {
        snprintf(name, sizeof name, "function_%d", i);
        assert_string_equal(name_at(&r, 0x10000 + 0x100 * (uint64_t)i + 0x80), name);
    }
    free_reading(&m, &r);
}

static void check_refused(const struct jitdump_maker *m)
{
    struct table_builder b = { 0 };
    struct error e = { 0 };
    int fd = file_of(m->b.data, m->b.len);

    assert_false(jitdump_read(fd, &b, &e));
    assert_int_equal(e.class, ERROR_FORMAT);
    table_builder_done(&b);
    close(fd);
}

TEST(files_that_are_not_jitdumps_are_refused)
{
    struct jitdump_maker m = { 0 }, later = { 0 };

    maker_header(&m, 1);
    m.b.len = 39;
    check_refused(&m);
    buf_clear(&m.b);
    buf_puts(&m.b, "7f0010000000 40 this is a perf map\n7f0010000000 40 and a line\n");
    check_refused(&m);
    maker_header(&later, 2);
    check_refused(&later);
    buf_done(&m.b);
    buf_done(&later.b);
}

TEST(mappings_are_recognized_as_jitdumps_by_file_name)
{
    uint32_t number = 0;

    assert_true(jitdump_is_name("/root/.debug/jit/x/jit-123.dump", &number));
    assert_int_equal(number, 123);
    assert_true(jitdump_is_name("/tmp/jit-7.dump (deleted)", &number));
    assert_int_equal(number, 7);
    assert_false(jitdump_is_name("/tmp/jit-7.dumps", &number));
    assert_false(jitdump_is_name("/tmp/jit-.dump", &number));
    assert_false(jitdump_is_name("/tmp/jit-7.dump/x", &number));
    assert_false(jitdump_is_name("jit-7.dump", &number));
    assert_false(jitdump_is_name("//anon", &number));
}

/* ---- finding the dump ---- */

struct location {
    char dir[64], path[96];
    void *page;
};

static int make_folders(void **state)
{
    struct location *p = mem_zalloc(sizeof *p);
    struct jitdump_maker m = { 0 };
    int fd;

    strcpy(p->dir, "/tmp/flametop-test-XXXXXX");
    if (!mkdtemp(p->dir))
        return -1;
    snprintf(p->path, sizeof p->path, "%s/jit-%d.dump", p->dir, (int)getpid());
    fd = open(p->path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    maker_header(&m, 1);
    if (fd < 0 || write(fd, m.b.data, m.b.len) != (ssize_t)m.b.len)
        return -1;
    p->page = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
    close(fd);
    buf_done(&m.b);
    *state = p;
    return p->page == MAP_FAILED ? -1 : 0;
}

static int remove_target(void **state)
{
    struct location *p = *state;

    munmap(p->page, 4096);
    unlink(p->path);
    rmdir(p->dir);
    mem_free(p);
    return 0;
}

#define FIXTURE_TEST(name) TEST_WITH(name, make_folders, remove_target)

FIXTURE_TEST(the_dump_is_found_by_its_mapping)
{
    struct error e = { 0 };
    int fd = opened_readable(jitdump_open((uint32_t)getpid(), &e));

    if (fd < 0)
        fail_msg("%s", e.text);
    assert_true(jitdump_is_one(fd));
    close(fd);
}

FIXTURE_TEST(a_replaced_file_is_not_read)
{
    struct location *p = *state;
    struct error e = { 0 };
    char wrong[16] = "";
    int fd;

    assert_int_equal(unlink(p->path), 0);
    fd = open(p->path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    assert_int_equal(write(fd, "something else", 14), 14);
    close(fd);
    fd = opened_readable(jitdump_open((uint32_t)getpid(), &e));
    if (fd >= 0) { /* the old file is still available through the mapping */
        assert_true(read(fd, wrong, sizeof wrong - 1) > 0);
        assert_string_not_equal(wrong, "something else");
        close(fd);
    }
}

FIXTURE_TEST(dumps_of_another_user_are_not_read)
{
    struct location *p = *state;
    struct error e = { 0 };

    if (geteuid()) {
        print_message("needs root, to change the owner of a file\n");
        skip();
    }
    assert_int_equal(chown(p->path, 12345, 12345), 0);
    assert_int_equal(jitdump_open((uint32_t)getpid(), &e), -1);
    assert_int_equal(e.class, ERROR_PERMISSION);
}

TEST(a_process_without_a_dump_reports_the_reason)
{
    struct error e = { 0 };

    assert_int_equal(jitdump_open((uint32_t)getpid(), &e), -1);
    assert_int_equal(e.class, ERROR_MISSING);
}

TEST_MAIN(NULL, NULL)
