// SPDX-License-Identifier: GPL-2.0-or-later
/* Decide which names a JIT module keeps when its code changes over time. */
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "symbols/blob.h"
#include "symbols/symbolizer_state.h"

#define USER_BYTES_MAX ((size_t)128 << 20) /* of one user's JITs */
/* Of all other users' JITs together, and as much again for the trusted ones. */
#define TABLES_BYTES_MAX ((size_t)512 << 20)
#define NONE_WAIT_NS     (8 * NS_PER_SEC) /* added between two checks for a missing map */

static void drop(struct symbolizer *sy, struct symbol_table **t)
{
    if (!*t)
        return;
    sy->jit_bytes[(*t)->payer] -= (*t)->size;
    tables_drop(sy, *t);
    *t = NULL;
}

/* Charge the table to the process's user, not to the owner of its map. */
static void charge(struct symbolizer *sy, const struct symbol_module *mod, struct symbol_table *t)
{
    t->payer = mod->module->user ? owners_number(&sy->owners, mod->module->user - 1) : mod->owner;
    sy->jit_bytes[t->payer] += t->size;
}

static size_t bytes_of_others(const struct symbolizer *sy)
{
    size_t sum = 0;

    for (unsigned i = 0; i < OWNERS_MAX; i++)
        sum += i == OWNER_TRUSTED ? 0 : sy->jit_bytes[i];
    return sum;
}

/* Whether the table fits. Each user has a separate share; trusted users have theirs in addition to all
 * others'. */
static bool fits(const struct symbolizer *sy, const struct symbol_table *t, struct error *e)
{
    if (t->payer == OWNER_TRUSTED)
        return sy->jit_bytes[OWNER_TRUSTED] <= TABLES_BYTES_MAX ||
               error_set(e, ERROR_LIMIT, "perf maps of root and yourself exceed %zu MB: no more are read",
                         TABLES_BYTES_MAX >> 20);
    if (sy->jit_bytes[t->payer] > USER_BYTES_MAX)
        return error_set(e, ERROR_LIMIT, "perf maps of this user exceed %zu MB: no more of them are read",
                         USER_BYTES_MAX >> 20);
    return bytes_of_others(sy) <= TABLES_BYTES_MAX ||
           error_set(e, ERROR_LIMIT, "perf maps of other users exceed %zu MB: no more are read",
                     TABLES_BYTES_MAX >> 20);
}

/* Whether the session must check the module before its names are renewed or separated by time. */
static bool is_waiting(const struct symbol_module *mod)
{
    return mod->parked || mod->redate;
}

static struct symbol_table *newest(const struct symbol_module *mod)
{
    return mod->parked ? mod->parked : mod->table;
}

static void unpark(struct symbolizer *sy, struct symbol_module *mod)
{
    sy->jit_parked -= is_waiting(mod);
    mod->redate = false;
    drop(sy, &mod->parked);
}

void jit_forget(struct symbolizer *sy, struct symbol_module *mod)
{
    unpark(sy, mod);
    drop(sy, &mod->table);
    if (mod->dump_fd >= 0)
        close(mod->dump_fd);
}

/* Whether any code of the old table is missing or renamed in the new one. Both are sorted. */
static bool contradicts(const struct table *old, const struct table *new)
{
    struct table_entry o, n = { 0 };
    uint32_t i, at = 0;
    bool more = table_entry_at(new, 0, &n);

    for (i = 0; table_entry_at(old, i, &o); i++) {
        while (more && n.start < o.start)
            more = table_entry_at(new, ++at, &n);
        if (!more || n.start != o.start || strcmp(n.name, o.name))
            return true;
    }
    return false;
}

bool jit_install(struct symbolizer *sy, struct symbol_module *mod, struct symbol_table *t, struct error *e)
{
    charge(sy, mod, t);
    if (mod->over || !fits(sy, t, e)) {
        drop(sy, &t);
        return mod->over;
    }
    unpark(sy, mod);
    mod->redate = mod->module->live && t->view.since && t->view.header->n_older;
    if (mod->table &&
        (mod->redate || (mod->module->live && !t->view.since && contradicts(&mod->table->view, &t->view)))) {
        mod->parked = t;
    } else {
        drop(sy, &mod->table);
        mod->table = t;
    }
    sy->jit_parked += is_waiting(mod);
    return true;
}

void symbolizer_refresh(struct symbolizer *sy, struct module *m, bool now)
{
    struct symbol_task *task;
    struct symbol_module *mod;
    uint64_t now_ns = clock_now_ns();

    pthread_mutex_lock(&sy->lock);
    mod = mods_get(sy, m);
    task = mods_ask(sy, mod, TASK_NAMES);
    if (m->kind == MODULE_JIT && m->live && !mod->over && !task->queued && !task->busy &&
        (now || now_ns >= mod->next_try_ns + (mod->table ? 0 : NONE_WAIT_NS)))
        mods_queue(sy, task);
    pthread_mutex_unlock(&sy->lock);
}

uint32_t symbolizer_renamed(struct symbolizer *sy, uint32_t *modules, uint32_t cap)
{
    uint64_t id, value;
    uint32_t n = 0;
    size_t pos = 0;

    pthread_mutex_lock(&sy->lock);
    while (sy->jit_parked && n < cap && map_next(&sy->mods, &pos, &id, &value))
        if (is_waiting((const struct symbol_module *)(uintptr_t)value))
            modules[n++] = (uint32_t)id;
    pthread_mutex_unlock(&sy->lock);
    return n;
}

static struct symbol_module *find(const struct symbolizer *sy, const struct module *m)
{
    uint64_t value;

    return map_get(&sy->mods, m->id, &value) ? (struct symbol_module *)(uintptr_t)value : NULL;
}

bool symbolizer_differs(struct symbolizer *sy, struct module *m, const uint64_t *offsets, size_t n)
{
    struct table_entry was, is;
    struct symbol_module *mod;
    bool differs = false;
    size_t i;

    pthread_mutex_lock(&sy->lock);
    mod = find(sy, m);
    if (mod && mod->parked) {
        for (i = 0; i < n && !differs; i++)
            differs = table_find(&mod->table->view, offsets[i], &was) &&
                      (!table_find(&mod->parked->view, offsets[i], &is) || strcmp(was.name, is.name));
        if (!differs) {
            drop(sy, &mod->table);
            mod->table = mod->parked;
            mod->parked = NULL;
            sy->jit_parked--;
            mods_news(sy, mod);
        }
    }
    pthread_mutex_unlock(&sy->lock);
    return differs;
}

/* Build a table. NULL: no memory. */
static struct symbol_table *table_of(struct table_builder *b)
{
    struct symbol_table *t = NULL;
    void *blob = NULL, *copy = NULL;
    size_t size;

    b->header.flags |= TABLE_FULL;
    if (table_build(b, TABLE_REPLACED, &blob, &size, NULL))
        copy = blob_new(size);
    if (copy)
        t = tables_new(CACHE_NAMES, memcpy(copy, blob, size), size, NULL);
    mem_free(blob);
    table_builder_done(b);
    return t;
}

/* Return the rest of the old table: names of sampled code. NULL: no memory. */
static struct symbol_table *keep(const struct symbol_module *mod, const uint64_t *offsets, size_t n)
{
    struct table_builder b = { 0 };
    struct table_entry entry;
    size_t i;

    for (i = 0; i < n; i++)
        if (table_find(&mod->parked->view, offsets[i], &entry) &&
            !table_find(&mod->table->view, offsets[i], &(struct table_entry){ 0 }))
            table_add(&b, entry.start, entry.size, UINT64_MAX, entry.name, strlen(entry.name), TABLE_GLOBAL);
    for (i = 0; i < n; i++)
        if (table_find(&mod->table->view, offsets[i], &entry))
            table_add(&b, entry.start, entry.size, UINT64_MAX, entry.name, strlen(entry.name), TABLE_GLOBAL);
    return table_of(&b);
}

void symbolizer_renew(struct symbolizer *sy, struct module *m, struct module *next, const uint64_t *offsets,
                      size_t n)
{
    struct symbol_module *mod, *after;
    struct symbol_table *kept;

    pthread_mutex_lock(&sy->lock);
    mod = find(sy, m);
    if (mod && mod->parked) {
        kept = keep(mod, offsets, n);
        if (kept) {
            charge(sy, mod, kept);
            drop(sy, &mod->table);
            mod->table = kept;
        }
        mod->over = true;
        mod->next_try_ns = 0;
        after = next ? mods_get(sy, next) : NULL;
        if (after && !after->table) {
            after->table = mod->parked;
            after->map_stamp = mod->map_stamp;
            after->next_try_ns = clock_now_ns();
            after->tasks[TASK_NAMES].progress = PROGRESS_READY;
            mod->parked = NULL;
            sy->jit_parked--;
        }
        unpark(sy, mod);
        mods_news(sy, mod);
        if (after)
            mods_news(sy, after);
    }
    pthread_mutex_unlock(&sy->lock);
}

struct symbol_table *symbolizer_dated(struct symbolizer *sy, struct module *m)
{
    struct symbol_table *t = NULL;
    struct symbol_module *mod;

    pthread_mutex_lock(&sy->lock);
    mod = find(sy, m);
    if (mod && mod->redate) {
        t = newest(mod);
        t->users++;
    }
    pthread_mutex_unlock(&sy->lock);
    return t;
}

void symbolizer_dated_done(struct symbolizer *sy, struct module *m, struct symbol_table *t)
{
    struct symbol_module *mod;

    pthread_mutex_lock(&sy->lock);
    mod = find(sy, m);
    if (mod && mod->redate && t == newest(mod)) {
        if (mod->parked)
            drop(sy, &mod->table);
        mod->table = t;
        mod->parked = NULL;
        mod->redate = false;
        sy->jit_parked--;
        mods_news(sy, mod);
    }
    tables_drop(sy, t);
    pthread_mutex_unlock(&sy->lock);
}

bool symbolizer_replaced(const struct symbol_table *t, uint64_t offset)
{
    return table_has_older(&t->view, offset);
}

uint64_t symbolizer_named_until(const struct symbol_table *t, uint64_t offset, uint64_t time_ns)
{
    struct table_entry entry;
    uint64_t until_ns;

    return table_find_at(&t->view, offset, time_ns, &entry, &until_ns) ? until_ns : UINT64_MAX;
}

void symbolizer_keep_dated(struct symbolizer *sy, struct module *past, const struct symbol_table *t,
                           uint64_t time_ns, const uint64_t *offsets, size_t n)
{
    struct table_builder b = { 0 };
    struct symbol_table *kept;
    struct table_entry entry;
    struct symbol_module *mod;
    uint64_t until_ns;
    size_t i;

    for (i = 0; i < n; i++)
        if (table_find_at(&t->view, offsets[i], time_ns, &entry, &until_ns))
            table_add(&b, entry.start, entry.size, UINT64_MAX, entry.name, strlen(entry.name), TABLE_GLOBAL);
    kept = table_of(&b);
    pthread_mutex_lock(&sy->lock);
    mod = mods_get(sy, past);
    mod->over = true;
    mod->tasks[TASK_NAMES].progress = PROGRESS_READY;
    if (kept) {
        charge(sy, mod, kept);
        drop(sy, &mod->table);
        mod->table = kept;
    }
    mods_news(sy, mod);
    pthread_mutex_unlock(&sy->lock);
}
