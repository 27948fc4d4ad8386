// SPDX-License-Identifier: GPL-2.0-or-later
#include "ui/table_rows.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "ui/table_before.h"

#define NOWHERE   UINT32_MAX
#define SLOTS_MIN 4096
#define MOVES_MAX 64 /* places that rows move by on average, beyond which they are sorted as if they were new */

const char *table_row_group(const struct table_rows *t, const struct table_row *r)
{
    if (r->gone)
        return table_row_group(t->before, &t->before->rows[r->gone - 1]);
    return r->group < t->answer->n_groups ? t->answer->groups[r->group].label : "";
}

const char *table_row_name(const struct table_rows *t, const struct table_row *r)
{
    if (r->gone)
        return table_row_name(t->before, &t->before->rows[r->gone - 1]);
    return r->func ? t->answer->funcs[r->func].name : table_row_group(t, r);
}

const char *table_row_module(const struct table_rows *t, const struct table_row *r)
{
    if (r->gone)
        return table_row_module(t->before, &t->before->rows[r->gone - 1]);
    return r->func ? t->answer->funcs[r->func].module : "";
}

/* --- from the answer --- */

static uint32_t tenths_of(uint64_t weight, uint64_t all)
{
    return all ? (uint32_t)(1000.0 * (double)weight / (double)all + 0.5) : 0;
}

static uint32_t find_slot(struct table_rows *t, uint64_t key)
{
    bool created;
    uint32_t slot = (uint32_t)*map_at(&t->slots, key, t->n_slots, &created);
    if (created) {
        MEM_GROW(t->places, t->places_cap, t->n_slots + 1);
        t->places[t->n_slots++] = (struct table_slot){ key, NOWHERE };
    }
    return slot;
}

/* Finds where the row stood in the answer before. */
static void find_old(struct table_rows *t, struct table_row *r)
{
    size_t i = (size_t)(r - t->made), old_cap = t->made_slots_cap;
    uint32_t *slot, place;
    MEM_GROW(t->made_slots, t->made_slots_cap, i + 1);
    for (; old_cap < t->made_slots_cap; old_cap++)
        t->made_slots[old_cap] = NOWHERE;
    slot = &t->made_slots[i];
    if (*slot >= t->n_slots || t->places[*slot].key != r->key)
        *slot = find_slot(t, r->key);
    r->slot = *slot;
    place = t->places[r->slot].place;
    r->old = place < t->n_old && t->old[place].key == r->key ? place : NOWHERE;
}

/* sums: of its own, NULL: there are none. */
static void set_beside(const struct table_rows *t, struct table_row *r, const uint64_t *sums, uint32_t count)
{
    const struct view *v = t->answer;
    for (int k = 0; k < BESIDE_KINDS; k++) {
        double value;
        bool there = sums && v->beside[k].title[0] && beside_value(&v->beside[k], sums, r->self, count, &value);
        r->beside[k] = there ? (float)value : NAN;
    }
    r->partly = sums && beside_is_partly(sums, v->result.besides, r->self);
}

static void finish_row(struct table_rows *t, struct table_row *r, const uint32_t *counts,
                       const struct trend_time *time, bool same_beat)
{
    uint64_t all = t->answer->result.weight;
    find_old(t, r);
    r->self_tenths = tenths_of(r->self, all);
    r->total_tenths = tenths_of(r->total, all);
    r->newest = counts[trend_newest(time)];
    if (same_beat && r->old != NOWHERE)
        memcpy(r->trend, t->old[r->old].trend, sizeof r->trend);
    else
        trend_picture(r->trend, counts, time);
}

/* --- cgroups side by side --- */

static uint64_t *weigh_groups(const struct view *v)
{
    uint64_t *weights = mem_array(v->n_groups + 1, sizeof *weights);
    for (uint32_t i = 0; i < v->result.n_entries; i++)
        if (v->result.entries[i].group < v->n_groups)
            weights[v->result.entries[i].group] += v->result.entries[i].weight;
    return weights;
}

static void add_part(struct table_rows *t, uint32_t group, uint64_t *weights)
{
    weights[group] = 0; /* it has its column */
    t->parts[t->n_parts++] = (struct table_part){ t->answer->groups[group].key, group };
}

/* Who had a column before, while it has samples. */
static void keep_parts(struct table_rows *t, uint64_t *weights)
{
    uint32_t n = t->n_parts;
    t->n_parts = 0;
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t group = 1; group < t->answer->n_groups; group++)
            if (t->answer->groups[group].key == t->parts[i].key && weights[group]) {
                add_part(t, group, weights);
                break;
            }
}

/* Those that were chosen, in their order; else those that have most samples. */
static void choose_parts(struct table_rows *t, bool afresh)
{
    const struct view *v = t->answer;
    uint64_t *weights = weigh_groups(v);
    t->n_cgroups = v->n_chosen;
    for (uint32_t i = 1; i < v->n_groups && !v->n_chosen; i++)
        t->n_cgroups += weights[i] != 0;
    if (afresh || v->n_chosen)
        t->n_parts = 0;
    for (uint32_t i = 1; i <= v->n_chosen && t->n_parts < TABLE_PARTS; i++)
        add_part(t, i, weights);
    if (!v->n_chosen)
        keep_parts(t, weights);
    while (!v->n_chosen && t->n_parts < TABLE_PARTS) {
        uint32_t best = 0;
        weights[0] = 0;
        for (uint32_t i = 1; i < v->n_groups; i++)
            best = weights[i] > weights[best] ? i : best;
        if (!weights[best])
            break;
        add_part(t, best, weights);
    }
    mem_free(weights);
}

static uint32_t *number_parts(const struct table_rows *t)
{
    uint32_t *part_of = mem_array(t->answer->n_groups + 1, sizeof *part_of); /* plus one */
    for (uint32_t i = 0; i < t->n_parts; i++)
        part_of[t->parts[i].group] = i + 1;
    return part_of;
}

/* What each cgroup has in each function itself: part_sums, in the order of the functions' rows. */
static void sum_parts(struct table_rows *t)
{
    const struct view *v = t->answer;
    const struct result *r = &v->result;
    uint32_t *row_of = mem_array(v->n_funcs + 1, sizeof *row_of), *part_of = number_parts(t);
    MEM_GROW(t->part_sums, t->part_sums_cap, (size_t)t->functions.n * TABLE_PARTS + 1);
    memset(t->part_sums, 0, (size_t)t->functions.n * TABLE_PARTS * sizeof *t->part_sums);
    for (uint32_t i = 0; i < t->functions.n; i++)
        row_of[t->functions.rows[i].func] = i + 1;
    for (uint32_t i = 0; i < r->n_entries; i++) {
        const struct result_entry *e = &r->entries[i];
        uint32_t part = e->group < v->n_groups ? part_of[e->group] : 0;
        uint32_t row = row_of[functions_leaf(r, v->frame_func, e->node)];
        if (row && part)
            t->part_sums[(size_t)(row - 1) * TABLE_PARTS + part - 1] += e->weight;
    }
    mem_free(row_of);
    mem_free(part_of);
}

static void set_parts(const struct table_rows *t, struct table_row *r, uint32_t made)
{
    for (uint32_t k = 0; k < t->n_parts; k++)
        r->parts[k] = (uint16_t)tenths_of(t->part_sums[(size_t)made * TABLE_PARTS + k], t->answer->result.weight);
}

static void add_function_rows(struct table_rows *t, const struct trend_time *time, bool same_beat)
{
    const struct view *v = t->answer;
    bool by_group = t->by == VIEW_GROUP_COMM_SYMBOL;
    uint32_t besides = v->result.besides;
    functions_build(&t->functions, &v->result, v->frame_func, v->n_funcs, by_group, false);
    if (besides)
        functions_beside(&t->functions, &v->result, v->frame_func, by_group, &t->sums, &t->sums_cap);
    if (t->by == VIEW_GROUP_CGROUP_SYMBOL)
        sum_parts(t);
    MEM_GROW(t->made, t->made_cap, t->functions.n + 1);
    for (uint32_t i = 0; i < t->functions.n; i++) {
        const struct function_row *f = &t->functions.rows[i];
        struct table_row *r = &t->made[t->n++];
        uint64_t group_key = by_group && f->group < v->n_groups ? map_mix(v->groups[f->group].key) : 0;
        *r = (struct table_row){ .func = f->func,
                                 .group = f->group,
                                 .self = f->self_weight,
                                 .total = f->total_weight,
                                 .key = v->funcs[f->func].key ^ group_key,
                                 .count = f->total_count };
        set_beside(t, r, besides ? &t->sums[(size_t)i * besides] : NULL, f->self_count);
        if (t->by == VIEW_GROUP_CGROUP_SYMBOL)
            set_parts(t, r, i);
        finish_row(t, r, f->trend, time, same_beat);
    }
}

static void add_group_rows(struct table_rows *t, const struct trend_time *time, bool same_beat)
{
    const struct view *v = t->answer;
    uint32_t(*counts)[QUERY_TREND] = mem_array(v->n_groups + 1, sizeof *counts);
    uint32_t besides = v->result.besides;
    MEM_GROW(t->made, t->made_cap, v->n_groups + 1);
    MEM_GROW(t->sums, t->sums_cap, (size_t)v->n_groups * besides + 1);
    memset(t->sums, 0, (size_t)v->n_groups * besides * sizeof *t->sums);
    for (uint32_t i = 0; i < v->n_groups; i++)
        t->made[i] = (struct table_row){ .group = i, .key = v->groups[i].key };
    for (uint32_t i = 0; i < v->result.n_entries; i++) {
        const struct result_entry *en = &v->result.entries[i];
        if (en->group >= v->n_groups)
            continue;
        struct table_row *r = &t->made[en->group];
        r->self = r->total += en->weight;
        r->count += en->count;
        for (int k = 0; k < QUERY_TREND; k++)
            counts[en->group][k] += en->trend[k];
        for (uint32_t k = 0; k < besides; k++)
            t->sums[en->group * besides + k] += v->result.beside[(size_t)i * besides + k];
    }
    for (uint32_t i = 0; i < v->n_groups; i++) {
        if (!t->made[i].count)
            continue;
        set_beside(t, &t->made[i], besides ? &t->sums[(size_t)i * besides] : NULL, t->made[i].count);
        t->made[t->n] = t->made[i];
        finish_row(t, &t->made[t->n++], counts[i], time, same_beat);
    }
    mem_free(counts);
}

static void add_gone_rows(struct table_rows *t)
{
    size_t n = t->n;
    table_before_compare(t);
    for (; n < t->n; n++)
        find_old(t, &t->made[n]);
}

/* --- order --- */

static int compare_numbers(uint64_t x, uint64_t y)
{
    return (x < y) - (x > y); /* the largest first */
}

/* Those without a number stand behind all others, whichever way the others go. */
static int compare_beside(float x, float y)
{
    if (isnan(x) || isnan(y))
        return isnan(x) - isnan(y);
    return (x < y) - (x > y);
}

static int compare_column(const struct table_rows *t, enum column c, const struct table_row *x,
                          const struct table_row *y)
{
    if (column_is_cgroup(c))
        return compare_numbers(x->parts[c - COLUMN_CGROUP_1], y->parts[c - COLUMN_CGROUP_1]);
    switch (c) {
    case COLUMN_SELF:
        return compare_numbers(x->self_tenths, y->self_tenths);
    case COLUMN_TOTAL:
        return compare_numbers(x->total_tenths, y->total_tenths);
    case COLUMN_SELF_CHANGE: /* whichever way it went */
        return compare_numbers((uint64_t)abs(x->self_change), (uint64_t)abs(y->self_change));
    case COLUMN_TOTAL_CHANGE:
        return compare_numbers((uint64_t)abs(x->total_change), (uint64_t)abs(y->total_change));
    case COLUMN_SAMPLES:
        return compare_numbers(x->count, y->count);
    case COLUMN_TREND:
        return compare_numbers(x->newest, y->newest);
    case COLUMN_COMM:
        return strcmp(table_row_group(t, x), table_row_group(t, y));
    case COLUMN_MODULE:
        return strcmp(table_row_module(t, x), table_row_module(t, y));
    default:
        return column_is_beside(c) ? compare_beside(x->beside[c - COLUMN_IPC], y->beside[c - COLUMN_IPC])
                                   : strcmp(table_row_name(t, x), table_row_name(t, y));
    }
}

static bool is_missing(const struct table_rows *t, const struct table_row *x, const struct table_row *y)
{
    enum column c = t->sort[0];
    return column_is_beside(c) && (isnan(x->beside[c - COLUMN_IPC]) || isnan(y->beside[c - COLUMN_IPC]));
}

/* By the columns that were asked for, as they read. */
static int compare_shown(const struct table_rows *t, const struct table_row *x, const struct table_row *y)
{
    int order = 0;
    for (uint32_t i = 0; i < t->n_sort && !order; i++) {
        order = compare_column(t, t->sort[i], x, y);
        order = i == 0 && t->upwards && !is_missing(t, x, y) ? -order : order;
    }
    return order;
}

static int compare_rows(const void *px, const void *py, void *ctx)
{
    const struct table_row *x = *(struct table_row *const *)px, *y = *(struct table_row *const *)py;
    int order = compare_shown(ctx, x, y);
    order = order ? order : compare_numbers(x->self, y->self);
    order = order ? order : compare_numbers(x->total, y->total);
    return order ? order : compare_numbers(x->key, y->key);
}

static void sort_anew(const struct table_rows *t, struct table_row **rows, size_t n)
{
    if (n > 1)
        qsort_r(rows, n, sizeof *rows, compare_rows, (void *)(uintptr_t)t);
}

/* As the rows stood before, with new ones behind them. */
static void order_as_before(struct table_rows *t)
{
    size_t n = 0, n_others = 0;
    MEM_GROW(t->order, t->order_cap, t->n_old + t->n + 1);
    memset(t->order, 0, t->n_old * sizeof(struct table_row *));
    for (size_t i = 0; i < t->n; i++) {
        struct table_row *r = &t->made[i];
        if (r->old == NOWHERE || t->order[r->old]) {
            r->old = NOWHERE;
            t->others[n_others++] = r;
        } else {
            t->order[r->old] = r;
        }
    }
    for (size_t i = 0; i < t->n_old; i++)
        if (t->order[i])
            t->order[n++] = t->order[i];
    memcpy(t->order + n, t->others, n_others * sizeof(struct table_row *));
}

/* How many of the first n rows read the same as this one, or stand before it. */
static size_t place_among(const struct table_rows *t, size_t n, const struct table_row *r)
{
    size_t low = 0, high = n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (compare_shown(t, t->order[middle], r) <= 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Nearly all rows stand right already: those that do not are moved. */
static void sort_moved(struct table_rows *t)
{
    size_t moved = 0;
    for (size_t i = 1; i < t->n; i++) {
        struct table_row *r = t->order[i];
        if (compare_shown(t, t->order[i - 1], r) <= 0)
            continue;
        size_t at = place_among(t, i, r);
        moved += i - at;
        if (moved > t->n * MOVES_MAX) {
            sort_anew(t, t->order, t->n);
            return;
        }
        memmove(t->order + at + 1, t->order + at, (i - at) * sizeof(struct table_row *));
        t->order[at] = r;
    }
}

/* Rows begin … end - 1 read the same: who stood on one of these places stays there, the others take what is
 * free. */
static void keep_places(struct table_rows *t, size_t begin, size_t end)
{
    size_t n_others = 0;
    for (size_t i = begin; i < end; i++)
        t->rows[i].slot = NOWHERE; /* free */
    for (size_t i = begin; i < end; i++) {
        struct table_row *r = t->order[i];
        if (r->old >= begin && r->old < end)
            t->rows[r->old] = *r;
        else
            t->others[n_others++] = r;
    }
    sort_anew(t, t->others, n_others);
    for (size_t i = 0, next = begin; i < n_others; i++) {
        while (t->rows[next].slot != NOWHERE)
            next++;
        t->rows[next] = *t->others[i];
    }
}

static void keep_all_places(struct table_rows *t)
{
    for (size_t begin = 0, end; begin < t->n; begin = end) {
        end = begin + 1;
        while (end < t->n && !compare_shown(t, t->order[begin], t->order[end]))
            end++;
        keep_places(t, begin, end);
    }
}

/* What was made, into rows. */
static void sort_rows(struct table_rows *t)
{
    MEM_GROW(t->rows, t->cap, t->n + 1);
    MEM_GROW(t->order, t->order_cap, t->n + 1);
    MEM_GROW(t->others, t->others_cap, t->n + 1);
    if (t->n_old) {
        order_as_before(t);
        sort_moved(t);
        keep_all_places(t);
    } else {
        for (size_t i = 0; i < t->n; i++)
            t->order[i] = &t->made[i];
        sort_anew(t, t->order, t->n);
        for (size_t i = 0; i < t->n; i++)
            t->rows[i] = *t->order[i];
    }
    for (size_t i = 0; i < t->n; i++)
        t->places[t->rows[i].slot].place = (uint32_t)i;
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
    if (t->n_slots < SLOTS_MIN + 4 * t->n_old)
        return;
    map_clear(&t->slots); /* most of them are of rows that are gone */
    t->n_slots = 0;
    for (size_t i = 0; i < t->n_old; i++) {
        map_put(&t->slots, t->old[i].key, i);
        t->places[t->n_slots++] = (struct table_slot){ t->old[i].key, (uint32_t)i };
    }
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
    t->n_cgroups = 0;
    if (by == VIEW_GROUP_CGROUP_SYMBOL)
        choose_parts(t, afresh);
    else
        t->n_parts = 0;
    if (view_group_is_whole(by))
        add_group_rows(t, &time, same_beat);
    else
        add_function_rows(t, &time, same_beat);
    if (t->before)
        add_gone_rows(t);
    sort_rows(t);
}

void table_rows_sort(struct table_rows *t, enum column c, bool upwards)
{
    t->sort[0] = c;
    t->n_sort = 1;
    t->upwards = upwards;
    t->n_old = 0;
    MEM_GROW(t->made, t->made_cap, t->n + 1);
    if (t->n)
        memcpy(t->made, t->rows, t->n * sizeof *t->made);
    sort_rows(t);
}

void table_rows_done(struct table_rows *t)
{
    functions_done(&t->functions);
    map_done(&t->slots);
    mem_free(t->places);
    mem_free(t->rows);
    mem_free(t->old);
    mem_free(t->made);
    mem_free(t->made_slots);
    mem_free(t->sums);
    mem_free(t->part_sums);
    mem_free(t->order);
    mem_free(t->others);
    *t = (struct table_rows){ 0 };
}
