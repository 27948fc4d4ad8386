// SPDX-License-Identifier: GPL-2.0-or-later
#include "profile/activity.h"

#include <string.h>

#include "base/mem.h"

#define LOOK_BACK 8 /* spans to search for one of the same kind to merge with */

void activity_begin(struct activity *a, uint64_t from_ns, uint64_t to_ns, uint64_t bucket_ns)
{
    a->from_ns = from_ns;
    a->to_ns = to_ns ? to_ns : UINT64_MAX;
    a->bucket_ns = bucket_ns ? bucket_ns : 1;
    a->n_rows = 0;
}

/* New rows reuse the memory of previous ones. */
static struct activity_row *row_at(struct activity *a, uint32_t row)
{
    size_t old = a->rows_cap;
    MEM_GROW(a->rows, a->rows_cap, (size_t)row + 1);
    if (a->rows_cap > old)
        memset(a->rows + old, 0, (a->rows_cap - old) * sizeof *a->rows);
    for (; a->n_rows <= row; a->n_rows++) {
        a->rows[a->n_rows].n = 0;
        a->rows[a->n_rows].open.ns = 0;
    }
    return &a->rows[row];
}

/* The part of a span within [from, to). */
static struct activity_span cut(struct activity_span s, uint64_t from_ns, uint64_t to_ns)
{
    struct activity_span part = s;
    part.from_ns = s.from_ns > from_ns ? s.from_ns : from_ns;
    part.to_ns = s.to_ns < to_ns ? s.to_ns : to_ns;
    if (part.from_ns >= part.to_ns)
        part.ns = 0;
    else if (part.to_ns - part.from_ns < s.to_ns - s.from_ns)
        part.ns =
            (uint64_t)((double)s.ns * (double)(part.to_ns - part.from_ns) / (double)(s.to_ns - s.from_ns));
    return part;
}

static bool is_whole(const struct activity_span *s)
{
    return s->ns == s->to_ns - s->from_ns;
}

/* True if two spans of a kind can be one without moving any time to another bucket. */
static bool can_merge(const struct activity *a, const struct activity_span *x, const struct activity_span *y)
{
    if (x->kind != y->kind)
        return false;
    bool goes_on = x->to_ns == y->from_ns && is_whole(x) && is_whole(y);
    uint64_t bucket = (x->from_ns - a->from_ns) / a->bucket_ns;
    return goes_on || (y->from_ns >= x->from_ns && (x->to_ns - 1 - a->from_ns) / a->bucket_ns == bucket &&
                       (y->to_ns - 1 - a->from_ns) / a->bucket_ns == bucket);
}

void activity_add(struct activity *a, uint32_t row, struct activity_span span)
{
    struct activity_row *r = row_at(a, row);
    if (span.to_ns <= span.from_ns)
        return;
    if (span.ns > span.to_ns - span.from_ns)
        span.ns = span.to_ns - span.from_ns;
    span = cut(span, a->from_ns, a->to_ns);
    if (!span.ns)
        return;
    for (uint32_t i = r->n; i > 0 && r->n - i < LOOK_BACK; i--) {
        struct activity_span *before = &r->spans[i - 1];
        if (!can_merge(a, before, &span))
            continue;
        before->ns += span.ns;
        before->to_ns = before->to_ns > span.to_ns ? before->to_ns : span.to_ns;
        return;
    }
    MEM_GROW(r->spans, r->cap, (size_t)r->n + 1);
    r->spans[r->n++] = span;
}

void activity_set_open(struct activity *a, uint32_t row, struct activity_span span)
{
    row_at(a, row)->open = cut(span, a->from_ns, a->to_ns);
}

static void add_to(const struct activity_span *s, uint64_t from_ns, uint64_t step_ns,
                   uint64_t (*dst)[ACTIVITY_KINDS], uint32_t n)
{
    uint64_t first = s->from_ns > from_ns ? (s->from_ns - from_ns) / step_ns : 0;
    for (uint64_t i = first; s->ns && i < n && from_ns + i * step_ns < s->to_ns; i++)
        dst[i][s->kind % ACTIVITY_KINDS] += cut(*s, from_ns + i * step_ns, from_ns + (i + 1) * step_ns).ns;
}

void activity_sums(const struct activity_row *row, uint64_t from_ns, uint64_t step_ns,
                   uint64_t (*dst)[ACTIVITY_KINDS], uint32_t n)
{
    memset(dst, 0, n * sizeof *dst);
    for (uint32_t i = 0; i < row->n; i++)
        add_to(&row->spans[i], from_ns, step_ns, dst, n);
    add_to(&row->open, from_ns, step_ns, dst, n);
}

bool activity_extent(const struct activity_row *row, uint64_t *from_ns, uint64_t *to_ns)
{
    *from_ns = row->open.ns ? row->open.from_ns : UINT64_MAX;
    *to_ns = row->open.ns ? row->open.to_ns : 0;
    for (uint32_t i = 0; i < row->n; i++) {
        *from_ns = row->spans[i].from_ns < *from_ns ? row->spans[i].from_ns : *from_ns;
        *to_ns = row->spans[i].to_ns > *to_ns ? row->spans[i].to_ns : *to_ns;
    }
    return *to_ns > *from_ns;
}

void activity_done(struct activity *a)
{
    for (size_t i = 0; i < a->rows_cap; i++)
        mem_free(a->rows[i].spans);
    mem_free(a->rows);
    *a = (struct activity){ 0 };
}
