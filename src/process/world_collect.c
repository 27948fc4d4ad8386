// SPDX-License-Identifier: GPL-2.0-or-later
/* Drops ended threads and modules to which no sample refers any more. */
#include <errno.h>
#include <signal.h>

#include "base/mem.h"
#include "process/world_state.h"

#define GHOSTS_PER_COLLECTION 4096u

static bool is_gone(uint32_t tid)
{
    return kill((pid_t)tid, 0) < 0 && errno == ESRCH;
}

/* The exit of a task may be among lost records; without this check the task would stay for ever. */
static void end_ghosts(struct world *w)
{
    struct task **gone = mem_array(GHOSTS_PER_COLLECTION, sizeof(struct task *));
    uint32_t n = 0;
    uint64_t tid, value;

    for (size_t pos = 0; n < GHOSTS_PER_COLLECTION && map_next(&w->tasks, &pos, &tid, &value);) {
        struct task *t = (struct task *)(uintptr_t)value;

        if (t->zombie < 0 && tid && tid <= INT32_MAX && is_gone(t->tid))
            gone[n++] = t;
    }
    while (n)
        task_exit(w, gone[--n]);
    mem_free(gone);
}

static void drop_entry(struct world *w, const struct entry *en)
{
    if (en->task)
        en->task->version = 0;
    image_put(w, en->image);
}

static uint32_t *compact_threads(struct world *w, const uint8_t *keep)
{
    uint32_t *remap = mem_array(w->n_entries, sizeof *remap);
    uint32_t n = 1;

    for (uint32_t i = 1; i < w->n_entries; i++) {
        struct entry *en = &w->entries[i];

        if ((!en->task || en->t.exited) && !(keep && keep[i])) {
            drop_entry(w, en);
            continue;
        }
        if (en->task)
            en->task->version = n;
        w->entries[n] = *en;
        remap[i] = n++;
    }
    w->n_entries = n;
    return remap;
}

/* Releases the memory after a burst of threads. */
static void shrink_entries(struct world *w)
{
    uint32_t cap = w->n_entries + w->n_entries / 2 + 16;

    if (w->entries_cap / 4 < cap)
        return;
    w->entries = mem_resize(w->entries, cap, sizeof *w->entries);
    w->entries_cap = cap;
}

void world_collect(struct world *w, const uint8_t *keep_threads, const uint8_t *keep_modules,
                   uint32_t n_keep_modules, uint32_t **remap)
{
    uint32_t *ids;

    if (w->live && w->losses != w->losses_collected)
        end_ghosts(w);
    w->losses_collected = w->losses;
    ids = compact_threads(w, keep_threads);
    shrink_entries(w);
    modtab_collect(&w->modules, keep_modules, n_keep_modules);
    if (remap)
        *remap = ids;
    else
        mem_free(ids);
}

/* Modules are not counted: they are few, or belong to many ended programs. */
size_t world_live_bytes(const struct world *w)
{
    size_t bytes = sizeof *w + map_bytes(&w->tasks) + map_bytes(&w->procs) + cgroups_bytes(w->cgroups) +
                   space_bytes(w->kernel) + w->tasks.n * (sizeof(struct task) + sizeof(struct entry));
    uint64_t value;

    for (size_t pos = 0; map_next(&w->procs, &pos, NULL, &value);) {
        const struct space *s = ((const struct proc *)(uintptr_t)value)->image->space;
        bytes += sizeof(struct proc) + sizeof(struct image) + space_bytes(s) / (size_t)s->refs;
    }
    return bytes;
}
