// SPDX-License-Identifier: GPL-2.0-or-later
/* Remembers the query of a result, to recognise the same query over data that has only grown. */
#ifndef FLAMETOP_PROFILE_QUERY_KEY_H
#define FLAMETOP_PROFILE_QUERY_KEY_H

#include "profile/query.h"

struct query_key {
    struct query q;                       /* its tables are copies */
    uint64_t from_ns, to_ns;              /* the range of the result */
    uint64_t history_epoch, stacks_epoch; /* 0: no query yet */
    uint64_t count, next, changes;        /* of the history at the last run; set by the caller */
    /* Set by the caller: some threads were beyond the tables. They change their meaning when the tables
     * grow. */
    bool beyond;
    uint32_t *thread_group;
    uint8_t *thread_pass;
    bool *cpu_pass;
    size_t thread_group_cap, thread_pass_cap, cpu_pass_cap;
};

/* Returns true for the same query over the same range (from_ns and to_ns of `range`). Tables of threads may
 * have grown. */
bool query_key_is_same(const struct query_key *a, const struct query *q, const struct history *h,
                       const struct stacks *s, const struct result *range);
void query_key_keep(struct query_key *a, const struct query *q, const struct history *h,
                    const struct stacks *s, const struct result *range);
void query_key_done(struct query_key *a);

#endif
