// SPDX-License-Identifier: GPL-2.0-or-later
/* What a compromised worker can still do. */
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "symbolizer_fixture.h"
#include "symbols/sandbox.h"

/* ---- a compromised worker ---- */

enum fate {
    SUCCEEDED = 40, /* exit status */
    REFUSED,
    NOT_CONFINED,
};
static int file_fd = -1, memory_fd = -1;

static int lock_file(void)
{
    struct flock lock = { .l_type = F_RDLCK, .l_whence = SEEK_SET, .l_start = 1, .l_len = 1 };

    return fcntl(file_fd, F_SETLK, &lock);
}

static int lock_open_file(void)
{
    struct flock lock = { .l_type = F_RDLCK, .l_whence = SEEK_SET, .l_len = 1 };

    return fcntl(file_fd, F_OFD_SETLK, &lock);
}

static int query_locks(void)
{
    struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = 1 };

    return fcntl(file_fd, F_GETLK, &lock);
}

static int redirect_signals(void)
{
    return fcntl(file_fd, F_SETOWN, getppid());
}

static int choose_signal(void)
{
    return fcntl(file_fd, F_SETSIG, SIGKILL);
}

static int take_lease(void)
{
    return fcntl(file_fd, F_SETLEASE, F_RDLCK);
}

static int watch_folder(void)
{
    return fcntl(file_fd, F_NOTIFY, DN_CREATE);
}

static int change_pipe(void)
{
    return fcntl(file_fd, F_SETPIPE_SZ, 1 << 20);
}

static int seal(void)
{
    return fcntl(memory_fd, F_ADD_SEALS, F_SEAL_SEAL);
}

static int map_code(int protection)
{
    return mmap(NULL, 4096, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED ? -1 : 0;
}

static int map_writable_code(void)
{
    return map_code(PROT_READ | PROT_WRITE | PROT_EXEC);
}

static int map_file_as_code(void)
{
    return mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, file_fd, 0) == MAP_FAILED ? -1 : 0;
}

static int make_code_of_data(void)
{
    static char page[8192] __attribute__((aligned(4096)));

    return mprotect(page, 4096, PROT_READ | PROT_EXEC);
}

static int move_mapping_over_another(void)
{
    void *a = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    return mremap(a, 4096, 4096, MREMAP_MAYMOVE | MREMAP_FIXED, (void *)map_code) == MAP_FAILED ? -1 : 0;
}

static int shorten_memory(void)
{
    return madvise((void *)((uintptr_t)&file_fd & ~(uintptr_t)4095), 4096, MADV_REMOVE);
}

static int make_memory(void)
{
    return memfd_create("x", 0);
}

static int make_memory_longer(void)
{
    return ftruncate(memory_fd, (off_t)WORKER_BLOB_MAX + 4096);
}

static int write_too_far(void)
{
    lseek(memory_fd, (off_t)WORKER_BLOB_MAX, SEEK_SET);
    return write(memory_fd, "x", 1) == 1 ? 0 : -1;
}

static int open_shadow(void)
{
    return open("/etc/shadow", O_RDONLY);
}

static int open_self(void)
{
    return (int)syscall(SYS_openat, AT_FDCWD, "/proc/self/mem", O_RDWR);
}

static int make_socket(void)
{
    return socket(AF_UNIX, SOCK_STREAM, 0);
}

static int send_elsewhere(void)
{
    struct msghdr m = { 0 };

    return (int)sendmsg(file_fd, &m, 0);
}

static int trace_parent(void)
{
    return (int)ptrace(PTRACE_ATTACH, getppid(), NULL, NULL);
}

static int read_parent(void)
{
    return (int)syscall(SYS_process_vm_readv, getppid(), NULL, 0, NULL, 0, 0);
}

static int kill_parent(void)
{
    return kill(getppid(), 0);
}

static int fork_again(void)
{
    return (int)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
}

static int run_program(void)
{
    return execl("/bin/true", "true", (char *)NULL);
}

static int make_namespace(void)
{
    return unshare(CLONE_NEWUSER);
}

static int become_traceable(void)
{
    return prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
}

static int call_device(void)
{
    return (int)syscall(SYS_ioctl, file_fd, 0, 0);
}

static int measure_events(void)
{
    return (int)syscall(SYS_perf_event_open, NULL, 0, -1, -1, 0);
}

static int change_limits(void)
{
    struct rlimit limit = { RLIM_INFINITY, RLIM_INFINITY };

    return setrlimit(RLIMIT_FSIZE, &limit);
}

/* Operations that it needs. */
static int read_file(void)
{
    char c;

    return pread(file_fd, &c, 1, 0) == 1 ? 0 : -1;
}

static int copy_descriptor(void)
{
    return fcntl(file_fd, F_DUPFD_CLOEXEC, 0);
}

static int map_file(void)
{
    return mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, file_fd, 0) == MAP_FAILED ? -1 : 0;
}

static int take_memory(void)
{
    char *p = malloc(64 << 20);

    if (!p)
        return -1;
    memset(p, 1, 64 << 20);
    p = realloc(p, 80 << 20);
    free(p);
    return p ? 0 : -1;
}

static int write_reply(void)
{
    return write(memory_fd, "x", 1) == 1 ? 0 : -1;
}

/* The fate of a confined process that tries it: killed by its filter, refused, or successful. */
static int fate_of(int (*attempt)(void))
{
    int status;
    pid_t pid = fork();

    assert_true(pid >= 0);
    if (!pid) {
        struct error e = { 0 };
        if (!sandbox_enter_worker(&e))
            _exit(NOT_CONFINED);
        _exit(attempt() < 0 ? REFUSED : SUCCEEDED);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    if (WIFSIGNALED(status)) {
        assert_int_equal(WTERMSIG(status), SIGSYS);
        return -1;
    }
    return WEXITSTATUS(status);
}

static void open_files(void)
{
    char path[] = "/tmp/flametop-test-XXXXXX", page[4096] = { 1 };
    int fd = mkstemp(path);

    assert_true(fd >= 0);
    assert_int_equal(write(fd, page, sizeof page), sizeof page);
    close(fd);
    file_fd = open(path, O_RDONLY | O_CLOEXEC);
    assert_true(file_fd >= 0);
    unlink(path);
    memory_fd = memfd_create("answer", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    assert_true(memory_fd >= 0);
}

static void need_filter(void)
{
    if (SANITIZED || !sandbox_has_filter()) {
        print_message("this build has no system-call filter\n");
        skip();
    }
}

TEST(a_worker_may_do_what_it_needs)
{
    static int (*const needed[])(void) = { read_file, copy_descriptor, map_file, take_memory, write_reply };

    open_files();
    for (size_t i = 0; i < sizeof needed / sizeof *needed; i++)
        assert_int_equal(fate_of(needed[i]), SUCCEEDED);
    close(file_fd);
    close(memory_fd);
}

TEST(a_compromised_worker_does_no_harm)
{
    static const struct {
        const char *what;
        int (*attempt)(void);
    } attempts[] = {
        { "F_SETLK", lock_file },
        { "F_OFD_SETLK", lock_open_file },
        { "F_GETLK", query_locks },
        { "F_SETOWN", redirect_signals },
        { "F_SETSIG", choose_signal },
        { "F_SETLEASE", take_lease },
        { "F_NOTIFY", watch_folder },
        { "F_SETPIPE_SZ", change_pipe },
        { "F_ADD_SEALS", seal },
        { "mmap W+X", map_writable_code },
        { "mmap of a file as code", map_file_as_code },
        { "mprotect to code", make_code_of_data },
        { "mremap to a fixed place", move_mapping_over_another },
        { "MADV_REMOVE", shorten_memory },
        { "memfd_create", make_memory },
        { "ftruncate beyond 1 GB", make_memory_longer },
        { "write beyond 1 GB", write_too_far },
        { "open", open_shadow },
        { "openat", open_self },
        { "socket", make_socket },
        { "sendmsg elsewhere", send_elsewhere },
        { "ptrace", trace_parent },
        { "process_vm_readv", read_parent },
        { "kill", kill_parent },
        { "fork", fork_again },
        { "execve", run_program },
        { "unshare", make_namespace },
        { "prctl", become_traceable },
        { "ioctl", call_device },
        { "perf_event_open", measure_events },
        { "setrlimit", change_limits },
    };
    unsigned killed = 0, refused = 0;

    need_filter();
    open_files();
    for (size_t i = 0; i < sizeof attempts / sizeof *attempts; i++) {
        int fate = fate_of(attempts[i].attempt);
        if (fate != -1 && fate != REFUSED)
            fail_msg("%s: %s", attempts[i].what,
                     fate == SUCCEEDED ? "succeeded" : "the sandbox was not entered");
        killed += fate == -1;
        refused += fate == REFUSED;
    }
    print_message("%zu attempts: %u killed, %u refused\n", sizeof attempts / sizeof *attempts, killed,
                  refused);
    assert_true(killed > refused);
    close(file_fd);
    close(memory_fd);
}

/* Replies over the limit are errors even without a filter. */
TEST(a_reply_has_a_size_limit)
{
    open_files();
    assert_int_equal(fate_of(write_too_far), REFUSED);
    close(file_fd);
    close(memory_fd);
}

/* ---- its user ---- */

static bool read_status(pid_t pid, const char *key, char *value, size_t cap)
{
    char path[64], line[256];
    bool found = false;
    FILE *f;

    snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
    f = fopen(path, "re");
    while (f && !found && fgets(line, sizeof line, f))
        if ((found = !strncmp(line, key, strlen(key))))
            snprintf(value, cap, "%s", line + strlen(key));
    if (f)
        fclose(f);
    return found;
}

/* A child that is confined and waits, or says why it is not. */
static pid_t confined_child(char *why, size_t cap, bool (*prepare)(void))
{
    int ends[2];
    ssize_t n;
    pid_t pid;

    assert_int_equal(pipe(ends), 0);
    pid = fork();
    assert_true(pid >= 0);
    if (!pid) {
        struct error e = { 0 };
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (prepare && !prepare())
            dprintf(ends[1], "unable");
        else if (sandbox_drop_user(&e))
            dprintf(ends[1], "confined");
        else
            dprintf(ends[1], "%s", e.text);
        for (;;)
            pause();
    }
    close(ends[1]);
    n = read(ends[0], why, cap - 1);
    why[n > 0 ? n : 0] = '\0';
    close(ends[0]);
    return pid;
}

static void end_child(pid_t pid)
{
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
}

TEST(root_becomes_an_unused_user)
{
    char why[512], text[256];
    unsigned long a, b, group;
    pid_t first, second;

    if (geteuid()) {
        print_message("only root can become another user\n");
        skip();
    }
    first = confined_child(why, sizeof why, NULL);
    assert_string_equal(why, "confined");
    second = confined_child(why, sizeof why, NULL);
    assert_string_equal(why, "confined");
    assert_true(read_status(first, "Uid:", text, sizeof text));
    assert_int_equal(sscanf(text, "%lu", &a), 1);
    assert_true(read_status(first, "Gid:", text, sizeof text));
    assert_int_equal(sscanf(text, "%lu", &group), 1);
    assert_true(read_status(first, "Groups:", text, sizeof text));
    assert_int_equal(strspn(text, " \t\n"), strlen(text));
    assert_true(read_status(second, "Uid:", text, sizeof text));
    assert_int_equal(sscanf(text, "%lu", &b), 1);
    print_message("users %lu and %lu\n", a, b);
    assert_true(a && a != 65534 && a != b && group == a);
    end_child(first);
    end_child(second);
}

static bool write_proc(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    bool ok = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);

    if (fd >= 0)
        close(fd);
    return ok;
}

/* Like `unshare -Ur`: root inside, and no other user is mapped. */
static bool enter_namespace(void)
{
    char map[64], groups[64];

    snprintf(map, sizeof map, "0 %u 1", (unsigned)geteuid());
    snprintf(groups, sizeof groups, "0 %u 1", (unsigned)getegid());
    if (unshare(CLONE_NEWUSER) || !write_proc("/proc/self/setgroups", "deny") ||
        !write_proc("/proc/self/uid_map", map))
        return false;
    return write_proc("/proc/self/gid_map", groups);
}

TEST(root_of_a_namespace_without_other_users_has_no_capabilities)
{
    char why[512], text[256];
    pid_t pid = confined_child(why, sizeof why, enter_namespace);

    if (!strcmp(why, "unable")) {
        end_child(pid);
        print_message("user namespaces cannot be created here\n");
        skip();
    }
#if defined(HAVE_LIBCAP_NG) && defined(HAVE_LIBSECCOMP)
    assert_string_equal(why, "confined");
    assert_true(read_status(pid, "CapEff:", text, sizeof text));
    assert_int_equal(strspn(text, "\t0\n"), strlen(text));
    assert_true(read_status(pid, "CapPrm:", text, sizeof text));
    assert_int_equal(strspn(text, "\t0\n"), strlen(text));
#else
    (void)text;
    assert_non_null(strstr(why, "root cannot become another user"));
#endif
    end_child(pid);
}

/* As in a container whose root lacks CAP_SETUID. Capabilities belong to a thread: glibc aborts a program
 * if one thread may change its user and another may not, and ThreadSanitizer adds a thread. */
static bool lose_setuid(void)
{
    struct {
        uint32_t version;
        int pid;
    } head = { 0x20080522, 0 };
    struct {
        uint32_t effective, permitted, inheritable;
    } data[2] = { { 0 } };
    struct stat tasks;

    if (stat("/proc/self/task", &tasks) || tasks.st_nlink > 3)
        return false;
    return !syscall(SYS_capset, &head, data);
}

TEST(root_unable_to_change_its_user_is_refused)
{
    char why[512];
    pid_t pid;

    if (geteuid()) {
        print_message("only root can become another user\n");
        skip();
    }
    pid = confined_child(why, sizeof why, lose_setuid);
    print_message("%s\n", why);
    if (!strcmp(why, "unable")) {
        end_child(pid);
        print_message("a sanitizer's thread would keep its capabilities\n");
        skip();
    }
    assert_non_null(strstr(why, "cannot confine the child process: root"));
    end_child(pid);
}

SYMBOLIZER_TEST_MAIN(NULL, NULL)
