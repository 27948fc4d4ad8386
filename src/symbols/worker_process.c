// SPDX-License-Identifier: GPL-2.0-or-later
/* Start and end the process of a symbol worker. A worker that waits for an unresponsive file system cannot be
 * killed: it is abandoned and replaced. */
#include "symbols/worker.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/child.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/procfile.h"
#include "symbols/sandbox.h"
#include "symbols/symbolizer.h"

#define NEVER_READY_MAX 8
#define VMSTAT_MAX      65536
#define END_NS          (500 * NS_PER_MS) /* for a killed process to end */

/* Open the worker's standard input and output: /dev/null or, if the root has none, a file without a name. */
static int open_nothing(void)
{
    int fd = open("/dev/null", O_RDWR | O_CLOEXEC);

    return fd < 0 ? memfd_create("nothing", MFD_CLOEXEC) : fd;
}

static int spawn(const char *path, int socket_fd, pid_t *pid)
{
    char *argv[] = { "flametop", SYMBOL_WORKER_ARG, NULL }, **env;
    int nothing = open_nothing();

    if (nothing < 0)
        return errno;
    env = sandbox_environment();
    int failed = child_spawn(path, argv, env, socket_fd, nothing, pid);
    mem_free(env);
    close(nothing);
    return failed;
}

/* Return the number of out-of-memory kills, by the system or a cgroup; 0: not known. */
static uint64_t count_oom_kills(void)
{
    struct buf text = { 0 };
    uint64_t n = 0;

    (void)file_read("/proc/vmstat", VMSTAT_MAX, &text, NULL);
    procfile_number(buf_str(&text), "\noom_kill ", 0, &n);
    buf_done(&text);
    return n;
}

void worker_reap_abandoned(struct worker *w)
{
    w->n_abandoned = child_reap(w->abandoned, w->n_abandoned);
}

bool worker_start(struct worker *w, enum worker_kind first, struct error *e)
{
    int pair[2], failed;

    worker_reap_abandoned(w);
    if (w->refusal[0])
        return error_set(e, ERROR_PERMISSION, "%s", w->refusal);
    if (w->n_abandoned == WORKER_ABANDONED_MAX)
        return error_set(e, ERROR_LIMIT,
                         "%u symbol workers hang on unresponsive file systems: no more are started",
                         w->n_abandoned);
    if (w->never_ready >= NEVER_READY_MAX)
        return error_set(e, ERROR_SYSTEM, "the symbol worker ended %u times in a row before it was ready",
                         w->never_ready);
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair))
        return error_sys(e, errno, "cannot make the symbol worker's socket");
    failed = spawn(w->path, pair[1], &w->pid);
    close(pair[1]);
    if (failed) {
        close(pair[0]);
        return error_sys(e, failed, "cannot start the symbol worker (%s)",
                         w->path ? w->path : "/proc/self/exe");
    }
    w->fd = pair[0];
    w->starts++;
    w->ready = w->stuck = false;
    w->answered = 0;
    w->disassembles = first == WORKER_CODE;
    w->started_ns = clock_now_ns();
    w->oom_kills = count_oom_kills();
    return true;
}

char worker_state(const struct worker *w)
{
    struct procfile_stat stat;

    return procfile_read_stat((uint32_t)w->pid, &stat) ? stat.state : 0;
}

/* Reap the worker, and set `crashed` if it died by its own fault. The OOM killer counts: it would kill again
 * each time. */
static void reap(struct worker *w)
{
    int status = SIGKILL;

    if (!child_kill(w->pid, &status, END_NS)) {
        w->stuck = worker_state(w) == 'D';
        w->crashed = w->stuck;
        w->abandoned[w->n_abandoned++] = w->pid;
        return;
    }
    w->crashed = WIFEXITED(status) || (WTERMSIG(status) != SIGKILL && WTERMSIG(status) != SIGTERM) ||
                 count_oom_kills() != w->oom_kills;
}

void worker_end(struct worker *w)
{
    if (w->fd < 0)
        return;
    close(w->fd);
    w->fd = -1;
    reap(w);
}
