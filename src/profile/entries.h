// SPDX-License-Identifier: GPL-2.0-or-later
/* The entries of a result while a query runs: lookup by (group, node, idle), insertion and removal.
 *
 * For query.c only, which inlines what is done for each sample. */
#ifndef FLAMETOP_PROFILE_ENTRIES_H
#define FLAMETOP_PROFILE_ENTRIES_H

#include "profile/stack_subset.h"
#include "profile/query_key.h"

struct result_sums {
    uint64_t samples, weight, broken;
};

struct result_memory {
    struct stack_subset subset;
    uint32_t *by_node; /* without groups: node * 2 + idle → entry + 1 */
    uint32_t n_by_node;
    uint32_t *hash; /* with groups: (group, node, idle) → entry + 1 */
    unsigned hash_bits;
    struct query_key asked;
    /* Numbers of entries after and before the filter of the previous run, without entries that were
     * removed since. */
    uint32_t kept_before, all_before;
    uint64_t version_before;
    /* Nodes of the part that were needed up to the last run that needed all of them. */
    uint32_t n_needed;
    bool all_needed;         /* each run so far has needed all nodes */
    struct result_sums sums; /* of all entries, including those that are left out */
    uint64_t first_ns;       /* of the counted samples; UINT64_MAX: none */
    size_t by_node_cap, entries_cap, added_cap, group_sums_cap;
};

static inline bool entries_are_grouped(const struct result *r)
{
    return r->memory->asked.q.by_cpu || r->memory->asked.q.thread_group;
}

void entries_begin(struct result *r); /* removes all; the query key is set */
uint32_t *entries_hash_find(const struct result *r, uint32_t group, uint32_t node, uint8_t idle);
void entries_index_new_nodes(struct result_memory *m);
struct result_entry *entries_add(struct result *r, uint32_t *slot, uint32_t group, uint32_t node,
                                 uint8_t idle);
/* Returns the delta of an entry in r->added: what was added less what was removed. Valid until the next
 * call. */
struct result_entry *entries_added_to(struct result *r, struct result_entry *e);
void entries_remove_empty(struct result *r); /* moves the others up */

/* Returns the slot with the number of an entry, plus one. */
static inline uint32_t *entries_slot(const struct result *r, uint32_t group, uint32_t node, uint8_t idle)
{
    struct result_memory *m = r->memory;

    if (entries_are_grouped(r))
        return entries_hash_find(r, group, node, idle);
    if (node >= m->n_by_node)
        entries_index_new_nodes(m);
    return &m->by_node[(size_t)node * 2 + idle];
}

static inline struct result_entry *entries_at(struct result *r, uint32_t group, uint32_t node, uint8_t idle)
{
    uint32_t *slot = entries_slot(r, group, node, idle);

    return *slot ? &r->entries[*slot - 1] : entries_add(r, slot, group, node, idle);
}

static inline uint64_t *entries_group_sums(const struct result *r, const struct result_entry *e)
{
    return r->group_sums + (size_t)(e - r->entries) * r->group_events;
}

#endif
