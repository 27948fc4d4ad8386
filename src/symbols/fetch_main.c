// SPDX-License-Identifier: GPL-2.0-or-later
/* The child that fetches one debug file: the only interface to libdebuginfod.
 * The library needs about thirty others for the network, so it is loaded at run time and only here: no other
 * process pays for it. */
#include <errno.h>
#include <ftw.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#ifdef HAVE_DEBUGINFOD
#include <elfutils/debuginfod.h>
#endif

#include "base/clock.h"
#include "base/library.h"
#include "symbols/fetch.h"
#include "symbols/sandbox.h"

#define REPORT_FD     3
#define REPORT_EACH   (100 * NS_PER_MS)
#define FILE_SIZE_MAX (UINT64_C(8) << 30)
#define CPU_SECONDS   300

/* Folder of a user that no other process has, for the file being fetched until it is passed on. "": none. */
static char folder[64];

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *at)
{
    (void)st;
    (void)kind;
    (void)at;
    remove(path);
    return 0;
}

static void __attribute__((noreturn)) leave_with(int status)
{
    if (*folder)
        nftw(folder, remove_one, 8, FTW_DEPTH | FTW_PHYS);
    _exit(status);
}

/* Send a report, with a descriptor; fd -1: none. */
static void report(const struct fetch_report *r, int fd)
{
    union {
        struct cmsghdr align;
        char bytes[CMSG_SPACE(sizeof(int))];
    } control = { 0 };
    struct iovec iov = { (void *)(uintptr_t)r, sizeof *r };
    struct msghdr m = { .msg_iov = &iov, .msg_iovlen = 1 };

    if (fd >= 0) {
        m.msg_control = control.bytes;
        m.msg_controllen = sizeof control.bytes;
        control.align.cmsg_level = SOL_SOCKET;
        control.align.cmsg_type = SCM_RIGHTS;
        control.align.cmsg_len = CMSG_LEN(sizeof fd);
        memcpy(CMSG_DATA(&control.align), &fd, sizeof fd);
    }
    /* A failure means that the parent has ended: nothing else to do. */
    if (sendmsg(REPORT_FD, &m, MSG_NOSIGNAL) != (ssize_t)sizeof *r)
        leave_with(1);
}

static void __attribute__((noreturn)) reply(enum fetch_kind kind, const char *text, int fd)
{
    struct fetch_report r = { .magic = FETCH_MAGIC, .kind = kind };

    snprintf(r.text, sizeof r.text, "%s", text);
    report(&r, fd);
    leave_with(0);
}

#ifdef HAVE_DEBUGINFOD

static struct {
    __typeof__(debuginfod_begin) *debuginfod_begin;
    __typeof__(debuginfod_set_progressfn) *debuginfod_set_progressfn;
    __typeof__(debuginfod_get_url) *debuginfod_get_url;
    __typeof__(debuginfod_find_debuginfo) *debuginfod_find_debuginfo;
    __typeof__(debuginfod_end) *debuginfod_end;
} library;

/* Exit on a signal from the parent: the library may wait long for a server and never checks whether to go
 * on. */
static void *leave_when_told(void *unused)
{
    sigset_t told;
    int sig;

    (void)unused;
    sigemptyset(&told);
    sigaddset(&told, SIGTERM);
    sigwait(&told, &sig);
    leave_with(1);
}

static void await_end(void)
{
    pthread_t thread;
    sigset_t told;

    sigemptyset(&told);
    sigaddset(&told, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &told, NULL);
    if (pthread_create(&thread, NULL, leave_when_told, NULL))
        pthread_sigmask(SIG_UNBLOCK, &told, NULL);
}

/* Report progress. b is 0, or there is no URL, until a server has responded; b < 0: the size is not known. */
static int progress(debuginfod_client *client, long a, long b)
{
    static uint64_t last_ns;
    uint64_t now = clock_now_ns();
    struct fetch_report r = { .magic = FETCH_MAGIC, .kind = FETCH_PROGRESS };

    if (now - last_ns >= REPORT_EACH && b && library.debuginfod_get_url(client)) {
        last_ns = now;
        r.got = a > 0 ? (uint64_t)a : 0;
        r.total = b > 0 ? (uint64_t)b : 0;
        report(&r, -1);
    }
    return 0;
}

/* Calls that a web client never makes. The calls that it does make depend on thirty libraries and are not
 * listed. */
/* clang-format off */
static const char *const refused[] = {
    "ptrace", "process_vm_readv", "process_vm_writev", "process_madvise", "kcmp", "pidfd_getfd",
    "perf_event_open", "bpf", "userfaultfd", "io_uring_setup", "io_uring_enter", "io_uring_register",
    "execve", "execveat", "mount", "umount2", "pivot_root", "chroot", "fsopen", "fsmount", "move_mount",
    "open_tree", "mount_setattr", "setns", "unshare", "init_module", "finit_module", "delete_module",
    "kexec_load", "kexec_file_load", "reboot", "swapon", "swapoff", "add_key", "request_key", "keyctl",
    "open_by_handle_at", "name_to_handle_at", "fanotify_init", "acct", "quotactl", "settimeofday",
    "clock_settime", "clock_adjtime", "adjtimex", "sethostname", "setdomainname", "syslog", "mknod",
    "mknodat", "chown", "fchown", "lchown", "fchownat", "setuid", "setgid", "setreuid", "setregid",
    "setresuid", "setresgid", "setgroups", "setfsuid", "setfsgid", "capset", "personality", "iopl",
    "ioperm", "vhangup",
};
/* clang-format on */

/* Confine the child; root's becomes a user of its own, with its own folder. */
static bool become_nobody(struct error *e)
{
    bool root = geteuid() == 0;

    if (!sandbox_no_new_privileges(e) || !(root ? sandbox_drop_user(e) : sandbox_drop_capabilities(e)))
        return false;
    if (root) {
        snprintf(folder, sizeof folder, "/tmp/flametop-debuginfod-XXXXXX");
        if (!mkdtemp(folder)) {
            *folder = '\0';
            return error_sys(e, errno, "cannot make a folder in /tmp for fetched files");
        }
        setenv("DEBUGINFOD_CACHE_PATH", folder, 1);
        setenv("HOME", folder, 1);
        unsetenv("XDG_CACHE_HOME");
    }
    return sandbox_refuse(refused, sizeof refused / sizeof *refused, e);
}

/* The parent may end in any way. */
static void confine(void)
{
    struct error e = { 0 };

    prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    if (!become_nobody(&e))
        reply(FETCH_FAILED, e.text, -1);
    await_end();
    signal(SIGXFSZ, SIG_IGN);
    signal(SIGPIPE, SIG_IGN);
    sandbox_limit(&(struct sandbox_limits){ .cpu_seconds = CPU_SECONDS, .file_bytes = FILE_SIZE_MAX });
}

static void load_library(void)
{
    static const struct library_symbol symbols[] = {
        LIBRARY_SYMBOL(library, debuginfod_begin),   LIBRARY_SYMBOL(library, debuginfod_set_progressfn),
        LIBRARY_SYMBOL(library, debuginfod_get_url), LIBRARY_SYMBOL(library, debuginfod_find_debuginfo),
        LIBRARY_SYMBOL(library, debuginfod_end),
    };
    struct error e = { 0 };

    if (!library_load(DEBUGINFOD_SONAME, "libdebuginfod1", symbols, sizeof symbols / sizeof *symbols, &e))
        reply(FETCH_FAILED, e.text, -1);
}

void symbol_fetch_main(const char *id)
{
    debuginfod_client *client;
    char *path = NULL;
    int fd;

    confine();
    load_library();
    client = library.debuginfod_begin();
    if (!client)
        reply(FETCH_FAILED, "libdebuginfod cannot be started", -1);
    library.debuginfod_set_progressfn(client, progress);
    fd = library.debuginfod_find_debuginfo(client, (const unsigned char *)id, 0, &path);
    library.debuginfod_end(client);
    if (fd >= 0)
        reply(FETCH_DONE, path ? path : "", fd);
    reply(fd == -ENOENT ? FETCH_MISSING : FETCH_FAILED, strerror(-fd), -1);
}

bool symbolizer_can_fetch(void)
{
    return true;
}

#else

void symbol_fetch_main(const char *id)
{
    (void)id;
    reply(FETCH_FAILED, "built without debuginfod", -1);
}

bool symbolizer_can_fetch(void)
{
    return false;
}

#endif
