// SPDX-License-Identifier: GPL-2.0-or-later
/* Files are found as O_PATH descriptors first, which opens nothing: not a FIFO that would block, not a device
 * that would act. Only what turns out to be the regular file that was mapped is opened for reading. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "process/module.h"

#define DESCRIPTORS_MAX 1024 /* looked at, of one process */

static int fail(int fd, int err)
{
    if (fd >= 0)
        close(fd);
    errno = err;
    return -1;
}

static bool on_overlay(int fd)
{
    struct statfs fs;

    return !fstatfs(fd, &fs) && fs.f_type == OVERLAYFS_SUPER_MAGIC;
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

/* What the kernel says of a mapping's file: its path, with " (deleted)" behind it as soon as another file or none is
 * in its place. */
static bool read_map_link(const struct module *m, char link[96], char target[4096 + 16])
{
    ssize_t n;

    snprintf(link, 96, "/proc/%u/map_files/%llx-%llx", m->pid, (unsigned long long)m->map_start,
             (unsigned long long)m->map_end);
    n = m->pid && m->map_end ? readlink(link, target, 4096 + 15) : -1;
    target[n > 0 ? n : 0] = '\0';
    return n > 0;
}

static bool is_still_in_place(const struct module *m)
{
    char link[96], target[4096 + 16];

    return read_map_link(m, link, target) && !strcmp(base_name(target), base_name(m->path));
}

/* The kernel tells a mapping's device and inode. stat() gives btrfs subvolumes and overlays a device of their own,
 * without a major number: there the inode decides. An overlay may show another inode, too, than that of the file
 * below, which was mapped: then it is only believed while the mapping itself says that nothing was replaced. */
static bool is_mapped_file(int fd, const struct module *m, const struct stat *st, bool by_map)
{
    unsigned maj = major(st->st_dev), min = minor(st->st_dev);

    if (!m->live || !m->ino)
        return true;
    if (st->st_ino == m->ino)
        return !maj || !m->maj || (maj == m->maj && min == m->min);
    return on_overlay(fd) && !(maj == m->maj && min == m->min) && (by_map || is_still_in_place(m));
}

/* The number of a file that is gone may have been given to a new one: the generation tells them apart, where the
 * record told it and the file system does. */
static bool is_same_generation(int fd, const struct module *m)
{
    int generation;

    return !m->live || !m->ino_generation || ioctl(fd, FS_IOC_GETVERSION, &generation) ||
           (uint32_t)generation == (uint32_t)m->ino_generation;
}

/* Takes path_fd. */
static int reopen(int path_fd, const struct module *m, bool by_map)
{
    struct stat st;
    char link[40];
    int fd;

    if (path_fd < 0)
        return -1;
    if (fstat(path_fd, &st) < 0)
        return fail(path_fd, errno);
    if (!S_ISREG(st.st_mode))
        return fail(path_fd, EINVAL);
    if (!is_mapped_file(path_fd, m, &st, by_map))
        return fail(path_fd, ESTALE);
    snprintf(link, sizeof link, "/proc/self/fd/%d", path_fd);
    fd = open(link, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (fd < 0)
        return fail(path_fd, errno);
    close(path_fd);
    return is_same_generation(fd, m) ? fd : fail(fd, ESTALE);
}

/* openat2 keeps links of the process from leading out of its root. Without it (before Linux 5.6, or where
 * seccomp hides it) our own root is looked at as usual: there is nothing to get out of. */
static int find_in(const char *root, const char *path)
{
    struct open_how how = {
        .flags = O_PATH | O_CLOEXEC,
        .resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS,
    };
    int root_fd = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
    int fd;

    if (root_fd < 0)
        return -1;
    fd = (int)syscall(SYS_openat2, root_fd, path, &how, sizeof how);
    if (fd < 0 && (errno == ENOSYS || errno == EPERM) && !strcmp(root, "/"))
        fd = open(path, O_PATH | O_CLOEXEC);
    return fd < 0 ? fail(root_fd, errno) : (close(root_fd), fd);
}

/* The link leads to the very file, deleted or replaced as it may be. The process may have mapped something
 * else there since: the name has to be the same, as has the inode. */
static int find_by_map(const struct module *m)
{
    char link[96], target[4096 + 16];
    const char *base = base_name(m->path);

    if (!read_map_link(m, link, target))
        return -1;
    if (strncmp(base_name(target), base, strlen(base)))
        return fail(-1, ESTALE);
    return open(link, O_PATH | O_CLOEXEC);
}

/* Whoever may not follow map_files may still open what a process of his own runs … */
static int find_program(const struct module *m)
{
    char link[32];

    snprintf(link, sizeof link, "/proc/%u/exe", m->pid);
    return m->ino && module_is_memfd(m->path) ? open(link, O_PATH | O_CLOEXEC) : -1;
}

static bool is_inode(int dir, const char *name, const struct module *m)
{
    struct stat st;

    return !fstatat(dir, name, &st, 0) && st.st_ino == m->ino && S_ISREG(st.st_mode);
}

/* … or holds open: libraries in memory are loaded by such a path. */
static int find_descriptor(const struct module *m)
{
    char path[32];
    int dir, fd = -1, left = DESCRIPTORS_MAX;
    struct dirent *entry;
    DIR *list;

    if (!m->ino || !module_is_memfd(m->path))
        return -1;
    snprintf(path, sizeof path, "/proc/%u/fd", m->pid);
    list = opendir(path);
    while (list && fd < 0 && left-- && (entry = readdir(list))) {
        dir = dirfd(list);
        if (entry->d_name[0] != '.' && is_inode(dir, entry->d_name, m))
            fd = openat(dir, entry->d_name, O_PATH | O_CLOEXEC);
    }
    if (list)
        closedir(list);
    return fd;
}

static int open_live(const struct module *m)
{
    char root[32];
    int fd;

    if (m->pid) {
        fd = m->map_end ? reopen(find_by_map(m), m, true) : -1;
        if (fd < 0)
            fd = reopen(find_program(m), m, false);
        if (fd < 0)
            fd = reopen(find_descriptor(m), m, false);
        if (fd >= 0)
            return fd;
        snprintf(root, sizeof root, "/proc/%u/root", m->pid);
        fd = reopen(find_in(root, m->path), m, false);
        if (fd >= 0)
            return fd;
    }
    return reopen(find_in("/", m->path), m, false);
}

int module_open(const struct module *m, const char *symfs)
{
    if ((m->kind != MODULE_FILE && m->kind != MODULE_KMOD) || m->path[0] != '/')
        return fail(-1, ENOENT);
    if (m->live)
        return open_live(m);
    return reopen(find_in(symfs && *symfs ? symfs : "/", m->path), m, false);
}
