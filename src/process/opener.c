// SPDX-License-Identifier: GPL-2.0-or-later
#include "process/opener.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/map.h"
#include "base/mem.h"
#include "process/elfid.h"
#include "process/opener_client.h"

#define MEMORY_MAX (64u << 20) /* of one in-memory file */

static bool enabled; /* set before threads start */
static _Thread_local struct opener own = { .fd = -1, .stop_fd = -1, .limit_ns = OPENER_QUICK_NS };

/* Facts about O_PATH descriptors: descriptor number → struct opened *. A reused number gets a new entry if it
 * is again an O_PATH descriptor of the opener; otherwise its flags differ. */
static struct {
    pthread_mutex_t lock;
    struct map by_fd;
} known = { .lock = PTHREAD_MUTEX_INITIALIZER };

void opener_set_limits(int stop_fd, uint64_t limit_ns)
{
    own.stop_fd = stop_fd;
    own.limit_ns = limit_ns;
}

void opener_end(void)
{
    opener_stop(&own);
}

static pthread_key_t at_thread_end;

static void end_with_thread(void *opener)
{
    opener_stop(opener);
}

void opener_enable(void)
{
    if (pthread_key_create(&at_thread_end, end_with_thread))
        abort(); /* cannot happen: it is the program's first call */
    enabled = true;
}

/* Returns the calling thread's opener, which ends with the thread. */
static struct opener *own_opener(void)
{
    if (!own.known)
        own.known = !pthread_setspecific(at_thread_end, &own);
    return &own;
}

pid_t opener_pid(void)
{
    return own.running ? own.pid : 0;
}

/* ---- facts about descriptors ---- */

static void learn(int fd, const struct opened *of)
{
    bool created;
    uint64_t *at;

    pthread_mutex_lock(&known.lock);
    at = map_at(&known.by_fd, (uint64_t)fd, 0, &created);
    if (created)
        *at = (uintptr_t)mem_alloc(sizeof *of);
    *(struct opened *)(uintptr_t)*at = *of;
    pthread_mutex_unlock(&known.lock);
}

static bool recall(int fd, struct opened *out)
{
    uint64_t at;
    bool found;

    pthread_mutex_lock(&known.lock);
    found = map_get(&known.by_fd, (uint64_t)fd, &at);
    if (found)
        *out = *(const struct opened *)(uintptr_t)at;
    pthread_mutex_unlock(&known.lock);
    return found;
}

bool opened_facts(int fd, struct opened *out)
{
    memset(out, 0, sizeof *out);
    if (opener_is_path_only(fd))
        return recall(fd, out);
    if (fd < 0 || fstat(fd, &out->st))
        return false;
    out->rights.own = true;
    out->elf = S_ISREG(out->st.st_mode) && file_is_elf(fd);
    if (out->elf)
        out->id_size = (uint8_t)elfid_read(fd, out->id);
    return true;
}

int opener_dup(int fd)
{
    struct opened of;
    int copy = fcntl(fd, F_DUPFD_CLOEXEC, 3);

    if (copy >= 0 && opener_is_path_only(fd) && recall(fd, &of))
        learn(copy, &of);
    return copy;
}

/* ---- requests ---- */

static int send_request(enum opener_request_kind kind, const struct opener_request *q, int given,
                        struct opener_result *a)
{
    int err;

    a->fd = -1;
    if (marks_refuse(&own, q))
        return EBUSY;
    err = opener_transact(own_opener(), kind, q, opener_request_size(kind), NULL, 0, &given, given >= 0, a);
    if (err == ETIMEDOUT)
        marks_late(&own, q);
    return err;
}

static int request(enum opener_request_kind kind, const struct opener_request *q, int given,
                   struct opened *out, int *fd)
{
    struct opener_result a = { .fd = -1 };
    int err;

    if (!enabled)
        return opener_serve(kind, q, given, false, out, fd);
    err = send_request(kind, q, given, &a);
    *out = a.opened;
    *fd = a.fd;
    return err;
}

/* Returns the descriptor, or -1 with errno. Frees q. */
static int open_by(enum opener_request_kind kind, struct opener_request *q, struct opened *of)
{
    struct opened got = { 0 };
    int fd = -1, err = request(kind, q, -1, &got, &fd);
    bool copied = q->copy;

    mem_free(q);
    if (!err && fd < 0)
        err = EPROTO;
    if (err) {
        if (fd >= 0)
            close(fd);
        errno = err;
        return -1;
    }
    if (of)
        *of = got;
    if (!copied)
        learn(fd, &got);
    return fd;
}

static struct opener_request *request_of(const struct opener_user *u, const char *root, const char *path)
{
    struct opener_request *q;

    if (strlen(root) >= sizeof q->root || strlen(path) >= sizeof q->path) {
        errno = ENAMETOOLONG;
        return NULL;
    }
    q = mem_zalloc(sizeof *q);
    q->user = *u;
    strcpy(q->root, root);
    strcpy(q->path, path);
    return q;
}

struct opener_user opener_user_of(const struct module *m)
{
    if (!m->live)
        return (struct opener_user){ .kind = OPENER_FOR_STARTER };
    if (m->kind == MODULE_KMOD)
        return (struct opener_user){ .kind = OPENER_FOR_US };
    return (struct opener_user){ .kind = OPENER_FOR_PROCESS, .pid = m->pid, .user = m->user };
}

int opener_open(const struct opener_user *u, const char *root, const char *path, bool links)
{
    struct opener_request *q = request_of(u, root, path);

    if (!q)
        return -1;
    q->links = links;
    return open_by(OPENER_PATH, q, NULL);
}

int opener_copy(const struct opener_user *u, const char *root, const char *path, size_t most,
                struct opened *of)
{
    struct opener_request *q = request_of(u, root, path);

    if (!q)
        return -1;
    q->links = true;
    q->copy = most;
    return open_by(OPENER_PATH, q, of);
}

int opener_program(uint32_t pid)
{
    const struct opener_user u = { .kind = OPENER_FOR_PROCESS, .pid = pid };

    return open_by(OPENER_PROGRAM, request_of(&u, "", ""), NULL);
}

size_t opener_read_memory(uint32_t pid, uint64_t address, void *to, size_t size)
{
    const struct opener_user u = { .kind = OPENER_FOR_PROCESS, .pid = pid };
    struct opener_request *q = request_of(&u, "", "");
    struct opener_result a = { .fd = -1 };
    size_t got = 0;
    int err;

    do {
        q->address = address + got;
        q->size = size - got < OPENER_MEMORY_BYTES ? size - got : OPENER_MEMORY_BYTES;
        a.bytes = (char *)to + got;
        a.bytes_max = (uint32_t)q->size;
        err = enabled ? send_request(OPENER_MEMORY, q, -1, &a) : opener_copy_memory(q, a.bytes, &a.bytes_n);
        if (a.fd >= 0)
            close(a.fd);
        got += err ? 0 : a.bytes_n;
    } while (!err && a.bytes_n == q->size && got < size);
    mem_free(q);
    errno = err;
    return got;
}

int opener_memory(uint32_t pid, uint64_t address, uint64_t size)
{
    void *bytes = size && size <= MEMORY_MAX ? mem_try_array((size_t)size, 1) : NULL;
    size_t n = bytes ? opener_read_memory(pid, address, bytes, (size_t)size) : 0;
    int fd = n ? file_in_memory("flametop-code", bytes, n) : -1, err = bytes && !n ? errno : ENOMEM;

    mem_free(bytes);
    errno = err;
    return fd;
}

bool opener_touch(uint32_t pid, uint64_t age_ns, uint64_t address, uint64_t size, uint64_t *spent_ns)
{
    const struct opener_user u = { .kind = OPENER_FOR_PROCESS, .pid = pid };
    struct opener_request *q = request_of(&u, "", "");
    struct opened done = { 0 };
    int fd = -1, err;

    q->age_ns = age_ns;
    q->address = address;
    q->size = size;
    err = request(OPENER_TOUCH, q, -1, &done, &fd);
    *spent_ns = done.spent_ns;
    mem_free(q);
    if (fd >= 0)
        close(fd);
    errno = err;
    return !err;
}

/* NULL with errno. */
static struct opener_request *module_request(const struct module *m, const char *symfs)
{
    const struct opener_user u = opener_user_of(m);
    struct opener_request *q;

    if ((m->kind != MODULE_FILE && m->kind != MODULE_KMOD) || m->path[0] != '/') {
        errno = ENOENT;
        return NULL;
    }
    q = request_of(&u, !m->live && symfs && *symfs ? symfs : "/", m->path);
    if (!q)
        return NULL;
    q->live = m->live;
    q->user.pid = m->pid;
    q->maj = m->maj;
    q->min = m->min;
    q->ino = m->ino;
    q->ino_generation = m->ino_generation;
    q->map_start = m->map_start;
    q->map_end = m->map_end;
    return q;
}

int module_open(const struct module *m, const char *symfs)
{
    struct opener_request *q = module_request(m, symfs);

    return q ? open_by(OPENER_MODULE, q, NULL) : -1;
}

bool module_is_copied(const struct module *m, uint64_t address, uint64_t size, uint64_t offset)
{
    struct opener_request *q = module_request(m, NULL);
    int fd;

    if (!q)
        return false;
    q->compare = true;
    q->address = address;
    q->size = size;
    q->offset = offset;
    fd = open_by(OPENER_MODULE, q, NULL);
    if (fd >= 0)
        close(fd);
    return fd >= 0;
}

bool opener_look_again(int fd, struct opened *out)
{
    struct opened now = { 0 };
    struct opener_request *q;
    int err, none = -1;

    if (!opener_is_path_only(fd) || !recall(fd, out))
        return opened_facts(fd, out);
    q = mem_zalloc(sizeof *q);
    q->live = true;
    q->maj = major(out->st.st_dev);
    q->min = minor(out->st.st_dev);
    q->ino = out->st.st_ino;
    err = request(OPENER_AGAIN, q, fd, &now, &none);
    mem_free(q);
    if (none >= 0)
        close(none);
    if (err) {
        errno = err;
        return false;
    }
    out->st = now.st;
    learn(fd, out);
    return true;
}

/* ---- sending ---- */

/* Descriptors that are all flametop's own need no opener. */
static bool send_by(int socket, const struct opener_transfer *p, const char *bytes, const int *fds,
                    unsigned n_fds, bool found)
{
    struct opener_result a = { .fd = -1 };
    int all[OPENER_SEND_FDS + 1] = { socket }, err;

    memcpy(all + 1, fds, n_fds * sizeof *fds);
    if (enabled && found)
        err = opener_transact(&own, OPENER_SEND, p,
                              offsetof(struct opener_transfer, bytes_n) + sizeof p->bytes_n, bytes,
                              p->bytes_n, all, n_fds + 1, &a);
    else
        err = opener_forward(p, bytes, all, n_fds + 1, false);
    if (a.fd >= 0)
        close(a.fd);
    errno = err;
    return !err;
}

bool opener_send(int socket, const void *head, size_t head_n, const void *payload, size_t payload_n,
                 const int *fds, unsigned n_fds)
{
    struct opener_transfer p = { .bytes_n = (uint32_t)(head_n + payload_n) };
    struct opened of;
    char *bytes;
    bool ok, found = false;

    if (n_fds > OPENER_SEND_FDS || head_n + payload_n > OPENER_SEND_BYTES) {
        errno = EMSGSIZE;
        return false;
    }
    for (unsigned i = 0; i < n_fds; i++)
        if (opener_is_path_only(fds[i]) && (found = true))
            p.rights[i] = recall(fds[i], &of) ? of.rights : rights_of_user(RIGHTS_NOBODY, RIGHTS_NOBODY);
    bytes = mem_alloc(head_n + payload_n + 1);
    memcpy(bytes, head, head_n);
    if (payload_n)
        memcpy(bytes + head_n, payload, payload_n);
    ok = send_by(socket, &p, bytes, fds, n_fds, found);
    mem_free(bytes);
    return ok;
}

/* ---- errors ---- */

bool opener_error(struct error *e, int errnum, const char *path)
{
    switch (errnum) {
    case ETIMEDOUT:
        return error_set(e, ERROR_SYSTEM,
                         "%.300s did not respond within %u s: its file system hangs. Not read", path,
                         (unsigned)(own.limit_ns / NS_PER_SEC));
    case EBUSY:
        return error_set(e, ERROR_SYSTEM,
                         "%.300s is not opened: other files of the same user or device did not respond",
                         path);
    case EOPNOTSUPP:
        return error_set(e, ERROR_PERMISSION,
                         "%.300s is in a file system of the kernel (such as /proc or /sys): not read", path);
    case EACCES:
        error_sys(e, errnum, "cannot read %.300s", path);
        return error_hint(e,
                          "a file is read with the rights of the user whose process or recording names it");
    default:
        return error_sys(e, errnum, "cannot open %.300s", path);
    }
}
