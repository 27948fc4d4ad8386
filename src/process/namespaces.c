// SPDX-License-Identifier: GPL-2.0-or-later
#include "process/namespaces.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cursor.h"
#include "base/mem.h"

#define SETS_MAX 4096

static const char *const kinds[NAMESPACES_KINDS] = { "net", "uts", "ipc", "pid", "user", "mnt", "cgroup" };

bool namespaces_read(int dir, struct namespaces *out)
{
    bool any = false;
    char path[16];
    struct stat st;

    memset(out, 0, sizeof *out);
    for (unsigned i = 0; i < NAMESPACES_KINDS; i++) {
        snprintf(path, sizeof path, "ns/%s", kinds[i]);
        if (fstatat(dir, path, &st, 0))
            continue;
        out->links[i] = (struct namespaces_link){ st.st_dev, st.st_ino };
        any = true;
    }
    return any;
}

bool namespaces_of_process(uint32_t pid, struct namespaces *out)
{
    char path[24];
    snprintf(path, sizeof path, "/proc/%u", pid);
    int dir = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (dir < 0)
        return false;
    bool any = namespaces_read(dir, out);
    close(dir);
    return any;
}

void namespaces_of_links(const void *links, uint64_t n, bool swap, struct namespaces *out)
{
    if (n > NAMESPACES_KINDS)
        n = NAMESPACES_KINDS;
    struct cursor c = cursor_of(links, (size_t)n * sizeof *out->links, swap);
    memset(out, 0, sizeof *out);
    for (uint64_t i = 0; i < n; i++) {
        out->links[i].dev = cursor_u64(&c);
        out->links[i].ino = cursor_u64(&c);
    }
}

uint32_t namespaces_number(struct namespaces_table *t, const struct namespaces *ns)
{
    uint64_t hash = map_hash_bytes(ns, sizeof *ns, 0), known;

    if (map_get(&t->by_hash, hash, &known) && !memcmp(&t->items[known - 1], ns, sizeof *ns))
        return (uint32_t)known;
    if (t->n >= SETS_MAX)
        return 0;
    *VEC_PUSH(t) = *ns;
    map_put(&t->by_hash, hash, t->n);
    return (uint32_t)t->n;
}

const struct namespaces *namespaces_get(const struct namespaces_table *t, uint32_t number)
{
    return number && number <= t->n ? &t->items[number - 1] : NULL;
}

void namespaces_done(struct namespaces_table *t)
{
    mem_free(t->items);
    map_done(&t->by_hash);
    *t = (struct namespaces_table){ 0 };
}
