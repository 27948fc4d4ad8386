// SPDX-License-Identifier: GPL-2.0-or-later
/* Walking a result group by group along its stacks, from the thread's root down, so that each node of the
 * trie is met once per group, however many of the group's entries pass through it. For the makers of
 * tables. */
#ifndef FLAMETOP_PROFILE_PATHS_H
#define FLAMETOP_PROFILE_PATHS_H

#include "base/map.h"
#include "profile/query.h"

struct paths_seen {
    uint32_t era;   /* of the visit: those of earlier groups and builds are void without being cleared */
    uint32_t place; /* what the maker of a table put there */
};

struct paths {
    const struct result *r;
    uint32_t *order;           /* entry numbers, group by group; within one, in the result's order */
    uint32_t *starts, *groups; /* group i is order[starts[i] … starts[i + 1]) */
    uint32_t n_groups;
    struct paths_seen *seen; /* by node */
    uint32_t *pending;       /* nodes that were not seen, the deepest first */
    uint32_t era;
    size_t order_cap, starts_cap, groups_cap, seen_cap, pending_cap;
    struct map index; /* group → its number here */
};

/* Zero-initialised at first. Not by_group: all entries are one group, 0. */
void paths_begin(struct paths *p, const struct result *r, bool by_group);
/* Forgets what was seen; the root's place is `place`. To be called before each group whose paths are climbed. */
void paths_next_group(struct paths *p, uint32_t place);
/* Finds the part of a node's path that was not seen in this group: how many nodes it has (in p->pending, the
 * deepest first) and the place of the seen node above them. */
uint32_t paths_climb(struct paths *p, uint32_t node, uint32_t *place);
static inline void paths_set(struct paths *p, uint32_t node, uint32_t place)
{
    p->seen[node] = (struct paths_seen){ p->era, place };
}
void paths_done(struct paths *p);

#endif
