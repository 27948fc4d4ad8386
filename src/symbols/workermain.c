// SPDX-License-Identifier: GPL-2.0-or-later
/* The worker's side: takes a request, parses, answers, until the socket closes. It may crash at any time. */
#include "symbols/symbolizer.h"

#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/mem.h"
#include "symbols/demangle.h"
#include "symbols/elf.h"
#include "symbols/kallsyms.h"
#include "symbols/perfmap.h"
#include "symbols/table.h"
#include "symbols/worker.h"

struct request {
    struct worker_message head;
    char payload[WORKER_MESSAGE_MAX + 1];
    int fds[2];
    unsigned n_fds;
};
struct reply {
    char payload[WORKER_MESSAGE_MAX];
    size_t payload_n;
    int blob_fd; /* -1: none */
    uint64_t blob_size;
};

static bool grow(char **text, size_t *cap)
{
    size_t more = *cap ? *cap * 2 : 1 << 20;
    char *grown = mem_try_resize(*text, more, 1);

    if (!grown)
        return false;
    *text = grown;
    *cap = more;
    return true;
}

/* A file from its start, at most `max` bytes of it, however little it tells of its size (procfs). */
static char *read_whole(int fd, size_t max, size_t *n, struct error *e)
{
    char *text = NULL;
    size_t cap = 0;

    lseek(fd, 0, SEEK_SET);
    for (*n = 0; *n < max;) {
        ssize_t got;
        if (*n == cap && !grow(&text, &cap)) {
            error_set(e, ERROR_LIMIT, "no memory to read it");
            break;
        }
        got = read(fd, text + *n, (cap < max ? cap : max) - *n);
        if (got == 0)
            return text;
        if (got > 0)
            *n += (size_t)got;
        else if (errno != EINTR) {
            error_sys(e, errno, "cannot read it");
            break;
        }
    }
    if (*n >= max)
        return text;
    mem_free(text);
    return NULL;
}

static bool write_all(int fd, const char *bytes, size_t n)
{
    while (n) {
        ssize_t done = write(fd, bytes, n);
        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0)
            return false;
        bytes += done;
        n -= (size_t)done;
    }
    return true;
}

static int sealed_memory(const void *bytes, size_t n, struct error *e)
{
    int fd = memfd_create("flametop-symbols", MFD_CLOEXEC | MFD_ALLOW_SEALING);

    if (fd >= 0 && write_all(fd, bytes, n) &&
        !fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL))
        return fd;
    error_sys(e, errno, "cannot make memory for the symbols");
    if (fd >= 0)
        close(fd);
    return -1;
}

static bool answer_table(struct table_builder *b, enum table_overlap overlap, struct reply *reply,
                         struct error *e)
{
    void *blob;
    size_t size;

    if (!table_build(b, overlap, &blob, &size, e))
        return false;
    reply->blob_fd = sealed_memory(blob, size, e);
    reply->blob_size = size;
    mem_free(blob);
    return reply->blob_fd >= 0;
}

static bool do_elf(const struct request *q, struct reply *reply, struct error *e)
{
    struct table_builder b = { 0 };
    bool ok = elf_read(q->fds[0], &b, e) && answer_table(&b, TABLE_NESTED, reply, e);

    table_builder_done(&b);
    return ok;
}

static bool do_elf_debug(const struct request *q, struct reply *reply, struct error *e)
{
    struct table_builder b = { 0 };
    bool ok = elf_read_with_debug(q->fds[0], q->fds[1], &b, e) && answer_table(&b, TABLE_NESTED, reply, e);

    table_builder_done(&b);
    return ok;
}

static bool do_text(const struct request *q, size_t max,
                    void (*parse)(const char *, size_t, struct table_builder *), enum table_overlap overlap,
                    struct reply *reply, struct error *e)
{
    struct table_builder b = { 0 };
    size_t n;
    char *text = read_whole(q->fds[0], max, &n, e);
    bool ok = text != NULL;

    if (ok) {
        parse(text, n, &b);
        mem_free(text);
        ok = answer_table(&b, overlap, reply, e);
    }
    table_builder_done(&b);
    return ok;
}

static bool do_kallsyms(const struct request *q, struct reply *reply, struct error *e)
{
    /* of aliases the last one stays: they have no sizes, and perf chooses so */
    return do_text(q, KALLSYMS_BYTES_MAX, kallsyms_parse, TABLE_REPLACED, reply, e);
}

static bool do_perfmap(const struct request *q, struct reply *reply, struct error *e)
{
    return do_text(q, PERFMAP_BYTES_MAX, perfmap_parse, TABLE_REPLACED, reply, e);
}

static bool do_demangle(const struct request *q, struct reply *reply, struct error *e)
{
    const char *p = q->payload, *end = p + q->head.payload_n;

    for (; p < end; p += strlen(p) + 1) {
        char *name = reply->payload + reply->payload_n;
        if (sizeof reply->payload - reply->payload_n < DEMANGLE_OUTPUT_MAX)
            return error_set(e, ERROR_LIMIT, "too many names at once");
        if (!demangle_name(p, name, DEMANGLE_OUTPUT_MAX))
            name[0] = '\0';
        reply->payload_n += strlen(name) + 1;
    }
    return true;
}

static bool handle(const struct request *q, struct reply *reply, struct error *e)
{
    static const struct {
        bool (*run)(const struct request *, struct reply *, struct error *);
        unsigned n_fds;
    } kinds[] = {
        [WORKER_ELF] = { do_elf, 1 },           [WORKER_ELF_DEBUG] = { do_elf_debug, 2 },
        [WORKER_KALLSYMS] = { do_kallsyms, 1 }, [WORKER_PERFMAP] = { do_perfmap, 1 },
        [WORKER_DEMANGLE] = { do_demangle, 0 },
    };
    uint32_t kind = q->head.kind;

    if (kind >= sizeof kinds / sizeof *kinds || !kinds[kind].run || q->n_fds != kinds[kind].n_fds)
        return error_set(e, ERROR_UNSUPPORTED, "the symbol worker does not know this request");
    return kinds[kind].run(q, reply, e);
}

static void take_fds(struct request *q, struct msghdr *m)
{
    struct cmsghdr *c = CMSG_FIRSTHDR(m);

    q->n_fds = 0;
    if (!c || c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
        return;
    q->n_fds = (unsigned)((c->cmsg_len - CMSG_LEN(0)) / sizeof(int));
    memcpy(q->fds, CMSG_DATA(c), q->n_fds * sizeof(int));
}

static bool receive(int fd, struct request *q)
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

static bool send_reply(int fd, const struct request *q, struct reply *reply, const struct error *e)
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
    static struct request q;
    static struct reply reply;
    struct error e = { 0 };
    bool sent;
    unsigned i;

    if (!receive(fd, &q))
        return false;
    reply.payload_n = reply.blob_size = 0;
    reply.blob_fd = -1;
    if (!handle(&q, &reply, &e) && e.class == ERROR_NONE)
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

static void say_ready(int fd)
{
    struct worker_message hello = { .magic = WORKER_MAGIC };
    struct iovec iov = { &hello, sizeof hello };
    struct msghdr m = { .msg_iov = &iov, .msg_iovlen = 1 };

    sendmsg(fd, &m, MSG_NOSIGNAL);
}

void symbol_worker_main(int fd)
{
    prctl(PR_SET_NAME, "flametop-worker");
    ignore_terminal();
#ifdef SYS_close_range
    syscall(SYS_close_range, (unsigned)fd + 1, ~0u, 0);
#endif
    sandbox_enter();
    say_ready(fd);
    while (serve_one(fd))
        malloc_trim(0); /* a large file's table does not stay with a worker that waits */
    _exit(0);
}
