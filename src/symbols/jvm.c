// SPDX-License-Identifier: GPL-2.0-or-later
/* A VM is only touched after it has shown to be one: SIGQUIT ends a program that does not expect it. Its files are
 * opened below its own root, from which no link leads out. */
#include "symbols/jvm.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "symbols/safeopen.h"
#include "symbols/target.h"

#define LISTEN_WAIT_NS (5 * NS_PER_SEC)
#define ANSWER_WAIT_MS 10000
#define STEP_NS        (20 * NS_PER_MS)

static bool maps_libjvm(uint32_t pid)
{
    char path[40], line[4096];
    bool found = false;
    FILE *f;

    snprintf(path, sizeof path, "/proc/%u/maps", pid);
    f = fopen(path, "re");
    while (f && !found && fgets(line, sizeof line, f))
        found = strstr(line, "/libjvm.so") != NULL;
    if (f)
        fclose(f);
    return found;
}

bool jvm_can_ask(uint32_t pid, struct error *e)
{
    struct target t;

    if (!target_read(pid, &t, e))
        return false;
    if (!maps_libjvm(pid))
        return error_set(e, ERROR_UNSUPPORTED, "process %u is no Java VM: it has no libjvm.so", pid);
    if (!(t.caught & UINT64_C(1) << (SIGQUIT - 1)))
        return error_set(e, ERROR_UNSUPPORTED,
                         "the Java VM %u does not listen to SIGQUIT (-Xrs, or it is starting): it cannot be asked", pid);
    return true;
}

/* The VM's socket, connected; -1 with errno: ENOENT when it does not listen yet. */
static int connect_socket(uint32_t pid, const struct target *t)
{
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    char root[40], path[64];
    struct stat st;
    int handle, fd = -1, saved;

    snprintf(root, sizeof root, "/proc/%u/root", pid);
    snprintf(path, sizeof path, "/tmp/.java_pid%u", t->inner_pid);
    handle = safeopen_handle(root, path, &st);
    if (handle < 0)
        return -1;
    errno = EPERM;
    if (S_ISSOCK(st.st_mode) && (st.st_uid == t->uid || st.st_uid == 0)) {
        snprintf(address.sun_path, sizeof address.sun_path, "/proc/self/fd/%d", handle);
        fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
        if (fd >= 0 && connect(fd, (struct sockaddr *)&address, sizeof address)) {
            saved = errno;
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

/* Creates or removes the file by which a VM knows that SIGQUIT is meant for its attach listener. */
static bool set_trigger(uint32_t pid, const struct target *t, bool there)
{
    char root[48], name[64];
    int dir, fd = -1;
    bool ok;

    snprintf(root, sizeof root, "/proc/%u/root", pid);
    snprintf(name, sizeof name, ".attach_pid%u", t->inner_pid);
    dir = safeopen_folder(root, "/tmp");
    if (dir < 0)
        return false;
    if (there)
        fd = openat(dir, name, O_CREAT | O_EXCL | O_NOFOLLOW | O_WRONLY | O_CLOEXEC, 0600);
    ok = there ? fd >= 0 || errno == EEXIST : !unlinkat(dir, name, 0);
    if (fd >= 0) {
        if (fchown(fd, t->uid, (gid_t)-1))
            ok = t->uid == geteuid();
        close(fd);
    }
    close(dir);
    return ok;
}

static int wake_and_connect(uint32_t pid, const struct target *t, struct error *e)
{
    uint64_t end = clock_now_ns() + LISTEN_WAIT_NS;
    int fd = -1;

    if (!set_trigger(pid, t, true)) {
        error_sys(e, errno, "cannot write into the /tmp of the Java VM %u", pid);
        return -1;
    }
    if (kill((pid_t)pid, SIGQUIT))
        error_sys(e, errno, "cannot signal the Java VM %u", pid);
    else
        while ((fd = connect_socket(pid, t)) < 0 && clock_now_ns() < end)
            nanosleep(&(struct timespec){ .tv_nsec = STEP_NS }, NULL);
    set_trigger(pid, t, false);
    if (fd < 0 && e->class == ERROR_NONE)
        error_set(e, ERROR_SYSTEM, "the Java VM %u did not begin to listen within %d seconds", pid,
                  (int)(LISTEN_WAIT_NS / NS_PER_SEC));
    return fd;
}

/* The answer is a number, 0 when all is well, and text. */
static bool read_answer(int fd, uint32_t pid, struct error *e)
{
    struct pollfd p = { .fd = fd, .events = POLLIN };
    char text[512];
    size_t n = 0;

    while (n + 1 < sizeof text && poll(&p, 1, ANSWER_WAIT_MS) > 0) {
        ssize_t got = read(fd, text + n, sizeof text - 1 - n);
        if (got <= 0)
            break;
        n += (size_t)got;
    }
    text[n] = '\0';
    if (n >= 2 && text[0] == '0' && text[1] == '\n')
        return true;
    text[strcspn(text, "\r")] = '\0';
    return error_set(e, ERROR_UNSUPPORTED, "the Java VM %u did not write its map (JDK 17 or later can): %.200s", pid,
                     n ? text : "no answer");
}

bool jvm_ask_map(uint32_t pid, struct error *e)
{
    static const char request[] = "1\0jcmd\0Compiler.perfmap\0\0"; /* protocol, command, three arguments */
    struct target t;
    bool ok;
    int fd;

    if (!jvm_can_ask(pid, e) || !target_read(pid, &t, e))
        return false;
    fd = connect_socket(pid, &t);
    if (fd < 0 && errno != ENOENT && errno != ECONNREFUSED)
        return error_sys(e, errno, "cannot talk to the Java VM %u", pid);
    if (fd < 0)
        fd = wake_and_connect(pid, &t, e);
    if (fd < 0)
        return false;
    ok = send(fd, request, sizeof request, MSG_NOSIGNAL) == (ssize_t)sizeof request;
    if (!ok)
        error_sys(e, errno, "cannot ask the Java VM %u", pid);
    ok = ok && read_answer(fd, pid, e);
    close(fd);
    return ok;
}
