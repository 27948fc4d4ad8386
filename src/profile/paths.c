// SPDX-License-Identifier: GPL-2.0-or-later
#include "profile/paths.h"

#include <string.h>

#include "base/mem.h"

static uint32_t group_index(struct paths *p, uint32_t group)
{
    bool created;
    uint32_t i = (uint32_t)*map_at(&p->index, group, p->n_groups, &created);

    if (created) {
        p->n_groups++;
        MEM_GROW(p->groups, p->groups_cap, p->n_groups);
        MEM_GROW(p->starts, p->starts_cap, (size_t)p->n_groups + 1);
        p->groups[i] = group;
        p->starts[i] = 0;
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
        p->starts[g]++;
    }
    for (uint32_t g = 0; g < p->n_groups; g++) {
        uint32_t n = p->starts[g];
        p->starts[g] = at;
        at += n;
    }
    for (uint32_t i = 0; i < r->n_entries; i++)
        p->order[p->starts[group_index(p, r->entries[i].group)]++] = i;
    memmove(p->starts + 1, p->starts, p->n_groups * sizeof *p->starts);
    p->starts[0] = 0;
}

static void all_in_one(struct paths *p)
{
    p->n_groups = 1;
    MEM_GROW(p->groups, p->groups_cap, 1);
    p->groups[0] = 0;
    p->starts[0] = 0;
    p->starts[1] = p->r->n_entries;
    for (uint32_t i = 0; i < p->r->n_entries; i++)
        p->order[i] = i;
}

void paths_begin(struct paths *p, const struct result *r, bool by_group)
{
    p->r = r;
    p->n_groups = 0;
    MEM_GROW(p->order, p->order_cap, r->n_entries);
    MEM_GROW(p->starts, p->starts_cap, 2);
    if (by_group)
        sort_by_group(p);
    else
        all_in_one(p);
}

static void reserve_seen(struct paths *p)
{
    if (p->seen_cap >= p->r->n_nodes && p->seen_cap)
        return;
    mem_free(p->seen);
    p->seen_cap = (size_t)p->r->n_nodes + p->r->n_nodes / 2 + 1;
    p->seen = mem_array(p->seen_cap, sizeof *p->seen);
    p->era = 0;
}

void paths_next_group(struct paths *p, uint32_t place)
{
    reserve_seen(p);
    if (++p->era == 0) {
        memset(p->seen, 0, p->seen_cap * sizeof *p->seen);
        p->era = 1;
    }
    paths_set(p, 0, place);
}

uint32_t paths_climb(struct paths *p, uint32_t node, uint32_t *place)
{
    const uint32_t *parents = p->r->parent;
    uint32_t n = 0;

    while (p->seen[node].era != p->era) {
        MEM_GROW(p->pending, p->pending_cap, (size_t)n + 1);
        p->pending[n++] = node;
        node = parents[node];
    }
    *place = p->seen[node].place;
    return n;
}

void paths_done(struct paths *p)
{
    mem_free(p->order);
    mem_free(p->starts);
    mem_free(p->groups);
    mem_free(p->seen);
    mem_free(p->pending);
    map_done(&p->index);
    *p = (struct paths){ 0 };
}
