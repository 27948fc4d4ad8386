// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include "opened.h"
#include "process/module.h"
#include "unit_test.h"
#include "files.h"

#define COUNT(a) (sizeof(a) / sizeof *(a))

static char dir[64];

static int make_dir(void **state)
{
    strcpy(dir, "/tmp/flametop-module-XXXXXX");
    return mkdtemp(dir) ? 0 : -1;
}

static int remove_dir(void **state)
{
    return remove_tree(dir);
}

#define FIXTURE_TEST(name) TEST_WITH(name, make_dir, remove_dir)

static const char *in_dir(const char *name)
{
    static char paths[4][256];
    static int next;
    char *path = paths[next++ % 4];

    snprintf(path, sizeof paths[0], "%s/%s", dir, name);
    return path;
}

static struct module *file_module(const char *path, bool identity)
{
    struct module like = { .kind = MODULE_FILE, .path = path, .live = true, .pid = (uint32_t)getpid() };
    struct stat st;

    if (identity) {
        assert_int_equal(stat(path, &st), 0);
        like.ino = st.st_ino;
        like.maj = major(st.st_dev);
        like.min = minor(st.st_dev);
    }
    return module_new(&like);
}

static void assert_content(int fd, const char *text)
{
    char got[64];
    int readable = opened_readable(fd);
    ssize_t n = read(readable, got, sizeof got);

    assert_int_equal(n, strlen(text));
    assert_memory_equal(got, text, strlen(text));
    close(readable);
}

TEST(module_names_are_readable)
{
    static const struct {
        enum module_kind kind;
        const char *path, *name;
    } rows[] = {
        { MODULE_FILE, "/usr/lib/libc.so.6", "libc.so.6" },
        { MODULE_FILE, "/usr/lib/libc.so.6 (deleted)", "libc.so.6" },
        { MODULE_FILE, "/tmp/a\033[31m\nb", "a?[31m?b" },
        { MODULE_FILE, "/tmp/dir/", "[unknown]" },
        { MODULE_FILE, "plain", "plain" },
        { MODULE_FILE, "/memfd:runc:/proc/self/exe (deleted)", "memfd:runc:/proc/self/exe" },
        { MODULE_FILE, "", "[unknown]" },
        { MODULE_KMOD, "[xfs]", "[xfs]" },
        { MODULE_KMOD, "xfs", "[xfs]" },
        { MODULE_KMOD, "/lib/modules/6.1/kernel/net/nf-conntrack.ko.xz", "[nf_conntrack]" },
        { MODULE_KMOD, "/lib/modules/6.1/extra/x.ko", "[x]" },
        { MODULE_KMOD, "[", "[]" },
        { MODULE_KERNEL, "[kernel.kallsyms]", "[kernel]" },
        { MODULE_KSYM, "bpf_prog_1234", "[bpf]" },
        { MODULE_VDSO, "[vdso]", "[vdso]" },
        { MODULE_JIT, "//anon", "[JIT]" },
        { MODULE_JIT, "[heap]", "[heap]" },
        { MODULE_UNKNOWN, "", "[unknown]" },
        { MODULE_BROKEN, "", "[broken]" },
        { MODULE_GUEST, "", "[guest]" },
        { MODULE_SCRIPT, "", "[interpreted]" },
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct module *m = module_new(&(struct module){ .kind = rows[i].kind, .path = rows[i].path });

        assert_string_equal(m->name, rows[i].name);
        module_put(m);
    }
}

TEST(a_very_long_path_is_kept_and_its_name_truncated)
{
    char path[5000];
    struct module *m;

    memset(path, 'x', sizeof path - 1);
    path[0] = '/';
    path[sizeof path - 1] = '\0';
    m = module_new(&(struct module){ .kind = MODULE_FILE, .path = path });
    assert_string_equal(m->path, path);
    assert_int_equal(strlen(m->name), 255);
    module_put(m);
}

TEST(a_deleted_suffix_becomes_a_flag)
{
    struct module *m = module_new(&(struct module){ .kind = MODULE_FILE, .path = "/a (deleted)" });

    assert_string_equal(m->path, "/a");
    assert_true(m->deleted);
    module_put(m);
    m = module_new(&(struct module){ .kind = MODULE_FILE, .path = " (deleted)" });
    assert_string_equal(m->path, " (deleted)");
    assert_false(m->deleted);
    module_put(m);
}

TEST(mappings_without_a_file_are_classified)
{
    static const struct {
        const char *path;
        enum module_kind kind;
        const char *canonical;
    } rows[] = {
        { "", MODULE_JIT, "//anon" },
        { "//anon", MODULE_JIT, "//anon" },
        { "/memfd:doublemapper (deleted)", MODULE_JIT, "//anon" },
        { "/dev/zero (deleted)", MODULE_JIT, "//anon" },
        { "/dev/zeroes", MODULE_FILE, "/dev/zeroes" },
        { "/SYSV00000000 (deleted)", MODULE_JIT, "//anon" },
        { "/anon_hugepage (deleted)", MODULE_JIT, "//anon" },
        { "[anon:v8]", MODULE_JIT, "//anon" },
        { "[heap]", MODULE_JIT, "[heap]" },
        { "[stack:123]", MODULE_JIT, "[stack]" },
        { "[vsyscall]", MODULE_JIT, "[vsyscall]" },
        { "[vdso]", MODULE_VDSO, "[vdso]" },
        { "/bin/sh", MODULE_FILE, "/bin/sh" },
        { "/tmp/x (deleted)", MODULE_FILE, "/tmp/x (deleted)" },
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        const char *path = rows[i].path;

        assert_int_equal(module_classify(&path), rows[i].kind);
        assert_string_equal(path, rows[i].canonical);
    }
}

TEST(references_are_counted)
{
    struct module *m = module_new(&(struct module){ .kind = MODULE_FILE, .path = "/a" });

    assert_ptr_equal(module_get(m), m);
    assert_int_equal(m->refs, 2);
    module_put(m);
    assert_int_equal(m->refs, 1);
    module_put(m);
    module_put(NULL);
}

TEST(module_value_copies_all_but_the_reference_count)
{
    struct module like = { .id = 20,
                           .kind = MODULE_FILE,
                           .path = "/usr/bin/x",
                           .maj = 8,
                           .ino = 5,
                           .pid = 3,
                           .map_start = 4096,
                           .map_end = 8192,
                           .live = true };
    struct module *m = module_new(&like);
    struct module value = module_value(m);
    assert_int_equal(memcmp(&value, m, offsetof(struct module, refs)), 0);
    assert_int_equal(value.refs, 0);
    module_put(m);
}

FIXTURE_TEST(the_mapped_file_is_opened)
{
    struct module *m;

    write_text(in_dir("lib"), "code");
    m = file_module(in_dir("lib"), true);
    assert_content(module_open(m, NULL), "code");
    module_put(m);
}

FIXTURE_TEST(the_plain_path_is_opened_after_the_process_exited)
{
    struct module *m;

    write_text(in_dir("lib"), "code");
    m = file_module(in_dir("lib"), true);
    m->pid = 0x7ffffff0;
    assert_content(module_open(m, NULL), "code");
    module_put(m);
}

FIXTURE_TEST(another_file_at_the_same_path_is_refused)
{
    struct module *m;

    write_text(in_dir("lib"), "old");
    m = file_module(in_dir("lib"), true);
    write_text(in_dir("new"), "new");
    assert_int_equal(rename(in_dir("new"), in_dir("lib")), 0);
    errno = 0;
    assert_int_equal(module_open(m, NULL), -1);
    assert_int_equal(errno, ESTALE);
    module_put(m);
}

FIXTURE_TEST(files_that_are_not_regular_are_refused_without_blocking)
{
    struct module *m;

    assert_int_equal(mkfifo(in_dir("fifo"), 0600), 0);
    m = file_module(in_dir("fifo"), true);
    assert_int_equal(module_open(m, NULL), -1);
    assert_int_equal(errno, EINVAL);
    module_put(m);
    m = file_module("/dev/null", false);
    assert_int_equal(module_open(m, NULL), -1);
    module_put(m);
}

FIXTURE_TEST(symlinks_do_not_lead_out_of_symfs)
{
    struct module *m = module_new(&(struct module){ .kind = MODULE_FILE, .path = "/lib" });

    write_text(in_dir("inside"), "inside");
    assert_int_equal(symlink("/inside", in_dir("lib")), 0);
    assert_content(module_open(m, dir), "inside");
    assert_int_equal(unlink(in_dir("lib")), 0);
    assert_int_equal(symlink("/../../../../../../etc/passwd", in_dir("lib")), 0);
    assert_int_equal(module_open(m, dir), -1);
    assert_int_equal(errno, ENOENT);
    module_put(m);
}

FIXTURE_TEST(files_of_a_recording_are_not_matched_by_inode)
{
    struct module *m =
        module_new(&(struct module){ .kind = MODULE_FILE, .path = "/lib", .ino = 1, .maj = 9 });

    write_text(in_dir("lib"), "code");
    assert_content(module_open(m, dir), "code");
    module_put(m);
}

TEST(mappings_without_a_file_are_not_opened)
{
    static const enum module_kind kinds[] = { MODULE_KERNEL, MODULE_KSYM, MODULE_VDSO, MODULE_JIT,
                                              MODULE_UNKNOWN };

    for (size_t i = 0; i < COUNT(kinds); i++) {
        struct module *m =
            module_new(&(struct module){ .kind = kinds[i], .path = "/etc/passwd", .live = true });

        assert_int_equal(module_open(m, NULL), -1);
        module_put(m);
    }
}

FIXTURE_TEST(a_deleted_file_is_found_by_its_mapping)
{
    struct module *m;
    int fd, got;
    void *p;

    write_text(in_dir("jit.so"), "gone");
    m = file_module(in_dir("jit.so"), true);
    fd = open(in_dir("jit.so"), O_RDONLY);
    p = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fd, 0);
    assert_ptr_not_equal(p, MAP_FAILED);
    close(fd);
    assert_int_equal(unlink(in_dir("jit.so")), 0);
    m->map_start = (uintptr_t)p;
    m->map_end = (uintptr_t)p + 4096;
    got = module_open(m, NULL);
    munmap(p, 4096);
    module_put(m);
    if (got < 0 && errno != ESTALE) {
        print_message("opening /proc/PID/map_files needs CAP_CHECKPOINT_RESTORE\n");
        skip();
    }
    assert_content(got, "gone");
}

/* Starts a copy of `sleep` and returns its pid and the mapping of its code. */
static pid_t run_copy(struct module **m)
{
    char path[256], line[4096], found[2048];
    unsigned long long start, end, ino;
    unsigned maj, min;
    FILE *maps = NULL;
    pid_t pid;

    snprintf(path, sizeof path, "cp /bin/sleep '%s'", in_dir("prog"));
    assert_int_equal(system(path), 0);
    pid = fork();
    assert_true(pid >= 0);
    if (!pid) {
        execl(in_dir("prog"), "prog", "600", (char *)NULL);
        _exit(1);
    }
    for (*m = NULL; !*m; usleep(1000)) { /* waits for the exec */
        snprintf(path, sizeof path, "/proc/%d/maps", (int)pid);
        maps = fopen(path, "r");
        assert_non_null(maps);
        while (!*m && fgets(line, sizeof line, maps))
            if (sscanf(line, "%llx-%llx r-xp %*s %x:%x %llu %2047s", &start, &end, &maj, &min, &ino, found) ==
                    6 &&
                !strcmp(found, in_dir("prog")))
                *m = module_new(&(struct module){ .kind = MODULE_FILE,
                                                  .path = in_dir("prog"),
                                                  .live = true,
                                                  .pid = (uint32_t)pid,
                                                  .ino = ino,
                                                  .maj = maj,
                                                  .min = min,
                                                  .map_start = start,
                                                  .map_end = end });
        fclose(maps);
    }
    return pid;
}

static void end_copy(pid_t pid, struct module *m)
{
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    module_put(m);
}

FIXTURE_TEST(a_program_replaced_while_it_runs_is_found_or_refused)
{
    struct module *m;
    pid_t pid = run_copy(&m);
    char magic[4] = "";
    int fd;

    write_text(in_dir("new"), "new");
    assert_int_equal(rename(in_dir("new"), in_dir("prog")), 0);
    fd = opened_readable(module_open(m, NULL));
    if (fd < 0) /* without permission to follow /proc/PID/map_files */
        assert_int_equal(errno, ESTALE);
    else
        assert_int_equal(read(fd, magic, 4), 4);
    assert_memory_equal(magic, fd < 0 ? "\0\0\0" : "\177ELF", 4);
    if (fd >= 0)
        close(fd);
    m->map_end = 0; /* found by path only */
    assert_int_equal(module_open(m, NULL), -1);
    assert_int_equal(errno, ESTALE);
    end_copy(pid, m);
    m = file_module(in_dir("prog"), true);
    assert_content(module_open(m, NULL), "new");
    module_put(m);
}

/* A running program cannot be written to. A library can, and then runs as the new content. */
FIXTURE_TEST(a_program_cannot_be_overwritten_while_it_runs)
{
    struct module *m;
    pid_t pid = run_copy(&m);
    int fd = open(in_dir("prog"), O_WRONLY | O_TRUNC);

    assert_int_equal(fd, -1);
    assert_int_equal(errno, ETXTBSY);
    fd = module_open(m, NULL);
    assert_true(fd >= 0);
    close(fd);
    end_copy(pid, m);
}

FIXTURE_TEST(the_same_inode_number_on_another_device_is_refused)
{
    struct module *m;

    write_text(in_dir("lib"), "code");
    m = file_module(in_dir("lib"), true);
    if (!m->maj) {
        module_put(m);
        print_message("device numbers of this file system are not reliable\n");
        skip();
    }
    m->min ^= 1;
    assert_int_equal(module_open(m, NULL), -1);
    assert_int_equal(errno, ESTALE);
    module_put(m);
}

FIXTURE_TEST(a_new_file_with_an_old_inode_number_is_refused)
{
    struct module *m;
    int fd, generation = 0;

    write_text(in_dir("lib"), "code");
    m = file_module(in_dir("lib"), true);
    fd = open(in_dir("lib"), O_RDONLY);
    if (ioctl(fd, FS_IOC_GETVERSION, &generation) || !generation) {
        close(fd);
        module_put(m);
        print_message("this file system has no inode generations\n");
        skip();
    }
    close(fd);
    m->ino_generation = (uint32_t)generation;
    assert_content(module_open(m, NULL), "code");
    m->ino_generation ^= 1;
    assert_int_equal(module_open(m, NULL), -1);
    assert_int_equal(errno, ESTALE);
    module_put(m);
}

TEST_MAIN(NULL, NULL)
