// SPDX-License-Identifier: GPL-2.0-or-later
#include "process/memory_limit.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/mem.h"
#include "process/cgroup.h"

/* Returns the lowest limit of the cgroup and its ancestors, from files of that name. "max" and unreadable
 * files mean no limit. */
static uint64_t least_limit(const char *mount, const char *path, const char *file)
{
    char at[PATH_MAX], name[PATH_MAX + 64];
    uint64_t least = UINT64_MAX, limit;
    size_t root = (size_t)snprintf(at, sizeof at, "%s%s", mount, path);
    char *slash = at + root;

    if (root >= sizeof at)
        return UINT64_MAX;
    for (root = strlen(mount); slash && (size_t)(slash - at) >= root; slash = strrchr(at, '/')) {
        *slash = '\0';
        snprintf(name, sizeof name, "%s/%s", at, file);
        if (file_read_u64(name, &limit) && limit < least)
            least = limit;
    }
    return least;
}

uint64_t memory_limit_of_text(const char *text, const char *mounts)
{
    static const struct {
        const char *controller, *mount, *file;
    } kinds[] = {
        { "", "", "memory.max" },
        { "", "/unified", "memory.max" },
        { "memory", "/memory", "memory.limit_in_bytes" },
    };
    uint64_t least = UINT64_MAX;

    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        char mount[PATH_MAX], *path = cgroup_path_in(text, kinds[i].controller);
        snprintf(mount, sizeof mount, "%s%s", mounts, kinds[i].mount);
        uint64_t limit = path ? least_limit(mount, path, kinds[i].file) : UINT64_MAX;
        least = limit < least ? limit : least;
        mem_free(path);
    }
    return least;
}

uint64_t memory_limit(void)
{
    struct buf text = { 0 };
    uint64_t limit = UINT64_MAX;

    if (file_read("/proc/self/cgroup", 64 << 10, &text, NULL))
        limit = memory_limit_of_text(buf_str(&text), "/sys/fs/cgroup");
    buf_done(&text);
    return limit;
}
