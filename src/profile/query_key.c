// SPDX-License-Identifier: GPL-2.0-or-later
#include "profile/query_key.h"

#include <string.h>

#include "base/mem.h"

static bool same_table(const void *old, const void *now, size_t bytes)
{
    return !old == !now && (!now || !memcmp(old, now, bytes));
}

/* Returns true if all changes since are known. With need_flags, a change of flags may make a sample
 * pass. */
static bool is_same_history(const struct query_key *a, const struct query *q, const struct history *h)
{
    uint64_t n = history_changes(h) - a->changes;

    return a->history_epoch == history_epoch(h) && n <= (q->need_flags ? 0 : HISTORY_CHANGES);
}

bool query_key_is_same(const struct query_key *a, const struct query *q, const struct history *h,
                       const struct stacks *s, const struct result *range)
{
    const struct query *old = &a->q;

    return a->from_ns == range->from_ns && a->to_ns == range->to_ns && is_same_history(a, q, h) &&
           a->stacks_epoch == stacks_epoch(s) && old->event == q->event && old->need_flags == q->need_flags &&
           old->by_cpu == q->by_cpu && old->only_cpu == q->only_cpu && old->running_from == q->running_from &&
           old->running_to == q->running_to && old->weight_from == q->weight_from &&
           old->weight_to == q->weight_to && old->latency == q->latency && old->n_cpu_pass == q->n_cpu_pass &&
           old->n_group_sums == q->n_group_sums &&
           !memcmp(old->group_sums, q->group_sums, sizeof q->group_sums) &&
           (a->beyond ? old->n_threads == q->n_threads : old->n_threads <= q->n_threads) &&
           same_table(old->cpu_pass, q->cpu_pass, q->n_cpu_pass) &&
           same_table(old->thread_pass, q->thread_pass, old->n_threads) &&
           same_table(old->thread_group, q->thread_group, old->n_threads * sizeof *q->thread_group);
}

#define COPY_TABLE(a, q, table, n)                                                                           \
    do {                                                                                                     \
        MEM_GROW((a)->table, (a)->table##_cap, (size_t)(n) + 1);                                             \
        if ((q)->table)                                                                                      \
            memcpy((a)->table, (q)->table, (n) * sizeof *(a)->table);                                        \
        (a)->q.table = (q)->table ? (a)->table : NULL;                                                       \
    } while (0)

void query_key_keep(struct query_key *a, const struct query *q, const struct history *h,
                    const struct stacks *s, const struct result *range)
{
    a->q = *q;
    a->from_ns = range->from_ns;
    a->to_ns = range->to_ns;
    a->history_epoch = history_epoch(h);
    a->stacks_epoch = stacks_epoch(s);
    COPY_TABLE(a, q, thread_group, q->n_threads);
    COPY_TABLE(a, q, thread_pass, q->n_threads);
    COPY_TABLE(a, q, cpu_pass, q->n_cpu_pass);
}

void query_key_done(struct query_key *a)
{
    mem_free(a->thread_group);
    mem_free(a->thread_pass);
    mem_free(a->cpu_pass);
    *a = (struct query_key){ 0 };
}
