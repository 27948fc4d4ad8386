// SPDX-License-Identifier: GPL-2.0-or-later
#include "symbols/safeopen.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Without openat2 (before Linux 5.6, or refused by a container's filter): step by step, following no link. */
static int walk(int dir, const char *path)
{
    int at = fcntl(dir, F_DUPFD_CLOEXEC, 0);

    while (at >= 0) {
        char part[NAME_MAX + 1];
        size_t n;
        int next, saved;

        path += strspn(path, "/");
        n = strcspn(path, "/");
        if (!n || n > NAME_MAX || (n == 2 && !memcmp(path, "..", 2))) {
            close(at);
            errno = EINVAL;
            return -1;
        }
        memcpy(part, path, n);
        part[n] = '\0';
        path += n;
        next = openat(at, part, O_PATH | O_NOFOLLOW | O_CLOEXEC | (*path ? O_DIRECTORY : 0));
        saved = errno;
        close(at);
        errno = saved;
        at = next;
        if (!*path)
            break;
    }
    return at;
}

static int open_path(int dir, const char *path, bool links)
{
    struct open_how how = { .flags = O_PATH | O_CLOEXEC, .resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS };
    long fd;

    if (!links) {
        how.flags |= O_NOFOLLOW;
        how.resolve |= RESOLVE_NO_SYMLINKS;
    }
    fd = syscall(SYS_openat2, dir, path, &how, sizeof how);
    if (fd < 0 && (errno == ENOSYS || errno == EPERM))
        return walk(dir, path);
    return (int)fd;
}

/* Only what is known to be a regular file is opened in earnest: even opening may act on a device. */
static int reopen_regular(int handle, struct stat *st)
{
    char self[40];

    if (fstat(handle, st))
        return -1;
    if (!S_ISREG(st->st_mode)) {
        errno = S_ISLNK(st->st_mode) ? ELOOP : ENXIO;
        return -1;
    }
    snprintf(self, sizeof self, "/proc/self/fd/%d", handle);
    return open(self, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
}

int safeopen_regular(const char *root, const char *path, bool links, struct stat *st)
{
    struct stat unused;
    int dir = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
    int handle, fd = -1, saved;

    if (dir < 0)
        return -1;
    handle = open_path(dir, path, links);
    if (handle >= 0)
        fd = reopen_regular(handle, st ? st : &unused);
    saved = errno;
    if (handle >= 0)
        close(handle);
    close(dir);
    errno = saved;
    return fd;
}

int safeopen_handle(const char *root, const char *path, struct stat *st)
{
    int dir = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
    int handle, saved;

    if (dir < 0)
        return -1;
    handle = open_path(dir, path, false);
    if (handle >= 0 && fstat(handle, st)) {
        close(handle);
        handle = -1;
    }
    saved = errno;
    close(dir);
    errno = saved;
    return handle;
}

int safeopen_folder(const char *root, const char *path)
{
    struct stat st;
    int handle = safeopen_handle(root, path, &st);

    if (handle >= 0 && !S_ISDIR(st.st_mode)) {
        close(handle);
        errno = ENOTDIR;
        return -1;
    }
    return handle;
}
