// SPDX-License-Identifier: GPL-2.0-or-later
#include <sys/mount.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "perf/tracepoint.h"
#include "unit_test.h"
#include "files.h"

static char folder[64];

static void put_folder(const char *path)
{
    char full[256];
    snprintf(full, sizeof full, "%s/%s", folder, path);
    assert_int_equal(mkdir(full, 0755), 0);
}

#define COMMON                                                                                               \
    "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"                                   \
    "\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"                                   \
    "\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"                           \
    "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"

/* common fields, char comm[16], int pid, __data_loc char[] file, __data_loc u8[] bytes, int len */
static const char format[] =
    "name: hello\nID: 7\nformat:\n" COMMON "\tfield:char comm[16];\toffset:8;\tsize:16;\tsigned:0;\n"
    "\tfield:int pid;\toffset:24;\tsize:4;\tsigned:1;\n"
    "\tfield:__data_loc char[] file;\toffset:28;\tsize:4;\tsigned:0;\n\n"
    "print fmt: \"comm=%s pid=%d file=%s\", REC->comm, REC->pid, __get_str(file)\n";

static const char hex_format[] =
    "name: hex\nID: 8\nformat:\n" COMMON "\tfield:int len;\toffset:8;\tsize:4;\tsigned:1;\n"
    "\tfield:__data_loc u8[] bytes;\toffset:12;\tsize:4;\tsigned:0;\n\n"
    "print fmt: \"bytes=%s\", __print_hex(__get_dynamic_array(bytes), REC->len)\n";

static const char place_format[] =
    "name: place\nID: 10\nformat:\n" COMMON "\tfield:unsigned long site;\toffset:8;\tsize:8;\tsigned:0;\n\n"
    "print fmt: \"site=%pS in=%ps\", (void *)REC->site, (void *)REC->site\n";

static int make_tracefs(void **state)
{
    strcpy(folder, "/tmp/test_tracepoint.XXXXXX");
    if (!mkdtemp(folder))
        return -1;
    put_folder("events");
    write_below(folder, "events/enable", "0\n");
    put_folder("events/toy");
    put_folder("events/toy/hello");
    write_below(folder, "events/toy/hello/id", "7\n");
    write_below(folder, "events/toy/hello/format", format);
    put_folder("events/toy/hex");
    write_below(folder, "events/toy/hex/id", "8\n");
    write_below(folder, "events/toy/hex/format", hex_format);
    put_folder("events/toy/place");
    write_below(folder, "events/toy/place/id", "10\n");
    write_below(folder, "events/toy/place/format", place_format);
    put_folder("events/toy/bad");
    write_below(folder, "events/toy/bad/id", "what\n");
    put_folder("events/toy/odd");
    write_below(folder, "events/toy/odd/id", "9\n");
    write_below(folder, "events/toy/odd/format", "this is no format\n");
    tracepoint_set_root(folder);
    return 0;
}

static int remove_tracefs(void **state)
{
    tracepoint_set_root(NULL);
    return remove_tree(folder);
}

#define FIXTURE_TEST(name) TEST_WITH(name, make_tracefs, remove_tracefs)

struct hello {
    uint16_t type;
    uint8_t flags, preempt;
    int32_t common_pid;
    char comm[16];
    int32_t pid;
    uint16_t file_offset, file_len;
    char file[12];
};

static struct hello hello_of(const char *comm, int pid, const char *file)
{
    struct hello h = { .type = 7, .pid = pid, .file_offset = offsetof(struct hello, file) };
    memcpy(h.comm, comm, strlen(comm));
    memcpy(h.file, file, strlen(file));
    h.file_len = (uint16_t)(strlen(file) + 1);
    return h;
}

FIXTURE_TEST(ids_are_read_and_systems_listed)
{
    uint64_t id = 0;
    struct namelist names = { 0 };
    assert_true(tracepoint_id("toy", "hello", &id, NULL));
    assert_int_equal(id, 7);
    assert_true(tracepoint_systems(&names, NULL));
    assert_int_equal(names.n, 1);
    assert_string_equal(names.items[0], "toy");
    namelist_done(&names);
    assert_true(tracepoint_names("toy", &names, NULL));
    assert_int_equal(names.n, 5);
    assert_string_equal(names.items[1], "hello");
    namelist_done(&names);
}

FIXTURE_TEST(wrong_names_give_near_ones)
{
    uint64_t id;
    struct error e = { 0 };
    assert_false(tracepoint_id("toy", "helo", &id, &e));
    assert_non_null(strstr(e.text, "did you mean 'toy:hello'"));
    assert_false(tracepoint_id("toi", "hello", &id, &e));
    assert_non_null(strstr(e.text, "'toy:"));
    assert_false(tracepoint_id("toy", "zzzzzzzzz", &id, &e));
    assert_non_null(strstr(e.text, "no tracepoint 'toy:zzzzzzzzz'"));
    assert_false(tracepoint_id("toy", "../hello", &id, &e));
    assert_false(tracepoint_id("../events/toy", "hello", &id, &e));
    assert_false(tracepoint_id("toy", "bad", &id, &e));
    assert_non_null(strstr(e.text, "no number"));
}

FIXTURE_TEST(without_tracefs_the_message_says_how_to_mount_it)
{
    uint64_t id;
    struct error e = { 0 };
    tracepoint_set_root("");
    assert_null(tracepoint_root());
    assert_false(tracepoint_id("toy", "hello", &id, &e));
    assert_int_equal(e.class, ERROR_MISSING);
    assert_non_null(strstr(e.text, "mount -t tracefs nodev /sys/kernel/tracing"));
}

static int open_as_nobody(void)
{
    uint64_t id;
    struct error e = { 0 };
    if (setresgid(65534, 65534, 65534) || setresuid(65534, 65534, 65534))
        return 1;
    if (tracepoint_id("toy", "hello", &id, &e))
        return 2;
    return e.class == ERROR_PERMISSION && strstr(e.text, "run as root") ? 0 : 3;
}

FIXTURE_TEST(an_inaccessible_tracefs_is_reported)
{
    if (geteuid()) {
        print_message("needs root, to become another user\n");
        skip();
    }
    assert_int_equal(chmod(folder, 0700), 0);
    pid_t pid = fork();
    if (!pid)
        _exit(open_as_nobody());
    int status;
    waitpid(pid, &status, 0);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

FIXTURE_TEST(payloads_are_printed_by_their_format_without_control_characters)
{
    struct buf out = { 0 };
    struct tracepoint_format *f = tracepoint_format_open("toy", "hello", NULL);
    assert_non_null(f);
    struct hello h = hello_of("ba\033sh", -5, "a.txt");
    assert_true(tracepoint_print(f, &h, sizeof h, 0, &out));
    assert_string_equal(buf_str(&out), "comm=ba?sh pid=-5 file=a.txt");
    buf_clear(&out);
    h = hello_of("x", 1, "");
    assert_true(tracepoint_print(f, &h, sizeof h, 0, &out)); /* nothing remains of the previous one */
    assert_string_equal(buf_str(&out), "comm=x pid=1 file=");
    tracepoint_format_close(f);
    buf_done(&out);
}

static const char *name_at(void *ctx, uint64_t address, uint64_t *start)
{
    *start = *(const uint64_t *)ctx;
    return address - *start < 0x100 ? "vfs_read" : NULL;
}

FIXTURE_TEST(kernel_addresses_get_their_known_names)
{
    struct {
        uint16_t type;
        uint8_t common[6];
        uint64_t site;
    } call = { .type = 10, .site = 0xffffffff81000210 };
    uint64_t start = 0xffffffff81000200;
    struct buf out = { 0 };
    struct tracepoint_format *f = tracepoint_format_open("toy", "place", NULL);
    assert_non_null(f);
    tracepoint_format_names(f, name_at, &start);
    assert_true(tracepoint_print(f, &call, sizeof call, 0, &out));
    assert_string_equal(buf_str(&out), "site=vfs_read+0x10 in=vfs_read");
    buf_clear(&out);
    call.site += 0x1000;
    assert_true(tracepoint_print(f, &call, sizeof call, 0, &out));
    assert_null(strstr(buf_str(&out), "vfs_read"));
    assert_non_null(strstr(buf_str(&out), "ffffffff81001210"));
    tracepoint_format_close(f);
    buf_done(&out);
}

FIXTURE_TEST(truncated_and_wrong_payloads_do_no_harm)
{
    struct buf out = { 0 };
    struct tracepoint_format *f = tracepoint_format_open("toy", "hello", NULL);
    assert_non_null(f);
    struct hello h = hello_of("bash", 5, "a.txt");
    for (uint32_t size = 0; size < 32; size++)
        assert_false(tracepoint_print(f, &h, size, 0, &out));
    assert_false(tracepoint_print(f, &h, UINT32_MAX, 0, &out));
    h.file_offset = h.file_len = UINT16_MAX;
    h.type = 12345;
    memset(h.comm, 'c', sizeof h.comm);
    assert_true(tracepoint_print(f, &h, sizeof h, 0, &out));
    assert_non_null(strstr(buf_str(&out), "pid=5 file="));
    tracepoint_format_close(f);
    buf_done(&out);
}

FIXTURE_TEST(lengths_from_the_payload_are_checked)
{
    struct buf out = { 0 };
    struct {
        uint32_t common[2];
        int32_t len;
        uint16_t offset, size;
        uint8_t bytes[4];
    } raw = { { 8, 0 }, INT32_MAX, 16, 4, { 1, 2, 3, 4 } };
    struct tracepoint_format *f = tracepoint_format_open("toy", "hex", NULL);
    assert_non_null(f);
    assert_true(tracepoint_print(f, &raw, sizeof raw, 0, &out));
    assert_true(out.len < 4096);
    assert_non_null(strstr(buf_str(&out), "len="));
    tracepoint_format_close(f);
    buf_done(&out);
}

FIXTURE_TEST(an_invalid_format_is_refused)
{
    struct error e = { 0 };
    assert_null(tracepoint_format_open("toy", "odd", &e));
    assert_non_null(strstr(e.text, "toy:odd"));
    assert_null(tracepoint_format_open("toy", "none", &e));
    tracepoint_format_close(NULL);
}

TEST(every_format_of_this_machine_is_parsed)
{
    struct namelist names = { 0 };
    struct error e = { 0 };
    static const uint8_t zeros[65536];
    if (!tracepoint_names("sched", &names, &e)) {
        print_message("%s\n", e.text);
        skip();
    }
    for (size_t i = 0; i < names.n; i++) {
        struct buf out = { 0 };
        struct tracepoint_format *f = tracepoint_format_open("sched", names.items[i], &e);
        if (!f || !tracepoint_print(f, zeros, sizeof zeros, 0, &out) || !out.len)
            fail_msg("sched:%s: %s", names.items[i], e.text);
        tracepoint_format_close(f);
        buf_done(&out);
    }
    namelist_done(&names);
}

/* 0: all is well; 77: this machine does not let root mount it. */
static int read_unmounted(void)
{
    uint64_t id;
    struct error e = { 0 };
    struct buf mounts = { 0 };
    tracepoint_set_root(NULL);
    if (unshare(CLONE_NEWNS) || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL))
        return 77;
    umount2("/sys/kernel/tracing", MNT_DETACH);
    umount2("/sys/kernel/debug", MNT_DETACH);
    bool known =
        file_read("/proc/self/mounts", 1 << 20, &mounts, NULL) && !strstr(buf_str(&mounts), " tracefs ");
    buf_done(&mounts);
    int fs = (int)syscall(SYS_fsopen, "tracefs", 0);
    if (!known || fs < 0)
        return 77;
    if (!tracepoint_root() || !strstr(tracepoint_root(), "/proc/self/fd/"))
        return 1;
    if (!tracepoint_id("sched", "sched_switch", &id, &e) || !id)
        return 2;
    if (!file_read("/proc/self/mounts", 1 << 20, &mounts, NULL) || strstr(buf_str(&mounts), " tracefs "))
        return 3;
    return 0;
}

TEST(root_reads_an_unmounted_tracefs_and_mounts_nothing_for_others)
{
    int status;
    pid_t pid = fork();
    if (!pid)
        _exit(read_unmounted());
    waitpid(pid, &status, 0);
    assert_true(WIFEXITED(status));
    if (WEXITSTATUS(status) == 77) {
        print_message("needs root, mount namespaces and fsopen (Linux 5.2)\n");
        skip();
    }
    assert_int_equal(WEXITSTATUS(status), 0);
}

TEST_MAIN(NULL, NULL)
