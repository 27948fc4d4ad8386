// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "unit_test.h"

static char path[] = "test_file.XXXXXX";

static int make_file(void **state)
{
    int fd = mkstemp(strcpy(path, "test_file.XXXXXX"));

    return fd < 0 || close(fd) < 0;
}

static int remove_file(void **state)
{
    return unlink(path);
}

#define FIXTURE_TEST(name) TEST_WITH(name, make_file, remove_file)

static void write_text(const char *text)
{
    FILE *f = fopen(path, "w");

    assert_non_null(f);
    assert_true(fputs(text, f) >= 0);
    assert_int_equal(fclose(f), 0);
}

FIXTURE_TEST(a_file_is_read_whole)
{
    struct buf b = { 0 };
    struct error e = { 0 };

    write_text("one\ntwo\n");
    buf_puts(&b, "what was there before");
    assert_true(file_read(path, 8, &b, &e));
    assert_string_equal(buf_str(&b), "one\ntwo\n");
    write_text("");
    assert_true(file_read(path, 8, &b, &e));
    assert_int_equal(b.len, 0);
    buf_done(&b);
}

FIXTURE_TEST(a_file_of_many_chunks_is_read_whole)
{
    struct buf b = { 0 }, expected = { 0 };
    int i;

    for (i = 0; i < 3000; i++)
        buf_printf(&expected, "line %d\n", i);
    write_text(buf_str(&expected));
    assert_true(file_read(path, 1 << 20, &b, NULL));
    assert_string_equal(buf_str(&b), buf_str(&expected));
    buf_done(&b);
    buf_done(&expected);
}

FIXTURE_TEST(files_over_the_size_limit_are_refused)
{
    struct buf b = { 0 };
    struct error e = { 0 };

    write_text("123456789");
    assert_false(file_read(path, 8, &b, &e));
    assert_int_equal(e.class, ERROR_LIMIT);
    assert_non_null(strstr(e.text, path));
    assert_int_equal(b.len, 0);
    buf_done(&b);
}

TEST(procfs_files_of_size_zero_are_read)
{
    struct buf b = { 0 };

    if (access("/proc/self/status", R_OK) < 0) {
        print_message("procfs is not mounted\n");
        skip();
    }
    assert_true(file_read("/proc/self/status", 1 << 16, &b, NULL));
    assert_non_null(strstr(buf_str(&b), "Pid:"));
    buf_done(&b);
}

TEST(a_missing_file_is_reported_with_the_errno_text)
{
    struct buf b = { 0 };
    struct error e = { 0 };

    assert_false(file_read("no/such/file", 8, &b, &e));
    assert_int_equal(e.class, ERROR_MISSING);
    assert_int_equal(e.sys, ENOENT);
    assert_string_equal(e.text, "cannot open no/such/file: No such file or directory");
    assert_false(file_read("/", 8, &b, &e));
    assert_int_equal(e.sys, EISDIR);
}

FIXTURE_TEST(reading_a_fifo_does_not_block)
{
    struct buf b = { 0 };

    assert_int_equal(unlink(path), 0);
    assert_int_equal(mkfifo(path, 0600), 0);
    alarm(10);
    assert_true(file_read(path, 8, &b, NULL));
    alarm(0);
    assert_int_equal(b.len, 0);
}

TEST(paths_may_be_relative_to_an_open_folder)
{
    int folder = open("/", O_RDONLY | O_DIRECTORY);
    struct buf b = { 0 };

    assert_true(folder >= 0);
    if (access("/proc/self/comm", R_OK) == 0)
        assert_true(file_read_at(folder, "proc/self/comm", 64, &b, NULL));
    assert_false(file_read_at(folder, path, 64, &b, NULL));
    close(folder);
    buf_done(&b);
}

FIXTURE_TEST(decimal_and_hexadecimal_numbers_are_parsed)
{
    static const struct {
        const char *text;
        uint64_t v;
    } cases[] = {
        { "7\n", 7 },         { "0", 0 },      { "0x1f\n", 0x1f }, { "18446744073709551615\n", UINT64_MAX },
        { "0XffFF", 0xffff }, { "010\n", 10 },
    };
    uint64_t v;
    size_t i;

    for (i = 0; i < sizeof cases / sizeof *cases; i++) {
        write_text(cases[i].text);
        assert_true(file_read_u64(path, &v));
        assert_true(v == cases[i].v);
    }
}

FIXTURE_TEST(invalid_numbers_are_refused)
{
    static const char *const bad[] = { "",   "\n", "-1",   "+1",  " 1",
                                       "1x", "0x", "0x-1", "1 2", "18446744073709551616" };
    uint64_t v = 77;
    size_t i;

    for (i = 0; i < sizeof bad / sizeof *bad; i++) {
        write_text(bad[i]);
        if (file_read_u64(path, &v))
            fail_msg("'%s' was parsed as a number", bad[i]);
    }
    assert_false(file_read_u64("no/such/file", &v));
    assert_int_equal(v, 77);
}

TEST(a_full_disk_has_its_own_error_class)
{
    struct error e = { 0 };
    int fd = open("/dev/full", O_WRONLY);

    if (fd < 0) {
        print_message("/dev/full does not exist\n");
        skip();
    }
    assert_false(file_write_all(fd, "x", 1, &e));
    assert_int_equal(e.class, ERROR_LIMIT);
    assert_int_equal(e.sys, ENOSPC);
    close(fd);
}

/* The parent writes to a small non-blocking pipe from which the child reads slowly. */
TEST(writes_wait_for_non_blocking_descriptors)
{
    enum { SIZE = 1 << 20 };
    static char bytes[SIZE];
    int fds[2], status;
    pid_t pid;

    assert_int_equal(pipe(fds), 0);
    pid = fork();
    assert_true(pid >= 0);
    if (!pid) {
        ssize_t n, total = 0;

        close(fds[1]);
        poll(NULL, 0, 50);
        while ((n = read(fds[0], bytes, 5000)) > 0)
            total += n;
        _exit(total == SIZE ? 0 : 1);
    }
    close(fds[0]);
    assert_int_equal(fcntl(fds[1], F_SETFL, O_NONBLOCK), 0);
    assert_true(file_write_all(fds[1], bytes, SIZE, NULL));
    close(fds[1]);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
}

FIXTURE_TEST(an_elf_file_is_recognized_by_its_first_bytes)
{
    static const char *const texts[] = { "", "\177EL", "ELF of another kind", "\177ELF" };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        write_text(texts[i]);
        int fd = open(path, O_RDONLY);
        assert_int_equal(lseek(fd, 2, SEEK_SET), 2);
        assert_int_equal(file_is_elf(fd), i == 3);
        assert_int_equal(lseek(fd, 0, SEEK_CUR), 2);
        close(fd);
    }
}

TEST_MAIN(NULL, NULL)
