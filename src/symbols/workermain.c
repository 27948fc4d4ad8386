// SPDX-License-Identifier: GPL-2.0-or-later
/* The worker's main loop: receive a request, parse, reply, until the socket closes. It may crash at any
 * time. */
#include "symbols/symbolizer.h"

#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "symbols/disasm.h"
#include "symbols/job.h"
#include "symbols/sandbox.h"
#include "symbols/worker.h"

#define HOLD_MS 1500

/* Read the descriptors: files, then the memory for the reply; -1: it did not come. */
static int take_fds(struct job *q, struct msghdr *m)
{
    struct cmsghdr *c = CMSG_FIRSTHDR(m);
    int fds[WORKER_FDS_MAX + 1];

    q->n_fds = 0;
    if (!c || c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS ||
        c->cmsg_len < CMSG_LEN(sizeof(int)) || c->cmsg_len > CMSG_LEN(sizeof fds))
        return -1;
    q->n_fds = (unsigned)((c->cmsg_len - CMSG_LEN(0)) / sizeof(int)) - 1;
    memcpy(fds, CMSG_DATA(c), (q->n_fds + 1) * sizeof(int));
    memcpy(q->fds, fds, q->n_fds * sizeof(int));
    return fds[q->n_fds];
}

static bool receive(int fd, struct job *q, int *blob_fd)
{
    struct iovec iov[] = { { &q->head, sizeof q->head }, { q->payload, WORKER_MESSAGE_MAX } };
    union {
        struct cmsghdr align;
        char bytes[CMSG_SPACE((WORKER_FDS_MAX + 1) * sizeof(int))];
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
    *blob_fd = take_fds(q, &m);
    return *blob_fd >= 0;
}

static bool send_message(int fd, struct worker_message *head, const char *payload, size_t n)
{
    struct iovec iov[] = { { head, sizeof *head }, { (void *)(uintptr_t)payload, n } };
    struct msghdr m = { .msg_iov = iov, .msg_iovlen = 2 };
    ssize_t sent;

    head->magic = WORKER_MAGIC;
    head->payload_n = (uint32_t)n;
    do {
        sent = sendmsg(fd, &m, MSG_NOSIGNAL);
    } while (sent < 0 && errno == EINTR);
    return sent > 0;
}

static bool send_reply(int fd, const struct job *q, const struct job_reply *reply, const struct error *e)
{
    struct worker_message head = { .kind = (uint32_t)e->class, .serial = q->head.serial };

    if (e->class != ERROR_NONE)
        return send_message(fd, &head, e->text, strlen(e->text));
    head.blob_size = reply->blob_size;
    return send_message(fd, &head, reply->payload, reply->payload_n);
}

static bool serve_one(int fd)
{
    static struct job q;
    static struct job_reply reply;
    struct error e = { 0 };
    bool sent;
    unsigned i;

    if (!receive(fd, &q, &reply.blob_fd))
        return false;
    reply.payload_n = reply.blob_size = 0;
    if (!job_do(&q, &reply, &e) && e.class == ERROR_NONE)
        error_set(&e, ERROR_FORMAT, "cannot be read");
    sent = send_reply(fd, &q, &reply, &e);
    for (i = 0; i < q.n_fds; i++)
        close(q.fds[i]);
    close(reply.blob_fd);
    return sent;
}

/* Ignore the terminal's signals: they go to the whole process group, and are meant for the parent. */
static void ignore_terminal(void)
{
    static const int signals[] = { SIGINT, SIGQUIT, SIGHUP, SIGTSTP, SIGTTIN, SIGTTOU, SIGWINCH, SIGPIPE };
    size_t i;

    for (i = 0; i < sizeof signals / sizeof *signals; i++)
        signal(signals[i], SIG_IGN);
}

/* Load the disassembler if the first request is for code: the parent relies on exactly this. */
static void load_disassembler(int fd)
{
    struct worker_message first;

    if (recv(fd, &first, sizeof first, MSG_PEEK) == (ssize_t)sizeof first && first.kind == WORKER_CODE)
        disasm_load(NULL);
}

/* Confine the worker. If this fails, it reads nothing, and the parent shows why. */
static void enter_sandbox(int fd)
{
    struct worker_message hello = { 0 };
    struct error e = { 0 };

    if (sandbox_enter_worker(&e)) {
        send_message(fd, &hello, NULL, 0);
        return;
    }
    hello.kind = (uint32_t)e.class;
    send_message(fd, &hello, e.text, strlen(e.text));
    /* Wait until the parent has read the message and kills this process: closing the socket early may lose
     * it. */
    while (recv(fd, &hello, sizeof hello, 0) > 0)
        ;
    _exit(1);
}

/* Free memory while idle: the freed memory of a large table at once, open files after a while. They use
 * memory, too, and the next request for lines of a module comes soon or not at all. */
static void rest(int fd)
{
    struct pollfd next = { .fd = fd, .events = POLLIN };

    malloc_trim(0);
    if (poll(&next, 1, HOLD_MS) != 0)
        return;
    job_let_go();
    malloc_trim(0);
}

/* Prefer the worker when memory is short, however small it is: it is replaceable. */
static void offer_to_oom_killer(void)
{
    int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);

    if (fd < 0)
        return;
    (void)!write(fd, "1000", 4);
    close(fd);
}

void symbol_worker_main(int fd)
{
    prctl(PR_SET_NAME, "flametop-worker");
    ignore_terminal();
    offer_to_oom_killer();
#ifdef SYS_close_range
    syscall(SYS_close_range, (unsigned)fd + 1, ~0u, 0);
#endif
    load_disassembler(fd);
    enter_sandbox(fd);
    while (serve_one(fd))
        rest(fd);
    _exit(0);
}
