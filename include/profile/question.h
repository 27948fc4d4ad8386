// SPDX-License-Identifier: GPL-2.0-or-later
/* What a result is the answer to: for telling whether the same is asked again, of what has only grown since. */
#ifndef FLAMETOP_PROFILE_QUESTION_H
#define FLAMETOP_PROFILE_QUESTION_H

#include "profile/query.h"

struct question {
    struct query q;                       /* its tables are copies */
    uint64_t from_ns, to_ns;              /* as of the result */
    uint64_t history_epoch, stacks_epoch; /* 0: of none yet */
    uint64_t count, next, changes;        /* of the history, when it was looked at: the asker's to set */
    bool
        beyond; /* also the asker's: there were threads beyond the tables, which mean something else for them when
                     * they grow */
    uint32_t *thread_group;
    uint8_t *thread_pass;
    bool *cpu_pass;
    size_t thread_group_cap, thread_pass_cap, cpu_pass_cap;
};

/* But for its range. Tables of threads may have grown. */
bool question_is_same(const struct question *a, const struct query *q, const struct history *h,
                      const struct stacks *s);
/* range: whose from_ns and to_ns are those of the question. It is the same, or has moved on by so many buckets, of which
 * most are still the same: else a new look at all of it is no dearer. */
bool question_range_goes_on(const struct question *a, const struct result *range, uint32_t *buckets);
void question_keep(struct question *a, const struct query *q, const struct history *h, const struct stacks *s,
                   const struct result *range);
void question_done(struct question *a);

#endif
