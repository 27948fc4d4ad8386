// SPDX-License-Identifier: GPL-2.0-or-later
#include "profile/entries.h"

#include <string.h>

#include "base/mem.h"

#define HASH_MIN_BITS 10

/* `other` of a delta whose entry was removed. */
#define LEFT_SHOWN    UINT32_MAX
#define LEFT_LEFT_OUT (UINT32_MAX - 1) /* the entry had been left out by the filter */

/* ---- lookup ---- */

static size_t hash_home(const struct result_memory *m, uint32_t group, uint32_t node, uint8_t idle)
{
    uint64_t key = (uint64_t)group << 32 | node;

    key = (key ^ idle) * UINT64_C(0x9e3779b97f4a7c15);
    key ^= key >> 32;
    return (size_t)(key * UINT64_C(0xd6e8feb86659fd93) >> (64 - m->hash_bits));
}

uint32_t *entries_hash_find(const struct result *r, uint32_t group, uint32_t node, uint8_t idle)
{
    const struct result_memory *m = r->memory;
    size_t mask = ((size_t)1 << m->hash_bits) - 1;
    size_t i = hash_home(m, group, node, idle);

    for (; m->hash[i]; i = (i + 1) & mask) {
        const struct result_entry *e = &r->entries[m->hash[i] - 1];
        if (e->node == node && e->group == group && e->idle == idle)
            break;
    }
    return &m->hash[i];
}

static void hash_reset(struct result_memory *m, unsigned bits)
{
    size_t size = (size_t)1 << bits;

    if (m->hash && m->hash_bits == bits) {
        memset(m->hash, 0, size * sizeof *m->hash);
        return;
    }
    mem_free(m->hash);
    m->hash_bits = bits;
    m->hash = mem_array(size, sizeof *m->hash);
}

static void index_from(struct result *r, uint32_t first)
{
    for (uint32_t i = first; i < r->n_entries; i++)
        *entries_slot(r, r->entries[i].group, r->entries[i].node, r->entries[i].idle) = i + 1;
}

static void hash_again(struct result *r, unsigned bits)
{
    hash_reset(r->memory, bits);
    index_from(r, 0);
}

void entries_index_new_nodes(struct result_memory *m)
{
    MEM_GROW(m->by_node, m->by_node_cap, (size_t)m->subset.n_nodes * 2);
    memset(m->by_node + (size_t)m->n_by_node * 2, 0,
           (size_t)(m->subset.n_nodes - m->n_by_node) * 2 * sizeof *m->by_node);
    m->n_by_node = m->subset.n_nodes;
}

/* ---- adding ---- */

void entries_begin(struct result *r)
{
    struct result_memory *m = r->memory;

    r->n_entries = r->n_left_out = 0;
    m->kept_before = m->all_before = 0;
    m->n_by_node = 0;
    if (entries_are_grouped(r))
        hash_reset(m, m->hash_bits ? m->hash_bits : HASH_MIN_BITS);
}

struct result_entry *entries_add(struct result *r, uint32_t *slot, uint32_t group, uint32_t node,
                                 uint8_t idle)
{
    uint32_t i = r->n_entries++;

    *slot = i + 1;
    MEM_GROW(r->entries, r->memory->entries_cap, r->n_entries);
    r->entries[i] = (struct result_entry){ .group = group, .node = node, .idle = idle };
    if (r->group_events) {
        MEM_GROW(r->group_sums, r->memory->group_sums_cap, (size_t)r->n_entries * r->group_events);
        memset(r->group_sums + (size_t)i * r->group_events, 0, r->group_events * sizeof *r->group_sums);
    }
    if (entries_are_grouped(r) && r->n_entries > (size_t)1 << (r->memory->hash_bits - 1))
        hash_again(r, r->memory->hash_bits + 1);
    return &r->entries[i];
}

static bool knows_what_was_added(const struct result *r, uint32_t i)
{
    uint32_t other = r->entries[i].other;

    return other < r->n_added && r->added[other].other == i;
}

/* An entry and its delta refer to each other, so nothing needs clearing before a run. */
struct result_entry *entries_added_to(struct result *r, struct result_entry *e)
{
    uint32_t i = (uint32_t)(e - r->entries);

    if (!knows_what_was_added(r, i)) {
        e->other = r->n_added++;
        MEM_GROW(r->added, r->memory->added_cap, r->n_added);
        r->added[e->other] =
            (struct result_entry){ .group = e->group, .node = e->node, .idle = e->idle, .other = i };
    }
    return &r->added[e->other];
}

/* ---- removing ---- */

static bool is_empty(const struct result *r, uint32_t i)
{
    uint64_t left = r->entries[i].count;

    for (uint32_t k = 0; k < r->group_events; k++)
        left |= r->group_sums[(size_t)i * r->group_events + k];
    return !left;
}

static void move_up(struct result *r, uint32_t to, uint32_t from)
{
    if (knows_what_was_added(r, from))
        r->added[r->entries[from].other].other = to;
    r->entries[to] = r->entries[from];
    if (r->group_events)
        memcpy(r->group_sums + (size_t)to * r->group_events, r->group_sums + (size_t)from * r->group_events,
               r->group_events * sizeof *r->group_sums);
}

static void leave(struct result *r, uint32_t i)
{
    const struct result_entry *e = &r->entries[i];

    if (knows_what_was_added(r, i))
        r->added[e->other].other = i < r->memory->kept_before ? LEFT_SHOWN : LEFT_LEFT_OUT;
    if (!entries_are_grouped(r))
        *entries_slot(r, e->group, e->node, e->idle) = 0;
}

void entries_remove_empty(struct result *r)
{
    struct result_memory *m = r->memory;
    uint32_t n = 0, n_kept = 0, n_all = 0, first_moved = r->n_entries;

    for (uint32_t i = 0; i < r->n_entries; i++) {
        if (is_empty(r, i)) {
            leave(r, i);
            first_moved = first_moved < n ? first_moved : n;
            continue;
        }
        if (n < i)
            move_up(r, n, i);
        n_kept += i < m->kept_before;
        n_all += i < m->all_before;
        n++;
    }
    m->kept_before = n_kept;
    m->all_before = n_all;
    if (n == r->n_entries)
        return;
    r->n_entries = n;
    if (entries_are_grouped(r))
        hash_again(r, m->hash_bits);
    else
        index_from(r, first_moved);
}

/* ---- filtering ---- */

static void swap_entries(struct result *r, uint32_t a, uint32_t b)
{
    struct result_entry *x = &r->entries[a], *y = &r->entries[b], z = *x;
    uint32_t *slot_x = entries_slot(r, x->group, x->node, x->idle),
             *slot_y = entries_slot(r, y->group, y->node, y->idle);

    *slot_x = b + 1;
    *slot_y = a + 1;
    *x = *y;
    *y = z;
    for (uint32_t i = 0; i < r->group_events; i++) {
        uint64_t *left = entries_group_sums(r, x) + i, *right = entries_group_sums(r, y) + i, sum = *left;

        *left = *right;
        *right = sum;
    }
}

static bool is_dropped_as_before(const struct result *r, const uint8_t *drop)
{
    const struct result_memory *m = r->memory;

    for (uint32_t i = 0; i < m->all_before; i++) {
        if (!drop[i] != (i < m->kept_before))
            return false;
    }
    return true;
}

static bool is_left_out(uint32_t entry, const uint8_t *drop)
{
    return entry >= LEFT_LEFT_OUT ? entry == LEFT_LEFT_OUT : drop[entry];
}

static void filter_added(struct result *r, const uint8_t *drop)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < r->n_added; i++) {
        if (!is_left_out(r->added[i].other, drop))
            r->added[n++] = r->added[i];
    }
    r->n_added = n;
}

void result_filter(struct result *r, const uint8_t *drop)
{
    uint32_t n = 0;

    r->since = r->is_same_query && is_dropped_as_before(r, drop) ? r->memory->version_before : 0;
    filter_added(r, drop);
    for (uint32_t i = 0; i < r->n_entries; i++) {
        if (drop[i]) {
            r->samples -= r->entries[i].count;
            r->weight -= r->entries[i].weight;
            r->broken_samples -= r->entries[i].broken;
            continue;
        }
        if (n < i)
            swap_entries(r, n, i);
        n++;
    }
    r->n_left_out += r->n_entries - n;
    r->n_entries = n;
}
