// SPDX-License-Identifier: GPL-2.0-or-later
/* Stores frames and nodes as rows in plain columns.
 *
 * The two hash tables have only row numbers (0: free; row 0 is never looked up) and compare through the
 * columns. They use linear probing, have a power of two as size, and are at most two thirds full. Nearly
 * all nodes are the only child of their parent: a node has its first child's number, and only further
 * children are in the table. So a new path is written node by node without touching the table. */
#include "profile/stacks.h"

#include <stdbool.h>
#include <string.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/serial.h"

#define TABLE_MIN_BITS 6
#define HASH_FACTOR    UINT64_C(0x9e3779b97f4a7c15) /* 2^64 / golden ratio */

struct table {
    uint32_t *slots;
    unsigned bits;
};

struct stacks {
    uint32_t *parent, *frame, *child; /* child: the first one; 0: none */
    size_t parent_cap, frame_cap, child_cap;
    uint32_t n_nodes, n_hashed; /* n_hashed: nodes in the table */
    uint32_t *module;
    uint64_t *offset;
    uint8_t *interrupted;
    size_t module_cap, offset_cap, interrupted_cap;
    uint32_t n_frames;
    struct table nodes, frames;
    uint64_t epoch;
};

static size_t table_size(const struct table *t)
{
    return (size_t)1 << t->bits;
}

static bool is_full(const struct table *t, uint32_t n)
{
    return (uint64_t)n * 3 >= (uint64_t)table_size(t) * 2;
}

/* Makes an empty table with room for n rows. */
static void table_reset(struct table *t, uint32_t n)
{
    mem_free(t->slots);
    t->bits = TABLE_MIN_BITS;
    while (is_full(t, n))
        t->bits++;
    t->slots = mem_array(table_size(t), sizeof *t->slots);
}

static size_t frame_home(const struct table *t, uint32_t module, uint64_t offset)
{
    return (size_t)(map_mix(offset + module * HASH_FACTOR) >> (64 - t->bits));
}

static size_t node_home(const struct table *t, uint32_t parent, uint32_t frame)
{
    uint64_t key = (uint64_t)parent << 32 | frame;

    /* The high half of the product depends on the whole key; the xor lets high bits of the key affect
     * low ones. */
    key ^= key >> 29;
    return (size_t)(key * HASH_FACTOR >> (64 - t->bits));
}

static size_t frame_find(const struct stacks *s, uint32_t module, uint64_t offset, uint8_t interrupted)
{
    const struct table *t = &s->frames;
    size_t mask = table_size(t) - 1;
    size_t i = frame_home(t, module, offset);
    uint32_t id;

    while ((id = t->slots[i]) &&
           (s->offset[id] != offset || s->module[id] != module || s->interrupted[id] != interrupted))
        i = (i + 1) & mask;
    return i;
}

static size_t node_find(const struct stacks *s, uint32_t parent, uint32_t frame)
{
    const struct table *t = &s->nodes;
    size_t mask = table_size(t) - 1;
    size_t i = node_home(t, parent, frame);
    uint32_t id;

    while ((id = t->slots[i]) && (s->parent[id] != parent || s->frame[id] != frame))
        i = (i + 1) & mask;
    return i;
}

static void frames_rehash(struct stacks *s)
{
    table_reset(&s->frames, s->n_frames);
    for (uint32_t id = 1; id < s->n_frames; id++)
        s->frames.slots[frame_find(s, s->module[id], s->offset[id], s->interrupted[id])] = id;
}

static bool is_first_child(const struct stacks *s, uint32_t id)
{
    return s->child[s->parent[id]] == id;
}

static void nodes_rehash(struct stacks *s)
{
    table_reset(&s->nodes, s->n_hashed);
    for (uint32_t id = 1; id < s->n_nodes; id++) {
        if (!is_first_child(s, id))
            s->nodes.slots[node_find(s, s->parent[id], s->frame[id])] = id;
    }
}

static uint32_t frame_append(struct stacks *s, uint32_t module, uint64_t offset, uint8_t interrupted)
{
    uint32_t id = s->n_frames++;

    MEM_GROW(s->module, s->module_cap, s->n_frames);
    MEM_GROW(s->offset, s->offset_cap, s->n_frames);
    s->module[id] = module;
    MEM_GROW(s->interrupted, s->interrupted_cap, s->n_frames);
    s->offset[id] = offset;
    s->interrupted[id] = interrupted;
    return id;
}

static uint32_t node_append(struct stacks *s, uint32_t parent, uint32_t frame)
{
    uint32_t id = s->n_nodes++;

    MEM_GROW(s->parent, s->parent_cap, s->n_nodes);
    MEM_GROW(s->frame, s->frame_cap, s->n_nodes);
    MEM_GROW(s->child, s->child_cap, s->n_nodes);
    s->parent[id] = parent;
    s->frame[id] = frame;
    s->child[id] = 0;
    return id;
}

struct stacks *stacks_new(void)
{
    struct stacks *s = mem_zalloc(sizeof *s);

    frame_append(s, 0, 0, 0);
    node_append(s, 0, 0);
    frames_rehash(s);
    nodes_rehash(s);
    s->epoch = serial_next();
    return s;
}

void stacks_free(struct stacks *s)
{
    if (!s)
        return;
    mem_free(s->parent);
    mem_free(s->frame);
    mem_free(s->child);
    mem_free(s->module);
    mem_free(s->offset);
    mem_free(s->interrupted);
    mem_free(s->nodes.slots);
    mem_free(s->frames.slots);
    mem_free(s);
}

static uint32_t intern_frame(struct stacks *s, uint32_t module, uint64_t offset, uint8_t interrupted)
{
    size_t at = frame_find(s, module, offset, interrupted);
    uint32_t id = s->frames.slots[at];

    if (id || s->n_frames > STACKS_FRAME_MAX)
        return id;
    id = frame_append(s, module, offset, interrupted);
    if (is_full(&s->frames, s->n_frames))
        frames_rehash(s);
    else
        s->frames.slots[at] = id;
    return id;
}

uint32_t stacks_frame(struct stacks *s, uint32_t module, uint64_t offset)
{
    return intern_frame(s, module, offset, 0);
}

uint32_t stacks_frame_interrupted(struct stacks *s, uint32_t frame)
{
    return frame ? intern_frame(s, s->module[frame], s->offset[frame], 1) : 0;
}

/* Finds or adds a child other than the first one. */
static uint32_t further_child(struct stacks *s, uint32_t parent, uint32_t frame)
{
    size_t at = node_find(s, parent, frame);
    uint32_t id = s->nodes.slots[at];

    if (id || s->n_nodes == UINT32_MAX)
        return id;
    id = node_append(s, parent, frame);
    if (is_full(&s->nodes, ++s->n_hashed))
        nodes_rehash(s);
    else
        s->nodes.slots[at] = id;
    return id;
}

uint32_t stacks_child(struct stacks *s, uint32_t parent, uint32_t frame)
{
    uint32_t first = s->child[parent];

    if (first)
        return s->frame[first] == frame ? first : further_child(s, parent, frame);
    if (s->n_nodes == UINT32_MAX)
        return 0;
    first = node_append(s, parent, frame);
    return s->child[parent] = first;
}

uint32_t stacks_rebase(struct stacks *s, uint32_t node, uint32_t from, uint32_t to)
{
    VEC(uint32_t) frames = { 0 };
    for (; node && node != from; node = s->parent[node])
        *VEC_PUSH(&frames) = s->frame[node];
    if (node != from)
        frames.n = 0;
    while (frames.n)
        to = stacks_child(s, to, frames.items[--frames.n]);
    mem_free(frames.items);
    return to;
}

uint32_t stacks_node_count(const struct stacks *s)
{
    return s->n_nodes;
}

uint32_t stacks_frame_count(const struct stacks *s)
{
    return s->n_frames;
}

const uint32_t *stacks_parents(const struct stacks *s)
{
    return s->parent;
}

const uint32_t *stacks_frames(const struct stacks *s)
{
    return s->frame;
}

const uint32_t *stacks_frame_modules(const struct stacks *s)
{
    return s->module;
}

const uint64_t *stacks_frame_offsets(const struct stacks *s)
{
    return s->offset;
}

const uint8_t *stacks_frame_interrupts(const struct stacks *s)
{
    return s->interrupted;
}

uint64_t *stacks_offsets_in(const struct stacks *s, uint32_t module, size_t *n)
{
    uint64_t *offsets = NULL;
    size_t cap = 0;
    *n = 0;
    for (uint32_t i = 1; i < s->n_frames; i++)
        if (s->module[i] == module) {
            MEM_GROW(offsets, cap, *n + 1);
            offsets[(*n)++] = s->offset[i];
        }
    return offsets;
}

size_t stacks_bytes(const struct stacks *s)
{
    return sizeof *s + s->parent_cap * sizeof *s->parent + s->frame_cap * sizeof *s->frame +
           s->child_cap * sizeof *s->child + s->module_cap * sizeof *s->module +
           s->offset_cap * sizeof *s->offset + s->interrupted_cap +
           (table_size(&s->nodes) + table_size(&s->frames)) * sizeof(uint32_t);
}

/* Returns the new id by old id. Parents come first, so one backward pass marks all ancestors. */
static uint32_t *nodes_renumber(const struct stacks *s, const uint8_t *keep)
{
    uint32_t *to = mem_array(s->n_nodes, sizeof *to);
    uint32_t next = 1;

    for (uint32_t id = s->n_nodes; id-- > 1;) {
        to[id] |= keep[id] != 0;
        if (to[id])
            to[s->parent[id]] = 1;
    }
    for (uint32_t id = 1; id < s->n_nodes; id++) {
        if (to[id])
            to[id] = next++;
    }
    to[0] = 0;
    return to;
}

static uint32_t *frames_renumber(const struct stacks *s, const uint32_t *node_to)
{
    uint32_t *to = mem_array(s->n_frames, sizeof *to);
    uint32_t next = 1;

    for (uint32_t id = 1; id < s->n_nodes; id++) {
        if (node_to[id])
            to[s->frame[id]] = 1;
    }
    to[0] = 0;
    for (uint32_t id = 1; id < s->n_frames; id++) {
        if (to[id])
            to[id] = next++;
    }
    return to;
}

/* Moves rows in place, because they only move down. Parents come first; the first child that is met
 * becomes the first child. */
static void nodes_move(struct stacks *s, const uint32_t *node_to, const uint32_t *frame_to)
{
    uint32_t n = 1;

    s->n_hashed = 0;
    s->child[0] = 0;
    for (uint32_t id = 1; id < s->n_nodes; id++) {
        uint32_t parent = node_to[s->parent[id]];

        if (!node_to[id])
            continue;
        s->parent[n] = parent;
        s->frame[n] = frame_to[s->frame[id]];
        s->child[n] = 0;
        if (s->child[parent])
            s->n_hashed++;
        else
            s->child[parent] = n;
        n++;
    }
    s->n_nodes = n;
    s->parent = mem_resize(s->parent, n, sizeof *s->parent);
    s->frame = mem_resize(s->frame, n, sizeof *s->frame);
    s->child = mem_resize(s->child, n, sizeof *s->child);
    s->parent_cap = s->frame_cap = s->child_cap = n;
}

static void frames_move(struct stacks *s, const uint32_t *frame_to)
{
    uint32_t n = 1;

    for (uint32_t id = 1; id < s->n_frames; id++) {
        if (!frame_to[id])
            continue;
        s->module[n] = s->module[id];
        s->offset[n] = s->offset[id];
        s->interrupted[n] = s->interrupted[id];
        n++;
    }
    s->n_frames = n;
    s->module = mem_resize(s->module, n, sizeof *s->module);
    s->offset = mem_resize(s->offset, n, sizeof *s->offset);
    s->interrupted = mem_resize(s->interrupted, n, 1);
    s->module_cap = s->offset_cap = s->interrupted_cap = n;
}

uint32_t *stacks_compact(struct stacks *s, const uint8_t *keep)
{
    uint32_t *node_to = nodes_renumber(s, keep);
    uint32_t *frame_to = frames_renumber(s, node_to);

    nodes_move(s, node_to, frame_to);
    frames_move(s, frame_to);
    mem_free(frame_to);
    frames_rehash(s);
    nodes_rehash(s);
    s->epoch = serial_next();
    return node_to;
}

uint64_t stacks_epoch(const struct stacks *s)
{
    return s->epoch;
}
