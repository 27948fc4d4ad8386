// SPDX-License-Identifier: GPL-2.0-or-later
/* Finds tracefs, the kernel's file system of tracepoints, or mounts it where no other process sees it. */
#include <errno.h>
#include <linux/magic.h>
#include <linux/mount.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/file.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/text.h"
#include "perf/tracepoint.h"
#include "perf/tracepoint_path.h"

#define MOUNT_POINT   "/sys/kernel/tracing"
#define UNDER_DEBUGFS "/sys/kernel/debug/tracing"
#define MOUNTS_MAX    (4u << 20)

static const char *test_root;

/* The mount of this process: it is attached to no folder, and ends with the process. */
static struct {
    pthread_once_t once;
    atomic_bool there; /* path is set */
    char path[32];
    int errnum; /* why it was refused */
} detached = { .once = PTHREAD_ONCE_INIT };

void tracepoint_set_root(const char *dir)
{
    test_root = dir;
}

static bool is_tracefs(const char *dir)
{
    struct statfs fs;
    return !statfs(dir, &fs) && fs.f_type == TRACEFS_MAGIC;
}

/* Find the mount point of the first tracefs in /proc/mounts: "none /mnt/trace tracefs rw,… 0 0". */
static bool find_mount(char *dst, size_t cap)
{
    struct buf mounts = { 0 };
    bool found = false;
    if (file_read("/proc/mounts", MOUNTS_MAX, &mounts, NULL)) {
        char *rest = mounts.data;
        for (char *line; !found && (line = strsep(&rest, "\n"));) {
            char *device = strsep(&line, " "), *dir = strsep(&line, " "), *type = strsep(&line, " ");
            found = device && dir && type && !strcmp(type, "tracefs") && strlen(dir) < cap;
            if (found)
                snprintf(dst, cap, "%s", dir);
        }
    }
    buf_done(&mounts);
    return found;
}

/* fsopen(2) and its relatives, without glibc, whose header conflicts with the kernel's. They need Linux 5.2
 * and CAP_SYS_ADMIN. */
static void mount_detached(void)
{
    int fs = (int)syscall(SYS_fsopen, "tracefs", FSOPEN_CLOEXEC);
    int mount = fs >= 0 && !syscall(SYS_fsconfig, fs, FSCONFIG_CMD_CREATE, NULL, NULL, 0)
                    ? (int)syscall(SYS_fsmount, fs, FSMOUNT_CLOEXEC,
                                   MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC)
                    : -1;
    detached.errnum = errno;
    if (fs >= 0)
        close(fs);
    if (mount < 0)
        return;
    snprintf(detached.path, sizeof detached.path, "/proc/self/fd/%d", mount);
    detached.there = true;
    log_add("tracefs is not mounted: reading it through a mount that only flametop has");
}

const char *tracepoint_root(void)
{
    static _Thread_local char elsewhere[256];
    if (test_root)
        return *test_root ? test_root : NULL;
    if (detached.there) /* first: without it each call would search all mounts, in vain */
        return detached.path;
    if (is_tracefs(MOUNT_POINT))
        return MOUNT_POINT;
    if (is_tracefs(UNDER_DEBUGFS)) /* accessing it mounts it */
        return UNDER_DEBUGFS;
    if (find_mount(elsewhere, sizeof elsewhere))
        return elsewhere;
    pthread_once(&detached.once, mount_detached);
    return detached.there ? detached.path : NULL;
}

bool tracefs_explain(struct error *e)
{
    struct stat st;
    bool hidden = lstat(UNDER_DEBUGFS, &st) && errno == EACCES;
    if (lstat(MOUNT_POINT, &st) && !test_root)
        return error_set(e, ERROR_UNSUPPORTED, "tracepoints: this kernel has no tracefs (CONFIG_TRACING)");
    error_set(e, ERROR_MISSING,
              "tracepoints: tracefs is not mounted; as root: mount -t tracefs nodev " MOUNT_POINT);
    if (!test_root && !geteuid())
        error_hint(e, "flametop could not mount it for itself: %s", strerror(detached.errnum));
    return hidden ? error_hint(e, UNDER_DEBUGFS " is not readable by this user") : false;
}
