// SPDX-License-Identifier: GPL-2.0-or-later
/* Known facts of each module, and the queues of tasks: by urgency, then first come, first served. */
#include <string.h>

#include "symbols/symbolizer_state.h"

#define HASH_SEED 0x6d6f64756c65

bool mods_is_kernel(const struct symbol_module *mod)
{
    return mod->module->kind == MODULE_KERNEL || mod->module->kind == MODULE_KMOD;
}

void mods_news(struct symbolizer *sy, struct symbol_module *mod)
{
    uint32_t now = atomic_fetch_add_explicit(&sy->generation, 1, memory_order_release) + 1;

    if (mod)
        *(mods_is_kernel(mod) ? &sy->kernel_changed : &mod->changed) = now;
}

uint64_t mods_kernel_start(const struct symbolizer *sy)
{
    return sy->kernel && !sy->kernel_hidden ? sy->kernel->view.header->reference + sy->kernel_shift : 0;
}

bool mods_kernel_tells(struct symbolizer *sy, struct symbol_module *mod, uint64_t addr)
{
    const struct table_header *h = sy->kernel->view.header;
    struct symbol_task *task = &mod->tasks[TASK_NAMES];

    if (!sy->kernel_core_only || (addr >= h->reference && addr < h->core_end))
        return true;
    sy->kernel_wanted = true;
    if (!task->queued && !task->busy && task->progress == PROGRESS_READY) {
        task->progress = PROGRESS_WAITING;
        mods_queue(sy, task);
    }
    return false;
}

static bool can_have(enum module_kind module, enum task_kind task)
{
    if (task == TASK_CODE) /* the result says why there is no code */
        return true;
    switch (module) {
    case MODULE_FILE:
        return task != TASK_JIT_ROWS;
    case MODULE_VDSO:
        return task == TASK_NAMES || task == TASK_UNWIND;
    case MODULE_KERNEL:
        return task == TASK_NAMES || task == TASK_LINES;
    case MODULE_KMOD:
        return task == TASK_NAMES;
    case MODULE_JIT:
        return task == TASK_NAMES || task == TASK_JIT_ROWS;
    default:
        return false;
    }
}

struct symbol_module *mods_get(struct symbolizer *sy, struct module *m)
{
    bool created;
    uint64_t *slot = map_at(&sy->mods, m->id, 0, &created);
    struct symbol_module *mod;
    int kind;

    if (!created)
        return (struct symbol_module *)(uintptr_t)*slot;
    mod = mem_zalloc(sizeof *mod);
    *slot = (uintptr_t)mod;
    mod->module = module_get(m);
    mod->dump_fd = -1;
    mod->supplied = sy->supplied ? supplied_module(sy->supplied, m) : NULL;
    mod->embedded = sy->embedded ? supplied_module_by_path(sy->embedded, m) : NULL;
    mod->name_hash = map_hash_bytes(m->name, strlen(m->name), HASH_SEED);
    for (kind = 0; kind < TASK_KINDS; kind++)
        mod->tasks[kind].mod = mod;
    return mod;
}

struct symbol_task *mods_ask(struct symbolizer *sy, struct symbol_module *mod, enum task_kind kind)
{
    struct symbol_task *task = &mod->tasks[kind];

    if (task->progress != PROGRESS_UNASKED)
        return task;
    if (can_have(mod->module->kind, kind)) {
        task->progress = PROGRESS_WAITING;
        mods_queue(sy, task);
    } else {
        task->progress = PROGRESS_READY; /* without a result */
    }
    return task;
}

void mods_wake(struct symbolizer *sy)
{
    for (int lane = 0; lane < LANES; lane++)
        pthread_cond_signal(&sy->lanes[lane].work);
}

unsigned mods_owner(const struct symbol_module *mod)
{
    return mod->owner == OWNER_UNKNOWN ? OWNER_TRUSTED : mod->owner;
}

/* Queue a task. The kernel's names come before all others: every process shows some of them, and they say
 * which functions are idle. */
void mods_queue(struct symbolizer *sy, struct symbol_task *task)
{
    struct symbol_module *mod = task->mod;
    bool kernel = mods_is_kernel(mod);

    if (task->queued)
        return;
    task->queued = true;
    owners_put(&sy->owners, *mods_slow(mod, symbol_task_kind(task)) ? LANE_SLOW : LANE_QUICK,
               kernel ? OWNER_UNKNOWN : mod->owner, task, kernel && symbol_task_kind(task) != TASK_LINES);
    sy->waiting++;
    mods_wake(sy);
}

/* Take the next task. Tasks that were queued before their module was found to be slow move to the slow lane:
 * they are done one after the other. */
struct symbol_task *mods_take(struct symbolizer *sy, enum lane_kind lane)
{
    struct symbol_task *task;

    while ((task = owners_take(&sy->owners, lane))) {
        task->queued = false;
        if (lane == LANE_QUICK && *mods_slow(task->mod, symbol_task_kind(task))) {
            sy->waiting--;
            mods_queue(sy, task);
            continue;
        }
        task->busy = true;
        return task;
    }
    return NULL;
}

void mods_trouble(struct symbol_task *task, const char *text)
{
    mem_free(task->trouble);
    task->trouble = text[0] ? mem_strdup(text) : NULL;
}
