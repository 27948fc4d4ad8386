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
    struct world_memfd *m = VEC_PUSH(&all->waiting);
    *m = (struct world_memfd){ .pid = p->pid,
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
    if (w->memfds.waiting.n)
        *out = w->memfds.waiting.items[0];
    return w->memfds.waiting.n;
}

bool world_read_memfd(const struct world_memfd *m, bool *elf)
{
    struct maps_entry e = {
        .start = m->start, .end = m->end, .ino = m->ino, .maj = m->maj, .min = m->min, .path = m->path
    };

    return proc_maps_elf(m->pid, &e, elf);
}

/* Children that were forked meanwhile share the space or have a copy of it. */
static void map_everywhere(struct world *w, const struct world_memfd *m)
{
    struct module like = {
        .path = m->path, .maj = m->maj, .min = m->min, .ino = m->ino, .map_start = m->start, .map_end = m->end
    };
    struct space_map map = { .start = m->start, .end = m->end, .pgoff = m->pgoff, .time_ns = m->time_ns };
    uint64_t value;

    for (size_t pos = 0; map_next(&w->procs, &pos, NULL, &value);)
        map_found(w, (const struct proc *)(uintptr_t)value, &like, map, true);
}

void world_tell_memfd(struct world *w, const struct world_memfd *told, bool known, bool elf)
{
    struct memfds *all = &w->memfds;
    size_t kept = 0;

    if (known)
        memfd_learn(w, told->ino, elf);
    for (size_t i = 0; i < all->waiting.n; i++) {
        const struct world_memfd *m = &all->waiting.items[i];
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
