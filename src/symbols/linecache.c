// SPDX-License-Identifier: GPL-2.0-or-later
#include "symbols/linecache.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/text.h"

#define BYTES_MAX    (64u << 20)     /* of all modules: beyond, nothing more is asked for */
#define BYTES_TRIM   (BYTES_MAX / 2) /* beyond, all goes when it may */
#define SPENT_MAX_NS (120 * NS_PER_SEC)
#define GIVEN_UP_MAX 64
#define TEXT_MAX     1024

struct line_row {
    const char *file;
    uint32_t line, n;
    struct name **names;
    struct symbol_inline *told; /* replaced, never changed: someone may be reading it */
};

static size_t bytes_of(const struct linecache *c)
{
    return sizeof *c + map_bytes(&c->rows) + c->arena.held_bytes + c->asked_cap * sizeof *c->asked;
}

static struct linecache *cache_of(struct symbolizer *sy, struct mod *mod)
{
    if (!mod->lines) {
        mod->lines = mem_zalloc(sizeof *mod->lines);
        sy->line_bytes += bytes_of(mod->lines);
    }
    return mod->lines;
}

void linecache_free(struct symbolizer *sy, struct mod *mod)
{
    struct linecache *c = mod->lines;

    if (!c)
        return;
    sy->line_bytes -= bytes_of(c);
    map_done(&c->rows);
    arena_done(&c->arena);
    mem_free(c->asked);
    mem_free(c);
    mod->lines = NULL;
}

/* What is under way stays: the resolver is reading it. */
static void clear(struct symbolizer *sy, struct linecache *c)
{
    sy->line_bytes -= bytes_of(c);
    map_done(&c->rows);
    arena_done(&c->arena);
    mem_free(c->asked);
    c->asked = NULL;
    c->n_asked = c->asked_cap = 0;
    sy->line_bytes += bytes_of(c);
}

void linecache_forget(struct symbolizer *sy, bool all)
{
    size_t pos = 0;
    uint64_t value;

    if (!all && sy->line_bytes <= BYTES_TRIM)
        return;
    sy->line_epoch++;
    while (map_next(&sy->mods, &pos, NULL, &value)) {
        struct mod *mod = (struct mod *)(uintptr_t)value;
        if (mod->lines && mod->tasks[TASK_LINES].busy)
            clear(sy, mod->lines);
        else
            linecache_free(sy, mod);
    }
}

static void ask(struct symbolizer *sy, struct mod *mod, struct linecache *c, uint64_t offset)
{
    struct task *task = &mod->tasks[TASK_LINES];

    sy->line_bytes -= bytes_of(c);
    map_put(&c->rows, offset, 0);
    MEM_GROW(c->asked, c->asked_cap, c->n_asked + 1);
    c->asked[c->n_asked++] = offset;
    sy->line_bytes += bytes_of(c);
    mods_ask(sy, mod, TASK_NAMES); /* they tell where a debug file may be */
    mods_ask(sy, mod, TASK_LINES);
    if (!task->busy)
        mods_queue(sy, task);
}

static int compare(const void *a, const void *b)
{
    uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;

    return left < right ? -1 : left > right;
}

/* In order, so that neighbours share what the worker has just read. */
bool linecache_take(struct symbolizer *sy, struct mod *mod)
{
    struct linecache *c = mod->lines;

    if (!c)
        return true;
    if (c->epoch != sy->line_epoch)
        c->n_batch = 0;
    c->epoch = sy->line_epoch;
    if (!c->n_batch && c->n_asked > LINECACHE_BATCH)
        qsort(c->asked, c->n_asked, sizeof *c->asked, compare);
    while (c->n_asked && c->n_batch < LINECACHE_BATCH)
        c->batch[c->n_batch++] = c->asked[--c->n_asked];
    if (c->n_batch)
        qsort(c->batch, c->n_batch, sizeof *c->batch, compare);
    return !c->n_batch;
}

/* Cleaned, and kept with the names. */
static const char *keep_text(struct symbolizer *sy, const char *text)
{
    char clean[TEXT_MAX];
    size_t n = text_clean(clean, sizeof clean, text, strlen(text));

    return intern_str(sy->names.raws, intern_add(sy->names.raws, clean, n));
}

static struct line_row *make_row(struct symbolizer *sy, struct mod *mod, const struct lines_view *v,
                                 const struct lines_row *from)
{
    struct arena *arena = &mod->lines->arena;
    struct line_row *row = arena_alloc(arena, sizeof *row);
    uint32_t i;

    *row =
        (struct line_row){ .file = keep_text(sy, v->strings + from->file), .line = from->line, .n = from->n };
    if (!row->n)
        return row;
    row->names = arena_alloc(arena, row->n * sizeof *row->names);
    row->told = arena_alloc(arena, row->n * sizeof *row->told);
    for (i = 0; i < row->n; i++) {
        const struct lines_call *call = &v->calls[from->first + i];
        const char *name = v->strings + call->name;
        struct name *kept = names_get(&sy->names, *name ? name : "[inlined]", mod->module->kind);
        row->names[i] = kept;
        row->told[i] = (struct symbol_inline){ .name = kept->text,
                                               .file = keep_text(sy, v->strings + call->file),
                                               .line = call->line,
                                               .key = map_mix(mod->name_hash + 5 * kept->hash) };
    }
    return row;
}

static void install_rows(struct symbolizer *sy, struct mod *mod, const struct lines_view *v)
{
    struct linecache *c = mod->lines;
    size_t n = v->header.n_rows < c->n_batch ? v->header.n_rows : c->n_batch, i;

    if (c->epoch != sy->line_epoch) {
        c->n_batch = 0;
        return;
    }
    sy->line_bytes -= bytes_of(c);
    for (i = 0; i < n; i++)
        map_put(&c->rows, c->batch[i], (uintptr_t)make_row(sy, mod, v, &v->rows[i]));
    sy->line_bytes += bytes_of(c);
    c->n_batch -= n;
    memmove(c->batch, c->batch + n, c->n_batch * sizeof *c->batch);
}

static void stop_asking(struct symbolizer *sy, struct linecache *c)
{
    clear(sy, c);
    c->n_batch = 0;
}

/* The worker may have ended between two questions: then the module is opened again. */
static bool is_final(const struct lines_view *v)
{
    return v->header.status == LINES_NO_DWARF || v->header.status == LINES_OTHER_BUILD;
}

bool linecache_install(struct symbolizer *sy, struct mod *mod, struct outcome *out, uint64_t took_ns)
{
    struct linecache *c = mod->lines;
    struct lines_answer *a = out->lines;

    c->spent_ns += took_ns;
    if (a && !is_final(&a->view)) {
        c->given_up += a->view.header.given_up;
        install_rows(sy, mod, &a->view);
    } else if (a) {
        c->none = true;
        stop_asking(sy, c);
    }
    lines_answer_free(a);
    if (a && (c->spent_ns > SPENT_MAX_NS || c->given_up > GIVEN_UP_MAX))
        error_set(&out->trouble, ERROR_LIMIT,
                  "its debug information takes too long to read: no inlined functions");
    if (!a || c->spent_ns > SPENT_MAX_NS || c->given_up > GIVEN_UP_MAX) {
        stop_asking(sy, c);
        return false;
    }
    if (c->n_batch || c->n_asked)
        mods_queue(sy, &mod->tasks[TASK_LINES]);
    return true;
}

/* Names are shown as they are until they are demangled, here as well. */
static void renew(struct linecache *c, struct line_row *row)
{
    struct symbol_inline *told;
    uint32_t i;

    for (i = 0; i < row->n && row->told[i].name == row->names[i]->text; i++)
        ;
    if (i == row->n)
        return;
    told = arena_alloc(&c->arena, row->n * sizeof *told);
    memcpy(told, row->told, row->n * sizeof *told);
    for (; i < row->n; i++)
        told[i].name = row->names[i]->text;
    row->told = told;
}

static enum symbol_state tell(struct symbolizer *sy, struct linecache *c, struct line_row *row,
                              struct symbol_lines *out)
{
    if (!row)
        return SYMBOL_PENDING;
    sy->line_bytes -= bytes_of(c);
    renew(c, row);
    sy->line_bytes += bytes_of(c);
    *out = (struct symbol_lines){
        .file = row->file, .line = row->line, .n_inlines = row->n, .inlines = row->told
    };
    return row->n || row->file[0] ? SYMBOL_FOUND : SYMBOL_NONE;
}

static enum symbol_state look_up(struct symbolizer *sy, struct mod *mod, uint64_t offset,
                                 struct symbol_lines *out)
{
    struct linecache *c;
    uint64_t known;

    if (mod->module->kind != MODULE_FILE || mod->tasks[TASK_LINES].progress == PROGRESS_FAILED)
        return SYMBOL_NONE;
    c = cache_of(sy, mod);
    if (map_get(&c->rows, offset, &known))
        return tell(sy, c, (struct line_row *)(uintptr_t)known, out);
    if (c->none || sy->line_bytes > BYTES_MAX)
        return SYMBOL_NONE;
    ask(sy, mod, c, offset);
    return SYMBOL_PENDING;
}

enum symbol_state symbolizer_lines(struct symbolizer *sy, struct module *m, uint64_t offset,
                                   struct symbol_lines *out)
{
    enum symbol_state state;

    *out = (struct symbol_lines){ .file = "" };
    pthread_mutex_lock(&sy->lock);
    state = look_up(sy, mods_get(sy, m), offset, out);
    pthread_mutex_unlock(&sy->lock);
    return state;
}
