// SPDX-License-Identifier: GPL-2.0-or-later
/* The child that sends a request to a Java VM.
 * The VM's user chooses what its /tmp is: a folder of root's may be mounted there, with a socket of root's in
 * it. So this process permanently becomes the VM's user before it touches anything. As flametop's user it
 * opens only the VM's root folder as a path (O_PATH), which gives no rights, and a pidfd. */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/openat2.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "process/rights.h"
#include "symbols/jvm.h"
#include "symbols/sandbox.h"
#include "symbols/target.h"

#define STEP_NS (20 * NS_PER_MS)

struct vm {
    uint32_t pid, uid;
    char socket[40], trigger[40]; /* names in its /tmp, by its pid inside its pid namespace */
    /* O_PATH. root: its root folder; tmp: the folder /tmp below it. */
    int pidfd, root, tmp;
    uint64_t end_ns;
};

static void __attribute__((noreturn)) report(const struct error *e)
{
    struct jvm_report r = { .magic = JVM_MAGIC, .class = e->class };

    snprintf(r.text, sizeof r.text, "%.*s", (int)sizeof r.text - 1, e->text);
    _exit(write(JVM_REPORT_FD, &r, sizeof r) != (ssize_t)sizeof r);
}

static int left_ms(const struct vm *vm)
{
    uint64_t now = clock_now_ns();

    return now < vm->end_ns ? (int)((vm->end_ns - now) / NS_PER_MS) + 1 : 0;
}

static void pause_a_little(void)
{
    nanosleep(&(struct timespec){ .tv_nsec = STEP_NS }, NULL);
}

/* ---- as the user of flametop ---- */

/* Find the VM. Its pid may be reused meanwhile: the start time tells the processes apart. */
static bool find(struct vm *vm, struct rights *rights, struct error *e)
{
    struct target before, after;
    char path[40];
    int dir;
    bool ok;

    snprintf(path, sizeof path, "/proc/%u", vm->pid);
    if (!target_read(vm->pid, &before, e) || !jvm_can_ask(vm->pid, e))
        return false;
    vm->pidfd = (int)syscall(SYS_pidfd_open, (pid_t)vm->pid, 0);
    if (vm->pidfd < 0)
        return error_sys(e, errno, "cannot open the process of the Java VM %u", vm->pid);
    dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    ok = dir >= 0 && rights_of_process(dir, rights);
    vm->root = ok ? openat(dir, "root", O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;
    if (vm->root < 0)
        return error_sys(e, errno, "cannot open the root folder of the Java VM %u", vm->pid);
    close(dir);
    if (!target_read(vm->pid, &after, e))
        return false;
    if (after.start_ns != before.start_ns || after.uid != before.uid)
        return error_set(e, ERROR_MISSING, "the Java VM %u has ended", vm->pid);
    vm->uid = rights->uid;
    snprintf(vm->socket, sizeof vm->socket, ".java_pid%u", after.inner_pid);
    snprintf(vm->trigger, sizeof vm->trigger, ".attach_pid%u", after.inner_pid);
    return true;
}

static bool become(const struct rights *r, struct error *e)
{
    gid_t groups[RIGHTS_GROUPS_MAX];

    for (uint32_t i = 0; i < r->n_groups; i++)
        groups[i] = r->groups[i];
    if (geteuid() == r->uid && r->uid != 0)
        return sandbox_no_new_privileges(e) && sandbox_drop_capabilities(e);
    if (setgroups(r->n_groups, groups) || setresgid(r->gid, r->gid, r->gid))
        return error_sys(e, errno, "cannot become user %u of the Java VM", r->uid);
    if (setresuid(r->uid, r->uid, r->uid))
        return error_sys(e, errno, "cannot become user %u of the Java VM", r->uid);
    return sandbox_no_new_privileges(e) && sandbox_drop_capabilities(e);
}

/* ---- as the VM's user ---- */

static bool open_tmp(struct vm *vm, struct error *e)
{
    struct open_how how = { .flags = O_PATH | O_DIRECTORY | O_CLOEXEC,
                            .resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS | RESOLVE_NO_SYMLINKS };

    vm->tmp = (int)syscall(SYS_openat2, vm->root, "tmp", &how, sizeof how);
    if (vm->tmp < 0 && (errno == ENOSYS || errno == EPERM))
        vm->tmp = openat(vm->root, "tmp", O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    return vm->tmp >= 0 || error_sys(e, errno, "cannot open the /tmp of the Java VM %u", vm->pid);
}

/* Whether the VM itself listens on the socket: anybody may listen on a socket of this name. */
static bool is_vm(const struct vm *vm, int fd)
{
    struct ucred peer;
    socklen_t n = sizeof peer;

    return !getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &n) && peer.pid == (pid_t)vm->pid;
}

/* Connect to the VM's socket. -1 with errno: ENOENT when it does not listen yet. */
static int connect_socket(const struct vm *vm)
{
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    struct stat st;
    int handle = openat(vm->tmp, vm->socket, O_PATH | O_NOFOLLOW | O_CLOEXEC), fd = -1, saved;

    if (handle < 0)
        return -1;
    errno = EPERM;
    if (!fstat(handle, &st) && S_ISSOCK(st.st_mode)) {
        snprintf(address.sun_path, sizeof address.sun_path, "/proc/self/fd/%d", handle);
        fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        if (fd >= 0 && (connect(fd, (struct sockaddr *)&address, sizeof address) || !is_vm(vm, fd))) {
            saved = errno ? errno : EPERM;
            close(fd);
            errno = saved;
            fd = -1;
        }
    }
    saved = errno;
    close(handle);
    errno = saved;
    return fd;
}

/* The socket is missing, no process listens on it yet, or its backlog is full. */
static bool may_come(int failed)
{
    return failed == ENOENT || failed == ECONNREFUSED || failed == EAGAIN;
}

/* Create the file that marks SIGQUIT as meant for the VM's attach listener. An existing one of the VM's user
 * is enough. */
static bool set_trigger(const struct vm *vm, bool *made, struct error *e)
{
    struct stat st;
    int fd = openat(vm->tmp, vm->trigger, O_CREAT | O_EXCL | O_NOFOLLOW | O_WRONLY | O_CLOEXEC, 0600);

    *made = fd >= 0;
    if (fd >= 0)
        close(fd);
    else if (errno != EEXIST || fstatat(vm->tmp, vm->trigger, &st, AT_SYMLINK_NOFOLLOW) ||
             st.st_uid != vm->uid)
        return error_sys(e, errno, "cannot write into the /tmp of the Java VM %u as its user %u", vm->pid,
                         vm->uid);
    return true;
}

static int wake_and_connect(const struct vm *vm, struct error *e)
{
    int fd = -1, failed = ENOENT;
    bool made;

    if (!set_trigger(vm, &made, e))
        return -1;
    if (syscall(SYS_pidfd_send_signal, vm->pidfd, SIGQUIT, NULL, 0))
        error_sys(e, errno, "cannot signal the Java VM %u", vm->pid);
    else
        while (may_come(failed) && left_ms(vm)) {
            fd = connect_socket(vm);
            failed = fd < 0 ? errno : 0;
            if (failed)
                pause_a_little();
        }
    if (made)
        unlinkat(vm->tmp, vm->trigger, 0);
    if (fd < 0 && e->class == ERROR_NONE && may_come(failed))
        error_set(e, ERROR_SYSTEM, "the Java VM %u did not start to listen within %d seconds", vm->pid,
                  (int)(JVM_ALL_NS / NS_PER_SEC));
    else if (fd < 0 && e->class == ERROR_NONE)
        error_sys(e, failed, "cannot connect to the Java VM %u", vm->pid);
    return fd;
}

/* Read the reply: a number, 0 for success, and text. */
static void read_worker_reply(const struct vm *vm, int fd, struct error *e)
{
    struct pollfd p = { .fd = fd, .events = POLLIN };
    char text[512];
    size_t n = 0;

    while (n + 1 < sizeof text && left_ms(vm) && poll(&p, 1, left_ms(vm)) > 0) {
        ssize_t got = read(fd, text + n, sizeof text - 1 - n);
        if (got < 0 && (errno == EINTR || errno == EAGAIN))
            continue;
        if (got <= 0)
            break;
        n += (size_t)got;
    }
    text[n] = '\0';
    if (n >= 2 && text[0] == '0' && text[1] == '\n')
        return;
    text[strcspn(text, "\r")] = '\0';
    error_set(e, ERROR_UNSUPPORTED, "the Java VM %u did not write its map (JDK 17 or later can): %.200s",
              vm->pid, n ? text : "no reply");
}

static void request_map(struct vm *vm, struct error *e)
{
    /* protocol, command, three arguments */
    static const char request[] = "1\0jcmd\0Compiler.perfmap\0\0";
    int fd, failed;

    if (!open_tmp(vm, e))
        return;
    fd = connect_socket(vm);
    failed = errno;
    if (fd < 0 && !may_come(failed)) {
        error_sys(e, failed, "cannot connect to the Java VM %u as its user %u", vm->pid, vm->uid);
        return;
    }
    if (fd < 0)
        fd = wake_and_connect(vm, e);
    if (fd < 0)
        return;
    if (send(fd, request, sizeof request, MSG_NOSIGNAL) != (ssize_t)sizeof request)
        error_sys(e, errno, "cannot send a request to the Java VM %u", vm->pid);
    else
        read_worker_reply(vm, fd, e);
}

void jvm_ask_main(const char *pid)
{
    struct vm vm = { .pid = (uint32_t)strtoul(pid, NULL, 10), .end_ns = clock_now_ns() + JVM_ALL_NS };
    struct rights rights;
    struct error e = { 0 };

    prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    setrlimit(RLIMIT_CORE, &(struct rlimit){ 0, 0 });
    if (find(&vm, &rights, &e) && become(&rights, &e)) {
        prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0); /* the change of user has cleared it */
        request_map(&vm, &e);
    }
    report(&e);
}
