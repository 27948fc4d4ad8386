// SPDX-License-Identifier: GPL-2.0-or-later
/* Unwind tables made by the worker, shared by modules of one build-id, and requests for them. */
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "symbols/blob.h"
#include "symbols/symbolizer_state.h"

struct unwind_table *unwinds_new(const void *blob, size_t size, struct error *e)
{
    struct unwind_table *t = mem_zalloc(sizeof *t);

    t->blob = blob;
    t->size = size;
    t->users = 1;
    if (unwind_rows_view(&t->rows, blob, size, e))
        return t;
    blob_free(blob, size);
    mem_free(t);
    return NULL;
}

void unwinds_discard(struct unwind_table *t)
{
    blob_free(t->blob, t->size);
    mem_free(t);
}

static uint64_t key_of(const uint8_t *id, unsigned size)
{
    return map_hash_bytes(id, size, size);
}

void unwinds_drop(struct symbolizer *sy, struct unwind_table *t)
{
    uint8_t id[20];
    uint64_t key, found;

    if (!t || --t->users)
        return;
    key = key_of(id, unwind_rows_build_id(&t->rows, id));
    if (map_get(&sy->unwinds, key, &found) && found == (uintptr_t)t)
        map_del(&sy->unwinds, key);
    unwinds_discard(t);
}

struct unwind_table *unwinds_find(struct symbolizer *sy, const uint8_t *id, unsigned size, unsigned owner)
{
    uint8_t its_id[20];
    uint64_t found;
    struct unwind_table *t;

    if (!size || !map_get(&sy->unwinds, key_of(id, size), &found))
        return NULL;
    t = (struct unwind_table *)(uintptr_t)found;
    if (unwind_rows_build_id(&t->rows, its_id) != size || memcmp(its_id, id, size) ||
        (t->owner != OWNER_TRUSTED && t->owner != owner))
        return NULL;
    t->users++;
    return t;
}

struct unwind_table *unwinds_share(struct symbolizer *sy, struct unwind_table *t, unsigned owner)
{
    uint8_t id[20];
    unsigned size = unwind_rows_build_id(&t->rows, id);
    struct unwind_table *other = unwinds_find(sy, id, size, owner);

    if (other) {
        unwinds_drop(sy, t);
        return other;
    }
    t->owner = owner;
    if (size)
        map_put(&sy->unwinds, key_of(id, size), (uintptr_t)t);
    return t;
}

static bool can_have_rows(const struct module *m)
{
    return m->kind == MODULE_FILE || m->kind == MODULE_VDSO;
}

static enum symbol_state tell_rows(const struct symbol_task *task, const struct unwind_rows **out)
{
    *out = task->mod->unwind ? &task->mod->unwind->rows : NULL;
    if (*out)
        return SYMBOL_FOUND;
    return task->progress == PROGRESS_WAITING ? SYMBOL_PENDING : SYMBOL_NONE;
}

enum symbol_state symbolizer_unwind(struct symbolizer *sy, struct module *m, const struct unwind_rows **out)
{
    enum symbol_state state;

    *out = NULL;
    if (!can_have_rows(m))
        return SYMBOL_NONE;
    pthread_mutex_lock(&sy->lock);
    state = tell_rows(mods_ask(sy, mods_get(sy, m), TASK_UNWIND), out);
    pthread_mutex_unlock(&sy->lock);
    return state;
}

enum symbol_state symbolizer_unwind_wait(struct symbolizer *sy, struct module *m, uint64_t timeout_ns,
                                         const struct unwind_rows **out)
{
    uint64_t end = clock_now_ns() + timeout_ns;
    struct timespec until = { .tv_sec = (time_t)(end / NS_PER_SEC), .tv_nsec = (long)(end % NS_PER_SEC) };
    enum symbol_state state;
    int late = 0;

    *out = NULL;
    if (!can_have_rows(m))
        return SYMBOL_NONE;
    pthread_mutex_lock(&sy->lock);
    /* Look the module up each time: a trim may have forgotten it meanwhile. */
    while ((state = tell_rows(mods_ask(sy, mods_get(sy, m), TASK_UNWIND), out)) == SYMBOL_PENDING && !late &&
           !sy->stopping)
        late = pthread_cond_timedwait(&sy->settled, &sy->lock, &until);
    pthread_mutex_unlock(&sy->lock);
    return state;
}
