// SPDX-License-Identifier: GPL-2.0-or-later
#include "profile/paths.h"

#include <string.h>

#include "base/mem.h"

static uint32_t group_index(struct paths *p, uint32_t group)
{
    bool created;
    uint32_t i = (uint32_t)*map_at(&p->index, group, p->groups.n, &created);

    if (created) {
        *VEC_PUSH(&p->groups) = group;
        VEC_RESERVE(&p->starts, p->groups.n + 1)[i] = 0;
    }
    return i;
}

/* Sorts the entries by group with a counting sort. Meanwhile starts[i] is the position of the next entry
 * of group i. */
static void sort_by_group(struct paths *p)
{
    const struct result *r = p->r;
    uint32_t at = 0;

    map_clear(&p->index);
    for (uint32_t i = 0; i < r->n_entries; i++) {
        /* before starts[g], because it may move `starts` */
        uint32_t g = group_index(p, r->entries[i].group);
        p->starts.items[g]++;
    }
    for (uint32_t g = 0; g < p->groups.n; g++) {
        uint32_t n = p->starts.items[g];
        p->starts.items[g] = at;
        at += n;
    }
    for (uint32_t i = 0; i < r->n_entries; i++)
        p->order.items[p->starts.items[group_index(p, r->entries[i].group)]++] = i;
    memmove(p->starts.items + 1, p->starts.items, p->groups.n * sizeof *p->starts.items);
    p->starts.items[0] = 0;
}

static void all_in_one(struct paths *p)
{
    *VEC_PUSH(&p->groups) = 0;
    p->starts.items[0] = 0;
    p->starts.items[1] = p->r->n_entries;
    for (uint32_t i = 0; i < p->r->n_entries; i++)
        p->order.items[i] = i;
}

void paths_begin(struct paths *p, const struct result *r, bool by_group)
{
    p->r = r;
    p->groups.n = 0;
    VEC_RESERVE(&p->order, r->n_entries);
    VEC_RESERVE(&p->starts, 2);
    if (by_group)
        sort_by_group(p);
    else
        all_in_one(p);
}

static void reserve_seen(struct paths *p)
{
    if (p->seen.cap >= p->r->n_nodes && p->seen.cap)
        return;
    mem_free(p->seen.items);
    p->seen.cap = (size_t)p->r->n_nodes + p->r->n_nodes / 2 + 1;
    p->seen.items = mem_array(p->seen.cap, sizeof *p->seen.items);
    p->era = 0;
}

void paths_next_group(struct paths *p, uint32_t place)
{
    reserve_seen(p);
    if (++p->era == 0) {
        memset(p->seen.items, 0, p->seen.cap * sizeof *p->seen.items);
        p->era = 1;
    }
    paths_set(p, 0, place);
}

uint32_t paths_climb(struct paths *p, uint32_t node, uint32_t *place)
{
    const uint32_t *parents = p->r->parent;
    uint32_t n = 0;

    while (p->seen.items[node].era != p->era) {
        VEC_RESERVE(&p->pending, (size_t)n + 1);
        p->pending.items[n++] = node;
        node = parents[node];
    }
    *place = p->seen.items[node].place;
    return n;
}

void paths_done(struct paths *p)
{
    mem_free(p->order.items);
    mem_free(p->starts.items);
    mem_free(p->groups.items);
    mem_free(p->seen.items);
    mem_free(p->pending.items);
    map_done(&p->index);
    *p = (struct paths){ 0 };
}
