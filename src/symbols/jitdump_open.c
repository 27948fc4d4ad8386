// SPDX-License-Identifier: GPL-2.0-or-later
/* Find the jitdump of a process. The mapping identifies the file by device and inode, so names and links
 * cannot lead to another one. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "process/maps.h"
#include "process/module.h"
#include "process/opener.h"
#include "symbols/jitdump.h"
#include "symbols/target.h"

bool jitdump_is_name(const char *path, uint32_t *number)
{
    const char *slash = strrchr(path, '/');
    unsigned n;
    int end = 0;

    if (!slash || slash[1] != 'j' || sscanf(slash, "/jit-%9u.dump%n", &n, &end) != 1 || !end ||
        (slash[end] && strcmp(slash + end, " (deleted)")))
        return false;
    *number = n;
    return true;
}

/* Return the mapping of the dump; NULL: none. */
static const struct maps_entry *find(const struct maps *maps, uint32_t inner_pid)
{
    const struct maps_entry *found = NULL;
    uint32_t i, number;

    for (i = 0; i < maps->n; i++)
        if (jitdump_is_name(maps->items[i].path, &number) && (!found || number == inner_pid))
            found = &maps->items[i];
    return found;
}

static int open_mapped(uint32_t pid, const struct target *t, const struct maps_entry *map, struct error *e)
{
    const struct module like = { .kind = MODULE_FILE,
                                 .path = map->path,
                                 .maj = map->maj,
                                 .min = map->min,
                                 .ino = map->ino,
                                 .pid = pid,
                                 .map_start = map->start,
                                 .map_end = map->end,
                                 .live = true };
    struct module *m = module_new(&like); /* a deleted file is opened by its old name */
    struct opened of;
    int fd = module_open(m, NULL);

    if (fd < 0) {
        opener_error(e, errno, map->path);
    } else if (!opened_facts(fd, &of) || (of.st.st_uid != t->uid && of.st.st_uid != 0)) {
        error_set(e, ERROR_PERMISSION,
                  "%s belongs to user %u, not to the process's user %u, and was not read", map->path,
                  (unsigned)of.st.st_uid, t->uid);
        close(fd);
        fd = -1;
    }
    module_put(m);
    return fd;
}

int jitdump_open(uint32_t pid, struct error *e)
{
    struct maps maps = { 0 };
    const struct maps_entry *map;
    struct target t;
    char path[40];
    int maps_fd, fd = -1;

    if (!target_read(pid, &t, e))
        return -1;
    snprintf(path, sizeof path, "/proc/%u/maps", pid);
    maps_fd = open(path, O_RDONLY | O_CLOEXEC);
    if (maps_fd < 0) {
        error_sys(e, errno, "cannot read %s", path);
        return -1;
    }
    maps_read_fd(&maps, maps_fd);
    close(maps_fd);
    map = find(&maps, t.inner_pid);
    if (map)
        fd = open_mapped(pid, &t, map, e);
    else
        error_set(e, ERROR_MISSING, "process %u maps no jit-%u.dump", pid, t.inner_pid);
    maps_done(&maps);
    return fd;
}
