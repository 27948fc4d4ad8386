// SPDX-License-Identifier: GPL-2.0-or-later
/* Send a request to a Java VM from a child process (jvm_main.c), which has only the rights of the VM's owner
 * and can be abandoned. */
#include "symbols/jvm.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/child.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/text.h"
#include "symbols/sandbox.h"
#include "symbols/target.h"
#include "symbols/worker.h"

#define LATE_NS  (JVM_ALL_NS + 2 * NS_PER_SEC) /* the child has its own limit; one beyond this hangs */
#define END_NS   (500 * NS_PER_MS)             /* for a killed process to end */
#define LEFT_MAX 8                             /* processes that hang at the same time */

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
        return error_set(e, ERROR_UNSUPPORTED, "process %u is not a Java VM: it has no libjvm.so", pid);
    if (!(t.caught & UINT64_C(1) << (SIGQUIT - 1)))
        return error_set(
            e, ERROR_UNSUPPORTED,
            "the Java VM %u does not listen to SIGQUIT (-Xrs, or it is starting): cannot request its map",
            pid);
    return true;
}

/* Children that hang in an unresponsive file system. Only used by the one thread that sends requests. */
static struct {
    pid_t pids[LEFT_MAX];
    unsigned n;
} left_behind;

static bool may_start(void)
{
    left_behind.n = child_reap(left_behind.pids, left_behind.n);
    return left_behind.n < LEFT_MAX;
}

static int spawn(uint32_t pid, int pipe_fd, pid_t *child)
{
    char number[16], **env = sandbox_environment();

    snprintf(number, sizeof number, "%u", pid);
    int failed =
        child_spawn(NULL, (char *[]){ "flametop", JVM_ASK_ARG, number, NULL }, env, pipe_fd, -1, child);
    mem_free(env);
    return failed;
}

/* The report arrives in one read: it is shorter than PIPE_BUF. */
static bool take_report(int fd, uint32_t pid, struct error *e)
{
    struct pollfd p = { .fd = fd, .events = POLLIN };
    struct jvm_report r;
    char text[sizeof r.text];

    if (poll(&p, 1, (int)(LATE_NS / NS_PER_MS)) <= 0)
        return error_set(e, ERROR_SYSTEM, "the Java VM %u did not respond within %d seconds: its /tmp hangs",
                         pid, (int)(LATE_NS / NS_PER_SEC));
    if (read(fd, &r, sizeof r) != (ssize_t)sizeof r || r.magic != JVM_MAGIC || r.class > ERROR_UNSUPPORTED)
        return error_set(e, ERROR_SYSTEM, "the process that attaches to the Java VM %u ended", pid);
    if (r.class == ERROR_NONE)
        return true;
    text_clean(text, sizeof text, r.text, strnlen(r.text, sizeof r.text));
    return error_set(e, (enum error_class)r.class, "%s", text);
}

bool jvm_ask_map(uint32_t pid, struct error *e)
{
    int ends[2], failed;
    pid_t child;
    bool ok;

    if (!jvm_can_ask(pid, e))
        return false;
    if (!may_start())
        return error_set(e, ERROR_LIMIT, "%d Java VMs hang: no more maps are requested", LEFT_MAX);
    if (pipe2(ends, O_CLOEXEC))
        return error_sys(e, errno, "cannot attach to the Java VM %u", pid);
    failed = spawn(pid, ends[1], &child);
    close(ends[1]);
    ok = failed ? error_sys(e, failed, "cannot start the process that attaches to the Java VM %u", pid)
                : take_report(ends[0], pid, e);
    if (!failed && !child_kill(child, NULL, END_NS))
        left_behind.pids[left_behind.n++] = child;
    close(ends[0]);
    return ok;
}
