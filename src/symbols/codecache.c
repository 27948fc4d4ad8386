// SPDX-License-Identifier: GPL-2.0-or-later
/* Recently requested functions and source files. */
#include "symbols/codecache.h"

#include <stdio.h>
#include <string.h>

#include "symbols/blob.h"

static struct code *get_code(struct code *c)
{
    __atomic_add_fetch(&c->refs, 1, __ATOMIC_RELAXED);
    return c;
}

void code_put(struct code *c)
{
    if (!c || __atomic_sub_fetch(&c->refs, 1, __ATOMIC_ACQ_REL))
        return;
    blob_free(c->blob, c->blob_size);
    mem_free(c);
}

static bool is_wanted(const struct code_slot *slot)
{
    return !slot->code && !slot->source;
}

static void clear(struct code_slot *slot)
{
    code_put(slot->code);
    source_put(slot->source);
    mem_free(slot->want.path);
    *slot = (struct code_slot){ .used = 0 };
}

void codecache_free(struct symbol_module *mod)
{
    unsigned i;

    if (!mod->code)
        return;
    for (i = 0; i < mod->code->slots.n; i++)
        clear(&mod->code->slots.items[i]);
    mem_free(mod->code->batch.path);
    mem_free(mod->code->slots.items);
    mem_free(mod->code);
    mod->code = NULL;
}

static bool is_same(const struct code_want *a, const struct code_want *b)
{
    if (a->path || b->path)
        return a->path && b->path && !strcmp(a->path, b->path);
    return a->start == b->start && a->size == b->size && a->intel == b->intel;
}

static struct code_slot *find(struct codecache *c, const struct code_want *want)
{
    unsigned i;

    for (i = 0; i < c->slots.n; i++)
        if (is_same(&c->slots.items[i].want, want))
            return &c->slots.items[i];
    return NULL;
}

/* Return a new slot or, when there are many, the least recently requested one. Slots still to be read stay:
 * else two viewers that request more than there are slots would never get anything. */
static struct code_slot *make_room(struct codecache *c)
{
    struct code_slot *oldest = NULL;
    unsigned i;

    for (i = 0; i < c->slots.n && c->slots.n >= CODECACHE_SLOTS; i++)
        if (!is_wanted(&c->slots.items[i]) && (!oldest || c->slots.items[i].used < oldest->used))
            oldest = &c->slots.items[i];
    if (oldest) {
        clear(oldest);
        return oldest;
    }
    struct code_slot *new = VEC_PUSH(&c->slots);
    *new = (struct code_slot){ .used = 0 };
    return new;
}

/* Return the slot of a request, queueing it if it is new. */
static struct code_slot *queue_request(struct symbolizer *sy, struct symbol_module *mod,
                                       const struct code_want *want)
{
    struct symbol_task *task = &mod->tasks[TASK_CODE];
    struct code_slot *slot;

    if (!mod->code)
        mod->code = mem_zalloc(sizeof *mod->code);
    slot = find(mod->code, want);
    if (!slot) {
        slot = make_room(mod->code);
        slot->want = *want;
        slot->want.path = want->path ? mem_strdup(want->path) : NULL;
    }
    slot->used = ++mod->code->clock;
    if (is_wanted(slot)) {
        if (task->progress != PROGRESS_UNASKED)
            task->progress = PROGRESS_WAITING;
        mods_ask(sy, mod, TASK_CODE);
        if (!task->busy)
            mods_queue(sy, task);
    }
    return slot;
}

bool codecache_take(struct symbolizer *sy, struct symbol_module *mod)
{
    struct codecache *c = mod->code;
    unsigned i;

    for (i = 0; c && i < c->slots.n; i++) {
        if (!is_wanted(&c->slots.items[i]))
            continue;
        mem_free(c->batch.path);
        c->batch = c->slots.items[i].want;
        c->batch.path = c->batch.path ? mem_strdup(c->batch.path) : NULL;
        c->kernel_shift = sy->kernel_shift;
        c->reference = mods_kernel_start(sy);
        c->over = mod->over;
        return false;
    }
    return true;
}

static struct code *no_code(const struct code_want *want, const struct error *why)
{
    struct code *c = mem_zalloc(sizeof *c);

    c->refs = 1;
    c->start = want->start;
    c->size = want->size;
    memcpy(c->trouble, why->text, sizeof c->trouble);
    return c;
}

static struct source *no_source(const struct error *why)
{
    struct source *s = mem_zalloc(sizeof *s);

    s->refs = 1;
    snprintf(s->trouble, sizeof s->trouble, "%.*s", (int)sizeof s->trouble - 1, why->text);
    return s;
}

bool codecache_install(struct symbolizer *sy, struct symbol_module *mod, struct outcome *out)
{
    struct codecache *c = mod->code;
    struct code_slot *slot = c ? find(c, &c->batch) : NULL;
    unsigned i;

    if (!out->trouble.text[0])
        error_set(&out->trouble, ERROR_FORMAT, "it cannot be read");
    if (slot && is_wanted(slot) && slot->want.path)
        slot->source = out->source ? source_get(out->source) : no_source(&out->trouble);
    else if (slot && is_wanted(slot))
        slot->code = out->code ? get_code(out->code) : no_code(&slot->want, &out->trouble);
    code_put(out->code);
    source_put(out->source);
    error_clear(&out->trouble); /* the result has its own trouble */
    for (i = 0; c && i < c->slots.n; i++)
        if (is_wanted(&c->slots.items[i]))
            mods_queue(sy, &mod->tasks[TASK_CODE]);
    return true;
}

enum symbol_state symbolizer_code(struct symbolizer *sy, struct module *m, uint64_t start, uint64_t size,
                                  bool intel, struct code **out)
{
    struct code_want want = { .start = start,
                              .size = size < CODE_BYTES_MAX ? size : CODE_BYTES_MAX,
                              .intel = intel };
    struct code_slot *slot;

    pthread_mutex_lock(&sy->lock);
    slot = queue_request(sy, mods_get(sy, m), &want);
    *out = slot->code ? get_code(slot->code) : NULL;
    pthread_mutex_unlock(&sy->lock);
    return !*out ? SYMBOL_PENDING : (*out)->view.header.n_rows ? SYMBOL_FOUND : SYMBOL_NONE;
}

enum symbol_state symbolizer_source(struct symbolizer *sy, struct module *m, const char *path,
                                    struct source **out)
{
    struct code_want want = { .path = (char *)(uintptr_t)path };
    struct code_slot *slot;

    pthread_mutex_lock(&sy->lock);
    slot = queue_request(sy, mods_get(sy, m), &want);
    *out = slot->source ? source_get(slot->source) : NULL;
    pthread_mutex_unlock(&sy->lock);
    return !*out ? SYMBOL_PENDING : (*out)->text ? SYMBOL_FOUND : SYMBOL_NONE;
}
