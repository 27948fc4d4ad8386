// SPDX-License-Identifier: GPL-2.0-or-later
/* Visits the stacks of a result group by group, from the root down.
 *
 * Each node of the trie is visited once per group, however many entries pass through it. For builders of
 * tables. */
#ifndef FLAMETOP_PROFILE_PATHS_H
#define FLAMETOP_PROFILE_PATHS_H

#include "base/map.h"
#include "base/mem.h"
#include "profile/query.h"

struct paths_seen {
    uint32_t era;   /* of the visit; other eras are outdated, which saves clearing */
    uint32_t place; /* value that the table's builder has stored */
};

struct paths {
    const struct result *r;
    BUFFER(uint32_t) order; /* entry numbers by group, in the result's order within one */
    VEC(uint32_t) groups;   /* group i is order[starts[i] … starts[i + 1]) */
    BUFFER(uint32_t) starts;
    BUFFER(struct paths_seen) seen; /* per node */
    BUFFER(uint32_t) pending;       /* nodes not yet visited, deepest first */
    uint32_t era;
    struct map index; /* group → its index here */
};

/* Starts a visit of r. p is zero-initialised at first. Without by_group all entries are in one group, 0. */
void paths_begin(struct paths *p, const struct result *r, bool by_group);
/* Forgets visited nodes and sets the root's value to `place`. Call it before each group. */
void paths_next_group(struct paths *p, uint32_t place);
/* Returns the number of nodes of a path that are not yet visited in this group. p->pending.items has them,
 * deepest first; *place is the value of the visited node above them. */
uint32_t paths_climb(struct paths *p, uint32_t node, uint32_t *place);
static inline void paths_set(struct paths *p, uint32_t node, uint32_t place)
{
    p->seen.items[node] = (struct paths_seen){ p->era, place };
}
void paths_done(struct paths *p);

#endif
