// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/file.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define READ_CHUNK 4096

static bool read_all(int fd, const char *name, size_t max, struct buf *b, struct error *e)
{
    char chunk[READ_CHUNK];

    for (;;) {
        ssize_t n = read(fd, chunk, sizeof chunk);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return error_sys(e, errno, "cannot read %s", name);
        if (n == 0)
            return true;
        if ((size_t)n > max - b->len)
            return error_set(e, ERROR_LIMIT, "%s is larger than %zu bytes: not read", name, max);
        buf_add(b, chunk, (size_t)n);
    }
}

bool file_read_fd(int fd, const char *name, size_t max, struct buf *b, struct error *e)
{
    buf_clear(b);
    if (read_all(fd, name, max, b, e))
        return true;
    buf_clear(b);
    return false;
}

bool file_read_at(int dirfd, const char *path, size_t max, struct buf *b, struct error *e)
{
    /* O_NONBLOCK: a FIFO instead of the file must not block */
    int fd = openat(dirfd, path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    bool ok;

    buf_clear(b);
    if (fd < 0)
        return error_sys(e, errno, "cannot open %s", path);
    ok = file_read_fd(fd, path, max, b, e);
    close(fd);
    return ok;
}

bool file_read(const char *path, size_t max, struct buf *b, struct error *e)
{
    return file_read_at(AT_FDCWD, path, max, b, e);
}

size_t file_read_from(int fd, void *bytes, size_t n, uint64_t offset)
{
    size_t done = 0;

    while (done < n) {
        ssize_t got = pread(fd, (char *)bytes + done, n - done, (off_t)(offset + done));

        if (got == 0 || (got < 0 && errno != EINTR))
            break;
        done += got > 0 ? (size_t)got : 0;
    }
    return done;
}

/* Parses one number, followed by nothing but white space. */
static bool parse_u64(const char *s, uint64_t *v)
{
    bool hex = s[0] == '0' && (s[1] == 'x' || s[1] == 'X');
    const char *digits = hex ? s + 2 : s;
    unsigned long long n;
    char *end;

    /* strtoull would accept a sign and leading blanks */
    if (hex ? !((*digits >= '0' && *digits <= '9') || ((*digits | 0x20) >= 'a' && (*digits | 0x20) <= 'f'))
            : !(*digits >= '0' && *digits <= '9'))
        return false;
    errno = 0;
    n = strtoull(digits, &end, hex ? 16 : 10);
    while (*end == '\n' || *end == ' ' || *end == '\t')
        end++;
    if (errno || *end)
        return false;
    *v = n;
    return true;
}

bool file_read_u64(const char *path, uint64_t *v)
{
    struct buf b = { 0 };
    bool ok = file_read(path, 128, &b, NULL) && parse_u64(buf_str(&b), v);

    buf_done(&b);
    return ok;
}

static bool wait_writable(int fd)
{
    struct pollfd p = { .fd = fd, .events = POLLOUT };

    return poll(&p, 1, -1) >= 0 || errno == EINTR;
}

bool file_write_all(int fd, const void *bytes, size_t n, struct error *e)
{
    const unsigned char *p = bytes;

    while (n) {
        ssize_t wrote = write(fd, p, n);

        if (wrote > 0) {
            p += wrote;
            n -= (size_t)wrote;
            continue;
        }
        if (wrote < 0 && (errno == EINTR || (errno == EAGAIN && wait_writable(fd))))
            continue;
        return error_sys(e, wrote ? errno : EIO, "cannot write the output");
    }
    return true;
}

int file_in_memory(const char *name, const void *bytes, size_t n)
{
    int fd = memfd_create(name, MFD_CLOEXEC);

    if (fd >= 0 && !file_write_all(fd, bytes, n, NULL)) {
        close(fd);
        return -1;
    }
    return fd;
}

bool file_is_elf(int fd)
{
    char magic[SELFMAG];
    return pread(fd, magic, sizeof magic, 0) == sizeof magic && !memcmp(magic, ELFMAG, SELFMAG);
}

const char *file_temporary_folder(void)
{
    const char *named = getenv("TMPDIR");
    struct stat st;
    if (named && *named == '/')
        return named;
    return stat("/var/tmp", &st) == 0 && S_ISDIR(st.st_mode) ? "/var/tmp" : "/tmp";
}

int file_open_nameless(const char *folder, struct error *e)
{
    char path[512];
    int fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (fd >= 0 || (errno != EOPNOTSUPP && errno != EISDIR && errno != ENOENT))
        return fd >= 0 ? fd : (error_sys(e, errno, "cannot make a file in %s", folder), -1);
    snprintf(path, sizeof path, "%.480s/flametop-XXXXXX", folder);
    fd = mkostemp(path, O_CLOEXEC);
    if (fd < 0)
        error_sys(e, errno, "cannot make a file in %s", folder);
    else
        unlink(path);
    return fd;
}
