// SPDX-License-Identifier: GPL-2.0-or-later
#include "symbols/linecache.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/search.h"
#include "base/text.h"
#include "symbols/blob.h"

#define BYTES_MAX    (64u << 20)     /* of all modules; beyond it, no more requests */
#define BYTES_TRIM   (BYTES_MAX / 2) /* beyond it, everything is dropped when possible */
#define SPENT_MAX_NS (120 * NS_PER_SEC)
#define GIVEN_UP_MAX 64
#define TEXT_MAX     1024

static size_t bytes_of(const struct linecache *c)
{
    return sizeof *c + map_bytes(&c->rows) + map_bytes(&c->known) + c->arena.held_bytes +
           c->ranges.cap * sizeof *c->ranges.items +
           (c->asked[LINECACHE_LINES].cap + c->asked[LINECACHE_INLINED].cap) * sizeof(uint64_t);
}

static struct linecache *cache_of(struct symbolizer *sy, struct symbol_module *mod)
{
    if (!mod->lines) {
        mod->lines = mem_zalloc(sizeof *mod->lines);
        sy->line_bytes += bytes_of(mod->lines);
    }
    return mod->lines;
}

/* Clear the cache. The batch in progress stays: the resolver is reading it. */
static void clear(struct symbolizer *sy, struct linecache *c)
{
    int kind;

    sy->line_bytes -= bytes_of(c);
    map_done(&c->rows);
    map_done(&c->known);
    VEC_FREE(&c->ranges);
    c->n_on_disk = 0;
    c->disk_asked = false;
    arena_done(&c->arena);
    for (kind = 0; kind < LINECACHE_KINDS; kind++)
        VEC_FREE(&c->asked[kind]);
    sy->line_bytes += bytes_of(c);
}

void linecache_free(struct symbolizer *sy, struct symbol_module *mod)
{
    struct linecache *c = mod->lines;

    if (!c)
        return;
    clear(sy, c);
    sy->line_bytes -= bytes_of(c);
    mem_free(c);
    mod->lines = NULL;
}

void linecache_forget(struct symbolizer *sy, bool all)
{
    size_t pos = 0;
    uint64_t value;

    if (!all && sy->line_bytes <= BYTES_TRIM)
        return;
    sy->line_epoch++;
    while (map_next(&sy->mods, &pos, NULL, &value)) {
        struct symbol_module *mod = (struct symbol_module *)(uintptr_t)value;
        if (mod->lines && mod->tasks[TASK_LINES].busy)
            clear(sy, mod->lines);
        else
            linecache_free(sy, mod);
    }
}

static void queue_request(struct symbolizer *sy, struct symbol_module *mod, struct linecache *c,
                          enum linecache_kind kind, uint64_t offset)
{
    struct symbol_task *task = &mod->tasks[TASK_LINES];
    struct linecache_asked *asked = &c->asked[kind];

    sy->line_bytes -= bytes_of(c);
    map_put(kind == LINECACHE_LINES ? &c->rows : &c->known, offset, 0);
    *VEC_PUSH(asked) = offset;
    sy->line_bytes += bytes_of(c);
    mods_ask(sy, mod, TASK_NAMES); /* the names' table says where a debug file may be */
    mods_ask(sy, mod, TASK_LINES);
    if (!task->busy && !c->awaits_size)
        mods_queue(sy, task);
}

static struct line_row *find_range(const struct linecache *c, uint64_t offset)
{
    size_t n = SEARCH_FIRST(i, 0, c->ranges.n, c->ranges.items[i]->low > offset);

    return n && offset < c->ranges.items[n - 1]->high ? c->ranges.items[n - 1] : NULL;
}

/* Fill up the batch. Offsets that became known meanwhile are skipped. */
static void fill_batch(struct linecache *c)
{
    struct linecache_asked *asked = &c->asked[c->batch_kind];

    if (!c->n_batch && asked->n > LINECACHE_BATCH)
        qsort(asked->items, asked->n, sizeof *asked->items, search_compare_u64);
    while (asked->n && c->n_batch < LINECACHE_BATCH) {
        uint64_t offset = asked->items[--asked->n];
        if (c->batch_kind == LINECACHE_LINES || !find_range(c, offset))
            c->batch[c->n_batch++] = offset;
    }
}

/* Sorted, so that neighbours share what the worker has just read. */
bool linecache_take(struct symbolizer *sy, struct symbol_module *mod)
{
    struct linecache *c = mod->lines;

    if (!c)
        return true;
    if (c->epoch != sy->line_epoch)
        c->n_batch = 0;
    c->epoch = sy->line_epoch;
    c->reference = mods_is_kernel(mod) ? mods_kernel_start(sy) : 0;
    if (c->n_batch || c->asked[c->batch_kind].n)
        fill_batch(c);
    if (!c->n_batch) {
        c->batch_kind = c->batch_kind == LINECACHE_LINES ? LINECACHE_INLINED : LINECACHE_LINES;
        fill_batch(c);
    }
    if (c->n_batch)
        qsort(c->batch, c->n_batch, sizeof *c->batch, search_compare_u64);
    c->ask_disk = sy->cache && !mods_is_kernel(mod) && c->n_batch && c->batch_kind == LINECACHE_INLINED &&
                  !c->disk_asked;
    c->disk_asked |= c->ask_disk;
    return !c->n_batch;
}

static int compare_ranges(const void *a, const void *b)
{
    const struct line_row *left = *(struct line_row *const *)a, *right = *(struct line_row *const *)b;

    return left->low < right->low ? -1 : left->low > right->low;
}

/* Sort the ranges. Duplicates are equal, and neighbours without inlined functions are merged. */
static void sort_ranges(struct linecache *c)
{
    size_t n = 0, i;

    if (c->ranges.n)
        qsort(c->ranges.items, c->ranges.n, sizeof(struct line_row *), compare_ranges);
    for (i = 0; i < c->ranges.n; i++) {
        struct line_row *row = c->ranges.items[i], *last = n ? c->ranges.items[n - 1] : NULL;
        if (last && !last->n && !row->n && row->low <= last->high)
            last->high = row->high > last->high ? row->high : last->high;
        else if (!last || last->low != row->low)
            c->ranges.items[n++] = row;
    }
    c->ranges.n = n;
}

/* Clean a text and store it with the names. */
static const char *keep_text(struct symbolizer *sy, const char *text)
{
    char clean[TEXT_MAX];
    size_t n = text_clean(clean, sizeof clean, text, strlen(text));

    return intern_str(sy->names.raws, intern_add(sy->names.raws, clean, n));
}

static uint64_t key_of(const struct symbol_module *mod, const struct name *name)
{
    return map_mix(mod->name_hash + 5 * name->hash);
}

static struct line_row *make_row(struct symbolizer *sy, struct symbol_module *mod, const struct lines_view *v,
                                 const struct lines_row *from)
{
    struct arena *arena = &mod->lines->arena;
    struct line_row *row = arena_alloc(arena, sizeof *row);
    uint32_t i;

    *row = (struct line_row){ .low = from->low,
                              .high = from->high,
                              .file = keep_text(sy, v->strings + from->file),
                              .line = from->line,
                              .n = from->n };
    if (row->n)
        row->names = arena_alloc(arena, row->n * sizeof *row->names);
    for (i = 0; i < row->n; i++) {
        const char *name = v->strings + v->calls[from->first + i].name;
        row->names[i] = names_get(&sy->names, *name ? name : "[inlined]", mod->module->kind, mods_owner(mod));
    }
    return row;
}

/* With the call sites. */
static struct line_row *make_line(struct symbolizer *sy, struct symbol_module *mod,
                                  const struct lines_view *v, const struct lines_row *from)
{
    struct line_row *row = make_row(sy, mod, v, from);
    uint32_t i;

    if (row->n)
        row->told = arena_alloc(&mod->lines->arena, row->n * sizeof *row->told);
    for (i = 0; i < row->n; i++) {
        const struct lines_call *call = &v->calls[from->first + i];
        row->told[i] = (struct symbol_inline){ .name = row->names[i]->text,
                                               .file = keep_text(sy, v->strings + call->file),
                                               .line = call->line,
                                               .key = key_of(mod, row->names[i]) };
    }
    return row;
}

static void install_ranges(struct symbolizer *sy, struct symbol_module *mod, const struct lines_view *v,
                           size_t n_asked)
{
    struct linecache *c = mod->lines;
    size_t n = v->header.n_more, i;

    VEC_RESERVE(&c->ranges, c->ranges.n + n_asked + n);
    for (i = 0; i < n_asked; i++) {
        map_put(&c->known, c->batch[i], true);
        *VEC_PUSH(&c->ranges) = make_row(sy, mod, v, &v->rows[i]);
    }
    for (i = 0; i < n; i++)
        *VEC_PUSH(&c->ranges) = make_row(sy, mod, v, &v->rows[v->header.n_rows + i]);
    sort_ranges(c);
}

static void install_rows(struct symbolizer *sy, struct symbol_module *mod, const struct lines_view *v)
{
    struct linecache *c = mod->lines;
    size_t n = v->header.n_rows < c->n_batch ? v->header.n_rows : c->n_batch, i;

    if (c->epoch != sy->line_epoch) {
        c->n_batch = 0;
        return;
    }
    sy->line_bytes -= bytes_of(c);
    if (c->batch_kind == LINECACHE_INLINED)
        install_ranges(sy, mod, v, n);
    else
        for (i = 0; i < n; i++)
            map_put(&c->rows, c->batch[i], (uintptr_t)make_line(sy, mod, v, &v->rows[i]));
    sy->line_bytes += bytes_of(c);
    c->n_batch -= n;
    memmove(c->batch, c->batch + n, c->n_batch * sizeof *c->batch);
}

/* Install ranges from disk. They cover most of the requested offsets, but in another order. */
static void install_kept(struct symbolizer *sy, struct symbol_module *mod, const struct lines_view *v)
{
    struct linecache *c = mod->lines;
    size_t n = 0, i;

    install_rows(sy, mod, v);
    c->n_on_disk = c->ranges.n;
    for (i = 0; i < c->n_batch; i++)
        if (!find_range(c, c->batch[i]))
            c->batch[n++] = c->batch[i];
    c->n_batch = n;
}

static void stop_asking(struct symbolizer *sy, struct linecache *c)
{
    clear(sy, c);
    c->n_batch = 0;
}

/* The worker may have restarted between two requests: then the module is opened again. */
static bool is_final(const struct lines_view *v)
{
    return v->header.status == LINES_NO_DWARF || v->header.status == LINES_OTHER_BUILD;
}

void lines_result_free(struct lines_result *a)
{
    if (!a)
        return;
    blob_free(a->blob, a->size);
    mem_free(a);
}

bool linecache_install(struct symbolizer *sy, struct symbol_module *mod, struct outcome *out)
{
    struct linecache *c = mod->lines;
    struct lines_result *a = out->lines;

    c->spent_ns += out->took_ns;
    if (a && !is_final(&a->view)) {
        c->given_up += a->view.header.given_up;
        c->lacking |= a->view.header.lacking > 0;
        (a->of_disk ? install_kept : install_rows)(sy, mod, &a->view);
    } else if (a) {
        c->none = true;
        stop_asking(sy, c);
    }
    lines_result_free(a);
    if (a && (c->spent_ns > SPENT_MAX_NS || c->given_up > GIVEN_UP_MAX))
        error_set(&out->trouble, ERROR_LIMIT,
                  "its debug information takes too long to read: no inlined functions");
    if (!a || c->spent_ns > SPENT_MAX_NS || c->given_up > GIVEN_UP_MAX) {
        stop_asking(sy, c);
        return false;
    }
    if (c->n_batch || c->asked[LINECACHE_LINES].n || c->asked[LINECACHE_INLINED].n)
        mods_queue(sy, &mod->tasks[TASK_LINES]);
    return true;
}

static bool is_told(const struct line_row *row)
{
    uint32_t i;

    for (i = 0; i < row->n; i++)
        if (!row->told || row->told[i].name != row->names[i]->text)
            return false;
    return true;
}

/* Update names that have been demangled since. */
static void renew(struct symbol_module *mod, struct line_row *row)
{
    struct symbol_inline *told;
    uint32_t i;

    if (is_told(row))
        return;
    told = arena_alloc(&mod->lines->arena, row->n * sizeof *told);
    for (i = 0; i < row->n; i++) {
        told[i] = row->told ? row->told[i]
                            : (struct symbol_inline){ .file = "", .key = key_of(mod, row->names[i]) };
        told[i].name = row->names[i]->text;
    }
    row->told = told;
}

static enum symbol_state read_row(struct symbolizer *sy, struct symbol_module *mod, struct line_row *row,
                                  struct symbol_lines *out)
{
    if (!row)
        return SYMBOL_PENDING;
    sy->line_bytes -= bytes_of(mod->lines);
    renew(mod, row);
    sy->line_bytes += bytes_of(mod->lines);
    *out = (struct symbol_lines){
        .file = row->file, .line = row->line, .n_inlines = row->n, .inlines = row->told
    };
    return row->n || row->file[0] ? SYMBOL_FOUND : SYMBOL_NONE;
}

static enum symbol_state ask_once(struct symbolizer *sy, struct symbol_module *mod, enum linecache_kind kind,
                                  uint64_t offset)
{
    if (mod->lines->none || sy->line_bytes > BYTES_MAX)
        return SYMBOL_NONE;
    queue_request(sy, mod, mod->lines, kind, offset);
    return SYMBOL_PENDING;
}

static enum symbol_state look_up_line(struct symbolizer *sy, struct symbol_module *mod, uint64_t offset,
                                      struct symbol_lines *out)
{
    uint64_t known;

    if (map_get(&mod->lines->rows, offset, &known))
        return read_row(sy, mod, (struct line_row *)(uintptr_t)known, out);
    return ask_once(sy, mod, LINECACHE_LINES, offset);
}

static enum symbol_state look_up_inlined(struct symbolizer *sy, struct symbol_module *mod, uint64_t offset,
                                         struct symbol_lines *out)
{
    struct line_row *range = find_range(mod->lines, offset);
    uint64_t answered;

    if (range)
        return read_row(sy, mod, range, out);
    if (map_get(&mod->lines->known, offset, &answered))
        return answered ? SYMBOL_NONE : SYMBOL_PENDING;
    return ask_once(sy, mod, LINECACHE_INLINED, offset);
}

static enum symbol_state look_up(struct symbolizer *sy, struct module *m, uint64_t offset,
                                 struct symbol_lines *out,
                                 enum symbol_state (*look)(struct symbolizer *, struct symbol_module *,
                                                           uint64_t, struct symbol_lines *))
{
    enum symbol_state state = SYMBOL_NONE;
    struct symbol_module *mod;

    *out = (struct symbol_lines){ .file = "" };
    pthread_mutex_lock(&sy->lock);
    mod = mods_get(sy, m);
    if (mod->supplied && supplied_lines(mod->supplied, offset, out)) {
        state = SYMBOL_FOUND;
    } else if (module_has_lines(m) && !mod->supplied && mod->tasks[TASK_LINES].progress != PROGRESS_FAILED) {
        cache_of(sy, mod);
        state = look(sy, mod, offset, out);
    }
    pthread_mutex_unlock(&sy->lock);
    return state;
}

enum symbol_state symbolizer_lines(struct symbolizer *sy, struct module *m, uint64_t offset,
                                   struct symbol_lines *out)
{
    return look_up(sy, m, offset, out, look_up_line);
}

enum symbol_state symbolizer_inlined(struct symbolizer *sy, struct module *m, uint64_t offset,
                                     struct symbol_lines *out)
{
    return look_up(sy, m, offset, out, look_up_inlined);
}
