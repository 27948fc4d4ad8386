// SPDX-License-Identifier: GPL-2.0-or-later
/* Tests the rights with which files are opened, and file systems that hang. */

#include <errno.h>
#include <grp.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/sysmacros.h>

#include "base/clock.h"
#include "base/mem.h"
#include "hung_fuse.h"
#include "opened.h"
#include "process/opener.h"
#include "symbols/perfmap.h"
#include "unit_test.h"
#include "files.h"

#define SOMEBODY   12345
#define LIMIT_NS   (200 * NS_PER_MS)
#define PATIENT_NS (30 * NS_PER_SEC)

static char dir[64];

static int set_up(void **state)
{
    strcpy(dir, "/tmp/flametop-opener-XXXXXX");
    opener_set_limits(-1, PATIENT_NS);
    return mkdtemp(dir) && !chmod(dir, 0755) ? 0 : -1;
}

static int tear_down(void **state)
{
    opener_end();
    unsetenv("SUDO_UID");
    unsetenv("SUDO_GID");
    return remove_tree(dir);
}

#define FIXTURE_TEST(name) TEST_WITH(name, set_up, tear_down)

static const char *in_dir(const char *name)
{
    static char paths[4][256];
    static int next;
    char *path = paths[next++ % 4];

    snprintf(path, sizeof paths[0], "%s/%s", dir, name);
    return path;
}

static const char *write_file(const char *name, const char *text, mode_t mode)
{
    const char *path = in_dir(name);
    write_text(path, text);
    assert_int_equal(chmod(path, mode), 0);
    return path;
}

static void need_root(void)
{
    if (geteuid()) {
        print_message("needs root, to open files for others\n");
        skip();
    }
}

static void assert_text(int fd, const char *text)
{
    char got[64] = "";
    int readable = opened_readable(fd);

    assert_true(readable >= 0);
    assert_true(read(readable, got, sizeof got - 1) >= 0);
    assert_string_equal(got, text);
    close(readable);
}

static void assert_refused(int fd, int err)
{
    assert_int_equal(fd, -1);
    assert_int_equal(errno, err);
}

/* Starts a process of another user, after `set` was called as root; it waits until it is killed. */
static pid_t start_somebody(uid_t uid, void (*set)(void))
{
    int ready[2];
    char byte = 0;
    pid_t pid;

    assert_int_equal(pipe(ready), 0);
    pid = fork();
    if (!pid) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (set)
            set();
        if (setgroups(0, NULL) || setresgid(uid, uid, uid) || setresuid(uid, uid, uid) ||
            write(ready[1], "y", 1) != 1)
            _exit(1);
        pause();
        _exit(0);
    }
    close(ready[1]);
    assert_int_equal(read(ready[0], &byte, 1), 1);
    close(ready[0]);
    return pid;
}

static void end_process(pid_t pid)
{
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
}

static struct opener_user for_process(pid_t pid)
{
    return (struct opener_user){ .kind = OPENER_FOR_PROCESS, .pid = (uint32_t)pid };
}

static const char *root_of(pid_t pid)
{
    static char root[40];

    snprintf(root, sizeof root, "/proc/%d/root", (int)pid);
    return root;
}

/* ---- rights ---- */

TEST(a_setuid_program_has_the_rights_of_the_user_who_started_it)
{
    static const struct {
        const char *status;
        uint32_t uid, gid, n_groups;
    } rows[] = {
        { "Name:\tx\nUid:\t1000\t0\t0\t0\nGid:\t1000\t1000\t1000\t1000\nGroups:\t4 27 \n", 1000, 1000, 2 },
        { "Name:\tx\nUid:\t0\t33\t0\t33\nGid:\t0\t34\t0\t34\nGroups:\t \nNStgid:\t1\n", 33, 34, 0 },
        { "Name:\tx\nUid:\t0\t0\t0\t0\nGid:\t0\t0\t0\t0\nGroups:\t0 \n", 0, 0, 1 },
        { "Name:\tx\nUid:\t1000\t1000\t1000\t1000\nGid:\t1000\t42\t42\t42\nGroups:\t1000 \n", 1000, 1000, 1 },
    };
    struct rights r;

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_true(rights_parse_status(rows[i].status, &r));
        assert_int_equal(r.uid, rows[i].uid);
        assert_int_equal(r.gid, rows[i].gid);
        assert_int_equal(r.n_groups, rows[i].n_groups);
        assert_false(r.own);
    }
    assert_false(rights_parse_status("Name:\tx\nUid:\t1\t2\n", &r));
}

TEST(groups_over_the_limit_are_dropped)
{
    char status[4096] = "N:\nUid:\t1\t1\t1\t1\nGid:\t1\t1\t1\t1\nGroups:\t";
    struct rights r;

    for (int i = 0; i < 200; i++)
        snprintf(status + strlen(status), sizeof status - strlen(status), "%d ", i);
    assert_true(rights_parse_status(status, &r));
    assert_int_equal(r.n_groups, RIGHTS_GROUPS_MAX);
    assert_int_equal(r.groups[RIGHTS_GROUPS_MAX - 1], RIGHTS_GROUPS_MAX - 1);
}

FIXTURE_TEST(a_file_is_opened_with_the_rights_of_the_process)
{
    struct opener_user user;
    pid_t pid;

    need_root();
    write_file("secret", "secret", 0600);
    write_file("shared", "shared", 0644);
    pid = start_somebody(SOMEBODY, NULL);
    user = for_process(pid);
    assert_refused(opener_open(&user, root_of(pid), in_dir("secret"), true), EACCES);
    assert_refused(opener_open(&user, "/", in_dir("secret"), true), EACCES);
    assert_text(opener_open(&user, root_of(pid), in_dir("shared"), true), "shared");
    assert_int_equal(chown(in_dir("secret"), SOMEBODY, 0), 0);
    assert_text(opener_open(&user, root_of(pid), in_dir("secret"), true), "secret");
    end_process(pid);
    /* afterwards the opener has its own rights again */
    user = (struct opener_user){ .kind = OPENER_FOR_US };
    assert_int_equal(chown(in_dir("secret"), 0, 0), 0);
    assert_text(opener_open(&user, "/", in_dir("secret"), true), "secret");
}

FIXTURE_TEST(a_folder_that_the_process_cannot_enter_hides_its_files)
{
    struct opener_user user;
    pid_t pid;

    need_root();
    assert_int_equal(mkdir(in_dir("closed"), 0700), 0);
    write_file("closed/file", "shared", 0644);
    pid = start_somebody(SOMEBODY, NULL);
    user = for_process(pid);
    assert_refused(opener_open(&user, root_of(pid), in_dir("closed/file"), true), EACCES);
    end_process(pid);
}

FIXTURE_TEST(an_execute_only_program_is_not_read)
{
    struct module like = { .kind = MODULE_FILE, .live = true };
    struct stat st;
    pid_t pid;
    struct module *m;

    need_root();
    like.path = write_file("prog", "code", 0711);
    assert_int_equal(stat(like.path, &st), 0);
    like.ino = st.st_ino;
    like.maj = major(st.st_dev);
    like.min = minor(st.st_dev);
    pid = start_somebody(SOMEBODY, NULL);
    like.pid = (uint32_t)pid;
    m = module_new(&like);
    assert_refused(module_open(m, NULL), EACCES);
    assert_int_equal(chmod(m->path, 0755), 0);
    assert_text(module_open(m, NULL), "code");
    module_put(m);
    end_process(pid);
}

FIXTURE_TEST(a_process_that_has_ended_has_the_rights_of_its_user)
{
    struct opener_user user = for_process(0x7ffffff0);

    need_root();
    write_file("own", "own", 0600);
    assert_int_equal(chown(in_dir("own"), SOMEBODY, 0), 0);
    assert_refused(opener_open(&user, "/", in_dir("own"), true), EACCES);
    user.user = SOMEBODY + 1;
    assert_text(opener_open(&user, "/", in_dir("own"), true), "own");
    /* root may have been root of a container */
    write_file("secret", "secret", 0600);
    user.user = 1;
    assert_refused(opener_open(&user, "/", in_dir("secret"), true), EACCES);
}

FIXTURE_TEST(files_named_by_a_strangers_file_are_opened_with_the_strangers_rights)
{
    struct opener_user user = for_process(getpid());

    need_root();
    write_file("secret", "secret", 0600);
    assert_text(opener_open(&user, "/", in_dir("secret"), true), "secret");
    user.named_by = SOMEBODY;
    assert_refused(opener_open(&user, "/", in_dir("secret"), true), EACCES);
    user.kind = OPENER_FOR_STARTER;
    assert_refused(opener_open(&user, "/", in_dir("secret"), true), EACCES);
}

FIXTURE_TEST(files_named_by_a_recording_are_opened_with_the_starting_users_rights)
{
    struct module *m;

    need_root();
    m = module_new(&(struct module){ .kind = MODULE_FILE, .path = write_file("secret", "secret", 0600) });
    assert_text(module_open(m, NULL), "secret");
    opener_end(); /* the environment is read only at its start */
    setenv("SUDO_UID", "12345", 1);
    setenv("SUDO_GID", "12345", 1);
    assert_refused(module_open(m, NULL), EACCES);
    opener_end();
    setenv("SUDO_UID", "all", 1);
    assert_refused(module_open(m, NULL), EACCES);
    opener_end();
    setenv("SUDO_UID", "12345", 1);
    assert_int_equal(chown(m->path, SOMEBODY, SOMEBODY), 0);
    assert_text(module_open(m, NULL), "secret");
    module_put(m);
}

/* ---- foreign namespaces ---- */

static char secret_path[256];

/* Root does here, before it changes the user, what a stranger would do in a user namespace: not every machine
 * lets users create one. */
static void mount_secret_over_map(void)
{
    char map[64];
    int fd;

    snprintf(map, sizeof map, "/tmp/perf-%d.map", (int)getpid());
    if (unshare(CLONE_NEWNS) || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL))
        _exit(1);
    fd = open(secret_path, O_PATH);
    if (fd < 0 || mount("none", "/tmp", "tmpfs", 0, NULL))
        _exit(1);
    close(open(map, O_WRONLY | O_CREAT, 0644));
    snprintf(secret_path, sizeof secret_path, "/proc/self/fd/%d", fd);
    if (mount(secret_path, map, NULL, MS_BIND, NULL))
        _exit(1);
}

FIXTURE_TEST(a_mount_over_a_perf_map_gives_no_further_access)
{
    struct error e = { 0 };
    pid_t pid;
    int fd;

    need_root();
    strcpy(secret_path, write_file("secret", "root:*:1:", 0600));
    pid = start_somebody(SOMEBODY, mount_secret_over_map);
    fd = perfmap_open((uint32_t)pid, &e);
    assert_int_equal(fd, -1);
    assert_int_equal(e.class, ERROR_PERMISSION);
    /* the same with a file that all may read: this proves that the right file was refused */
    assert_int_equal(chmod(in_dir("secret"), 0644), 0);
    assert_text(perfmap_open((uint32_t)pid, &e), "root:*:1:");
    end_process(pid);
}

static void change_root_alone(void)
{
    if (unshare(CLONE_NEWNS))
        _exit(1);
}

FIXTURE_TEST(container_root_has_no_rights_to_files_of_the_host)
{
    struct opener_user user;
    struct module *m;
    const char *path;
    pid_t pid;

    need_root();
    path = write_file("secret", "secret", 0600);
    pid = start_somebody(0, change_root_alone);
    user = for_process(pid);
    assert_refused(opener_open(&user, "/", in_dir("secret"), true), EACCES);
    assert_text(opener_open(&user, root_of(pid), in_dir("secret"), true), "secret");
    m = module_new(&(struct module){ .kind = MODULE_FILE, .path = path, .live = true, .pid = (uint32_t)pid });
    assert_text(module_open(m, NULL), "secret");
    module_put(m);
    end_process(pid);
}

/* ---- special files ---- */

FIXTURE_TEST(files_of_proc_and_sys_are_not_read)
{
    static const char *const paths[] = { "/proc/version", "/proc/self/environ", "/sys/kernel/notes" };
    const struct opener_user us = { .kind = OPENER_FOR_US };
    struct error e = { 0 };

    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        assert_refused(opener_open(&us, "/", paths[i], true), EOPNOTSUPP);
        opener_error(&e, EOPNOTSUPP, paths[i]);
        assert_non_null(strstr(e.text, paths[i]));
    }
    assert_refused(opener_open(&us, "/", "/dev/null", true), ENXIO);
    assert_refused(opener_copy(&us, "/", "/proc/version", 100, NULL), EOPNOTSUPP);
}

FIXTURE_TEST(a_recording_that_names_the_kernel_log_cannot_open_it)
{
    struct module *m = module_new(&(struct module){ .kind = MODULE_FILE, .path = "/proc/kmsg" });

    assert_refused(module_open(m, NULL), EOPNOTSUPP);
    module_put(m);
}

/* ---- returned descriptors ---- */

FIXTURE_TEST(returned_descriptors_cannot_be_read)
{
    const struct opener_user us = { .kind = OPENER_FOR_US };
    struct opened of;
    struct stat st;
    char byte;
    int fd, copy;

    write_file("file", "text", 0644);
    assert_int_equal(stat(in_dir("file"), &st), 0);
    fd = opener_open(&us, "/", in_dir("file"), true);
    assert_true(fd >= 0);
    assert_int_equal(read(fd, &byte, 1), -1);
    assert_int_equal(errno, EBADF);
    assert_true(opened_facts(fd, &of));
    assert_int_equal(of.st.st_ino, st.st_ino);
    assert_int_equal(of.st.st_size, 4);
    assert_false(of.elf);
    copy = opener_dup(fd);
    assert_true(copy >= 0 && copy != fd);
    write_file("file", "longer text", 0644);
    assert_true(opener_look_again(fd, &of));
    assert_int_equal(of.st.st_size, 11);
    assert_true(opened_facts(copy, &of));
    assert_int_equal(of.st.st_size, 4);
    close(copy);
    close(fd);
}

FIXTURE_TEST(the_running_programs_facts_are_reported)
{
    struct opened of, ours;
    int fd = opener_program((uint32_t)getpid()), self = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);

    assert_true(fd >= 0 && self >= 0);
    assert_true(opened_facts(fd, &of) && opened_facts(self, &ours));
    assert_true(of.elf && of.machine);
    assert_int_equal(of.id_size, ours.id_size);
    assert_memory_equal(of.id, ours.id, sizeof of.id);
    assert_int_equal(of.st.st_ino, ours.st.st_ino);
    close(fd);
    close(self);
}

FIXTURE_TEST(a_copy_holds_the_requested_bytes)
{
    const struct opener_user us = { .kind = OPENER_FOR_US };
    struct opened of;
    char text[32] = "";
    int fd;

    write_file("file", "0123456789", 0644);
    fd = opener_copy(&us, "/", in_dir("file"), 4, &of);
    assert_int_equal(pread(fd, text, sizeof text, 0), 4);
    assert_memory_equal(text, "0123", 4);
    assert_int_equal(of.st.st_size, 10);
    close(fd);
}

FIXTURE_TEST(memory_is_copied_as_far_as_it_is_mapped)
{
    const size_t size = 48 * 4096; /* more than one reply can hold */
    char *from = mmap(NULL, size + 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    char *to = malloc(size);
    int fd;

    assert_true(from != MAP_FAILED && to);
    for (size_t i = 0; i < size; i++)
        from[i] = (char)(i * 7 + i / 4096);
    assert_int_equal(munmap(from + size, 4096), 0);
    assert_int_equal(opener_read_memory((uint32_t)getpid(), (uintptr_t)from + 3, to, 5), 5);
    assert_memory_equal(to, from + 3, 5);
    assert_int_equal(opener_read_memory((uint32_t)getpid(), (uintptr_t)from, to, size), size);
    assert_memory_equal(to, from, size);
    assert_int_equal(opener_read_memory((uint32_t)getpid(), (uintptr_t)from + size - 8192, to, size), 8192);
    assert_memory_equal(to, from + size - 8192, 8192);
    assert_int_equal(opener_read_memory((uint32_t)getpid(), 16, to, 4), 0);
    assert_int_equal(errno, EFAULT);
    fd = opener_memory((uint32_t)getpid(), (uintptr_t)from + size - 4096, 8192);
    assert_int_equal(pread(fd, to, size, 0), 4096);
    assert_memory_equal(to, from + size - 4096, 4096);
    close(fd);
    assert_refused(opener_memory((uint32_t)getpid(), 16, 4), EFAULT);
    munmap(from, size);
    free(to);
}

#define COPIED_PAGES 100

/* A file of distinct pages, and memory that contains them from the second page on. */
FIXTURE_TEST(memory_is_compared_with_a_file)
{
    const size_t page = 4096;
    char *bytes = mem_array(COPIED_PAGES + 1, page), *path = mem_strdup(in_dir("code"));
    struct module like = { .kind = MODULE_FILE, .path = path, .live = true, .pid = (uint32_t)getpid() },
                  *m = module_new(&like);
    FILE *f = fopen(path, "w");
    uint64_t at = (uintptr_t)bytes;

    assert_non_null(f);
    for (size_t i = 0; i < (COPIED_PAGES + 1) * page; i++)
        bytes[i] = (char)(i / page + i);
    fwrite("head", 1, 4, f);
    assert_int_equal(fseek(f, (long)page, SEEK_SET), 0);
    assert_int_equal(fwrite(bytes, page, COPIED_PAGES, f), COPIED_PAGES);
    assert_int_equal(fclose(f), 0);
    assert_true(module_is_copied(m, at, COPIED_PAGES * page, page));
    assert_true(module_is_copied(m, at + page, 3 * page, 2 * page));
    assert_false(module_is_copied(m, at, COPIED_PAGES * page, 0));
    assert_false(module_is_copied(m, at, (COPIED_PAGES + 1) * page, page)); /* beyond its end */
    assert_false(module_is_copied(m, at, page - 1, page));
    assert_false(module_is_copied(m, 4096, COPIED_PAGES * page, page));
    bytes[page * COPIED_PAGES - 1] ^= 1;
    assert_false(module_is_copied(m, at, COPIED_PAGES * page, page));
    assert_true(module_is_copied(m, at, (COPIED_PAGES - 1) * page, page));
    bytes[page - 1] ^= 1;
    assert_false(module_is_copied(m, at, (COPIED_PAGES - 1) * page, page));
    module_put(m);
    mem_free(path);
    mem_free(bytes);
}

#define PAGES 6
static unsigned char in_memory[PAGES];

static size_t page_size(void)
{
    return (size_t)sysconf(_SC_PAGESIZE);
}

/* Unused pages, except the last one, which belongs to another mapping; the page below is nobody's, so that no
 * mapping of another thread joins them. */
static char *map_unused(void)
{
    size_t n = page_size();
    char *pages = mmap(NULL, (PAGES + 1) * n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    assert_true(pages != MAP_FAILED);
    assert_int_equal(mprotect(pages, n, PROT_NONE), 0);
    pages += n;
    assert_int_equal(mprotect(pages + (PAGES - 1) * n, n, PROT_READ), 0);
    return pages;
}

static const unsigned char *check_residency(char *pages)
{
    assert_int_equal(mincore(pages, PAGES * page_size(), in_memory), 0);
    return in_memory;
}

/* Returns the resident KB of the mapping that contains the address. */
static unsigned rss_of(const void *at)
{
    FILE *f = fopen("/proc/self/smaps", "r");
    unsigned long start, end;
    unsigned kb = UINT_MAX;
    bool inside = false;
    char line[512];

    assert_non_null(f);
    while (fgets(line, sizeof line, f) && (!inside || sscanf(line, "Rss: %u kB", &kb) != 1))
        if (sscanf(line, "%lx-%lx ", &start, &end) == 2)
            inside = (uintptr_t)at - start < end - start;
    fclose(f);
    assert_int_not_equal(kb, UINT_MAX);
    return kb;
}

/* Returns the resident KB that reading an unused page adds: 0 with the kernel's shared zero page, which some
 * kernels do without. */
static unsigned measure_rss_of_one_page(void)
{
    const volatile char *page = mmap(NULL, page_size(), PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    unsigned before, after;

    assert_true(page != MAP_FAILED);
    before = rss_of((const void *)page);
    (void)page[0];
    after = rss_of((const void *)page);
    assert_int_equal(munmap((void *)(uintptr_t)page, page_size()), 0);
    return after - before;
}

static bool touch_own_pages(uint64_t age_ns, const void *at, size_t size)
{
    uint64_t spent_ns = UINT64_MAX;
    bool done = opener_touch((uint32_t)getpid(), age_ns, (uintptr_t)at, size, &spent_ns);

    assert_true(spent_ns < NS_PER_SEC && (!done || spent_ns));
    return done;
}

FIXTURE_TEST(touching_stack_pages_brings_them_into_memory)
{
    char *pages = map_unused();
    size_t n = page_size();

    assert_false(check_residency(pages)[1] & 1);
    assert_true(touch_own_pages(0, pages + n + 8, 2 * n)); /* into the third page */
    const unsigned char wanted[PAGES] = { 0, 1, 1, 1 };
    assert_memory_equal(check_residency(pages), wanted, sizeof wanted);
    unsigned rss = rss_of(pages);
    assert_true(touch_own_pages(0, pages, OPENER_TOUCH_MAX));
    const unsigned char all[PAGES] = { 1, 1, 1, 1, 1, 0 }; /* not beyond the mapping */
    assert_memory_equal(check_residency(pages), all, sizeof all);
    assert_int_equal(rss_of(pages), rss + 2 * measure_rss_of_one_page()); /* the first page and the fifth */
    for (size_t i = 0; i < 5 * n; i++)
        assert_int_equal(pages[i], 0);
    assert_true(!touch_own_pages(0, pages, OPENER_TOUCH_MAX + 1) && errno == EINVAL);
    munmap(pages, PAGES * n);
}

FIXTURE_TEST(memory_that_is_no_stack_is_not_touched)
{
    char *pages = map_unused();
    size_t n = page_size();
    int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    char *file = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
    char *shared = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    assert_true(fd >= 0 && file != MAP_FAILED && shared != MAP_FAILED);
    assert_true(!touch_own_pages(0, file, n) && errno == EFAULT);
    assert_true(!touch_own_pages(0, shared, n) && errno == EFAULT);
    assert_true(!touch_own_pages(0, pages + (PAGES - 1) * n, n) && errno == EFAULT); /* not writable */
    munmap(pages, PAGES * n);
    assert_true(!touch_own_pages(0, pages, n) && errno == EFAULT);
    munmap(file, n);
    munmap(shared, n);
    close(fd);
}

/* A pid that was reused by another process since the sample. */
FIXTURE_TEST(a_younger_process_is_not_touched)
{
    char *pages = map_unused();

    assert_true(!touch_own_pages(UINT64_MAX / 2, pages, page_size()) && errno == ESRCH);
    assert_false(check_residency(pages)[0] & 1);
    assert_true(touch_own_pages(1, pages, page_size()));
    munmap(pages, PAGES * page_size());
}

/* Below the main thread's stack the kernel would let it grow. */
FIXTURE_TEST(touching_does_not_grow_a_stack)
{
    char line[512];
    unsigned long long begin = 0, again = 0;

    for (int i = 0; i < 2; i++) {
        FILE *f = fopen("/proc/self/maps", "r");
        assert_non_null(f);
        while (fgets(line, sizeof line, f))
            if (strstr(line, "[stack]"))
                sscanf(line, "%llx", i ? &again : &begin);
        fclose(f);
        if (!i)
            assert_true(
                !touch_own_pages(0, (const void *)(uintptr_t)(begin - page_size()), 2 * page_size()) &&
                errno == EFAULT);
    }
    assert_true(begin && begin == again);
}

static int receive_fd(int socket, char *text, size_t cap)
{
    struct iovec iov = { text, cap };
    union {
        struct cmsghdr align;
        char bytes[CMSG_SPACE(2 * sizeof(int))];
    } control;
    struct msghdr m = {
        .msg_iov = &iov, .msg_iovlen = 1, .msg_control = control.bytes, .msg_controllen = sizeof control.bytes
    };
    int fds[2];

    assert_true(recvmsg(socket, &m, 0) > 0);
    assert_non_null(CMSG_FIRSTHDR(&m));
    memcpy(fds, CMSG_DATA(CMSG_FIRSTHDR(&m)), sizeof fds);
    close(fds[1]);
    return fds[0];
}

FIXTURE_TEST(the_receiver_can_read_sent_files)
{
    const struct opener_user us = { .kind = OPENER_FOR_US };
    int pair[2], fds[2], got;
    char text[32] = "";

    write_file("file", "text", 0644);
    fds[0] = opener_open(&us, "/", in_dir("file"), true);
    fds[1] = open("/dev/null", O_RDONLY | O_CLOEXEC);
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair), 0);
    assert_true(opener_send(pair[0], "head", 4, "body", 4, fds, 2));
    got = receive_fd(pair[1], text, sizeof text);
    assert_string_equal(text, "headbody");
    assert_int_equal(pread(got, text, sizeof text, 0), 4);
    assert_memory_equal(text, "text", 4);
    close(got);
    close(fds[0]);
    close(fds[1]);
    close(pair[0]);
    close(pair[1]);
}

/* ---- file systems that hang ---- */

/* Returns the third field of /proc/PID/stat; 0: none. */
static char state_of(pid_t pid)
{
    char path[40], text[512] = "", state = 0;
    FILE *f;

    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    f = fopen(path, "r");
    if (f && fgets(text, sizeof text, f) && strrchr(text, ')'))
        state = strrchr(text, ')')[2];
    if (f)
        fclose(f);
    return state;
}

FIXTURE_TEST(a_hung_file_delays_no_other_request)
{
    const struct opener_user us = { .kind = OPENER_FOR_US };
    struct hung_fuse fuse;
    uint64_t end_ns;
    pid_t first;

    if (!hung_fuse_start(&fuse)) {
        print_message("file systems in user space cannot be mounted here\n");
        skip();
    }
    write_file("file", "text", 0644);
    /* a file that can be opened */
    opener_set_limits(-1, PATIENT_NS);
    assert_text(opener_open(&us, fuse.dir, "/f0", true), FUSE_TEXT);
    first = opener_pid();
    assert_true(first > 0);
    /* a file that hangs, then another one */
    opener_set_limits(-1, LIMIT_NS);
    assert_refused(opener_open(&us, fuse.dir, "/f1", true), ETIMEDOUT);
    assert_int_equal(opener_pid(), 0);
    opener_set_limits(-1, PATIENT_NS);
    assert_text(opener_open(&us, "/", in_dir("file"), true), "text");
    assert_int_not_equal(opener_pid(), first);
    /* after two timeouts their folder is refused; others are not */
    opener_set_limits(-1, LIMIT_NS);
    assert_refused(opener_open(&us, fuse.dir, "/f3", true), ETIMEDOUT);
    assert_refused(opener_open(&us, fuse.dir, "/f5", true), EBUSY);
    opener_set_limits(-1, PATIENT_NS);
    assert_text(opener_open(&us, "/", in_dir("file"), true), "text");
    /* when the file system ends, the blocked process ends too, and the next start of an opener reaps it */
    hung_fuse_stop(&fuse);
    for (end_ns = clock_now_ns() + PATIENT_NS; state_of(first) && clock_now_ns() < end_ns;) {
        opener_end();
        assert_text(opener_open(&us, "/", in_dir("file"), true), "text");
    }
    assert_int_equal(state_of(first), 0);
}

FIXTURE_TEST(stopping_does_not_wait_for_a_hung_file)
{
    const struct opener_user us = { .kind = OPENER_FOR_US };
    struct hung_fuse fuse;
    int stop[2];

    if (!hung_fuse_start(&fuse)) {
        print_message("file systems in user space cannot be mounted here\n");
        skip();
    }
    assert_int_equal(pipe(stop), 0);
    assert_int_equal(write(stop[1], "x", 1), 1);
    opener_set_limits(stop[0], UINT64_MAX / 8);
    assert_refused(opener_open(&us, fuse.dir, "/f1", true), ECANCELED);
    hung_fuse_stop(&fuse);
    close(stop[0]);
    close(stop[1]);
}

FIXTURE_TEST(a_killed_opener_is_replaced)
{
    const struct opener_user us = { .kind = OPENER_FOR_US };

    write_file("file", "text", 0644);
    assert_text(opener_open(&us, "/", in_dir("file"), true), "text");
    kill(opener_pid(), SIGKILL);
    assert_text(opener_open(&us, "/", in_dir("file"), true), "text");
}

static void *open_one(void *pid)
{
    const struct opener_user us = { .kind = OPENER_FOR_US };

    opener_set_limits(-1, PATIENT_NS);
    assert_text(opener_open(&us, "/", in_dir("file"), true), "text");
    *(pid_t *)pid = opener_pid();
    return NULL;
}

FIXTURE_TEST(an_opener_ends_with_its_thread)
{
    pthread_t thread;
    pid_t pid = 0;

    write_file("file", "text", 0644);
    assert_int_equal(pthread_create(&thread, NULL, open_one, &pid), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_true(pid > 0);
    assert_int_not_equal(pid, opener_pid());
    assert_int_equal(waitpid(pid, NULL, WNOHANG), -1);
}

int main(int argc, char **argv)
{
    if (argc > 1 && !strcmp(argv[1], OPENER_ARG))
        opener_main(3);
    opener_enable();
    return run_listed_tests(NULL, NULL);
}
