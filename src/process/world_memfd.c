// SPDX-License-Identifier: GPL-2.0-or-later
/* Tells JIT code from libraries in memfds. The record of a mapping does not say which it is, and a check of
 * the process may be slow: it counts as JIT code until the check. */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "process/proc.h"
#include "process/world_state.h"

#define WAITING_MAX 256
#define KNOWN_MAX   4096

enum { MEMFD_OTHER = 1, MEMFD_ELF };

static uint64_t known_of(const struct world *w, uint64_t ino)
{
    uint64_t known;

    return map_get(&w->memfds.known, ino, &known) ? known : 0;
}

bool memfd_is_elf(const struct world *w, uint64_t ino)
{
    return known_of(w, ino) == MEMFD_ELF;
}

void memfd_learn(struct world *w, uint64_t ino, bool elf)
{
    if (w->memfds.known.n >= KNOWN_MAX)
        map_clear(&w->memfds.known);
    map_put(&w->memfds.known, ino, elf ? MEMFD_ELF : MEMFD_OTHER);
}

void memfd_mapped(struct world *w, const struct proc *p, const struct module *like,
                  const struct space_map *map)
{
    struct memfds *all = &w->memfds;

    if (known_of(w, like->ino) || all->waiting.n >= WAITING_MAX || strlen(like->path) >= WORLD_MEMFD_PATH)
        return;
    struct memfd_map *m = VEC_PUSH(&all->waiting);
    *m = (struct memfd_map){ .pid = p->pid,
                             .maj = like->maj,
                             .min = like->min,
                             .start = map->start,
                             .end = map->end,
                             .pgoff = map->pgoff,
                             .ino = like->ino,
                             .time_ns = map->time_ns };
    snprintf(m->path, sizeof m->path, "%s", like->path);
}

bool world_wants_memfd(const struct world *w, struct world_memfd *out)
{
    const struct memfd_map *m = w->memfds.waiting.items;

    if (!w->memfds.waiting.n)
        return false;
    *out = (struct world_memfd){
        .pid = m->pid, .maj = m->maj, .min = m->min, .start = m->start, .end = m->end, .ino = m->ino
    };
    memcpy(out->path, m->path, sizeof out->path);
    return true;
}

bool world_read_memfd(const struct world_memfd *m, bool *elf)
{
    struct maps_entry e = {
        .start = m->start, .end = m->end, .ino = m->ino, .maj = m->maj, .min = m->min, .path = m->path
    };

    return proc_maps_elf(m->pid, &e, elf);
}

/* The time proves that it is the same mapping, not one of another process or a later one. */
static void map_file(struct world *w, struct space *s, const struct proc *p, const struct memfd_map *m)
{
    const struct space_map *now = space_find(s, m->start);
    struct module like = {
        .path = m->path, .maj = m->maj, .min = m->min, .ino = m->ino, .map_start = m->start, .map_end = m->end
    };
    struct space_map map = { .start = m->start, .end = m->end, .pgoff = m->pgoff, .time_ns = m->time_ns };

    if (!now || now->time_ns != m->time_ns || now->mod->module->kind != MODULE_JIT || now->end < m->end)
        return;
    map.mod = user_mod(w, p, &like, true);
    map_add(w, s, &map);
}

/* Children that were forked meanwhile share the space or have a copy of it. */
static void map_everywhere(struct world *w, const struct memfd_map *m)
{
    uint64_t value;

    for (size_t pos = 0; map_next(&w->procs, &pos, NULL, &value);) {
        const struct proc *p = (const struct proc *)(uintptr_t)value;
        map_file(w, p->image->space, p, m);
    }
}

void world_tell_memfd(struct world *w, const struct world_memfd *told, bool known, bool elf)
{
    struct memfds *all = &w->memfds;
    size_t kept = 0;

    if (known)
        memfd_learn(w, told->ino, elf);
    for (size_t i = 0; i < all->waiting.n; i++) {
        const struct memfd_map *m = &all->waiting.items[i];
        if (m->ino == told->ino && elf)
            map_everywhere(w, m);
        else if (m->ino != told->ino)
            all->waiting.items[kept++] = *m;
    }
    all->waiting.n = kept;
}

void memfds_done(struct memfds *m)
{
    mem_free(m->waiting.items);
    map_done(&m->known);
    *m = (struct memfds){ 0 };
}
