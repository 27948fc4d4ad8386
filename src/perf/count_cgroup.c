// SPDX-License-Identifier: GPL-2.0-or-later
/* The cgroups to count: those directly below the scope's cgroup, or the scope's cgroups if there are
 * several. */
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/mem.h"
#include "perf/count_set.h"
#include "perf/namelist.h"

/* True if it or a descendant has tasks; always true in a v1 hierarchy, which does not report it. */
static bool is_populated(const char *path)
{
    char file[PATH_MAX + 1024];
    struct buf text = { 0 };
    (void)snprintf(file, sizeof file, "%s/cgroup.events", path);
    bool empty = file_read(file, 4096, &text, NULL) && strstr(buf_str(&text), "populated 0");
    buf_done(&text);
    return !empty;
}

static void add_cgroup(struct count_set *c, const char *path, const char *name)
{
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return;
    if (!is_populated(path)) {
        close(fd);
        return;
    }
    *VEC_PUSH(&c->cgroups) = mem_strdup(name);
    for (uint32_t i = 0; i < c->n_cpus; i++) {
        int cpu = c->slots.items[i].cpu;
        struct count_slot *slot = count_slot_add(c, SLOT_CGROUP, fd, cpu, count_core_of(c, (uint32_t)cpu));
        if (slot)
            slot->owner = (uint32_t)c->cgroups.n - 1;
    }
}

void count_cgroups_add(struct count_set *c, uint32_t most)
{
    char root[PATH_MAX], path[PATH_MAX + 800], name[800];
    const char *of = c->scope.kind == SCOPE_CGROUP && strcmp(c->scope.cgroup, "/") ? c->scope.cgroup : "";
    struct namelist below = { 0 };
    bool v2;
    if (!scope_cgroup_root(root, sizeof root, &v2, NULL))
        return;
    (void)snprintf(path, sizeof path, "%s%s", root, of);
    for (uint32_t i = 0; i < scope_cgroups(&c->scope) && c->scope.n_more_cgroups && c->cgroups.n < most;
         i++) {
        (void)snprintf(path, sizeof path, "%s%s", root, scope_cgroup(&c->scope, i));
        add_cgroup(c, path, scope_cgroup(&c->scope, i));
    }
    if (!c->scope.n_more_cgroups)
        namelist_add_dir(&below, path, true, NULL);
    for (size_t i = 0; i < below.n && c->cgroups.n < most; i++) {
        if ((size_t)snprintf(name, sizeof name, "%s/%s", of, below.items[i]) >= sizeof name)
            continue;
        (void)snprintf(path, sizeof path, "%s%s", root, name);
        add_cgroup(c, path, name);
    }
    namelist_done(&below);
}

void count_cgroups_close(struct count_set *c)
{
    uint32_t last = UINT32_MAX;
    for (uint32_t i = 0; i < c->slots.n; i++) {
        if (c->slots.items[i].kind != SLOT_CGROUP || c->slots.items[i].owner == last)
            continue;
        last = c->slots.items[i].owner;
        close(c->slots.items[i].pid);
    }
}

void count_cgroups_done(struct count_set *c)
{
    for (uint32_t i = 0; i < c->cgroups.n; i++)
        mem_free(c->cgroups.items[i]);
    VEC_FREE(&c->cgroups);
}
