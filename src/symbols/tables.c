// SPDX-License-Identifier: GPL-2.0-or-later
/* Tables made by the worker: symbols, unwind rows and calls. Modules of one build-id share them. */
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "symbols/blob.h"
#include "symbols/symbolizer_state.h"

static bool set_view(struct symbol_table *t, struct error *e)
{
    if (t->kind == CACHE_NAMES)
        return table_view(&t->view, t->blob, t->size, e);
    if (t->kind == CACHE_UNWIND)
        return unwind_rows_view(&t->rows, t->blob, t->size, e);
    return calls_view(&t->calls, t->blob, t->size, e);
}

struct symbol_table *tables_new(enum cache_kind kind, const void *blob, size_t size, struct error *e)
{
    struct symbol_table *t = mem_zalloc(sizeof *t);

    t->kind = kind;
    t->blob = blob;
    t->size = size;
    t->users = 1;
    if (set_view(t, e))
        return t;
    tables_drop(NULL, t);
    return NULL;
}

bool tables_is_full(const struct symbol_table *t)
{
    return t->kind != CACHE_NAMES || t->view.header->flags & TABLE_FULL;
}

static uint64_t key_of(enum cache_kind kind, const uint8_t *id, unsigned size)
{
    return map_hash_bytes(id, size, kind);
}

void tables_drop(struct symbolizer *sy, struct symbol_table *t)
{
    uint64_t key, found;

    if (!t || --t->users)
        return;
    key = key_of(t->kind, t->id, t->id_size);
    if (t->id_size && map_get(&sy->tables, key, &found) && found == (uintptr_t)t)
        map_del(&sy->tables, key);
    blob_free(t->blob, t->size);
    mem_free(t);
}

struct symbol_table *tables_find(struct symbolizer *sy, enum cache_kind kind, const uint8_t *id,
                                 unsigned size, unsigned owner, bool full)
{
    uint64_t found;
    struct symbol_table *t;

    if (!size || !map_get(&sy->tables, key_of(kind, id, size), &found))
        return NULL;
    t = (struct symbol_table *)(uintptr_t)found;
    if (t->kind != kind || t->id_size != size || memcmp(t->id, id, size) ||
        (t->owner != OWNER_TRUSTED && t->owner != owner) || (full && !tables_is_full(t)))
        return NULL;
    t->users++;
    return t;
}

struct symbol_table *tables_share(struct symbolizer *sy, struct symbol_table *t,
                                  const struct symbol_module *mod)
{
    struct symbol_table *other = tables_find(sy, t->kind, mod->id, mod->id_size, mod->owner, false);

    /* The few names of a stripped file are not shared with the unstripped file of the same build. */
    if (other && (tables_is_full(other) || !tables_is_full(t))) {
        tables_drop(sy, t);
        return other;
    }
    tables_drop(sy, other);
    t->owner = mod->owner;
    t->id_size = mod->id_size;
    memcpy(t->id, mod->id, sizeof t->id);
    if (t->id_size)
        map_put(&sy->tables, key_of(t->kind, t->id, t->id_size), (uintptr_t)t);
    return t;
}

/* ---- requests ---- */

static enum symbol_state state_of(const struct symbol_task *task, const struct symbol_table *t)
{
    return t ? SYMBOL_FOUND : task->progress == PROGRESS_WAITING ? SYMBOL_PENDING : SYMBOL_NONE;
}

enum symbol_state symbolizer_unwind(struct symbolizer *sy, struct module *m, const struct unwind_rows **out)
{
    return symbolizer_unwind_wait(sy, m, 0, out);
}

enum symbol_state symbolizer_unwind_wait(struct symbolizer *sy, struct module *m, uint64_t timeout_ns,
                                         const struct unwind_rows **out)
{
    struct timespec until = clock_deadline(CLOCK_MONOTONIC, timeout_ns);
    const struct symbol_task *task;
    enum symbol_state state;
    int late = !timeout_ns;

    *out = NULL;
    if (m->kind != MODULE_FILE && m->kind != MODULE_VDSO)
        return SYMBOL_NONE;
    pthread_mutex_lock(&sy->lock);
    /* Look the module up each time: a trim may have forgotten it meanwhile. */
    while (task = mods_ask(sy, mods_get(sy, m), TASK_UNWIND),
           (state = state_of(task, task->mod->unwind)) == SYMBOL_PENDING && !late && !sy->stopping)
        late = pthread_cond_timedwait(&sy->settled, &sy->lock, &until);
    if (task->mod->unwind)
        *out = &task->mod->unwind->rows;
    pthread_mutex_unlock(&sy->lock);
    return state;
}

enum symbol_state symbolizer_calls(struct symbolizer *sy, struct module *m, const struct calls **out)
{
    const struct symbol_task *task;
    enum symbol_state state;

    *out = NULL;
    if (m->kind != MODULE_FILE)
        return SYMBOL_NONE;
    pthread_mutex_lock(&sy->lock);
    task = mods_ask(sy, mods_get(sy, m), TASK_CALLS);
    state = state_of(task, task->mod->calls);
    if (task->mod->calls)
        *out = &task->mod->calls->calls;
    pthread_mutex_unlock(&sy->lock);
    return state;
}
