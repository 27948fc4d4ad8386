// SPDX-License-Identifier: GPL-2.0-or-later
#include "profile/expand_inlines.h"

#include <string.h>

#include "base/mem.h"

static void add_frame(struct expanded *x, const struct result *r, uint32_t real, uint32_t inlined)
{
    struct result *to = &x->result;
    uint32_t n = to->n_frames++;

    MEM_GROW(to->frame_module, x->module_cap, n + 1);
    MEM_GROW(to->frame_offset, x->offset_cap, n + 1);
    MEM_GROW(to->frame_interrupted, x->interrupted_cap, n + 1);
    VEC_RESERVE(&x->real, n + 1);
    VEC_RESERVE(&x->inlined, n + 1);
    to->frame_module[n] = real ? r->frame_module[real] : 0;
    to->frame_offset[n] = real ? r->frame_offset[real] : 0;
    to->frame_interrupted[n] = real ? r->frame_interrupted[real] : 0;
    x->real.items[n] = real;
    x->inlined.items[n] = inlined;
    x->any |= inlined > 0;
}

static void start_expansion(struct expanded *x, const struct result *r)
{
    x->any = false;
    x->result.n_frames = x->result.n_nodes = 0;
    x->n_real = x->n_real_nodes = 0;
    x->entries_version = 0;
    VEC_RESERVE(&x->first, 2);
    x->first.items[0] = 0;
    add_frame(x, r, 0, 0);
    x->first.items[1] = x->result.n_frames;
    x->n_real = 1;
    x->result.n_frames_before = 1;
}

static void expand_frames(struct expanded *x, const struct result *r,
                          uint32_t (*inlined)(void *ctx, uint32_t frame), void *ctx)
{
    VEC_RESERVE(&x->first, (size_t)r->n_frames + 1);
    for (; x->n_real < r->n_frames; x->n_real++) {
        uint32_t n = inlined(ctx, x->n_real);

        add_frame(x, r, x->n_real, 0);
        for (uint32_t k = 1; k <= n && n < EXPAND_NODES_MAX; k++)
            add_frame(x, r, x->n_real, k);
        x->first.items[x->n_real + 1] = x->result.n_frames;
    }
}

static uint32_t add_node(struct expanded *x, uint32_t parent, uint32_t frame)
{
    struct result *to = &x->result;
    uint32_t n = to->n_nodes++;

    MEM_GROW(to->parent, x->parent_cap, (size_t)n + 1);
    MEM_GROW(to->frame, x->frame_cap, (size_t)n + 1);
    to->parent[n] = parent;
    to->frame[n] = frame;
    return n;
}

/* Expands each node to a chain. Parents still come first. */
static void expand_nodes(struct expanded *x, const struct result *r)
{
    VEC_RESERVE(&x->last_node, (size_t)r->n_nodes + 1);
    for (uint32_t i = x->n_real_nodes; i < r->n_nodes; i++) {
        uint32_t frame = i ? r->frame[i] : 0, end = x->first.items[frame + 1];
        uint32_t at = add_node(x, i ? x->last_node.items[r->parent[i]] : 0, x->first.items[frame]);

        if ((uint64_t)x->result.n_nodes + (end - x->first.items[frame]) + (r->n_nodes - i) > EXPAND_NODES_MAX)
            end = 0;
        for (uint32_t k = x->first.items[frame] + 1; k < end; k++)
            at = add_node(x, at, k);
        x->last_node.items[i] = at;
    }
    x->n_real_nodes = r->n_nodes;
}

bool expand_goes_on(const struct expanded *x, const struct result *r)
{
    return x->version && x->version == r->goes_on_from;
}

void expand_trie(struct expanded *x, const struct result *r, uint32_t (*inlined)(void *ctx, uint32_t frame),
                 void *ctx)
{
    if (expand_goes_on(x, r))
        x->result.n_frames_before = x->result.n_frames;
    else
        start_expansion(x, r);
    expand_frames(x, r, inlined, ctx);
    expand_nodes(x, r);
    x->version = r->version;
}

static void copy_entry(const struct expanded *x, struct result_entry *to, const struct result_entry *from)
{
    *to = *from;
    to->node = x->last_node.items[from->node];
}

static uint32_t copy_entries(const struct expanded *x, struct result_entry **to, size_t *cap,
                             const struct result_entry *from, uint32_t n)
{
    MEM_GROW(*to, *cap, n);
    for (uint32_t i = 0; i < n; i++)
        copy_entry(x, &(*to)[i], &from[i]);
    return n;
}

/* Updates the entries that have deltas, in place, and appends the new ones. */
static void renew_entries(struct expanded *x, const struct result *r)
{
    struct result *to = &x->result;
    uint32_t before = to->n_entries;

    MEM_GROW(to->entries, x->entries_cap, r->n_entries);
    for (uint32_t i = 0; i < r->n_added; i++)
        if (r->added[i].other < before)
            copy_entry(x, &to->entries[r->added[i].other], &r->entries[r->added[i].other]);
    for (; to->n_entries < r->n_entries; to->n_entries++)
        copy_entry(x, &to->entries[to->n_entries], &r->entries[to->n_entries]);
}

void expand_entries(struct expanded *x, const struct result *r)
{
    struct result *to = &x->result;

    to->since = r->since && r->since == x->entries_version ? r->since : 0;
    if (to->since && !r->some_left)
        renew_entries(x, r);
    else
        to->n_entries = copy_entries(x, &to->entries, &x->entries_cap, r->entries, r->n_entries);
    to->group_sums = r->group_sums; /* the order of entries is the same */
    to->group_events = r->group_events;
    to->n_added = copy_entries(x, &to->added, &x->added_cap, r->added, r->since ? r->n_added : 0);
    to->version = r->version;
    to->some_left = r->some_left;
    x->entries_version = r->version;
    to->samples = r->samples;
    to->weight = r->weight;
    to->broken_samples = r->broken_samples;
    to->first_ns = r->first_ns;
    to->last_ns = r->last_ns;
    to->from_ns = r->from_ns;
    to->to_ns = r->to_ns;
}

void expand_anew(struct expanded *x)
{
    x->version = 0;
}

void expanded_done(struct expanded *x)
{
    /* Not result_done: it treats the trie as a part of the result's memory, but this trie belongs to x. */
    mem_free(x->result.entries);
    mem_free(x->result.added);
    mem_free(x->result.parent);
    mem_free(x->result.frame);
    mem_free(x->result.frame_module);
    mem_free(x->result.frame_offset);
    mem_free(x->result.frame_interrupted);
    mem_free(x->real.items);
    mem_free(x->inlined.items);
    mem_free(x->first.items);
    mem_free(x->last_node.items);
    *x = (struct expanded){ 0 };
}
