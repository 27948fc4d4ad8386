// SPDX-License-Identifier: GPL-2.0-or-later
/* Starts the opener's process, exchanges messages with it, and ends it. A process that hangs in a file system
 * cannot end: it is killed and abandoned, so that neither a request nor the program's exit waits for it. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/child.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/procfile.h"
#include "process/opener_client.h"

#define LEFT_MAX 32                /* most processes that hang at the same time */
#define END_NS   (20 * NS_PER_MS)  /* wait for a killed process to end */
#define LOOK_NS  (100 * NS_PER_MS) /* interval for checks whether it waits for a CPU */
#define TRIES    2

extern char **environ;

static struct {
    pthread_mutex_t lock;
    pid_t pids[LEFT_MAX];
    unsigned n;
} left_behind = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* Reaps the abandoned processes that have ended. Call with the lock held. */
static void reap_left(void)
{
    left_behind.n = child_reap(left_behind.pids, left_behind.n);
}

static bool may_start(void)
{
    bool may;

    pthread_mutex_lock(&left_behind.lock);
    reap_left();
    may = left_behind.n < LEFT_MAX;
    pthread_mutex_unlock(&left_behind.lock);
    return may;
}

static void leave_behind(pid_t pid)
{
    pthread_mutex_lock(&left_behind.lock);
    reap_left();
    if (left_behind.n < LEFT_MAX)
        left_behind.pids[left_behind.n++] = pid;
    pthread_mutex_unlock(&left_behind.lock);
}

/* The child inherits none of flametop's descriptors: a terminal or a pipe would stay open while it hangs. */
static int spawn(int socket, pid_t *pid)
{
    return child_spawn(NULL, (char *[]){ "flametop", OPENER_ARG, NULL }, environ, socket, -1, pid);
}

static int start(struct opener *o)
{
    int pair[2], failed;

    if (!may_start())
        return EAGAIN;
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair))
        return errno;
    failed = spawn(pair[1], &o->pid);
    close(pair[1]);
    if (failed) {
        close(pair[0]);
        return failed;
    }
    o->fd = pair[0];
    o->running = true;
    return 0;
}

void opener_stop(struct opener *o)
{
    if (!o->running)
        return;
    o->running = false;
    close(o->fd);
    if (!child_kill(o->pid, NULL, END_NS))
        leave_behind(o->pid);
}

/* True if the process runs or waits for a CPU: then the file is not what is slow. */
static bool is_runnable(const struct opener *o)
{
    struct procfile_stat stat;

    return procfile_read_stat((uint32_t)o->pid, &stat) && stat.state == 'R';
}

/* 0: a reply can be received. */
static int wait_reply(const struct opener *o)
{
    struct pollfd fds[] = { { .fd = o->fd, .events = POLLIN }, { .fd = o->stop_fd, .events = POLLIN } };
    uint64_t began_ns = clock_now_ns();

    for (;;) {
        int n = poll(fds, 2, (int)(LOOK_NS / NS_PER_MS));
        uint64_t passed_ns = clock_now_ns() - began_ns;
        if (n > 0 && fds[0].revents)
            return 0;
        if (n > 0 && fds[1].revents)
            return ECANCELED;
        if (passed_ns >= o->limit_ns && (passed_ns >= OPENER_STARVED * o->limit_ns || !is_runnable(o)))
            return ETIMEDOUT;
    }
}

static int receive(const struct opener *o, struct opener_reply *reply, struct opener_result *a)
{
    struct iovec iov[] = { { reply, sizeof *reply }, { a->bytes, a->bytes_max } };
    union {
        struct cmsghdr align;
        char bytes[CMSG_SPACE(sizeof(int))];
    } control;
    struct msghdr m = {
        .msg_iov = iov, .msg_iovlen = 2, .msg_control = control.bytes, .msg_controllen = sizeof control.bytes
    };
    struct cmsghdr *c;
    ssize_t n;

    a->fd = -1;
    do {
        n = recvmsg(o->fd, &m, MSG_CMSG_CLOEXEC);
    } while (n < 0 && errno == EINTR);
    c = n > 0 ? CMSG_FIRSTHDR(&m) : NULL;
    if (c && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS &&
        c->cmsg_len == CMSG_LEN(sizeof a->fd))
        memcpy(&a->fd, CMSG_DATA(c), sizeof a->fd);
    if (n >= (ssize_t)sizeof *reply && reply->head.magic == OPENER_MAGIC && reply->head.serial == o->serial &&
        (size_t)n - sizeof *reply == reply->bytes_n && !(m.msg_flags & MSG_TRUNC))
        return 0;
    if (a->fd >= 0)
        close(a->fd);
    a->fd = -1;
    return EPIPE;
}

/* EPIPE: the process has ended. */
static int try_once(struct opener *o, enum opener_request_kind kind, const void *body, size_t body_n,
                    const void *more, size_t more_n, const int *fds, unsigned n_fds, struct opener_result *a)
{
    struct opener_head head = { .magic = OPENER_MAGIC, .kind = kind, .serial = ++o->serial };
    struct iovec iov[] = { { &head, sizeof head },
                           { (void *)(uintptr_t)body, body_n },
                           { (void *)(uintptr_t)more, more_n } };
    struct opener_reply reply;
    int err = o->running ? 0 : start(o);

    if (!o->running)
        return err;
    err = opener_send_message(o->fd, iov, 3, fds, n_fds) < 0 ? errno : 0;
    if (!err)
        err = wait_reply(o);
    if (!err)
        err = receive(o, &reply, a);
    if (!err) {
        a->opened = reply.opened;
        a->bytes_n = reply.bytes_n;
        return reply.err;
    }
    if (err == ETIMEDOUT)
        log_add("a file system hangs: abandoned process %d, which opens files", (int)o->pid);
    opener_stop(o);
    return err == ETIMEDOUT || err == ECANCELED ? err : EPIPE;
}

int opener_transact(struct opener *o, enum opener_request_kind kind, const void *body, size_t body_n,
                    const void *more, size_t more_n, const int *fds, unsigned n_fds, struct opener_result *a)
{
    int err = EPIPE;

    a->fd = -1;
    for (int i = 0; i < TRIES && err == EPIPE; i++)
        err = try_once(o, kind, body, body_n, more, more_n, fds, n_fds, a);
    return err;
}
