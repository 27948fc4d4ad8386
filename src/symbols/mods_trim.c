// SPDX-License-Identifier: GPL-2.0-or-later
/* Free modules, with all that is known of them: unused ones, and all at the end. */
#include "symbols/codecache.h"
#include "symbols/linecache.h"

static void free_mod(struct symbolizer *sy, struct symbol_module *mod)
{
    int kind;

    if (mod->module->kind == MODULE_JIT)
        jit_forget(sy, mod);
    tables_drop(sy, mod->table);
    tables_drop(sy, mod->unwind);
    tables_drop(sy, mod->calls);
    jitrows_free(mod);
    linecache_free(sy, mod);
    codecache_free(mod);
    map_done(&mod->unnamed);
    map_done(&mod->extents);
    mem_free(mod->package);
    for (kind = 0; kind < TASK_KINDS; kind++)
        mem_free(mod->tasks[kind].trouble);
    module_put(mod->module);
    mem_free(mod);
}

static bool is_kept(const struct symbol_module *mod, const uint8_t *keep, uint32_t n_keep)
{
    uint32_t id = mod->module->id;
    int kind;

    for (kind = 0; kind < TASK_KINDS; kind++)
        if (mod->tasks[kind].busy)
            return true;
    return id < MODULE_ID_FIRST || (id < n_keep && keep[id]);
}

static void trim_queue(struct symbolizer *sy, struct owner_queue *q, unsigned *queued, const uint8_t *keep,
                       uint32_t n_keep)
{
    struct symbol_task **place = &q->first, *task;

    while ((task = *place)) {
        if (is_kept(task->mod, keep, n_keep)) {
            place = &task->next;
            continue;
        }
        *place = task->next;
        task->queued = false;
        sy->waiting--;
        --*queued;
    }
    q->end = place;
}

static void trim_queues(struct symbolizer *sy, const uint8_t *keep, uint32_t n_keep)
{
    for (unsigned i = 0; i < OWNERS_MAX; i++)
        for (int lane = 0; lane < LANES; lane++)
            for (int kind = 0; kind < OWNER_QUEUES; kind++)
                trim_queue(sy, &sy->owners.all[i].queues[lane][kind], &sy->owners.all[i].queued[lane], keep,
                           n_keep);
}

void mods_trim(struct symbolizer *sy, const uint8_t *keep, uint32_t n_keep)
{
    struct symbol_module **gone = mem_array(sy->mods.n, sizeof(struct symbol_module *));
    size_t pos = 0, n = 0, i;
    uint64_t value;

    trim_queues(sy, keep, n_keep);
    while (map_next(&sy->mods, &pos, NULL, &value))
        if (!is_kept((struct symbol_module *)(uintptr_t)value, keep, n_keep))
            gone[n++] = (struct symbol_module *)(uintptr_t)value;
    for (i = 0; i < n; i++) {
        map_del(&sy->mods, gone[i]->module->id);
        free_mod(sy, gone[i]);
    }
    mem_free(gone);
}

void mods_done(struct symbolizer *sy)
{
    size_t pos = 0;
    uint64_t value;

    while (map_next(&sy->mods, &pos, NULL, &value))
        free_mod(sy, (struct symbol_module *)(uintptr_t)value);
    map_done(&sy->mods);
}
