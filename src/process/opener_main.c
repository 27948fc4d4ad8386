// SPDX-License-Identifier: GPL-2.0-or-later
/* The opener's process: serves one request after the other until the socket closes. */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "process/opener_serve.h"

#define FDS_MAX (OPENER_SEND_FDS + 1)

struct message {
    struct opener_head head;
    union {
        struct opener_request request;
        struct {
            struct opener_transfer transfer;
            char bytes[OPENER_SEND_BYTES];
        } send;
    } body;
};

static bool receive(int socket, struct message *in, size_t *size, int fds[FDS_MAX], unsigned *n_fds)
{
    struct iovec iov = { in, sizeof *in };
    union {
        struct cmsghdr align;
        char bytes[CMSG_SPACE(FDS_MAX * sizeof(int))];
    } control;
    struct msghdr m = {
        .msg_iov = &iov, .msg_iovlen = 1, .msg_control = control.bytes, .msg_controllen = sizeof control.bytes
    };
    struct cmsghdr *c;
    ssize_t n;

    do {
        n = recvmsg(socket, &m, MSG_CMSG_CLOEXEC);
    } while (n < 0 && errno == EINTR);
    *n_fds = 0;
    c = n > 0 ? CMSG_FIRSTHDR(&m) : NULL;
    if (c && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS) {
        *n_fds = (unsigned)((c->cmsg_len - CMSG_LEN(0)) / sizeof(int));
        memcpy(fds, CMSG_DATA(c), *n_fds * sizeof(int));
    }
    *size = n > 0 ? (size_t)n : 0;
    return n >= (ssize_t)sizeof in->head && in->head.magic == OPENER_MAGIC &&
           !(m.msg_flags & (MSG_TRUNC | MSG_CTRUNC));
}

static bool send_reply(int socket, const struct opener_reply *reply, void *bytes, int fd)
{
    struct iovec iov[] = { { (void *)(uintptr_t)reply, sizeof *reply }, { bytes, reply->bytes_n } };

    return opener_send_message(socket, iov, 2, &fd, fd >= 0) > 0;
}

/* bytes: OPENER_MEMORY_BYTES of room. */
static int serve(const struct message *in, size_t size, const int *fds, unsigned n_fds,
                 struct opener_reply *reply, void *bytes, int *fd)
{
    enum opener_request_kind kind = (enum opener_request_kind)in->head.kind;
    size_t body = size - sizeof in->head,
           before = offsetof(struct message, body.send.bytes) - sizeof in->head;

    if (kind != OPENER_SEND && body < opener_request_size(kind))
        return EPROTO;
    if (kind == OPENER_MEMORY)
        return opener_copy_memory(&in->body.request, bytes, &reply->bytes_n);
    if (kind != OPENER_SEND)
        return opener_serve(kind, &in->body.request, n_fds ? fds[0] : -1, true, &reply->opened, fd);
    if (body < before || in->body.send.transfer.bytes_n != body - before)
        return EPROTO;
    return opener_forward(&in->body.send.transfer, in->body.send.bytes, fds, n_fds, true);
}

static bool serve_one(int socket)
{
    static struct message in;
    static char bytes[OPENER_MEMORY_BYTES];
    struct opener_reply reply = { 0 };
    int fds[FDS_MAX], fd = -1;
    unsigned n_fds;
    size_t size;
    bool sent;

    if (!receive(socket, &in, &size, fds, &n_fds))
        return false;
    reply.head = in.head;
    reply.err = serve(&in, size, fds, n_fds, &reply, bytes, &fd);
    /* Closing may block. It is done before the reply, so that the client knows which file blocked. */
    while (n_fds)
        close(fds[--n_fds]);
    sent = send_reply(socket, &reply, bytes, fd);
    if (fd >= 0)
        close(fd);
    return sent;
}

/* Terminal signals go to the whole process group, but are meant for the parent. */
static void ignore_terminal(void)
{
    static const int signals[] = { SIGINT,  SIGQUIT,  SIGHUP,  SIGTSTP, SIGTTIN,
                                   SIGTTOU, SIGWINCH, SIGPIPE, SIGTERM };

    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        signal(signals[i], SIG_IGN);
}

/* Keeps only the capabilities to find and open files. */
static void drop_capabilities(void)
{
    static const unsigned kept[] = { CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH, CAP_SETUID, CAP_SETGID,
                                     CAP_SYS_PTRACE,   CAP_SYS_ADMIN,       40 /* CAP_CHECKPOINT_RESTORE */ };
    struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
    struct __user_cap_data_struct data[2];
    uint64_t keep = 0;

    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
        keep |= UINT64_C(1) << kept[i];
    if (syscall(SYS_capget, &head, data))
        return;
    for (int i = 0; i < 2; i++) {
        data[i].permitted &= (uint32_t)(keep >> 32 * i);
        data[i].effective = data[i].permitted;
        data[i].inheritable = 0;
    }
    syscall(SYS_capset, &head, data);
}

_Noreturn void opener_main(int socket)
{
    prctl(PR_SET_NAME, "flametop-opener");
    ignore_terminal();
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    drop_capabilities();
    setrlimit(RLIMIT_CORE, &(struct rlimit){ 0, 0 });
#ifdef SYS_close_range
    syscall(SYS_close_range, (unsigned)socket + 1, ~0u, 0);
#endif
    prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    while (serve_one(socket))
        ;
    _exit(0);
}
