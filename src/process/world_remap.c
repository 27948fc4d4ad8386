// SPDX-License-Identifier: GPL-2.0-or-later
/* Recognises copies of a file's code in anonymous memory. Programs that put their code on huge pages copy it
 * to anonymous memory, which they map over their own file's code. Such memory would count as JIT code. It is
 * the file's code only if the bytes are equal: the opener compares the process's memory with the file,
 * outside the caller's lock. The copy is made after the mapping's record, so memory that differs is compared
 * a few times more. */
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "process/world_state.h"

#define WAITING_MAX 64
#define LOOKS_MAX   6
#define FIRST_PAUSE (20 * NS_PER_MS) /* between the first two comparisons; then doubles */

void remap_wait(struct world *w, const struct proc *p, const struct module *file, const struct space_map *map)
{
    struct remaps *all = &w->remaps;

    if (!w->live || w->as_perf || all->n >= WAITING_MAX)
        return;
    struct module like = module_value(file);
    like.live = true;
    like.pid = p->pid;
    like.user = p->uid == ~0u ? 0 : p->uid + 1;
    *VEC_PUSH(all) = (struct world_remap){ .pid = p->pid,
                                           .start = map->start,
                                           .end = map->end,
                                           .pgoff = map->pgoff,
                                           .time_ns = map->time_ns,
                                           .file = module_new(&like) };
}

bool world_wants_remap(const struct world *w, struct world_remap *out)
{
    uint64_t now_ns = w->remaps.n ? clock_now_ns() : 0;

    for (size_t i = 0; i < w->remaps.n; i++) {
        const struct world_remap *r = &w->remaps.items[i];
        if (now_ns < r->next_ns)
            continue;
        *out = *r;
        module_get(r->file);
        return true;
    }
    return false;
}

bool world_read_remap(const struct world_remap *r)
{
    return module_is_copied(r->file, r->start, r->end - r->start, r->pgoff);
}

/* Children that still share the memory share the space. */
static void map_file(struct world *w, const struct proc *p, const struct world_remap *r)
{
    struct module like = module_value(r->file);
    struct space_map map = { .start = r->start, .end = r->end, .pgoff = r->pgoff, .time_ns = r->time_ns };

    map_found(w, p, &like, map, false);
}

static void leave(struct remaps *all, size_t i)
{
    module_put(all->items[i].file);
    all->items[i] = all->items[--all->n];
}

void world_tell_remap(struct world *w, struct world_remap *told, bool same)
{
    struct remaps *all = &w->remaps;
    struct proc *p = proc_find(w, told->pid);

    for (size_t i = 0; i < all->n; i++) {
        struct world_remap *r = &all->items[i];
        if (r->pid != told->pid || r->start != told->start || r->end != told->end)
            continue;
        if (same && p)
            map_file(w, p, r);
        r->next_ns = clock_now_ns() + (FIRST_PAUSE << r->looks++);
        if (same || !p || r->looks == LOOKS_MAX)
            leave(all, i);
        break;
    }
    module_put(told->file);
}

void remaps_done(struct remaps *all)
{
    while (all->n)
        leave(all, 0);
    mem_free(all->items);
    *all = (struct remaps){ 0 };
}
