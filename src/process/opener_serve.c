// SPDX-License-Identifier: GPL-2.0-or-later
/* Serves the opener's requests. A file is found as an O_PATH descriptor, checked, and opened for reading with
 * the user's rights, which decides whether the user may read it. The readable descriptor stays in this
 * process. */
#include "process/opener_serve.h"

#include <elf.h>
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "process/elfid.h"

/* True for file systems that present kernel state instead of stored files: reads there have side effects or
 * are reserved to root. */
static bool is_kernels(long type)
{
    static const uint32_t types[] = {
        PROC_SUPER_MAGIC, SYSFS_MAGIC,    TRACEFS_MAGIC,      DEBUGFS_MAGIC,       SECURITYFS_MAGIC,
        SELINUX_MAGIC,    SMACK_MAGIC,    CGROUP_SUPER_MAGIC, CGROUP2_SUPER_MAGIC, DEVPTS_SUPER_MAGIC,
        BINFMTFS_MAGIC,   PSTOREFS_MAGIC, EFIVARFS_MAGIC,     NSFS_MAGIC,          PIPEFS_MAGIC,
        SOCKFS_MAGIC,     0xcafe4a11, /* bpf */
        0x62656570,                   /* configfs */
        0x65735543,                   /* fusectl */
        0x19800202,                   /* mqueue */
        0x07655821,                   /* resctrl */
        0x67596969,                   /* rpc_pipefs */
        0x6e667364,                   /* nfsd */
        0xabba1974,                   /* xenfs */
        0x09041934,                   /* anon_inodefs */
        0x5a3c69f0,                   /* apparmorfs */
        0x6165676c,                   /* pstore, under another magic of some kernels */
        0x50494446,                   /* pidfs */
    };

    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if ((uint32_t)type == types[i])
            return true;
    return false;
}

static int check_kind(enum opener_request_kind kind, int handle, struct opened *of)
{
    struct stat *st = &of->st;
    struct statfs fs;

    if (fstat(handle, st))
        return errno;
    if (!S_ISREG(st->st_mode))
        return kind != OPENER_PATH ? EINVAL : S_ISLNK(st->st_mode) ? ELOOP : ENXIO;
    /* A user-space file system may hang; the kernel's own file systems do not. */
    if (fstatfs(handle, &fs))
        return 0;
    of->of_users = (uint32_t)fs.f_type == FUSE_SUPER_MAGIC;
    return is_kernels((long)fs.f_type) ? EOPNOTSUPP : 0;
}

/* Opens the file for reading with the user's rights. -1 with errno. */
static int reopen(int handle, const struct rights *rights, bool confined)
{
    char self[40];
    int fd, saved;

    if (confined && !rights_take(rights))
        return -1;
    snprintf(self, sizeof self, "/proc/self/fd/%d", handle);
    fd = open(self, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    saved = errno;
    if (confined)
        rights_return();
    errno = saved;
    return fd;
}

/* e_machine has the same offset in 32-bit and 64-bit files. */
static void read_head(int fd, struct opened *out)
{
    const unsigned char order = __BYTE_ORDER == __LITTLE_ENDIAN ? ELFDATA2LSB : ELFDATA2MSB;
    Elf32_Ehdr head;

    out->elf = file_is_elf(fd);
    if (!out->elf)
        return;
    out->id_size = (uint8_t)elfid_read(fd, out->id);
    if (pread(fd, &head, sizeof head, 0) == (ssize_t)sizeof head && head.e_ident[EI_DATA] == order)
        out->machine = head.e_machine;
}

static int copy_file(int from, uint64_t most)
{
    int to = memfd_create("flametop-copy", MFD_CLOEXEC);
    char *piece = mem_alloc(65536);
    bool ok = to >= 0;
    off_t at = 0;

    while (ok && (uint64_t)at < most) {
        uint64_t left = most - (uint64_t)at;
        ssize_t n = pread(from, piece, left < 65536 ? (size_t)left : 65536, at);
        if (n < 0 && errno == EINTR)
            continue;
        ok = n >= 0 && file_write_all(to, piece, (size_t)n, NULL);
        if (n <= 0)
            break;
        at += n;
    }
    mem_free(piece);
    if (ok)
        return to;
    if (to >= 0)
        close(to);
    errno = EIO;
    return -1;
}

#define COMPARED_PAGES 16
#define PAGE           4096

static int compare_page(const struct opener_request *q, int fd, uint64_t into)
{
    char ours[PAGE], theirs[PAGE];
    struct iovec to = { theirs, sizeof theirs },
                 from = { (void *)(uintptr_t)(q->address + into), sizeof theirs };

    if (process_vm_readv((pid_t)q->user.pid, &to, 1, &from, 1, 0) != (ssize_t)sizeof theirs)
        return errno ? errno : EFAULT;
    if (pread(fd, ours, sizeof ours, (off_t)(q->offset + into)) != (ssize_t)sizeof ours)
        return EILSEQ;
    return memcmp(ours, theirs, sizeof ours) ? EILSEQ : 0;
}

/* Compares the first and the last whole page, and some between. */
static int compare(const struct opener_request *q, int fd)
{
    uint64_t pages = q->size / PAGE, step = pages > COMPARED_PAGES ? (pages - 1) / (COMPARED_PAGES - 1) : 1;
    int err = pages ? compare_page(q, fd, (pages - 1) * PAGE) : EILSEQ;

    for (uint64_t i = 0; !err && i < pages; i += step)
        err = compare_page(q, fd, i * PAGE);
    return err;
}

/* Checks and opens the file. Takes ownership of handle. 0 or errno; *fd: descriptor for the client. */
static int open_found(const struct finding *f, enum opener_request_kind kind, int handle, struct opened *out,
                      int *fd)
{
    int err = check_kind(kind, handle, out), readable = -1;

    if (!err && kind == OPENER_MODULE)
        err = find_check(f, handle, &out->st);
    if (!err && (readable = reopen(handle, f->rights, f->confined)) < 0)
        err = errno;
    if (!err && kind == OPENER_MODULE)
        err = find_check_generation(f, readable);
    if (!err && f->q->compare)
        err = compare(f->q, readable);
    if (!err) {
        out->rights = *f->rights;
        read_head(readable, out);
        *fd = f->q->copy ? copy_file(readable, f->q->copy) : handle;
        err = *fd < 0 ? errno : 0;
    }
    if (readable >= 0)
        close(readable);
    if (*fd != handle)
        close(handle);
    return err;
}

/* ---- whose rights ---- */

static bool same_link(int dir, const char *name, const char *ours)
{
    char theirs[256], own[256];
    ssize_t n = readlinkat(dir, name, theirs, sizeof theirs), m = readlink(ours, own, sizeof own);

    return n > 0 && n == m && !memcmp(theirs, own, (size_t)n);
}

/* True if the process sees the same files as flametop. */
static bool shares_our_root(int proc_dir)
{
    return same_link(proc_dir, "ns/mnt", "/proc/self/ns/mnt") &&
           same_link(proc_dir, "root", "/proc/self/root");
}

/* Of an ended process only the user may be known. A root user may have been root of a container: it gets
 * root's rights only for the very file that it had mapped, and for others those of nobody. */
static int rights_of_ended(const struct opener_request *q, struct rights *out)
{
    uint32_t uid = q->user.user ? q->user.user - 1 : RIGHTS_NOBODY;

    *out = rights_of_user(uid || (q->live && q->ino) ? uid : RIGHTS_NOBODY, RIGHTS_NOBODY);
    return 0;
}

/* *outsider: root, but with other files than flametop sees. */
static int rights_of_live(const struct opener_request *q, struct rights *out, bool *outsider)
{
    char path[24];
    int dir, err = 0;

    snprintf(path, sizeof path, "/proc/%u", q->user.pid);
    dir = q->user.pid ? open(path, O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;
    if (dir < 0)
        return rights_of_ended(q, out);
    if (!rights_of_process(dir, out))
        err = errno;
    else
        *outsider = !out->uid && !shares_our_root(dir);
    close(dir);
    return err == ESRCH || err == ENOENT ? rights_of_ended(q, out) : err;
}

static int find_rights(const struct opener_request *q, struct rights *out, bool *outsider)
{
    int err = 0;

    *outsider = false;
    switch (q->user.kind) {
    case OPENER_FOR_US:
        *out = (struct rights){ .own = true };
        return 0;
    case OPENER_FOR_STARTER:
        rights_of_starter(out);
        break;
    default:
        err = rights_of_live(q, out, outsider);
    }
    rights_weaken(out, q->user.named_by);
    return err;
}

/* The process may have changed its user since its rights were read; then the result is discarded. */
static bool are_rights_the_same(const struct opener_request *q, const struct rights *before)
{
    struct rights now;
    bool outsider;

    return q->user.kind != OPENER_FOR_PROCESS ||
           (!find_rights(q, &now, &outsider) && now.uid == before->uid && now.gid == before->gid);
}

/* ---- requests ---- */

static int open_path(struct finding *f, struct opened *out, int *fd)
{
    int handle = find_path(f, f->q->root, f->q->path, f->q->links);

    return handle < 0 ? errno : open_found(f, OPENER_PATH, handle, out, fd);
}

/* Returns the last method's error, unless an earlier error says more than ENOENT. */
static int open_module(struct finding *f, struct opened *out, int *fd)
{
    int err = ENOENT, refused = 0;
    bool more = true;

    for (unsigned way = 0; more; way++) {
        int handle = find_module(f, way, &more);
        err = handle < 0 ? errno : open_found(f, OPENER_MODULE, handle, out, fd);
        if (!err)
            return 0;
        if (err == EOPNOTSUPP || err == EACCES)
            refused = err;
    }
    return err == ENOENT && refused ? refused : err;
}

static int open_program(struct finding *f, struct opened *out, int *fd)
{
    char link[32];
    int handle;

    snprintf(link, sizeof link, "/proc/%u/exe", f->q->user.pid);
    handle = open(link, O_PATH | O_CLOEXEC);
    return handle < 0 ? errno : open_found(f, OPENER_PROGRAM, handle, out, fd);
}

int opener_copy_memory(const struct opener_request *q, void *to, uint32_t *n)
{
    struct iovec local = { to, (size_t)q->size }, remote = { (void *)(uintptr_t)q->address, (size_t)q->size };
    ssize_t got;

    *n = 0;
    if (!q->size || q->size > OPENER_MEMORY_BYTES)
        return EINVAL;
    got = process_vm_readv((pid_t)q->user.pid, &local, 1, &remote, 1, 0);
    if (got <= 0)
        return got ? errno : EFAULT;
    *n = (uint32_t)got;
    return 0;
}

int opener_serve(enum opener_request_kind kind, const struct opener_request *q, int given, bool confined,
                 struct opened *out, int *fd)
{
    struct rights rights = { .own = true };
    struct finding f = { .q = q, .rights = &rights, .confined = confined };
    bool outsider;
    int err = 0;

    *fd = -1;
    memset(out, 0, sizeof *out);
    if (kind == OPENER_AGAIN)
        return given < 0 ? EBADF : fstat(given, &out->st) ? errno : 0;
    if (kind == OPENER_TOUCH)
        return opener_touch_stack(q, &out->spent_ns);
    err = find_rights(q, &rights, &outsider);
    /* Root of a container is not root on flametop's files: there it gets the rights of nobody. */
    f.here = outsider ? rights_of_user(RIGHTS_NOBODY, RIGHTS_NOBODY) : rights;
    if (kind == OPENER_PATH && strncmp(q->root, "/proc/", 6))
        f.rights = &f.here;
    if (!err)
        err = kind == OPENER_PATH      ? open_path(&f, out, fd)
              : kind == OPENER_MODULE  ? open_module(&f, out, fd)
              : kind == OPENER_PROGRAM ? open_program(&f, out, fd)
                                       : EPROTO;
    if (!err && !are_rights_the_same(q, &rights))
        err = EAGAIN;
    if (err && *fd >= 0) {
        close(*fd);
        *fd = -1;
    }
    return err;
}

bool opener_is_path_only(int fd)
{
    int flags = fcntl(fd, F_GETFL);

    return flags >= 0 && (flags & O_PATH);
}

ssize_t opener_send_message(int socket, struct iovec *parts, size_t n_parts, const int *fds, unsigned n_fds)
{
    union {
        struct cmsghdr align;
        char bytes[CMSG_SPACE((OPENER_SEND_FDS + 1) * sizeof(int))];
    } control = { 0 };
    struct msghdr m = { .msg_iov = parts, .msg_iovlen = n_parts };
    ssize_t sent;

    if (n_fds) {
        struct cmsghdr *c = &control.align;
        m.msg_control = control.bytes;
        m.msg_controllen = CMSG_SPACE(n_fds * sizeof(int));
        c->cmsg_level = SOL_SOCKET;
        c->cmsg_type = SCM_RIGHTS;
        c->cmsg_len = CMSG_LEN(n_fds * sizeof(int));
        memcpy(CMSG_DATA(c), fds, n_fds * sizeof(int));
    }
    do {
        sent = sendmsg(socket, &m, MSG_NOSIGNAL);
    } while (sent < 0 && errno == EINTR);
    return sent;
}

int opener_forward(const struct opener_transfer *p, const char *bytes, const int *fds, unsigned n_fds,
                   bool confined)
{
    struct iovec iov = { (void *)(uintptr_t)bytes, p->bytes_n };
    int out[OPENER_SEND_FDS] = { 0 }, opened[OPENER_SEND_FDS], err = 0;
    ssize_t sent;
    unsigned n, n_opened = 0;

    if (!n_fds || n_fds > OPENER_SEND_FDS + 1)
        return EINVAL;
    for (n = 0; n + 1 < n_fds && !err; n++) {
        out[n] = fds[n + 1];
        if (!opener_is_path_only(out[n]))
            continue;
        out[n] = reopen(fds[n + 1], &p->rights[n], confined);
        if (out[n] < 0)
            err = errno;
        else
            opened[n_opened++] = out[n];
    }
    if (!err) {
        sent = opener_send_message(fds[0], &iov, 1, out, n);
        err = sent == (ssize_t)p->bytes_n ? 0 : sent < 0 ? errno : EMSGSIZE;
    }
    while (n_opened)
        close(opened[--n_opened]);
    return err;
}
