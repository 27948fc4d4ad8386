// SPDX-License-Identifier: GPL-2.0-or-later
/* Lists all cgroups depth first, with each subtree's share of the samples of the last seconds. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/mem.h"
#include "session/listing.h"

#define CGROUPS_MAX      20000
#define CGROUP_DEPTH_MAX 32

struct cgroup_tree {
    VEC(struct session_cgroup);
    const struct map *sums; /* by cgroup id, v2 */
    uint64_t all;
    size_t root_len;
};

static uint32_t count_procs(const char *dir)
{
    struct buf text = { 0 };
    char path[700];
    uint32_t n = 0;
    snprintf(path, sizeof path, "%s/cgroup.procs", dir);
    if (file_read(path, 1 << 22, &text, NULL))
        for (size_t i = 0; i < text.len; i++)
            n += text.data[i] == '\n';
    buf_done(&text);
    return n;
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

static int is_folder(const struct dirent *d)
{
    return d->d_type == DT_DIR && d->d_name[0] != '.';
}

/* Reads a cgroup and its children, depth first. Returns the samples of the subtree. CGROUP_DEPTH_MAX
 * bounds the recursion. */
static uint64_t read_cgroup(struct cgroup_tree *t, const char *dir, uint32_t depth)
{
    struct stat st;
    struct dirent **names;
    uint64_t samples = 0;
    if (t->n == CGROUPS_MAX || depth > CGROUP_DEPTH_MAX || stat(dir, &st) < 0)
        return 0;
    size_t self = t->n;
    struct session_cgroup *c = VEC_PUSH(t);
    *c = (struct session_cgroup){ .depth = depth, .n_procs = count_procs(dir) };
    snprintf(c->path, sizeof c->path, "%s", dir[t->root_len] ? dir + t->root_len : "/");
    map_get(t->sums, st.st_ino, &samples);
    int n = scandir(dir, &names, is_folder, by_name);
    for (int i = 0; i < n; i++) {
        char below[600];
        if ((size_t)snprintf(below, sizeof below, "%s/%s", dir, names[i]->d_name) < sizeof below)
            samples += read_cgroup(t, below, depth + 1);
        free(names[i]);
    }
    if (n >= 0)
        free(names);
    t->items[self].samples = samples;
    t->items[self].percent = t->all ? 100.0 * (double)samples / (double)t->all : 0;
    return samples;
}

void listing_read_cgroups(struct listing *l)
{
    char root[512];
    bool v2;
    if (!scope_cgroup_root(root, sizeof root, &v2, &l->result.error))
        return;
    struct cgroup_tree t = { .sums = &l->samples, .all = l->all, .root_len = strlen(root) };
    read_cgroup(&t, root, 0);
    if (!t.n)
        error_sys(&l->result.error, errno, "cannot read the cgroups in %s", root);
    l->result.cgroups = t.items;
    l->result.n = (uint32_t)t.n;
}
