// SPDX-License-Identifier: GPL-2.0-or-later
/* Resolves all names relative to the opened folder: if someone moves or replaces the folder meanwhile,
 * nothing is written, renamed or unlinked elsewhere. */
#include "base/file.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/text.h"

#define PENDING_BYTES 65536
#define TMP_TRIES     100
/* a name must hold "." before it and ".XXXXXX" after it */
#define TMP_BASE_MAX (NAME_MAX - 8)

/* Sets the error, with a hint where the kernel's message alone does not say what to do. */
static bool fail_sys(struct error *e, int errnum, const char *doing, const char *path)
{
    error_sys(e, errnum, "cannot %s %s", doing, path);
    switch (errnum) {
    case ENOSPC:
    case EDQUOT:
        return error_hint(e, "free some space or name a file on another disk");
    case EROFS:
    case EACCES:
    case EPERM:
        return error_hint(e, "name a file in a folder that you may write to");
    case ENOENT:
    case ENOTDIR:
        return error_hint(e, "create the folder first, or name another");
    case EFBIG:
        return error_hint(e, "raise the limit on file sizes (ulimit -f)");
    case EIO:
        return error_hint(e, "check the kernel's log for disk errors");
    default:
        return false;
    }
}

/* Refuses a target that must not be replaced. *through: the target is a FIFO or a character device, which has
 * no content to replace. */
static bool check_target(const struct outfile *o, bool *through, struct error *e)
{
    struct stat st;

    if (fstatat(o->dirfd, text_base_name(o->path), &st, AT_SYMLINK_NOFOLLOW) < 0)
        return errno == ENOENT || fail_sys(e, errno, "access", o->path);
    if (S_ISLNK(st.st_mode))
        return error_set(e, ERROR_ARGUMENT,
                         "%s is a symbolic link, which is not followed; remove it or name the file itself",
                         o->path);
    if (S_ISCHR(st.st_mode) || S_ISFIFO(st.st_mode)) {
        *through = true;
        return true;
    }
    if (!S_ISREG(st.st_mode))
        return error_set(e, ERROR_ARGUMENT, "%s exists and is no regular file; name another", o->path);
    return true;
}

static bool open_folder(struct outfile *o, struct error *e)
{
    const char *base = text_base_name(o->path);
    char *folder;

    if (!*base || !strcmp(base, ".") || !strcmp(base, ".."))
        return error_set(e, ERROR_ARGUMENT, "'%s' names no file; give a file name", o->path);
    folder = base == o->path ? mem_strdup(".") : mem_strndup(o->path, (size_t)(base - o->path));
    o->dirfd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (o->dirfd < 0)
        fail_sys(e, errno, "open the folder of", o->path);
    mem_free(folder);
    return o->dirfd >= 0;
}

static uint64_t random_u64(void)
{
    uint64_t r;

    if (getrandom(&r, sizeof r, GRND_NONBLOCK) == (ssize_t)sizeof r)
        return r;
    /* a guessed name only costs another try: O_EXCL protects */
    return map_mix(clock_now_ns() ^ (uint64_t)getpid() << 32);
}

/* Makes the name .<name>.XXXXXX */
static void name_tmp(char *tmp, size_t cap, const char *base)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789";
    uint64_t r = random_u64();
    char tail[7];
    size_t i;

    for (i = 0; i < sizeof tail - 1; i++, r /= sizeof letters - 1)
        tail[i] = letters[r % (sizeof letters - 1)];
    tail[i] = '\0';
    snprintf(tmp, cap, ".%.*s.%s", TMP_BASE_MAX, base, tail);
}

static bool open_tmp(struct outfile *o, struct error *e)
{
    char tmp[NAME_MAX + 1];
    int tries;

    for (tries = 0; tries < TMP_TRIES; tries++) {
        name_tmp(tmp, sizeof tmp, text_base_name(o->path));
        o->fd = openat(o->dirfd, tmp, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
        if (o->fd >= 0) {
            o->tmp = mem_strdup(tmp);
            return true;
        }
        if (errno != EEXIST && errno != EINTR)
            break;
    }
    return fail_sys(e, errno, "create", o->path);
}

/* Opens an unnamed file, which is copied to `through` when it is complete: even output that rewrites its
 * start can go to a pipe. Takes ownership of `through`. */
static bool open_nameless(struct outfile *o, int through, struct error *e)
{
    char name[PATH_MAX];
    const char *folder = file_temporary_folder();

    o->through = through;
    if (through < 0)
        return fail_sys(e, errno, "open", o->path);
    snprintf(name, sizeof name, "an unnamed file in %s (set TMPDIR to another folder)", folder);
    mem_free(o->path);
    o->path = mem_strdup(name);
    o->fd = file_open_nameless(folder, e);
    return o->fd >= 0;
}

/* Returns the descriptor number of "-", "/dev/stdout" or "/dev/fd/63" (shells pass that for >(command)); -1:
 * another path. */
static int descriptor_of(const char *path)
{
    if (!strcmp(path, "-") || !strcmp(path, "/dev/stdout"))
        return STDOUT_FILENO;
    if (strncmp(path, "/dev/fd/", 8) || !isdigit((unsigned char)path[8]) || strlen(path) > 16)
        return -1;
    return atoi(path + 8);
}

static bool open_target(struct outfile *o, struct error *e)
{
    int number = descriptor_of(o->path), flags = O_WRONLY | O_NOFOLLOW | O_NOCTTY | O_CLOEXEC;
    bool through = false;

    if (number >= 0)
        return open_nameless(o, fcntl(number, F_DUPFD_CLOEXEC, 3), e);
    if (!open_folder(o, e) || !check_target(o, &through, e))
        return false;
    return through ? open_nameless(o, openat(o->dirfd, text_base_name(o->path), flags), e) : open_tmp(o, e);
}

bool outfile_open(struct outfile *o, const char *path, struct error *e)
{
    *o = (struct outfile){ .fd = -1, .dirfd = -1, .through = -1, .path = mem_strdup(path) };
    if (open_target(o, e)) {
        o->pending = mem_alloc(PENDING_BYTES);
        return true;
    }
    outfile_abort(o);
    return false;
}

static bool stick(struct outfile *o, int errnum)
{
    o->failed = true;
    return fail_sys(&o->error, errnum, "write", o->path);
}

static bool write_out(struct outfile *o, const void *bytes, size_t n)
{
    struct error e = { 0 };

    return file_write_all(o->fd, bytes, n, &e) || stick(o, e.sys);
}

static bool flush(struct outfile *o)
{
    size_t n = o->pending_n;

    o->pending_n = 0;
    return write_out(o, o->pending, n);
}

bool outfile_write(struct outfile *o, const void *bytes, size_t n)
{
    if (o->failed)
        return false;
    o->size_bytes += n;
    if (n > PENDING_BYTES - o->pending_n && !flush(o))
        return false;
    if (n >= PENDING_BYTES)
        return write_out(o, bytes, n);
    if (n)
        memcpy(o->pending + o->pending_n, bytes, n);
    o->pending_n += n;
    return true;
}

bool outfile_rewrite(struct outfile *o, uint64_t offset, const void *bytes, size_t n)
{
    const unsigned char *p = bytes;

    if (o->failed)
        return false;
    if (offset > o->size_bytes || n > o->size_bytes - offset) {
        o->failed = true;
        return error_set(&o->error, ERROR_ARGUMENT,
                         "cannot write %s: the bytes at %" PRIu64
                         " cannot be rewritten before they are written",
                         o->path, offset);
    }
    if (!flush(o))
        return false;
    while (n) {
        ssize_t wrote = pwrite(o->fd, p, n, (off_t)offset);

        if (wrote < 0 && errno == EINTR)
            continue;
        if (wrote <= 0)
            return stick(o, wrote ? errno : EIO);
        p += wrote;
        offset += (uint64_t)wrote;
        n -= (size_t)wrote;
    }
    return true;
}

/* Some file systems do not support fsync; that is not a write failure. */
static bool sync_to_disk(struct outfile *o)
{
    return fsync(o->fd) == 0 || errno == EINVAL || errno == ENOSYS || errno == EOPNOTSUPP || stick(o, errno);
}

/* On NFS, close(2) reports a full disk. */
static bool close_tmp(struct outfile *o)
{
    int fd = o->fd;

    o->fd = -1;
    return close(fd) == 0 || errno == EINTR || stick(o, errno);
}

static bool rename_tmp(struct outfile *o)
{
    if (renameat(o->dirfd, o->tmp, o->dirfd, text_base_name(o->path)) < 0)
        return stick(o, errno);
    mem_free(o->tmp);
    o->tmp = NULL;
    /* The file is complete; making its name survive a power failure is best effort. */
    fsync(o->dirfd);
    return true;
}

static bool copy_out(struct outfile *o)
{
    ssize_t n;
    off_t at = 0;

    while ((n = pread(o->fd, o->pending, PENDING_BYTES, at)) != 0) {
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return stick(o, errno);
        if (!file_write_all(o->through, o->pending, (size_t)n, &o->error))
            return !(o->failed = true);
        at += n;
    }
    return true;
}

bool outfile_commit(struct outfile *o, struct error *e)
{
    bool ok = !o->failed && flush(o) &&
              (o->through >= 0 ? copy_out(o) : sync_to_disk(o) && close_tmp(o) && rename_tmp(o));

    if (!ok && e)
        *e = o->error;
    outfile_abort(o);
    return ok;
}

bool outfile_take(struct outfile *o, int *fd, struct error *e)
{
    bool ok = !o->failed && flush(o);

    if (ok) {
        *fd = o->fd;
        o->fd = -1;
    } else if (e) {
        *e = o->error;
    }
    outfile_abort(o);
    return ok;
}

void outfile_abort(struct outfile *o)
{
    /* never opened: the zeros are not valid descriptors */
    if (!o->path)
        return;
    if (o->tmp)
        unlinkat(o->dirfd, o->tmp, 0);
    if (o->fd >= 0)
        close(o->fd);
    if (o->dirfd >= 0)
        close(o->dirfd);
    if (o->through >= 0)
        close(o->through);
    mem_free(o->path);
    mem_free(o->tmp);
    mem_free(o->pending);
    *o = (struct outfile){ .fd = -1, .dirfd = -1, .through = -1 };
}
