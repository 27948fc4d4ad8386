// SPDX-License-Identifier: GPL-2.0-or-later
#include "ui/table_rows.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#define NOBODY UINT32_MAX /* no function's number: the row is taken away, or its place is free */

bool table_groups_only(enum view_group by)
{
    return by != VIEW_GROUP_SYMBOL && by != VIEW_GROUP_COMM_SYMBOL && by != VIEW_GROUP_MODULE;
}

const char *table_row_group(const struct table_rows *t, const struct table_row *r)
{
    return r->group < t->answer->n_groups ? t->answer->groups[r->group].label : "";
}

const char *table_row_name(const struct table_rows *t, const struct table_row *r)
{
    return r->func ? t->answer->funcs[r->func].name : table_row_group(t, r);
}

const char *table_row_module(const struct table_rows *t, const struct table_row *r)
{
    return r->func ? t->answer->funcs[r->func].module : "";
}

/* --- from the answer --- */

static uint32_t tenths_of(uint64_t weight, uint64_t all)
{
    return all ? (uint32_t)(1000.0 * (double)weight / (double)all + 0.5) : 0;
}

/* A row's place among those of the answer before; false: it was not there. */
static bool old_place(const struct table_rows *t, uint64_t key, uint64_t *place)
{
    return t->n_old && map_get(&t->places, key, place) && *place < t->n_old;
}

static void finish_row(const struct table_rows *t, struct table_row *r, const uint32_t *counts,
                       const struct trend_time *time, bool same_beat)
{
    uint64_t place, all = t->answer->result.weight;
    r->self_tenths = tenths_of(r->self, all);
    r->total_tenths = tenths_of(r->total, all);
    r->newest = counts[trend_newest(time)];
    if (same_beat && old_place(t, r->key, &place))
        memcpy(r->trend, t->old[place].trend, sizeof r->trend);
    else
        trend_picture(r->trend, counts, time);
}

static void add_function_rows(struct table_rows *t, const struct trend_time *time, bool same_beat)
{
    const struct view *v = t->answer;
    bool by_group = t->by == VIEW_GROUP_COMM_SYMBOL;
    functions_build(&t->functions, &v->result, v->frame_func, v->n_funcs, by_group, false);
    MEM_GROW(t->rows, t->cap, t->functions.n + 1);
    for (uint32_t i = 0; i < t->functions.n; i++) {
        const struct function_row *f = &t->functions.rows[i];
        struct table_row *r = &t->rows[t->n++];
        uint64_t group_key = by_group && f->group < v->n_groups ? map_mix(v->groups[f->group].key) : 0;
        *r = (struct table_row){ .func = f->func,
                                 .group = f->group,
                                 .self = f->self_weight,
                                 .total = f->total_weight,
                                 .key = v->funcs[f->func].key ^ group_key,
                                 .count = f->total_count };
        finish_row(t, r, f->trend, time, same_beat);
    }
}

static void add_group_rows(struct table_rows *t, const struct trend_time *time, bool same_beat)
{
    const struct view *v = t->answer;
    uint32_t(*counts)[QUERY_TREND] = mem_array(v->n_groups + 1, sizeof *counts);
    MEM_GROW(t->rows, t->cap, v->n_groups + 1);
    for (uint32_t i = 0; i < v->n_groups; i++)
        t->rows[i] = (struct table_row){ .group = i, .key = v->groups[i].key };
    for (uint32_t i = 0; i < v->result.n_entries; i++) {
        const struct result_entry *en = &v->result.entries[i];
        if (en->group >= v->n_groups)
            continue;
        struct table_row *r = &t->rows[en->group];
        r->self = r->total += en->weight;
        r->count += en->count;
        for (int k = 0; k < QUERY_TREND; k++)
            counts[en->group][k] += en->trend[k];
    }
    for (uint32_t i = 0; i < v->n_groups; i++) {
        if (!t->rows[i].count)
            continue;
        t->rows[t->n] = t->rows[i];
        finish_row(t, &t->rows[t->n++], counts[i], time, same_beat);
    }
    mem_free(counts);
}

/* --- order --- */

static int compare_numbers(uint64_t x, uint64_t y)
{
    return (x < y) - (x > y); /* the largest first */
}

static int compare_column(const struct table_rows *t, enum column c, const struct table_row *x,
                          const struct table_row *y)
{
    switch (c) {
    case COLUMN_SELF:
        return compare_numbers(x->self_tenths, y->self_tenths);
    case COLUMN_TOTAL:
        return compare_numbers(x->total_tenths, y->total_tenths);
    case COLUMN_SAMPLES:
        return compare_numbers(x->count, y->count);
    case COLUMN_TREND:
        return compare_numbers(x->newest, y->newest);
    case COLUMN_COMM:
        return strcmp(table_row_group(t, x), table_row_group(t, y));
    case COLUMN_MODULE:
        return strcmp(table_row_module(t, x), table_row_module(t, y));
    default:
        return strcmp(table_row_name(t, x), table_row_name(t, y));
    }
}

/* By the columns that were asked for, as they read. */
static int compare_shown(const struct table_rows *t, const struct table_row *x, const struct table_row *y)
{
    int order = 0;
    for (uint32_t i = 0; i < t->n_sort && !order; i++) {
        order = compare_column(t, t->sort[i], x, y);
        order = i == 0 && t->upwards ? -order : order;
    }
    return order;
}

static int compare_rows(const void *px, const void *py, void *ctx)
{
    const struct table_row *x = px, *y = py;
    int order = compare_shown(ctx, x, y);
    order = order ? order : compare_numbers(x->self, y->self);
    order = order ? order : compare_numbers(x->total, y->total);
    return order ? order : compare_numbers(x->key, y->key);
}

/* Rows begin … end - 1 read the same: who stood on one of these places stays there, the others take what is
 * free. */
static void keep_places(struct table_rows *t, size_t begin, size_t end)
{
    struct table_row *from = t->sorted;
    uint64_t place;
    for (size_t i = begin; i < end; i++)
        t->rows[i].func = NOBODY;
    for (size_t i = begin; i < end; i++) {
        if (!old_place(t, from[i].key, &place) || place < begin || place >= end ||
            t->rows[place].func != NOBODY)
            continue;
        t->rows[place] = from[i];
        from[i].func = NOBODY;
    }
    for (size_t i = begin, next = begin; i < end; i++) {
        if (from[i].func == NOBODY)
            continue;
        while (t->rows[next].func != NOBODY)
            next++;
        t->rows[next] = from[i];
    }
}

static void sort_rows(struct table_rows *t)
{
    qsort_r(t->rows, t->n, sizeof *t->rows, compare_rows, t);
    if (!t->n_old)
        return;
    MEM_GROW(t->sorted, t->sorted_cap, t->n + 1);
    memcpy(t->sorted, t->rows, t->n * sizeof *t->rows);
    for (size_t begin = 0, end; begin < t->n; begin = end) {
        end = begin + 1;
        while (end < t->n && !compare_shown(t, &t->sorted[begin], &t->sorted[end]))
            end++;
        keep_places(t, begin, end);
    }
}

/* --- from one answer to the next --- */

static void remember(struct table_rows *t)
{
    struct table_row *rows = t->old;
    size_t cap = t->old_cap;
    t->old = t->rows;
    t->old_cap = t->cap;
    t->n_old = t->n;
    t->rows = rows;
    t->cap = cap;
    t->n = 0;
    map_clear(&t->places);
    for (size_t i = 0; i < t->n_old; i++)
        map_put(&t->places, t->old[i].key, i);
}

void table_rows_build(struct table_rows *t, const struct view *answer, enum view_group by, uint64_t now_ns,
                      bool afresh)
{
    struct trend_time time = { answer->result.from_ns, answer->result.to_ns, now_ns };
    uint64_t beat = trend_beat(&time);
    bool same_beat = beat == t->beat && !afresh;
    remember(t);
    if (afresh || by != t->by)
        t->n_old = 0;
    t->answer = answer;
    t->by = by;
    t->beat = beat;
    if (table_groups_only(by))
        add_group_rows(t, &time, same_beat);
    else
        add_function_rows(t, &time, same_beat);
    sort_rows(t);
}

void table_rows_sort(struct table_rows *t, enum column c, bool upwards)
{
    t->sort[0] = c;
    t->n_sort = 1;
    t->upwards = upwards;
    t->n_old = 0;
    sort_rows(t);
}

void table_rows_done(struct table_rows *t)
{
    functions_done(&t->functions);
    map_done(&t->places);
    mem_free(t->rows);
    mem_free(t->old);
    mem_free(t->sorted);
    *t = (struct table_rows){ 0 };
}
