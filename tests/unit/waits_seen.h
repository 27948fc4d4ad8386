// SPDX-License-Identifier: GPL-2.0-or-later
/* What profile/waits.h reports, added up by thread and state. */
#ifndef FLAMETOP_TESTS_WAITS_SEEN_H
#define FLAMETOP_TESTS_WAITS_SEEN_H

#include "profile/waits.h"
#include "unit_test.h"

#define MS UINT64_C(1000000)

static inline struct waits_at at(uint32_t tid, uint64_t time_ns)
{
    return (struct waits_at){ .pid = tid, .tid = tid, .time_ns = time_ns };
}

struct seen {
    struct waits_part parts[64];
    size_t n;
    uint64_t sums[8][THREAD_STATES]; /* by tid */
    unsigned ends[8];
};

static inline void note(void *ctx, const struct waits_part *p)
{
    struct seen *s = ctx;
    assert_true(p->to_ns > p->from_ns);
    s->sums[p->tid % 8][p->state] += p->to_ns - p->from_ns;
    s->ends[p->tid % 8] += p->ended;
    if (s->n < 64)
        s->parts[s->n++] = *p;
}

#endif
