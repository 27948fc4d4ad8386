// SPDX-License-Identifier: GPL-2.0-or-later
/* The parent's side of the worker: nothing that comes from there is trusted. */
#include "symbols/worker.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "symbols/blob.h"
#include "symbols/symbolizer.h"

#define DEFAULT_LIMIT_NS (10 * NS_PER_SEC)
#define LIFE_NS                                                                                              \
    (120 * NS_PER_SEC) /* its limit of CPU time is for a whole life: begin a new one well before */
#define NEVER_READY_MAX 8
#define VMSTAT_MAX      65536
#define PATIENCE        3 /* times the limit that a worker may take which is kept from running */
#define NEEDED_SEALS    (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE)

extern char **environ;

void worker_reset_signals(posix_spawnattr_t *attr)
{
    sigset_t none, all;

    sigemptyset(&none);
    sigfillset(&all);
    posix_spawnattr_setsigmask(attr, &none);
    posix_spawnattr_setsigdefault(attr, &all);
    posix_spawnattr_setflags(attr, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
}

/* What the worker has for its input and output, above these: /dev/null, or where a root has none a file without a name. */
static int open_nothing(void)
{
    int fd = open("/dev/null", O_RDWR | O_CLOEXEC), high;

    if (fd < 0)
        fd = memfd_create("nothing", MFD_CLOEXEC);
    if (fd < 0)
        return -1;
    high = fcntl(fd, F_DUPFD_CLOEXEC, 10);
    close(fd);
    return high;
}

/* Descriptor 3 by way of a high one: the socket itself may be 0, 1 or 2 where those were closed. */
static int spawn(const char *path, int socket_fd, pid_t *pid)
{
    char *argv[] = { "flametop", SYMBOL_WORKER_ARG, NULL };
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attr;
    int high = fcntl(socket_fd, F_DUPFD_CLOEXEC, 10), nothing;
    int failed, i;

    if (high < 0)
        return errno;
    nothing = open_nothing();
    if (nothing < 0) {
        failed = errno;
        close(high);
        return failed;
    }
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attr);
    worker_reset_signals(&attr);
    posix_spawn_file_actions_adddup2(&actions, high, 3);
    for (i = 0; i < 3; i++)
        posix_spawn_file_actions_adddup2(&actions, nothing, i);
    failed = posix_spawn(pid, path ? path : "/proc/self/exe", &actions, &attr, argv, environ);
    posix_spawnattr_destroy(&attr);
    posix_spawn_file_actions_destroy(&actions);
    close(nothing);
    close(high);
    return failed;
}

/* How often the kernel has killed for want of memory, on the machine or in a cgroup; 0: not known. */
static uint64_t count_oom_kills(void)
{
    static const char key[] = "\noom_kill ";
    struct buf text = { 0 };
    const char *at = file_read("/proc/vmstat", VMSTAT_MAX, &text, NULL) ? strstr(buf_str(&text), key) : NULL;
    uint64_t n = at ? strtoull(at + sizeof key - 1, NULL, 10) : 0;

    buf_done(&text);
    return n;
}

static bool start(struct worker *w, enum worker_kind first, struct error *e)
{
    int pair[2], failed;

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
    w->ready = false;
    w->disassembles = first == WORKER_CODE;
    w->started_ns = clock_now_ns();
    w->oom_kills = count_oom_kills();
    return true;
}

/* Sets `crashed` if the worker ended by its own fault. Whoever kills for want of memory would do so each time. */
static void reap(struct worker *w)
{
    int status = 0;
    pid_t done;

    kill(w->pid, SIGKILL);
    do {
        done = waitpid(w->pid, &status, 0);
    } while (done < 0 && errno == EINTR);
    w->crashed = done == w->pid &&
                 (WIFEXITED(status) || (WTERMSIG(status) != SIGKILL && WTERMSIG(status) != SIGTERM) ||
                  count_oom_kills() != w->oom_kills);
}

void worker_end(struct worker *w)
{
    if (w->fd < 0)
        return;
    close(w->fd);
    w->fd = -1;
    reap(w);
}

static enum worker_result lose(struct worker *w, enum worker_result why, struct error *e)
{
    worker_end(w);
    w->never_ready += !w->ready && (w->crashed || why == WORKER_LATE);
    error_set(e, ERROR_SYSTEM, why == WORKER_LATE ? "took too long" : "the symbol worker died on it");
    return why;
}

static bool send_request(struct worker *w, const struct worker_request *r)
{
    struct worker_message head = {
        .magic = WORKER_MAGIC, .kind = r->kind, .serial = ++w->serial, .payload_n = (uint32_t)r->payload_n
    };
    struct iovec iov[] = { { &head, sizeof head }, { (void *)(uintptr_t)r->payload, r->payload_n } };
    union {
        struct cmsghdr align;
        char bytes[CMSG_SPACE(sizeof r->fds)];
    } control = { 0 };
    struct msghdr m = { .msg_iov = iov, .msg_iovlen = 2 };
    ssize_t sent;

    if (r->n_fds) {
        struct cmsghdr *c = &control.align;
        m.msg_control = control.bytes;
        m.msg_controllen = CMSG_SPACE(r->n_fds * sizeof(int));
        c->cmsg_level = SOL_SOCKET;
        c->cmsg_type = SCM_RIGHTS;
        c->cmsg_len = CMSG_LEN(r->n_fds * sizeof(int));
        memcpy(CMSG_DATA(c), r->fds, r->n_fds * sizeof(int));
    }
    do {
        sent = sendmsg(w->fd, &m, MSG_NOSIGNAL);
    } while (sent < 0 && errno == EINTR);
    return sent == (ssize_t)(sizeof head + r->payload_n);
}

/* CPU time that the worker has taken in its life. */
static uint64_t cpu_ns(const struct worker *w)
{
    struct timespec t;
    clockid_t clock;

    if (clock_getcpuclockid(w->pid, &clock) || clock_gettime(clock, &t))
        return UINT64_MAX;
    return (uint64_t)t.tv_sec * NS_PER_SEC + (uint64_t)t.tv_nsec;
}

struct deadline {
    uint64_t end_ns, last_ns, cpu_ns, limit_ns;
};

static struct deadline deadline_of(const struct worker *w, const struct worker_request *r)
{
    struct deadline d = { .limit_ns = r->limit_ns ? r->limit_ns : DEFAULT_LIMIT_NS, .cpu_ns = cpu_ns(w) };
    uint64_t now = clock_now_ns();

    d.end_ns = now + d.limit_ns;
    d.last_ns = now + PATIENCE * d.limit_ns;
    return d;
}

/* On a busy machine the time that went by says little of the file: what the worker had of it counts. */
static bool is_late(const struct worker *w, struct deadline *d, uint64_t now)
{
    uint64_t cpu;

    if (now < d->end_ns)
        return false;
    cpu = cpu_ns(w);
    if (now >= d->last_ns || cpu == UINT64_MAX || cpu - d->cpu_ns >= d->limit_ns / 2)
        return true;
    d->end_ns = now + d->limit_ns / 4;
    return false;
}

/* WORKER_DONE: there is something to receive. */
static enum worker_result wait_message(const struct worker *w, struct deadline *d)
{
    struct pollfd fds[] = { { .fd = w->fd, .events = POLLIN }, { .fd = w->stop_fd, .events = POLLIN } };

    for (;;) {
        uint64_t now = clock_now_ns();
        if (is_late(w, d, now))
            return WORKER_LATE;
        if (poll(fds, 2, (int)((d->end_ns - now) / NS_PER_MS) + 1) <= 0)
            continue;
        if (fds[0].revents)
            return WORKER_DONE;
        if (fds[1].revents)
            return WORKER_STOPPED;
    }
}

/* The descriptor in a message; more than one, or another kind, cannot fit in the space given. */
static int received_fd(struct msghdr *m)
{
    struct cmsghdr *c = CMSG_FIRSTHDR(m);
    int fd = -1;

    if (c && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS && c->cmsg_len == CMSG_LEN(sizeof fd))
        memcpy(&fd, CMSG_DATA(c), sizeof fd);
    return fd;
}

/* Memory that its maker can neither change nor shorten any more; else reading it could fault. */
static bool take_blob(int fd, uint64_t size, struct worker_answer *a)
{
    struct stat st;

    if (!size || size > WORKER_BLOB_MAX || (fcntl(fd, F_GET_SEALS) & NEEDED_SEALS) != NEEDED_SEALS ||
        fstat(fd, &st) || st.st_size != (off_t)size)
        return false;
    a->blob = blob_read(fd, 0, size);
    a->blob_size = size;
    return a->blob != NULL;
}

static bool receive(struct worker *w, struct worker_message *head, struct worker_answer *a, int *fd)
{
    struct iovec iov[] = { { head, sizeof *head }, { a->payload, sizeof a->payload } };
    union {
        struct cmsghdr align;
        char bytes[CMSG_SPACE(sizeof(int))];
    } control;
    struct msghdr m = {
        .msg_iov = iov, .msg_iovlen = 2, .msg_control = control.bytes, .msg_controllen = sizeof control.bytes
    };
    ssize_t n;

    do {
        n = recvmsg(w->fd, &m, MSG_CMSG_CLOEXEC);
    } while (n < 0 && errno == EINTR);
    if (n <= 0)
        return false;
    *fd = received_fd(&m);
    return n >= (ssize_t)sizeof *head && !(m.msg_flags & MSG_TRUNC) && head->magic == WORKER_MAGIC &&
           head->payload_n == (size_t)n - sizeof *head;
}

static enum worker_result take_message(struct worker *w, struct worker_answer *a, bool *hello,
                                       struct error *e)
{
    struct worker_message head;
    int fd = -1;
    bool ok = receive(w, &head, a, &fd);

    *hello = ok && !head.serial && !w->ready && fd < 0;
    ok = ok && (*hello || head.serial == w->serial) && (fd < 0 || take_blob(fd, head.blob_size, a));
    if (fd >= 0)
        close(fd);
    if (!ok)
        return lose(w, WORKER_DIED, e);
    w->ready = true;
    w->never_ready = 0;
    a->payload_n = head.payload_n;
    if (!head.kind)
        return WORKER_DONE;
    error_set(e, head.kind <= ERROR_UNSUPPORTED ? (enum error_class)head.kind : ERROR_FORMAT, "%.*s",
              (int)(a->payload_n < 400 ? a->payload_n : 400), a->payload);
    return WORKER_REFUSED;
}

enum worker_result worker_ask(struct worker *w, const struct worker_request *r, struct worker_answer *a,
                              struct error *e)
{
    struct deadline deadline;
    enum worker_result result;
    bool hello;

    a->blob = NULL;
    a->blob_size = a->payload_n = 0;
    if (w->fd >= 0 && (clock_now_ns() - w->started_ns > LIFE_NS || (r->kind == WORKER_CODE && !w->disassembles)))
        worker_end(w);
    if (w->fd < 0 && !start(w, r->kind, e))
        return WORKER_UNAVAILABLE;
    deadline = deadline_of(w, r);
    if (!send_request(w, r))
        return lose(w, WORKER_DIED, e);
    do {
        hello = false;
        result = wait_message(w, &deadline);
        if (result == WORKER_DONE)
            result = take_message(w, a, &hello, e);
    } while (hello);
    if (result == WORKER_LATE)
        return lose(w, result, e);
    if (result == WORKER_STOPPED)
        worker_end(w);
    return result;
}
