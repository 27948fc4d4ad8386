// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "opened.h"
#include "symbols/debugfile.h"
#include "symbols/perfmap.h"
#include "unit_test.h"

static void *parse(const char *text, size_t n, struct table *t)
{
    struct table_builder b = { 0 };
    void *blob;
    size_t size;

    perfmap_parse(text, n, &b);
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

TEST(lines_of_all_runtimes_are_parsed)
{
    static const char text[] = "7f0010000000 40 LazyCompile:*fib /srv/app.js:12\n"
                               "0x7f0010000100 0x20 [dotnet] System.String::Concat(string, string)\n"
                               "7F0010000200 AB py::module:/usr/lib/x.py\r\n";
    struct table t;
    void *blob = parse(text, sizeof text - 1, &t);

    assert_string_equal(name_at(&t, 0x7f001000003f), "LazyCompile:*fib /srv/app.js:12");
    assert_string_equal(name_at(&t, 0x7f0010000100), "[dotnet] System.String::Concat(string, string)");
    assert_string_equal(name_at(&t, 0x7f00100002aa), "py::module:/usr/lib/x.py");
    assert_string_equal(name_at(&t, 0x7f0010000040), "-");
    mem_free(blob);
}

TEST(an_incomplete_last_line_waits)
{
    static const char text[] = "1000 10 whole\n2000 10 hal";
    struct table t;
    void *blob = parse(text, sizeof text - 1, &t);

    assert_int_equal(t.header->n, 1);
    mem_free(blob);
}

TEST(rubbish_is_skipped)
{
    static const char text[] = "\n \n1000\n1000 \n1000 10\n1000 10 \n-1 10 minus\nffffffffffffffff 10 wraps\n"
                               "11112222333344445 10 too_long\n1000 0 empty\n\0\xff\x1b[31m\n2000 10 good\n";
    struct table t;
    void *blob = parse(text, sizeof text - 1, &t);

    assert_int_equal(t.header->n, 1);
    assert_string_equal(name_at(&t, 0x2000), "good");
    mem_free(blob);
}

TEST(a_huge_line_gives_one_truncated_name)
{
    size_t n = 1 << 20;
    char *text = mem_alloc(n);
    struct table t;
    void *blob;

    memset(text, 'x', n);
    memcpy(text, "1000 10 ", 8);
    text[n - 1] = '\n';
    blob = parse(text, n, &t);
    assert_int_equal(strlen(name_at(&t, 0x1000)), TABLE_NAME_MAX);
    mem_free(blob);
    mem_free(text);
}

static struct table_builder read_file(int fd)
{
    struct table_builder b = { 0 };

    assert_true(perfmap_read(fd, &b, NULL));
    return b;
}

/* Lines of all lengths cross the boundaries of the pieces read. */
TEST(a_map_read_in_pieces_has_every_line)
{
    char path[] = "/tmp/flametop-test-XXXXXX";
    int fd = mkstemp(path), i, n = 20000;
    struct table_builder b;
    struct table t;
    void *blob;
    size_t size;
    FILE *f;

    assert_true(fd >= 0);
    unlink(path);
    f = fdopen(dup(fd), "w");
    for (i = 0; i < n; i++)
        fprintf(f, "%x 10 f%d %.*s\n", 0x1000 + 0x10 * i, i, i % 60,
                "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx");
    fprintf(f, "%x 10 half", 0x1000 + 0x10 * n);
    assert_int_equal(fclose(f), 0);
    b = read_file(fd);
    assert_int_equal(b.n, n);
    assert_false(b.header.flags & TABLE_CUT);
    assert_true(table_build(&b, TABLE_REPLACED, &blob, &size, NULL));
    assert_true(table_view(&t, blob, size, NULL));
    for (i = 0; i < n; i++)
        assert_int_equal(atoi(name_at(&t, 0x1000 + 0x10 * (uint64_t)i) + 1), i);
    table_builder_done(&b);
    mem_free(blob);
    close(fd);
}

/* 2 GB, of which only the lines at both ends use disk space. */
TEST(both_ends_of_a_huge_map_are_read)
{
    static const char first[] = "1000 10 first\n", last[] = "\n2000 10 last\n";
    char path[] = "/tmp/flametop-test-XXXXXX";
    int fd = mkstemp(path);
    struct table_builder b;
    off_t size = (off_t)2 << 30;

    assert_true(fd >= 0);
    unlink(path);
    assert_int_equal(pwrite(fd, first, sizeof first - 1, 0), sizeof first - 1);
    assert_int_equal(pwrite(fd, last, sizeof last - 1, size), sizeof last - 1);
    b = read_file(fd);
    assert_int_equal(b.n, 2);
    assert_true(b.header.flags & TABLE_CUT);
    table_builder_done(&b);
    close(fd);
}

static const char *map_path(void)
{
    static char path[64];

    snprintf(path, sizeof path, "/tmp/perf-%d.map", (int)getpid());
    return path;
}

static int remove_map(void **state)
{
    unlink(map_path());
    return 0;
}

#define FIXTURE_TEST(name) TEST_WITH(name, remove_map, remove_map)

static void write_map(const char *text)
{
    int fd = open(map_path(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
    close(fd);
}

static int open_map(struct error *e)
{
    return opened_readable(perfmap_open((uint32_t)getpid(), e));
}

FIXTURE_TEST(a_map_of_this_process_is_opened)
{
    struct error e = { 0 };
    char text[16];
    int fd;

    write_map("1000 10 f\n");
    fd = open_map(&e);
    assert_true(fd >= 0);
    assert_int_equal(read(fd, text, sizeof text), 10);
    close(fd);
}

FIXTURE_TEST(a_missing_map_is_reported)
{
    struct error e = { 0 };

    assert_int_equal(open_map(&e), -1);
    assert_int_equal(e.class, ERROR_MISSING);
    assert_non_null(strstr(e.text, map_path()));
}

FIXTURE_TEST(a_fifo_neither_blocks_nor_opens)
{
    struct error e = { 0 };

    assert_int_equal(mkfifo(map_path(), 0600), 0);
    assert_int_equal(open_map(&e), -1);
    assert_non_null(strstr(e.text, "no regular file"));
}

FIXTURE_TEST(a_link_is_not_followed)
{
    struct error e = { 0 };

    assert_int_equal(symlink("/etc/passwd", map_path()), 0);
    assert_int_equal(open_map(&e), -1);
    assert_non_null(strstr(e.text, "no regular file"));
}

/* A link to a file of root that the link's owner cannot read. */
FIXTURE_TEST(a_map_with_another_name_is_not_read)
{
    struct error e = { 0 };
    char other[128];

    snprintf(other, sizeof other, "%s.other", map_path());
    write_map("1000 10 f\n");
    assert_int_equal(link(map_path(), other), 0);
    assert_int_equal(open_map(&e), -1);
    assert_int_equal(e.class, ERROR_PERMISSION);
    assert_int_equal(unlink(other), 0);
    assert_true(open_map(&e) >= 0);
}

FIXTURE_TEST(the_map_of_another_user_is_not_read)
{
    struct error e = { 0 };

    if (geteuid()) {
        print_message("needs root, to give a file to another user\n");
        skip();
    }
    write_map("1000 10 f\n");
    assert_int_equal(chown(map_path(), 12345, 12345), 0);
    assert_int_equal(open_map(&e), -1);
    assert_int_equal(e.class, ERROR_PERMISSION);
}

FIXTURE_TEST(a_map_of_an_ended_process_must_belong_to_the_user)
{
    struct error e = { 0 };
    int fd;

    assert_int_equal(perfmap_open_left((uint32_t)getpid(), &e), -1);
    assert_int_equal(e.class, ERROR_MISSING);
    write_map("1000 10 f\n");
    fd = perfmap_open_left((uint32_t)getpid(), &e);
    assert_true(fd >= 0);
    close(fd);
    if (geteuid()) {
        print_message("needs root, to give a file to another user\n");
        skip();
    }
    assert_int_equal(chown(map_path(), 12345, 12345), 0);
    assert_int_equal(perfmap_open_left((uint32_t)getpid(), &e), -1);
    assert_int_equal(e.class, ERROR_PERMISSION);
}

TEST(an_ended_process_is_reported)
{
    struct error e = { 0 };

    assert_int_equal(perfmap_open(0x7fffffff, &e), -1);
    assert_true(e.text[0] != '\0');
}

TEST(paths_cannot_leave_the_root)
{
    const struct opener_user us = { .kind = OPENER_FOR_US };
    char dir[] = "/tmp/flametop-root-XXXXXX", path[64];
    int fd;

    assert_non_null(mkdtemp(dir));
    snprintf(path, sizeof path, "%s/link", dir);
    assert_int_equal(symlink("../../../../etc/passwd", path), 0);
    assert_int_equal(opener_open(&us, dir, "link", true), -1);
    assert_int_equal(opener_open(&us, dir, "/../../etc/passwd", true), -1);
    unlink(path);
    fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    close(fd);
    fd = opener_open(&us, dir, "/link", false);
    assert_true(fd >= 0);
    close(fd);
    unlink(path);
    assert_int_equal(opener_open(&us, dir, "/", true), -1);
    rmdir(dir);
}

static void make_file(const char *dir, const char *path)
{
    char full[256];
    int fd;

    snprintf(full, sizeof full, "%s%s", dir, path);
    fd = open(full, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, path, strlen(path)), (ssize_t)strlen(path));
    close(fd);
}

static void assert_next_is(struct debugfile_search *s, const char *path)
{
    char text[256] = "";
    int fd = opened_readable(debugfile_open_next(s));

    assert_true(fd >= 0);
    assert_true(read(fd, text, sizeof text - 1) >= 0);
    assert_string_equal(text, path);
    close(fd);
}

TEST(debug_files_are_searched_where_gdb_searches)
{
    static const char *const folders[] = { "/bin",
                                           "/bin/.debug",
                                           "/usr",
                                           "/usr/lib",
                                           "/usr/lib/debug",
                                           "/usr/lib/debug/bin",
                                           "/usr/lib/debug/.build-id",
                                           "/usr/lib/debug/.build-id/ab" };
    static const char *const files[] = { "/usr/lib/debug/.build-id/ab/cdef.debug", "/bin/prog.debug",
                                         "/bin/.debug/prog.debug", "/usr/lib/debug/bin/prog.debug" };
    static const uint8_t id[] = { 0xab, 0xcd, 0xef };
    char dir[] = "/tmp/flametop-debug-XXXXXX", full[256];
    struct debugfile_search s = { { 0 }, dir, "/bin/prog", id, sizeof id, "prog.debug", 0 };
    struct debugfile_search evil = { { 0 }, dir, "/bin/prog", id, 0, "../bin/prog.debug", 0 };
    int i;

    assert_non_null(mkdtemp(dir));
    for (i = 0; i < 8; i++) {
        snprintf(full, sizeof full, "%s%s", dir, folders[i]);
        assert_int_equal(mkdir(full, 0700), 0);
    }
    for (i = 0; i < 4; i++)
        make_file(dir, files[i]);
    for (i = 0; i < 4; i++)
        assert_next_is(&s, files[i]);
    assert_int_equal(debugfile_open_next(&s), -1);
    assert_int_equal(debugfile_open_next(&evil), -1);
    for (i = 0; i < 4; i++) {
        snprintf(full, sizeof full, "%s%s", dir, files[i]);
        unlink(full);
    }
    for (i = 7; i >= 0; i--) {
        snprintf(full, sizeof full, "%s%s", dir, folders[i]);
        rmdir(full);
    }
    assert_int_equal(rmdir(dir), 0);
}

TEST_MAIN(NULL, NULL)
