// SPDX-License-Identifier: GPL-2.0-or-later
#include "ui/table_order.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/search.h"

#define NOWHERE   UINT32_MAX
#define SLOTS_MIN 4096
/* average number of positions that rows move by; beyond it, all rows are sorted anew */
#define MOVES_MAX 64

/* --- previous positions --- */

static uint32_t find_slot(struct table_rows *t, uint64_t key)
{
    bool created;
    uint32_t slot = (uint32_t)*map_at(&t->slots, key, t->places.n, &created);
    if (created)
        *VEC_PUSH(&t->places) = (struct table_slot){ .key = key };
    return slot;
}

void table_order_find(struct table_rows *t, struct table_row *r)
{
    size_t i = (size_t)(r - t->made.items), old_cap = t->made_slots.cap;
    VEC_RESERVE(&t->made_slots, i + 1);
    for (; old_cap < t->made_slots.cap; old_cap++)
        t->made_slots.items[old_cap] = NOWHERE;
    uint32_t *slot = &t->made_slots.items[i];
    if (*slot >= t->places.n || t->places.items[*slot].key != r->key)
        *slot = find_slot(t, r->key);
    const struct table_slot *at = &t->places.items[*slot];
    r->slot = *slot;
    r->old = at->build == t->build - 1 && at->place < t->n_old ? at->place : NOWHERE;
}

void table_order_next(struct table_rows *t)
{
    t->n_old = t->n;
    t->n = 0;
    t->build++;
    if (t->places.n < SLOTS_MIN + 4 * t->n_old)
        return;
    map_clear(&t->slots); /* most of them are of rows that no longer exist */
    t->places.n = 0;
    for (size_t i = 0; i < t->n_old; i++) {
        map_put(&t->slots, t->rows[i]->key, i);
        *VEC_PUSH(&t->places) = (struct table_slot){ t->rows[i]->key, (uint32_t)i, t->build - 1 };
    }
}

/* --- comparing two rows --- */

static int compare_numbers(uint64_t x, uint64_t y)
{
    return (x < y) - (x > y); /* descending */
}

/* Rows without a number come last, in either direction. */
static int compare_group_columns(double x, double y)
{
    if (isnan(x) || isnan(y))
        return isnan(x) - isnan(y);
    return (x < y) - (x > y);
}

static double group_column_of(const struct table_rows *t, const struct table_row *r, enum column c)
{
    return table_row_group_sums(t, r, column_group_kind(c));
}

static int compare_column(const struct table_rows *t, enum column c, const struct table_row *x,
                          const struct table_row *y)
{
    if (column_is_cgroup(c))
        return compare_numbers(table_row_part(t, x, c - COLUMN_CGROUP_1),
                               table_row_part(t, y, c - COLUMN_CGROUP_1));
    switch (c) {
    case COLUMN_SELF:
        return compare_numbers(x->self_tenths, y->self_tenths);
    case COLUMN_TOTAL:
        return compare_numbers(x->total_tenths, y->total_tenths);
    case COLUMN_SELF_CHANGE: /* by magnitude */
        return compare_numbers((uint64_t)abs(x->self_change), (uint64_t)abs(y->self_change));
    case COLUMN_TOTAL_CHANGE:
        return compare_numbers((uint64_t)abs(x->total_change), (uint64_t)abs(y->total_change));
    case COLUMN_RATE:
        return compare_numbers(x->self, y->self);
    case COLUMN_SAMPLES:
        return compare_numbers(x->count, y->count);
    case COLUMN_PID:
        return -compare_numbers(table_row_pid(t, x), table_row_pid(t, y)); /* the oldest first, usually */
    case COLUMN_TREND:
        return compare_numbers(table_row_newest(t, x), table_row_newest(t, y));
    case COLUMN_COMM:
        return strcmp(table_row_group(t, x), table_row_group(t, y));
    case COLUMN_MODULE:
        return strcmp(table_row_module(t, x), table_row_module(t, y));
    default:
        return column_is_of_group(c)
                   ? compare_group_columns(group_column_of(t, x, c), group_column_of(t, y, c))
                   : strcmp(table_row_name(t, x), table_row_name(t, y));
    }
}

static bool is_missing(const struct table_rows *t, const struct table_row *x, const struct table_row *y)
{
    enum column c = t->sort[0];
    return column_is_of_group(c) && (isnan(group_column_of(t, x, c)) || isnan(group_column_of(t, y, c)));
}

static int magnitude(uint32_t count)
{
    return count ? 32 - __builtin_clz(count) : 0;
}

/* Compares rows that are equal in the sort columns. Sample counts are compared by magnitude only: by exact
 * counts, rows would change positions all the time. Rows without a position are sorted by the exact
 * counts. */
static int compare_ties(const struct table_row *x, const struct table_row *y)
{
    int order = compare_numbers(x->self_tenths, y->self_tenths);
    order = order ? order : compare_numbers(x->total_tenths, y->total_tenths);
    return order ? order : magnitude(y->count) - magnitude(x->count);
}

/* Compares rows by the sort columns, as displayed, and then by SELF%, TOTAL% and samples. */
static int compare_shown(const struct table_rows *t, const struct table_row *x, const struct table_row *y)
{
    int order = 0;
    /* fast path: the usual order, and there are many rows */
    if (t->n_sort == 1 && t->sort[0] == COLUMN_SELF && !t->upwards)
        return compare_ties(x, y);
    for (uint32_t i = 0; i < t->n_sort && !order; i++) {
        order = compare_column(t, t->sort[i], x, y);
        order = i == 0 && t->upwards && !is_missing(t, x, y) ? -order : order;
    }
    return order ? order : compare_ties(x, y);
}

static int compare_rows(const void *px, const void *py, void *ctx)
{
    const struct table_row *x = *(struct table_row *const *)px, *y = *(struct table_row *const *)py;
    int order = compare_shown(ctx, x, y);
    order = order ? order : compare_numbers(x->count, y->count);
    order = order ? order : compare_numbers(x->self, y->self);
    order = order ? order : compare_numbers(x->total, y->total);
    order = order ? order : strcmp(table_row_name(ctx, x), table_row_name(ctx, y));
    order = order ? order : strcmp(table_row_module(ctx, x), table_row_module(ctx, y));
    order = order ? order : strcmp(table_row_group(ctx, x), table_row_group(ctx, y));
    return order ? order : compare_numbers(x->key, y->key);
}

/* --- ordering all rows --- */

static void sort_anew(const struct table_rows *t, struct table_row **rows, size_t n)
{
    if (n > 1)
        qsort_r(rows, n, sizeof *rows, compare_rows, (void *)(uintptr_t)t);
}

/* Orders the rows by their previous positions, with new rows at the end. */
static void order_as_before(struct table_rows *t)
{
    size_t n = 0, n_others = 0;
    VEC_RESERVE(&t->order, t->n_old + t->n + 1);
    memset(t->order.items, 0, t->n_old * sizeof(struct table_row *));
    for (size_t i = 0; i < t->n; i++) {
        struct table_row *r = &t->made.items[i];
        if (r->old == NOWHERE || t->order.items[r->old]) {
            r->old = NOWHERE;
            t->others.items[n_others++] = r;
        } else {
            t->order.items[r->old] = r;
        }
    }
    for (size_t i = 0; i < t->n_old; i++)
        if (t->order.items[i])
            t->order.items[n++] = t->order.items[i];
    memcpy(t->order.items + n, t->others.items, n_others * sizeof(struct table_row *));
}

/* Returns how many of the first n rows are before this one or look the same. */
static size_t place_among(const struct table_rows *t, size_t n, const struct table_row *r)
{
    return SEARCH_FIRST(i, 0, n, compare_shown(t, t->order.items[i], r) > 0);
}

/* Moves the rows that are out of order. Nearly all are in order already. */
static void sort_moved(struct table_rows *t)
{
    size_t moved = 0;
    for (size_t i = 1; i < t->n; i++) {
        struct table_row *r = t->order.items[i];
        if (compare_shown(t, t->order.items[i - 1], r) <= 0)
            continue;
        size_t at = place_among(t, i, r);
        moved += i - at;
        if (moved > t->n * MOVES_MAX) {
            sort_anew(t, t->order.items, t->n);
            return;
        }
        memmove(t->order.items + at + 1, t->order.items + at, (i - at) * sizeof(struct table_row *));
        t->order.items[at] = r;
    }
}

/* Rows begin … end - 1 look the same: those with previous positions among these keep them, the others get
 * the free ones. */
static void keep_targets(struct table_rows *t, size_t begin, size_t end)
{
    size_t n_others = 0;
    /* free */
    for (size_t i = begin; i < end; i++)
        t->rows[i] = NULL;
    for (size_t i = begin; i < end; i++) {
        struct table_row *r = t->order.items[i];
        if (r->old >= begin && r->old < end)
            t->rows[r->old] = r;
        else
            t->others.items[n_others++] = r;
    }
    sort_anew(t, t->others.items, n_others);
    for (size_t i = 0, next = begin; i < n_others; i++) {
        while (t->rows[next])
            next++;
        t->rows[next] = t->others.items[i];
    }
}

static void keep_all_targets(struct table_rows *t)
{
    for (size_t begin = 0, end; begin < t->n; begin = end) {
        end = begin + 1;
        while (end < t->n && !compare_shown(t, t->order.items[begin], t->order.items[end]))
            end++;
        keep_targets(t, begin, end);
    }
}

void table_order_put(struct table_rows *t)
{
    MEM_GROW(t->rows, t->cap, t->n + 1);
    VEC_RESERVE(&t->order, t->n + 1);
    VEC_RESERVE(&t->others, t->n + 1);
    if (t->n_old) {
        order_as_before(t);
        sort_moved(t);
        keep_all_targets(t);
    } else {
        for (size_t i = 0; i < t->n; i++)
            t->rows[i] = &t->made.items[i];
        sort_anew(t, t->rows, t->n);
    }
    for (size_t i = 0; i < t->n; i++) {
        struct table_slot *s = &t->places.items[t->rows[i]->slot];
        s->place = (uint32_t)i;
        s->build = t->build;
    }
}
