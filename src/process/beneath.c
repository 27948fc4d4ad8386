// SPDX-License-Identifier: GPL-2.0-or-later
/* Opens paths below a folder; no path can lead out of it. */
#include "process/opener_serve.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Fallback without openat2 (before Linux 5.6, or blocked by a container's seccomp filter): opens component by
 * component and follows no symbolic link. */
static int open_by_steps(int dir, const char *path)
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

/* Below flametop's own root there is nothing to escape from. */
static bool is_our_root(int dir)
{
    struct stat st, root;

    return !fstat(dir, &st) && !stat("/", &root) && st.st_dev == root.st_dev && st.st_ino == root.st_ino;
}

int beneath_open(int dir, const char *path, bool links)
{
    struct open_how how = { .flags = O_PATH | O_CLOEXEC, .resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS };
    long fd;

    if (!links) {
        how.flags |= O_NOFOLLOW;
        how.resolve |= RESOLVE_NO_SYMLINKS;
    }
    fd = syscall(SYS_openat2, dir, path, &how, sizeof how);
    if (fd >= 0 || (errno != ENOSYS && errno != EPERM))
        return (int)fd;
    if (links && *path == '/' && is_our_root(dir))
        return open(path, O_PATH | O_CLOEXEC);
    return open_by_steps(dir, path);
}
