// SPDX-License-Identifier: GPL-2.0-or-later
/* Call tables (unwind/calls.h) made by the worker, and requests for them. */
#include <unistd.h>

#include "symbols/blob.h"
#include "symbols/symbolizer_state.h"

static struct call_table *table_of(const void *blob, size_t size, struct error *e)
{
    struct call_table *t = mem_zalloc(sizeof *t);

    t->blob = blob;
    t->size = size;
    if (calls_view(&t->calls, blob, size, e))
        return t;
    callsets_free(t);
    return NULL;
}

void callsets_free(struct call_table *t)
{
    if (!t)
        return;
    blob_free(t->blob, t->size);
    mem_free(t);
}

void resolve_calls(struct symbolizer *sy, struct symbol_module *mod, struct outcome *out)
{
    int fd = resolve_open(sy, mod, out);
    struct worker_reply *a;

    if (fd < 0)
        return;
    a = mem_alloc(sizeof *a);
    if (resolve_is_same_build(mod, out) && resolve_ask(sy, WORKER_CALLS, fd, -1, a, out))
        out->calls = table_of(a->blob, a->blob_size, &out->trouble);
    mem_free(a);
    close(fd);
}

enum symbol_state symbolizer_calls(struct symbolizer *sy, struct module *m, const struct calls **out)
{
    enum symbol_state state = SYMBOL_NONE;
    const struct symbol_task *task;

    *out = NULL;
    if (m->kind != MODULE_FILE)
        return SYMBOL_NONE;
    pthread_mutex_lock(&sy->lock);
    task = mods_ask(sy, mods_get(sy, m), TASK_CALLS);
    if (task->mod->calls) {
        *out = &task->mod->calls->calls;
        state = SYMBOL_FOUND;
    } else if (task->progress == PROGRESS_WAITING) {
        state = SYMBOL_PENDING;
    }
    pthread_mutex_unlock(&sy->lock);
    return state;
}
