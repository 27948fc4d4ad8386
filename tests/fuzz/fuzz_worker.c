// SPDX-License-Identifier: GPL-2.0-or-later
/* Fuzzes the replies of a compromised worker: any messages, and any bytes in the memory for its reply, which
 * it may lengthen or shorten. The input is a byte of flags, a byte with the number of bytes for the memory,
 * then messages, each after its length. The flags correct fields that a reader checks first, so that the
 * later checks are reached. */
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/child.h"
#include "base/clock.h"
#include "symbols/blob.h"
#include "symbols/worker.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { RIGHT_MAGIC = 1, RIGHT_SERIAL = 2, RIGHT_LENGTH = 4, HELLO_FIRST = 8, LONGER = 16, NO_ERROR = 32 };

struct fake {
    const uint8_t *data;
    size_t size;
    int fd;
};

/* Returns the memory that came with a request; -1: none. */
static int take_request(int fd, uint64_t *serial)
{
    static char text[WORKER_MESSAGE_MAX];
    struct worker_message head = { 0 };
    struct iovec iov[] = { { &head, sizeof head }, { text, sizeof text } };
    _Alignas(struct cmsghdr) char control[CMSG_SPACE((WORKER_FDS_MAX + 1) * sizeof(int))];
    struct msghdr m = {
        .msg_iov = iov, .msg_iovlen = 2, .msg_control = control, .msg_controllen = sizeof control
    };
    int memory = -1;

    if (recvmsg(fd, &m, MSG_CMSG_CLOEXEC) < (ssize_t)sizeof head)
        return -1;
    *serial = head.serial;
    for (struct cmsghdr *c = CMSG_FIRSTHDR(&m); c; c = CMSG_NXTHDR(&m, c))
        if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS)
            memcpy(&memory, CMSG_DATA(c), sizeof memory); /* one request, no files */
    return memory;
}

static void *answer(void *fake)
{
    const struct fake *f = fake;
    const uint8_t *p = f->data + 2, *end = f->data + f->size;
    uint8_t flags = f->data[0];
    uint64_t serial = 0;
    int memory = take_request(f->fd, &serial);

    if (memory >= 0) {
        size_t n = f->data[1] < f->size ? f->data[1] : f->size;
        if (write(memory, f->data, n) < 0 || (flags & LONGER && ftruncate(memory, (off_t)n * 4096)))
            abort();
    }
    for (unsigned i = 0; end - p > 1; i++) {
        char message[sizeof(struct worker_message) + 256] = { 0 };
        struct worker_message head;
        size_t n = *p++, left = (size_t)(end - p);
        n = n < left ? n : left;
        memcpy(message, p, n);
        p += n;
        n = n < sizeof head ? sizeof head : n;
        memcpy(&head, message, sizeof head);
        head.magic = flags & RIGHT_MAGIC ? WORKER_MAGIC : head.magic;
        head.serial = flags & HELLO_FIRST && !i ? 0 : flags & RIGHT_SERIAL ? serial : head.serial;
        head.payload_n = flags & RIGHT_LENGTH ? (uint32_t)(n - sizeof head) : head.payload_n;
        head.kind = flags & NO_ERROR ? 0 : head.kind;
        memcpy(message, &head, sizeof head);
        (void)!send(f->fd, message, n, MSG_NOSIGNAL);
    }
    if (memory >= 0)
        close(memory);
    close(f->fd);
    return NULL;
}

/* A process that can be killed like a worker. */
static pid_t sleeper(void)
{
    pid_t pid = fork();

    if (!pid) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        for (;;)
            pause();
    }
    child_started(pid);
    return pid;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct worker_request r = {
        .kind = WORKER_DEMANGLE, .payload = "_Z1fv", .payload_n = 6, .limit_ns = 1000000
    };
    static struct worker_reply a;
    struct worker w = WORKER_INIT;
    struct fake f = { .data = data, .size = size };
    struct error e = { 0 };
    pthread_t thread;
    int pair[2];

    if (size < 2)
        return 0;
    w.pid = sleeper(); /* before the socket exists, which the child would keep open */
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair))
        abort();
    w.fd = pair[0];
    f.fd = pair[1];
    w.ready = !(data[0] & HELLO_FIRST);
    w.started_ns = clock_now_ns();
    if (w.pid < 0 || pthread_create(&thread, NULL, answer, &f))
        abort();
    enum worker_result result = worker_ask(&w, &r, &a, &e);
    if (a.payload_n > sizeof a.payload || (result == WORKER_DONE && a.blob_size && !a.blob) ||
        (result != WORKER_DONE && a.blob))
        abort();
    for (size_t i = 0; a.blob && i < a.blob_size; i += 512) /* all of it is readable */
        ((volatile const char *)a.blob)[i];
    blob_free(a.blob, a.blob_size);
    if (w.fd >= 0)
        worker_end(&w);
    pthread_join(thread, NULL);
    return 0;
}
