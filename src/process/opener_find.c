// SPDX-License-Identifier: GPL-2.0-or-later
/* Finds files as O_PATH descriptors. That opens nothing: a FIFO would block, a device would act. The kernel's
 * own links (map_files, exe, fd) are followed with all of flametop's rights, because they lead to files that
 * the process has open. Paths are followed with the user's rights. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <linux/magic.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/text.h"
#include "process/opener_serve.h"

#define DESCRIPTORS_MAX 1024 /* most descriptors checked per process */

static bool on_overlay(int fd)
{
    struct statfs fs;

    return !fstatfs(fd, &fs) && fs.f_type == OVERLAYFS_SUPER_MAGIC;
}

/* Reads the kernel's link to a mapping's file: its path, with " (deleted)" appended once the file is deleted
 * or replaced. */
static bool read_map_link(const struct opener_request *q, char link[96], char target[4096 + 16])
{
    ssize_t n;

    snprintf(link, 96, "/proc/%u/map_files/%llx-%llx", q->user.pid, (unsigned long long)q->map_start,
             (unsigned long long)q->map_end);
    n = q->user.pid && q->map_end ? readlink(link, target, 4096 + 15) : -1;
    target[n > 0 ? n : 0] = '\0';
    return n > 0;
}

static bool is_still_in_place(const struct opener_request *q)
{
    char link[96], target[4096 + 16];

    return read_map_link(q, link, target) && !strcmp(text_base_name(target), text_base_name(q->path));
}

/* Compares the device and inode of the file with those of the mapping. stat() reports a separate device,
 * without a major number, for btrfs subvolumes and overlays: there the inode decides. An overlay may also
 * report another inode than the mapped file below it. Such a file is accepted only while the mapping itself
 * proves that nothing was replaced. */
int find_check(const struct finding *f, int path_fd, const struct stat *st)
{
    const struct opener_request *q = f->q;
    unsigned maj = major(st->st_dev), min = minor(st->st_dev);
    bool same;

    if (!q->live || !q->ino)
        return 0;
    if (st->st_ino == q->ino)
        same = !maj || !q->maj || (maj == q->maj && min == q->min);
    else
        same =
            on_overlay(path_fd) && !(maj == q->maj && min == q->min) && (f->by_map || is_still_in_place(q));
    return same ? 0 : ESTALE;
}

/* The inode number of a deleted file may be reused by a new file. The generation differs, where both the
 * record and the file system report it. */
int find_check_generation(const struct finding *f, int fd)
{
    int generation;

    return !f->q->live || !f->q->ino_generation || ioctl(fd, FS_IOC_GETVERSION, &generation) ||
                   (uint32_t)generation == (uint32_t)f->q->ino_generation
               ? 0
               : ESTALE;
}

int find_path(const struct finding *f, const char *root, const char *path, bool links)
{
    int dir = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC), fd = -1, saved;

    if (dir < 0)
        return -1;
    if (!f->confined || rights_take(f->rights)) {
        fd = beneath_open(dir, path, links);
        saved = errno;
        if (f->confined)
            rights_return();
    } else {
        saved = errno;
    }
    close(dir);
    errno = saved;
    return fd;
}

/* The link leads to the mapped file itself, even if it is deleted or replaced. The process may have mapped
 * another file there since, so the name must match, like the inode. */
static int find_by_map(const struct opener_request *q)
{
    char link[96], target[4096 + 16];
    const char *base = text_base_name(q->path);

    if (!read_map_link(q, link, target))
        return -1;
    if (strncmp(text_base_name(target), base, strlen(base))) {
        errno = ESTALE;
        return -1;
    }
    return open(link, O_PATH | O_CLOEXEC);
}

/* Without permission to follow map_files, a user can still open the program that an own process runs. */
static int find_program(const struct opener_request *q)
{
    char link[32];

    errno = ENOENT;
    snprintf(link, sizeof link, "/proc/%u/exe", q->user.pid);
    return q->ino && module_is_memfd(q->path) ? open(link, O_PATH | O_CLOEXEC) : -1;
}

static bool is_inode(int dir, const char *name, const struct opener_request *q)
{
    struct stat st;

    return !fstatat(dir, name, &st, 0) && st.st_ino == q->ino && S_ISREG(st.st_mode);
}

/* Libraries in memfds are loaded by the path of a descriptor that the process holds open. */
static int find_descriptor(const struct opener_request *q)
{
    char path[32];
    int dir, fd = -1, left = DESCRIPTORS_MAX;
    struct dirent *entry;
    DIR *list;

    errno = ENOENT;
    if (!q->ino || !module_is_memfd(q->path))
        return -1;
    snprintf(path, sizeof path, "/proc/%u/fd", q->user.pid);
    list = opendir(path);
    while (list && fd < 0 && left-- && (entry = readdir(list))) {
        dir = dirfd(list);
        if (entry->d_name[0] != '.' && is_inode(dir, entry->d_name, q))
            fd = openat(dir, entry->d_name, O_PATH | O_CLOEXEC);
    }
    if (list)
        closedir(list);
    return fd;
}

enum { BY_MAP, BY_PROGRAM, BY_DESCRIPTOR, BY_PROCESS_ROOT, BY_OUR_ROOT };

int find_module(struct finding *f, unsigned way, bool *more)
{
    const struct opener_request *q = f->q;
    char root[32];

    if (!q->live)
        way += BY_OUR_ROOT;
    *more = way < BY_OUR_ROOT;
    f->by_map = way == BY_MAP;
    errno = ENOENT;
    if (*more && !q->user.pid)
        return -1;
    switch (way) {
    case BY_MAP:
        return find_by_map(q);
    case BY_PROGRAM:
        return find_program(q);
    case BY_DESCRIPTOR:
        return find_descriptor(q);
    case BY_PROCESS_ROOT:
        snprintf(root, sizeof root, "/proc/%u/root", q->user.pid);
        return find_path(f, root, q->path, true);
    default:
        f->rights = &f->here;
        return find_path(f, q->root, q->path, true);
    }
}
