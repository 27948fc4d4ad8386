// SPDX-License-Identifier: GPL-2.0-or-later
/* Writes a snapshot's names, for systems without its files. Names of code made at run time are in the
 * perf.data (snapshot_jit.c). */
#include <stdlib.h>

#include "base/clock.h"
#include "base/mem.h"
#include "session/save/snapshot.h"
#include "symbols/supplied.h"

#define SETTLE_ROUNDS 4

/* Marks the frames of the samples' stacks: one byte per frame. */
static uint8_t *used_frames(const struct snapshot *sn)
{
    uint8_t *nodes = mem_array(sn->n_nodes + 1, 1), *frames = mem_array(sn->n_frames + 1, 1);
    for (size_t i = 0; i < sn->samples.n; i++)
        for (uint32_t node = sn->samples.list[i].stack; node && !nodes[node]; node = sn->parent[node]) {
            nodes[node] = 1;
            frames[sn->frame[node]] = 1;
        }
    mem_free(nodes);
    return frames;
}

static bool has_names(const struct module *m)
{
    return m && (m->kind == MODULE_FILE || m->kind == MODULE_VDSO || m->kind == MODULE_KERNEL ||
                 m->kind == MODULE_KMOD);
}

/* Looks up the name and, for program code, source lines and inlined functions, as the views show them. */
static void get_symbol(struct snapshot *sn, struct module *m, uint64_t offset, struct symbol *symbol,
                       struct symbol_lines *lines, bool *lined)
{
    struct symbolizer *sy = sn->s->store.symbolizer;
    struct symbol_lines inlined;
    symbolizer_lookup(sy, m, offset, symbol);
    *lined = false;
    if (m->kind != MODULE_FILE)
        return;
    bool calls = symbolizer_inlined(sy, m, offset, &inlined) == SYMBOL_FOUND && inlined.n_inlines;
    *lined = symbolizer_lines(sy, m, offset, lines) == SYMBOL_FOUND;
    if (!*lined || lines->n_inlines != (calls ? inlined.n_inlines : 0)) {
        *lined = calls;
        *lines = inlined;
    }
}

/* Requests all names. Inlined functions go before lines, which may be very many. */
static void ask_all(struct snapshot *sn, const uint8_t *used, bool with_lines)
{
    struct symbolizer *sy = sn->s->store.symbolizer;
    struct symbol symbol;
    struct symbol_lines lines;
    for (uint32_t i = 1; i < sn->n_frames; i++) {
        struct module *m = used[i] ? snapshot_module(sn, sn->frame_module[i]) : NULL;
        if (!has_names(m))
            continue;
        symbolizer_lookup(sy, m, sn->frame_offset[i], &symbol);
        symbolizer_inlined(sy, m, sn->frame_offset[i], &lines);
        if (with_lines)
            symbolizer_lines(sy, m, sn->frame_offset[i], &lines);
    }
}

/* Waits for the names. A result may lead to further requests: a debug file, names to demangle. */
static void settle(struct snapshot *sn, const uint8_t *used)
{
    struct symbolizer *sy = sn->s->store.symbolizer;
    for (int lines = 0; lines < 2; lines++) {
        uint64_t end_ns = clock_now_ns() + session_patience_ns(sn->s), now_ns;
        uint32_t seen = symbolizer_generation(sy) - 1;
        for (int round = 0; round < SETTLE_ROUNDS && symbolizer_generation(sy) != seen; round++) {
            seen = symbolizer_generation(sy);
            ask_all(sn, used, lines);
            now_ns = clock_now_ns();
            symbolizer_settle(sy, end_ns > now_ns ? end_ns - now_ns : 0);
        }
    }
}

struct ordered { /* sorts frames by module, then by offset */
    uint32_t frame, module;
    uint64_t offset;
};

static int in_order(const void *a, const void *b)
{
    const struct ordered *x = a, *y = b;
    if (x->module != y->module)
        return x->module < y->module ? -1 : 1;
    return x->offset < y->offset ? -1 : x->offset > y->offset;
}

static struct ordered *order_frames(const struct snapshot *sn, const uint8_t *used, size_t *n)
{
    struct ordered *list = mem_array(sn->n_frames + 1, sizeof *list);
    *n = 0;
    for (uint32_t i = 1; i < sn->n_frames; i++)
        if (used[i] && has_names(snapshot_module(sn, sn->frame_module[i])))
            list[(*n)++] = (struct ordered){ i, sn->frame_module[i], sn->frame_offset[i] };
    if (*n)
        qsort(list, *n, sizeof *list, in_order);
    return list;
}

static void put_module(struct snapshot *sn, struct module *m, struct buf *out)
{
    uint8_t id[20];
    unsigned size = symbolizer_build_id(sn->s->store.symbolizer, m, id);
    supplied_put_module(out, m, id, size);
}

void snapshot_names(struct snapshot *sn, struct buf *out)
{
    size_t n;
    uint8_t *used = used_frames(sn);
    struct ordered *list = order_frames(sn, used, &n);
    uint64_t told_end = 0;
    settle(sn, used);
    supplied_put_head(out);
    for (size_t i = 0; i < n; i++) {
        struct module *m = snapshot_module(sn, list[i].module);
        struct symbol symbol;
        struct symbol_lines lines;
        bool lined;
        if (!i || list[i].module != list[i - 1].module) {
            put_module(sn, m, out);
            told_end = 0;
        }
        if (i && !in_order(&list[i], &list[i - 1])) /* the same address, interrupted */
            continue;
        get_symbol(sn, m, list[i].offset, &symbol, &lines, &lined);
        if (list[i].offset >= told_end)
            supplied_put_symbol(out, list[i].offset, &symbol);
        if (symbol.size && list[i].offset - symbol.start < symbol.size)
            told_end = symbol.start + symbol.size;
        if (lined)
            supplied_put_lines(out, list[i].offset, &lines);
    }
    mem_free(list);
    mem_free(used);
}
