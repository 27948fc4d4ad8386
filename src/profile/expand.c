// SPDX-License-Identifier: GPL-2.0-or-later
#include "profile/expand.h"

#include <string.h>

#include "base/mem.h"

static void add_frame(struct expanded *x, const struct result *r, uint32_t real, uint32_t inlined)
{
    struct result *to = &x->result;
    uint32_t n = to->n_frames - x->n_real;

    MEM_GROW(to->frame_module, x->module_cap, to->n_frames + 1);
    MEM_GROW(to->frame_offset, x->offset_cap, to->n_frames + 1);
    MEM_GROW(x->real, x->real_cap, n + 1);
    MEM_GROW(x->inlined, x->inlined_cap, n + 1);
    to->frame_module[to->n_frames] = r->frame_module[real];
    to->frame_offset[to->n_frames] = r->frame_offset[real];
    x->real[n] = real;
    x->inlined[n] = inlined;
    to->n_frames++;
}

static void copy_frames(struct expanded *x, const struct result *r)
{
    struct result *to = &x->result;

    MEM_GROW(to->frame_module, x->module_cap, r->n_frames);
    MEM_GROW(to->frame_offset, x->offset_cap, r->n_frames);
    if (r->n_frames) {
        memcpy(to->frame_module, r->frame_module, r->n_frames * sizeof *to->frame_module);
        memcpy(to->frame_offset, r->frame_offset, r->n_frames * sizeof *to->frame_offset);
    }
    x->n_real = to->n_frames = r->n_frames;
}

/* Uses of each frame, for the number of nodes that each will cost: at first in `first`. */
static void count_uses(struct expanded *x, const struct result *r)
{
    uint32_t i;

    MEM_GROW(x->first, x->first_cap, r->n_frames + 1);
    memset(x->first, 0, (r->n_frames + 1) * sizeof *x->first);
    for (i = 1; i < r->n_nodes; i++)
        x->first[r->frame[i]]++;
}

static uint32_t expand_frames(struct expanded *x, const struct result *r,
                              uint32_t (*inlined)(void *ctx, uint32_t frame), void *ctx)
{
    uint64_t nodes = r->n_nodes;
    uint32_t i, k;

    copy_frames(x, r);
    count_uses(x, r);
    for (i = 1; i < r->n_frames; i++) {
        uint32_t n = inlined(ctx, i);
        uint64_t cost = (uint64_t)x->first[i] * n;
        x->first[i] = x->result.n_frames;
        if (!cost || nodes + cost > EXPAND_NODES_MAX)
            continue;
        nodes += cost;
        for (k = 1; k <= n; k++)
            add_frame(x, r, i, k);
    }
    x->first[r->n_frames] = x->result.n_frames;
    return (uint32_t)nodes;
}

/* Each node becomes a chain: parents still come first. */
static void expand_nodes(struct expanded *x, const struct result *r, uint32_t n_nodes)
{
    struct result *to = &x->result;
    uint32_t i, k, n = 1;

    MEM_GROW(to->parent, x->parent_cap, n_nodes + 1);
    MEM_GROW(to->frame, x->frame_cap, n_nodes + 1);
    MEM_GROW(x->last_node, x->last_cap, r->n_nodes + 1);
    to->parent[0] = to->frame[0] = x->last_node[0] = 0;
    for (i = 1; i < r->n_nodes; i++) {
        uint32_t frame = r->frame[i];
        to->parent[n] = x->last_node[r->parent[i]];
        to->frame[n++] = frame;
        for (k = x->first[frame]; frame && k < x->first[frame + 1]; k++) {
            to->parent[n] = n - 1;
            to->frame[n++] = k;
        }
        x->last_node[i] = n - 1;
    }
    to->n_nodes = n;
}

static void copy_entries(struct expanded *x, const struct result *r)
{
    struct result *to = &x->result;
    uint32_t i;

    MEM_GROW(to->entries, x->entries_cap, r->n_entries);
    for (i = 0; i < r->n_entries; i++) {
        to->entries[i] = r->entries[i];
        to->entries[i].node = x->last_node[r->entries[i].node];
    }
    to->n_entries = r->n_entries;
}

bool expand_result(struct expanded *x, const struct result *r, uint32_t (*inlined)(void *ctx, uint32_t frame),
                   void *ctx)
{
    struct result *to = &x->result;
    uint32_t n_nodes = expand_frames(x, r, inlined, ctx);

    expand_nodes(x, r, n_nodes);
    copy_entries(x, r);
    to->samples = r->samples;
    to->weight = r->weight;
    to->broken_samples = r->broken_samples;
    to->first_ns = r->first_ns;
    to->last_ns = r->last_ns;
    to->from_ns = r->from_ns;
    to->to_ns = r->to_ns;
    return to->n_frames > x->n_real;
}

void expanded_done(struct expanded *x)
{
    /* result_done takes a result's tree for part of its memory: this one is our own */
    mem_free(x->result.entries);
    mem_free(x->result.parent);
    mem_free(x->result.frame);
    mem_free(x->result.frame_module);
    mem_free(x->result.frame_offset);
    mem_free(x->real);
    mem_free(x->inlined);
    mem_free(x->first);
    mem_free(x->last_node);
    *x = (struct expanded){ 0 };
}
