// SPDX-License-Identifier: GPL-2.0-or-later
/* What is known of each module, and the queue of those whose names were asked for: first asked, first served. */
#include <string.h>

#include "symbols/state.h"

#define HASH_SEED 0x6d6f64756c65

bool mods_is_kernel(const struct mod *mod)
{
    return mod->module->kind == MODULE_KERNEL || mod->module->kind == MODULE_KMOD;
}

static bool has_table(enum module_kind kind)
{
    switch (kind) {
    case MODULE_FILE:
    case MODULE_KERNEL:
    case MODULE_KMOD:
    case MODULE_VDSO:
    case MODULE_JIT:
        return true;
    default:
        return false;
    }
}

struct mod *mods_get(struct symbolizer *sy, struct module *m)
{
    bool created;
    uint64_t *slot = map_at(&sy->mods, m->id, 0, &created);
    struct mod *mod;

    if (!created)
        return (struct mod *)(uintptr_t)*slot;
    mod = mem_zalloc(sizeof *mod);
    *slot = (uintptr_t)mod;
    mod->module = module_get(m);
    mod->name_hash = map_hash_bytes(m->name, strlen(m->name), HASH_SEED);
    if (has_table(m->kind))
        mods_queue(sy, mod);
    else
        mod->progress = PROGRESS_READY;
    return mod;
}

void mods_queue(struct symbolizer *sy, struct mod *mod)
{
    if (mod->queued)
        return;
    mod->queued = true;
    mod->next = NULL;
    *sy->queue_end = mod;
    sy->queue_end = &mod->next;
    sy->waiting++;
    pthread_cond_signal(&sy->work);
}

struct mod *mods_take(struct symbolizer *sy)
{
    struct mod *mod = sy->queue;

    if (!mod)
        return NULL;
    sy->queue = mod->next;
    if (!sy->queue)
        sy->queue_end = &sy->queue;
    mod->queued = false;
    mod->busy = true;
    return mod;
}

static void free_mod(struct symbolizer *sy, struct mod *mod)
{
    tables_drop(sy, mod->table);
    map_done(&mod->unnamed);
    mem_free(mod->trouble);
    module_put(mod->module);
    mem_free(mod);
}

static bool is_kept(const struct mod *mod, const uint8_t *keep, uint32_t n_keep)
{
    uint32_t id = mod->module->id;

    return id < MODULE_ID_FIRST || mod->busy || (id < n_keep && keep[id]);
}

static void trim_queue(struct symbolizer *sy, const uint8_t *keep, uint32_t n_keep)
{
    struct mod **place = &sy->queue, *mod;

    while ((mod = *place)) {
        if (is_kept(mod, keep, n_keep)) {
            place = &mod->next;
            continue;
        }
        *place = mod->next;
        mod->queued = false;
        sy->waiting--;
    }
    sy->queue_end = place;
}

void mods_trim(struct symbolizer *sy, const uint8_t *keep, uint32_t n_keep)
{
    struct mod **gone = mem_array(sy->mods.n, sizeof(struct mod *));
    size_t pos = 0, n = 0, i;
    uint64_t value;

    trim_queue(sy, keep, n_keep);
    while (map_next(&sy->mods, &pos, NULL, &value))
        if (!is_kept((struct mod *)(uintptr_t)value, keep, n_keep))
            gone[n++] = (struct mod *)(uintptr_t)value;
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
        free_mod(sy, (struct mod *)(uintptr_t)value);
    map_done(&sy->mods);
}

void mods_trouble(struct mod *mod, const char *text)
{
    mem_free(mod->trouble);
    mod->trouble = text[0] ? mem_strdup(text) : NULL;
}
