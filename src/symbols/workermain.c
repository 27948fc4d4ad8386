// SPDX-License-Identifier: GPL-2.0-or-later
/* The worker's side: takes a request, parses, answers, until the socket closes. It may crash at any time. */
#include "symbols/symbolizer.h"

#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "symbols/disasm.h"
#include "symbols/job.h"
#include "symbols/worker.h"

#define HOLD_MS 1500

static void take_fds(struct job *q, struct msghdr *m)
{
    struct cmsghdr *c = CMSG_FIRSTHDR(m);

    q->n_fds = 0;
    if (!c || c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
        return;
    q->n_fds = (unsigned)((c->cmsg_len - CMSG_LEN(0)) / sizeof(int));
    memcpy(q->fds, CMSG_DATA(c), q->n_fds * sizeof(int));
}

static bool receive(int fd, struct job *q)
{
    struct iovec iov[] = { { &q->head, sizeof q->head }, { q->payload, WORKER_MESSAGE_MAX } };
    union {
        struct cmsghdr align;
        char bytes[CMSG_SPACE(sizeof q->fds)];
    } control;
    struct msghdr m = {
        .msg_iov = iov, .msg_iovlen = 2, .msg_control = control.bytes, .msg_controllen = sizeof control.bytes
    };
    ssize_t n;

    do {
        n = recvmsg(fd, &m, MSG_CMSG_CLOEXEC);
    } while (n < 0 && errno == EINTR);
    if (n < (ssize_t)sizeof q->head || q->head.magic != WORKER_MAGIC ||
        q->head.payload_n != (size_t)n - sizeof q->head)
        return false;
    q->payload[q->head.payload_n] = '\0';
    take_fds(q, &m);
    return true;
}

static bool send_reply(int fd, const struct job *q, struct job_reply *reply, const struct error *e)
{
    struct worker_message head = { .magic = WORKER_MAGIC,
                                   .kind = (uint32_t)e->class,
                                   .serial = q->head.serial,
                                   .blob_size = reply->blob_size };
    struct iovec iov[] = { { &head, sizeof head }, { reply->payload, reply->payload_n } };
    union {
        struct cmsghdr align;
        char bytes[CMSG_SPACE(sizeof(int))];
    } control = { 0 };
    struct msghdr m = { .msg_iov = iov, .msg_iovlen = 2 };
    ssize_t n;

    if (e->class != ERROR_NONE) {
        iov[1].iov_base = (void *)(uintptr_t)e->text;
        iov[1].iov_len = strlen(e->text);
    }
    head.payload_n = (uint32_t)iov[1].iov_len;
    if (reply->blob_fd >= 0) {
        struct cmsghdr *c = &control.align;
        m.msg_control = control.bytes;
        m.msg_controllen = sizeof control.bytes;
        c->cmsg_level = SOL_SOCKET;
        c->cmsg_type = SCM_RIGHTS;
        c->cmsg_len = CMSG_LEN(sizeof(int));
        memcpy(CMSG_DATA(c), &reply->blob_fd, sizeof(int));
    }
    do {
        n = sendmsg(fd, &m, MSG_NOSIGNAL);
    } while (n < 0 && errno == EINTR);
    return n > 0;
}

static bool serve_one(int fd)
{
    static struct job q;
    static struct job_reply reply;
    struct error e = { 0 };
    bool sent;
    unsigned i;

    if (!receive(fd, &q))
        return false;
    reply.payload_n = reply.blob_size = 0;
    reply.blob_fd = -1;
    if (!job_do(&q, &reply, &e) && e.class == ERROR_NONE)
        error_set(&e, ERROR_FORMAT, "cannot be read");
    sent = send_reply(fd, &q, &reply, &e);
    for (i = 0; i < q.n_fds; i++)
        close(q.fds[i]);
    if (reply.blob_fd >= 0)
        close(reply.blob_fd);
    return sent;
}

/* What the keys of the terminal send goes to the whole process group, and is meant for the parent. */
static void ignore_terminal(void)
{
    static const int signals[] = { SIGINT, SIGQUIT, SIGHUP, SIGTSTP, SIGTTIN, SIGTTOU, SIGWINCH, SIGPIPE };
    size_t i;

    for (i = 0; i < sizeof signals / sizeof *signals; i++)
        signal(signals[i], SIG_IGN);
}

/* The parent knows that a worker disassembles only if that is what it is asked for first. */
static void load_disassembler(int fd)
{
    struct worker_message first;

    if (recv(fd, &first, sizeof first, MSG_PEEK) == (ssize_t)sizeof first && first.kind == WORKER_CODE)
        disasm_load(NULL);
}

static void say_ready(int fd)
{
    struct worker_message hello = { .magic = WORKER_MAGIC };
    struct iovec iov = { &hello, sizeof hello };
    struct msghdr m = { .msg_iov = &iov, .msg_iovlen = 1 };

    sendmsg(fd, &m, MSG_NOSIGNAL);
}

/* A large file's table does not stay with a worker that waits. What is open takes memory, too, and who asked for lines of a
 * module asks again soon or not at all. */
static void rest(int fd)
{
    struct pollfd next = { .fd = fd, .events = POLLIN };

    malloc_trim(0);
    if (poll(&next, 1, HOLD_MS) != 0)
        return;
    job_let_go();
    malloc_trim(0);
}

void symbol_worker_main(int fd)
{
    prctl(PR_SET_NAME, "flametop-worker");
    ignore_terminal();
#ifdef SYS_close_range
    syscall(SYS_close_range, (unsigned)fd + 1, ~0u, 0);
#endif
    load_disassembler(fd);
    sandbox_enter();
    say_ready(fd);
    while (serve_one(fd))
        rest(fd);
    _exit(0);
}
