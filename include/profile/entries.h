// SPDX-License-Identifier: GPL-2.0-or-later
/* The entries of a result while a query makes it: found by what they are of. For query.c only, which may inline what
 * every sample goes through. */
#ifndef FLAMETOP_PROFILE_ENTRIES_H
#define FLAMETOP_PROFILE_ENTRIES_H

#include "profile/part.h"
#include "profile/question.h"

struct result_sums {
    uint64_t samples, weight, broken;
};

struct result_memory {
    struct part part;
    uint32_t *by_node; /* node * 2 + idle → entry + 1, when there are no groups */
    uint32_t n_by_node;
    uint32_t *hash; /* (group, node, idle) → entry + 1, when there are */
    unsigned hash_bits;
    struct question asked;
    uint32_t kept_before,
        all_before; /* entries, after the filter of the run before; less those that have left */
    uint64_t version_before;
    uint32_t n_needed; /* nodes of the part that the runs needed until the first that left some behind */
    bool all_needed;   /* none has yet */
    struct result_sums sums; /* of all entries, also of those that are left out */
    uint64_t firsts_ns
        [QUERY_TREND]; /* of the samples that were counted, by the eighth of the range; UINT64_MAX: none */
    size_t by_node_cap, entries_cap, added_cap, beside_cap;
};

static inline bool entries_are_grouped(const struct result *r)
{
    return r->memory->asked.q.by_cpu || r->memory->asked.q.thread_group;
}

void entries_begin(struct result *r); /* there are none; the question is known */
size_t entries_hash_home(const struct result_memory *m, uint32_t group, uint32_t node, uint8_t idle);
uint32_t *entries_hash_find(const struct result *r, uint32_t group, uint32_t node, uint8_t idle);
void entries_index_new_nodes(struct result_memory *m);
struct result_entry *entries_add(struct result *r, uint32_t *slot, uint32_t group, uint32_t node,
                                 uint8_t idle);
/* What is added to an entry, or taken from it: valid until the next call. */
struct result_entry *entries_added_to(struct result *r, struct result_entry *e);
/* Trends lose their oldest buckets. Entries without samples leave, and the others move up. Before anything is counted
 * in the new range. */
void entries_slide(struct result *r, uint32_t buckets);

/* Where the number of an entry, plus one, is to be found. */
static inline uint32_t *entries_slot(const struct result *r, uint32_t group, uint32_t node, uint8_t idle)
{
    struct result_memory *m = r->memory;

    if (entries_are_grouped(r))
        return entries_hash_find(r, group, node, idle);
    if (node >= m->n_by_node)
        entries_index_new_nodes(m);
    return &m->by_node[(size_t)node * 2 + idle];
}

/* … is likely to be found; NULL: nothing was kept of that node yet. */
static inline uint32_t *entries_likely_slot(const struct result *r, uint32_t group, uint32_t node,
                                            uint8_t idle)
{
    struct result_memory *m = r->memory;

    if (entries_are_grouped(r))
        return &m->hash[entries_hash_home(m, group, node, idle)];
    return node < m->n_by_node ? &m->by_node[(size_t)node * 2 + idle] : NULL;
}

static inline struct result_entry *entries_at(struct result *r, uint32_t group, uint32_t node, uint8_t idle)
{
    uint32_t *slot = entries_slot(r, group, node, idle);

    return *slot ? &r->entries[*slot - 1] : entries_add(r, slot, group, node, idle);
}

static inline uint64_t *entries_beside(const struct result *r, const struct result_entry *e)
{
    return r->beside + (size_t)(e - r->entries) * r->besides;
}

#endif
