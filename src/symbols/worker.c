// SPDX-License-Identifier: GPL-2.0-or-later
/* The parent's side of the worker: nothing that the worker sends is trusted. */
#include "symbols/worker.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/child.h"
#include "base/clock.h"
#include "process/opener.h"
#include "symbols/blob.h"

#define DEFAULT_LIMIT_NS (10 * NS_PER_SEC)
/* The worker's limit of CPU time is for its whole life: start a new one well before. */
#define LIFE_NS    (120 * NS_PER_SEC)
#define LIFE_BYTES (UINT64_C(2) << 30) /* of replies, which it may have kept */
#define START_NS   (10 * NS_PER_SEC)   /* of CPU time, until it is ready */
/* Factor of the limit for wall time while it waits for something. */
#define ASLEEP  3
#define STARVED 10                /* factor while it waits for a CPU */
#define LOOK_NS (200 * NS_PER_MS) /* between checks whether somebody has stopped it */
#define SEALS   (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL)

static enum worker_result lose(struct worker *w, enum worker_result why, struct error *e)
{
    worker_end(w);
    w->never_ready += !w->ready && (w->crashed || why == WORKER_LATE);
    if (w->stuck)
        error_set(e, ERROR_SYSTEM, "its file system does not respond: the symbol worker cannot be killed");
    else
        error_set(e, ERROR_SYSTEM, why == WORKER_LATE ? "took too long" : "the symbol worker died on it");
    return why;
}

/* Send the request with memory for the reply: no descriptor is accepted from the worker. */
/* Files of other users are sent by the opener. Returns 0 or errno. */
static int send_request(struct worker *w, const struct worker_request *r, int blob_fd)
{
    struct worker_message head = {
        .magic = WORKER_MAGIC, .kind = r->kind, .serial = ++w->serial, .payload_n = (uint32_t)r->payload_n
    };
    int fds[WORKER_FDS_MAX + 1];

    memcpy(fds, r->fds, r->n_fds * sizeof *fds);
    fds[r->n_fds] = blob_fd;
    return opener_send(w->fd, &head, sizeof head, r->payload, r->payload_n, fds, r->n_fds + 1) ? 0 : errno;
}

/* The request was not sent, because a file could not be opened for it. */
static enum worker_result not_sent(struct worker *w, int err, struct error *e)
{
    if (err == EPIPE || err == ECONNRESET)
        return lose(w, WORKER_DIED, e);
    if (err == ECANCELED)
        return WORKER_STOPPED;
    w->stuck = err == ETIMEDOUT;
    opener_error(e, err, "the file");
    return w->stuck ? WORKER_LATE : WORKER_REFUSED;
}

struct deadline {
    uint64_t began_ns, cpu_ns, limit_ns;
};

static struct deadline deadline_of(const struct worker *w, uint64_t limit_ns)
{
    return (
        struct deadline){ .began_ns = clock_now_ns(), .cpu_ns = child_cpu_ns(w->pid), .limit_ns = limit_ns };
}

/* Check the limits. On a busy machine the elapsed time says nothing about the file: CPU time and sleep do. */
static enum worker_result is_in_time(struct worker *w, const struct deadline *d)
{
    uint64_t cpu_ns = child_cpu_ns(w->pid), passed_ns = clock_now_ns() - d->began_ns;

    w->used_ns = cpu_ns == UINT64_MAX || d->cpu_ns == UINT64_MAX ? 0 : cpu_ns - d->cpu_ns;
    if (w->used_ns >= d->limit_ns)
        return WORKER_LATE;
    if (passed_ns >= STARVED * d->limit_ns)
        return WORKER_DIED;
    if (passed_ns < ASLEEP * d->limit_ns || worker_state(w) == 'R')
        return WORKER_DONE;
    w->used_ns = d->limit_ns;
    return WORKER_LATE;
}

/* By a signal, or by a debugger. */
static bool is_stopped(const struct worker *w)
{
    char state = worker_state(w);

    return state == 'T' || state == 't';
}

/* Wait for a message. WORKER_DONE: there is one to receive. */
static enum worker_result wait_message(struct worker *w, const struct deadline *d)
{
    struct pollfd fds[] = { { .fd = w->fd, .events = POLLIN }, { .fd = w->stop_fd, .events = POLLIN } };
    uint64_t look_ns = d->limit_ns / 4 < LOOK_NS ? d->limit_ns / 4 : LOOK_NS;
    enum worker_result result;

    for (;;) {
        int n = poll(fds, 2, (int)(look_ns / NS_PER_MS) + 1);
        if (n > 0 && fds[0].revents)
            return WORKER_DONE;
        if (n > 0 && fds[1].revents)
            return WORKER_STOPPED;
        if ((result = is_in_time(w, d)) != WORKER_DONE)
            return result;
        if (is_stopped(w))
            return WORKER_DIED;
    }
}

/* Receive a message. False: not a message of the worker. Its descriptors are dropped by the kernel. */
static bool receive(struct worker *w, struct worker_message *head, struct worker_reply *a)
{
    struct iovec iov[] = { { head, sizeof *head }, { a->payload, sizeof a->payload } };
    struct msghdr m = { .msg_iov = iov, .msg_iovlen = 2 };
    ssize_t n;

    do {
        n = recvmsg(w->fd, &m, MSG_CMSG_CLOEXEC);
    } while (n < 0 && errno == EINTR);
    return n >= (ssize_t)sizeof *head && !(m.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) &&
           head->magic == WORKER_MAGIC && head->payload_n == (size_t)n - sizeof *head;
}

/* Seal and map the reply. The worker may still have the memory: from now on it cannot change, shorten or
 * lengthen it. */
static bool take_blob(struct worker *w, int fd, uint64_t size, struct worker_reply *a)
{
    struct stat st;

    if (fcntl(fd, F_ADD_SEALS, SEALS) || fstat(fd, &st) || (uint64_t)st.st_size < size ||
        st.st_size > (off_t)WORKER_BLOB_MAX)
        return false;
    w->answered += (uint64_t)st.st_size;
    if (!size)
        return true;
    a->blob = blob_read(fd, 0, size);
    a->blob_size = size;
    return a->blob != NULL;
}

static enum worker_result note_refusal(struct worker *w, const struct worker_reply *a, struct error *e)
{
    int n = (int)(a->payload_n < sizeof w->refusal ? a->payload_n : sizeof w->refusal - 1);
    struct error clean = { 0 };

    error_set(&clean, ERROR_PERMISSION, "%.*s", n, a->payload);
    snprintf(w->refusal, sizeof w->refusal, "%s",
             clean.text[0] ? clean.text : "the symbol worker cannot be confined");
    worker_end(w);
    error_set(e, ERROR_PERMISSION, "%s", w->refusal);
    return WORKER_UNAVAILABLE;
}

static enum worker_result take_message(struct worker *w, struct worker_reply *a, int blob_fd, bool *hello,
                                       struct error *e)
{
    struct worker_message head;
    bool ok = receive(w, &head, a);

    *hello = ok && !head.serial && !w->ready;
    a->payload_n = ok ? head.payload_n : 0;
    if (*hello && head.kind)
        return note_refusal(w, a, e);
    ok = ok && (*hello || (head.serial == w->serial && take_blob(w, blob_fd, head.blob_size, a)));
    if (!ok)
        return lose(w, WORKER_DIED, e);
    w->ready = true;
    w->never_ready = 0;
    if (!head.kind)
        return WORKER_DONE;
    blob_free(a->blob, a->blob_size);
    a->blob = NULL;
    a->blob_size = 0;
    error_set(e, head.kind <= ERROR_UNSUPPORTED ? (enum error_class)head.kind : ERROR_FORMAT, "%.*s",
              (int)(a->payload_n < 400 ? a->payload_n : 400), a->payload);
    return WORKER_REFUSED;
}

static bool is_worn(const struct worker *w, const struct worker_request *r)
{
    return clock_now_ns() - w->started_ns > LIFE_NS || w->answered > LIFE_BYTES ||
           (r->kind == WORKER_CODE && !w->disassembles);
}

/* Send a request and wait. The cost of starting the worker is not charged to the file. */
static enum worker_result exchange(struct worker *w, const struct worker_request *r, struct worker_reply *a,
                                   int blob_fd, struct error *e)
{
    uint64_t limit_ns = r->limit_ns ? r->limit_ns : DEFAULT_LIMIT_NS, cpu_ns;
    struct deadline d;
    enum worker_result result;
    bool hello;
    int err;

    if ((err = send_request(w, r, blob_fd)))
        return not_sent(w, err, e);
    do {
        hello = false;
        d = deadline_of(w, w->ready ? limit_ns : START_NS);
        result = wait_message(w, &d);
        if (result == WORKER_DONE)
            result = take_message(w, a, blob_fd, &hello, e);
    } while (hello && result == WORKER_DONE);
    if (result == WORKER_STOPPED)
        worker_end(w);
    else if (w->fd >= 0 && (result == WORKER_LATE || result == WORKER_DIED))
        return lose(w, result, e);
    else if (w->fd >= 0 && (cpu_ns = child_cpu_ns(w->pid)) != UINT64_MAX && d.cpu_ns != UINT64_MAX)
        w->used_ns = cpu_ns - d.cpu_ns;
    return result;
}

enum worker_result worker_ask(struct worker *w, const struct worker_request *r, struct worker_reply *a,
                              struct error *e)
{
    enum worker_result result;
    int blob_fd;

    a->blob = NULL;
    a->blob_size = a->payload_n = 0;
    w->used_ns = 0;
    w->stuck = false;
    if (w->fd >= 0 && is_worn(w, r))
        worker_end(w);
    if (w->fd < 0 && !worker_start(w, r->kind, e))
        return WORKER_UNAVAILABLE;
    blob_fd = memfd_create("flametop-symbols", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (blob_fd < 0) {
        error_sys(e, errno, "cannot make memory for the symbol worker's reply");
        return WORKER_UNAVAILABLE;
    }
    result = exchange(w, r, a, blob_fd, e);
    close(blob_fd);
    return result;
}
