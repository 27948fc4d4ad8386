// SPDX-License-Identifier: GPL-2.0-or-later
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "unit_test.h"
#include "files.h"

#define SKIPPED 77

static char folder[] = "test_outfile.XXXXXX";
static char path[64];

static int make_folder(void **state)
{
    strcpy(folder + sizeof folder - 7, "XXXXXX");
    if (!mkdtemp(folder))
        return -1;
    snprintf(path, sizeof path, "%s/out.folded", folder);
    return 0;
}

/* Returns the number of names in the folder; stores one of them in `first`. */
static int count_names(char *first, size_t cap)
{
    DIR *d = opendir(folder);
    struct dirent *entry;
    int n = 0;

    assert_non_null(d);
    while ((entry = readdir(d))) {
        if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, ".."))
            continue;
        n++;
        if (first)
            snprintf(first, cap, "%s", entry->d_name);
    }
    closedir(d);
    return n;
}

static int remove_folder(void **state)
{
    unlink(path);
    return rmdir(folder); /* fails if anything was left behind */
}

#define FIXTURE_TEST(name) TEST_WITH(name, make_folder, remove_folder)

static void assert_contents(const char *expected)
{
    struct buf b = { 0 };

    assert_true(file_read(path, 1 << 24, &b, NULL));
    assert_string_equal(buf_str(&b), expected);
    buf_done(&b);
}

FIXTURE_TEST(the_file_appears_whole_at_commit)
{
    struct outfile o;
    struct error e = { 0 };
    char tmp[64];
    struct stat st;

    assert_true(outfile_open(&o, path, &e));
    assert_true(outfile_write(&o, "main;", 5));
    assert_true(outfile_write(&o, "work 3\n", 7));
    assert_int_equal(o.size_bytes, 12);
    assert_int_equal(access(path, F_OK), -1);
    assert_int_equal(count_names(tmp, sizeof tmp), 1);
    assert_int_equal(strncmp(tmp, ".out.folded.", 12), 0);
    assert_int_equal(strlen(tmp), 18);
    assert_true(outfile_commit(&o, &e));
    assert_contents("main;work 3\n");
    assert_int_equal(count_names(NULL, 0), 1);
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0600);
}

FIXTURE_TEST(a_dash_writes_the_patched_bytes_to_standard_output)
{
    struct outfile o;
    struct error e = { 0 };
    char got[16] = "";
    int ends[2], before = dup(STDOUT_FILENO);

    assert_int_equal(pipe(ends), 0);
    fflush(stdout);
    dup2(ends[1], STDOUT_FILENO);
    bool ok = outfile_open(&o, "-", &e);
    dup2(before, STDOUT_FILENO);
    assert_true(ok);
    assert_true(outfile_write(&o, "????work 3\n", 11));
    assert_true(outfile_rewrite(&o, 0, "main", 4));
    ok = outfile_commit(&o, &e);
    close(before);
    close(ends[1]);
    assert_true(ok);
    assert_int_equal(read(ends[0], got, sizeof got), 11);
    assert_string_equal(got, "mainwork 3\n");
    close(ends[0]);
    assert_int_equal(count_names(NULL, 0), 0);
}

FIXTURE_TEST(abort_leaves_nothing_behind)
{
    struct outfile o;

    assert_true(outfile_open(&o, path, NULL));
    outfile_write(&o, "x", 1);
    outfile_abort(&o);
    assert_int_equal(count_names(NULL, 0), 0);
    outfile_abort(&o);
}

TEST(aborting_an_unopened_file_closes_nothing)
{
    struct outfile o = { 0 };
    int fd = dup(STDIN_FILENO);

    outfile_abort(&o);
    assert_int_equal(fcntl(STDIN_FILENO, F_GETFD) >= 0, fd >= 0);
    if (fd >= 0)
        close(fd);
}

FIXTURE_TEST(an_existing_file_is_replaced_only_at_commit)
{
    struct outfile o;

    write_text(path, "old");
    assert_true(outfile_open(&o, path, NULL));
    outfile_write(&o, "new", 3);
    assert_contents("old");
    assert_true(outfile_commit(&o, NULL));
    assert_contents("new");
}

FIXTURE_TEST(large_and_small_writes_keep_their_order)
{
    enum { LARGE = 200000 };
    struct buf expected = { 0 };
    char *large = malloc(LARGE + 1);
    struct outfile o;
    int i;

    memset(large, 'L', LARGE);
    large[LARGE] = '\0';
    assert_true(outfile_open(&o, path, NULL));
    for (i = 0; i < 20000; i++) {
        char line[32];
        int n = snprintf(line, sizeof line, "line %d\n", i);

        assert_true(outfile_write(&o, line, (size_t)n));
        buf_puts(&expected, line);
        if (i == 15000) {
            assert_true(outfile_write(&o, large, LARGE));
            buf_puts(&expected, large);
        }
    }
    assert_int_equal(o.size_bytes, expected.len);
    assert_true(outfile_commit(&o, NULL));
    assert_contents(buf_str(&expected));
    buf_done(&expected);
    free(large);
}

FIXTURE_TEST(written_bytes_can_be_patched)
{
    struct outfile o;

    assert_true(outfile_open(&o, path, NULL));
    outfile_write(&o, "size=????;data", 14);
    assert_true(outfile_rewrite(&o, 5, "1234", 4));
    assert_true(outfile_write(&o, "...", 3));
    assert_int_equal(o.size_bytes, 17);
    assert_true(outfile_commit(&o, NULL));
    assert_contents("size=1234;data...");
}

FIXTURE_TEST(patching_beyond_the_end_fails_permanently)
{
    struct outfile o;
    struct error e = { 0 };

    assert_true(outfile_open(&o, path, NULL));
    outfile_write(&o, "abc", 3);
    assert_false(outfile_rewrite(&o, 2, "xy", 2));
    assert_false(outfile_write(&o, "d", 1));
    assert_false(outfile_commit(&o, &e));
    assert_int_equal(e.class, ERROR_ARGUMENT);
    assert_int_equal(count_names(NULL, 0), 0);
}

static void assert_refused(const char *name, enum error_class class, const char *word)
{
    struct outfile o;
    struct error e = { 0 };

    assert_false(outfile_open(&o, name, &e));
    assert_int_equal(e.class, class);
    if (!strstr(e.text, word))
        fail_msg("'%s' does not contain '%s'", e.text, word);
    outfile_abort(&o);
}

FIXTURE_TEST(a_symbolic_link_is_refused)
{
    char target[80];

    snprintf(target, sizeof target, "%s/target", folder);
    write_text(target, "precious");
    assert_int_equal(symlink("target", path), 0);
    assert_refused(path, ERROR_ARGUMENT, "symbolic link");
    assert_int_equal(unlink(target), 0);
    assert_refused(path, ERROR_ARGUMENT, "symbolic link"); /* a dangling link too */
}

/* A link that appears between open and commit is replaced; its target is not touched. */
FIXTURE_TEST(a_link_that_appears_later_is_not_followed)
{
    char target[80];
    struct outfile o;
    struct stat st;

    snprintf(target, sizeof target, "%s/target", folder);
    write_text(target, "precious");
    assert_true(outfile_open(&o, path, NULL));
    outfile_write(&o, "new", 3);
    assert_int_equal(symlink("target", path), 0);
    assert_true(outfile_commit(&o, NULL));
    assert_int_equal(lstat(path, &st), 0);
    assert_true(S_ISREG(st.st_mode));
    assert_int_equal(stat(target, &st), 0);
    assert_int_equal(st.st_size, 8);
    assert_int_equal(unlink(target), 0);
}

FIXTURE_TEST(non_regular_files_are_refused)
{
    assert_refused(folder, ERROR_ARGUMENT, "no regular file");
}

static void write_patched(const char *to)
{
    struct outfile o;
    struct error e = { 0 };

    assert_true(outfile_open(&o, to, &e));
    assert_true(outfile_write(&o, "????work 3\n", 11));
    assert_true(outfile_rewrite(&o, 0, "main", 4));
    assert_true(outfile_commit(&o, &e));
}

FIXTURE_TEST(pipes_and_devices_are_written_directly)
{
    char got[16] = "", number[32];
    struct stat st;
    int fd, ends[2];

    write_patched("/dev/null");
    assert_int_equal(stat("/dev/null", &st), 0);
    assert_true(S_ISCHR(st.st_mode));
    assert_int_equal(mkfifo(path, 0600), 0);
    fd = open(path, O_RDWR | O_CLOEXEC);
    write_patched(path);
    assert_int_equal(read(fd, got, sizeof got), 11);
    assert_string_equal(got, "mainwork 3\n");
    close(fd);
    assert_int_equal(pipe(ends), 0);
    snprintf(number, sizeof number, "/dev/fd/%d", ends[1]);
    write_patched(number);
    assert_int_equal(read(ends[0], got, sizeof got), 11);
    close(ends[0]);
    close(ends[1]);
}

TEST(a_path_without_a_file_name_is_refused)
{
    assert_refused("", ERROR_ARGUMENT, "names no file");
    assert_refused("/", ERROR_ARGUMENT, "names no file");
    assert_refused("some/folder/", ERROR_ARGUMENT, "names no file");
    assert_refused("..", ERROR_ARGUMENT, "names no file");
}

TEST(a_missing_folder_is_named_with_advice)
{
    assert_refused("no/such/folder/out", ERROR_MISSING,
                   "no/such/folder/out: No such file or directory; create");
}

FIXTURE_TEST(a_name_of_maximum_length_works)
{
    char name[300];
    struct outfile o;
    int n = snprintf(name, sizeof name, "%s/", folder);

    memset(name + n, 'x', 255);
    name[n + 255] = '\0';
    assert_true(outfile_open(&o, name, NULL));
    assert_true(outfile_commit(&o, NULL));
    assert_int_equal(unlink(name), 0);
    memset(name + n, 'x', 256);
    name[n + 256] = '\0';
    assert_refused(name, ERROR_SYSTEM, "File name too long");
}

FIXTURE_TEST(the_file_follows_its_renamed_folder)
{
    char elsewhere[64];
    struct outfile o;

    snprintf(elsewhere, sizeof elsewhere, "%s.moved", folder);
    assert_true(outfile_open(&o, path, NULL));
    outfile_write(&o, "x", 1);
    assert_int_equal(rename(folder, elsewhere), 0);
    assert_true(outfile_commit(&o, NULL));
    assert_int_equal(rename(elsewhere, folder), 0);
    assert_contents("x");
}

FIXTURE_TEST(a_file_over_the_size_limit_fails_with_advice_and_leaves_nothing)
{
    static char bytes[100000];
    struct rlimit old, small = { 50000, 0 };
    void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
    struct error e = { 0 };
    struct outfile o;

    assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
    small.rlim_max = old.rlim_max;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    assert_true(outfile_open(&o, path, NULL));
    outfile_write(&o, bytes, sizeof bytes);
    outfile_write(&o, bytes, sizeof bytes);
    assert_false(outfile_commit(&o, &e));
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
    signal(SIGXFSZ, handler);
    assert_int_equal(e.class, ERROR_LIMIT);
    assert_int_equal(e.sys, EFBIG);
    assert_non_null(strstr(e.text, path));
    assert_non_null(strstr(e.text, "ulimit -f"));
    assert_int_equal(count_names(NULL, 0), 0);
}

static bool write_proc(const char *name, const char *text)
{
    int fd = open(name, O_WRONLY);
    bool ok = fd >= 0 && file_write_all(fd, text, strlen(text), NULL);

    if (fd >= 0)
        close(fd);
    return ok;
}

/* Enters a new mount namespace. Without privilege this needs a user namespace, with a mapped user to create
 * files. */
static bool enter_namespace(void)
{
    unsigned uid = geteuid(), gid = getegid();
    char uids[32], gids[32];

    if (!uid)
        return unshare(CLONE_NEWNS) == 0;
    snprintf(uids, sizeof uids, "0 %u 1", uid);
    snprintf(gids, sizeof gids, "0 %u 1", gid);
    return unshare(CLONE_NEWNS | CLONE_NEWUSER) == 0 && write_proc("/proc/self/setgroups", "deny") &&
           write_proc("/proc/self/uid_map", uids) && write_proc("/proc/self/gid_map", gids);
}

/* Runs body in a child that has its own file system in the folder; returns body's result. */
static int on_small_disk(int (*body)(void))
{
    int status;
    pid_t pid = fork();

    assert_true(pid >= 0);
    if (!pid) {
        if (!enter_namespace() || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
            mount("none", folder, "tmpfs", 0, "size=64k") < 0)
            _exit(SKIPPED);
        _exit(body());
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    if (WEXITSTATUS(status) == SKIPPED) {
        print_message("mount namespaces cannot be created here\n");
        skip();
    }
    return WEXITSTATUS(status);
}

static int fill_the_disk(void)
{
    static char bytes[300000];
    struct error e = { 0 };
    struct outfile o;

    if (!outfile_open(&o, path, &e))
        return 1;
    outfile_write(&o, bytes, sizeof bytes);
    if (outfile_commit(&o, &e))
        return 2;
    if (e.sys != ENOSPC || !strstr(e.text, "free some space") || !strstr(e.text, path))
        return 3;
    return count_names(NULL, 0) ? 4 : 0;
}

FIXTURE_TEST(a_full_disk_fails_with_advice_and_leaves_nothing)
{
    assert_int_equal(on_small_disk(fill_the_disk), 0);
}

static int write_to_a_read_only_disk(void)
{
    struct error e = { 0 };
    struct outfile o;

    if (mount("none", folder, "tmpfs", MS_REMOUNT | MS_RDONLY, "size=64k") < 0)
        return SKIPPED;
    if (outfile_open(&o, path, &e))
        return 1;
    return e.sys == EROFS && strstr(e.text, "may write to") ? 0 : 2;
}

FIXTURE_TEST(a_read_only_disk_is_reported_at_once)
{
    assert_int_equal(on_small_disk(write_to_a_read_only_disk), 0);
}

TEST_MAIN(NULL, NULL)
