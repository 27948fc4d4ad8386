// SPDX-License-Identifier: GPL-2.0-or-later
#include "ui/table_rows.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "session/nametree.h"
#include "ui/difference.h"
#include "ui/table_order.h"

#define GONE UINT64_C(0x676f6e65) /* marks the key of a row that is in the baseline only */

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
    weights[group] = 0; /* it has a column */
    t->parts[t->n_parts++] = (struct table_part){ t->data->groups[group].key, group };
}

/* Keeps cgroups that had a column before and still have samples. */
static void keep_parts(struct table_rows *t, uint64_t *weights)
{
    uint32_t n = t->n_parts;
    t->n_parts = 0;
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t group = 1; group < t->data->n_groups; group++)
            if (t->data->groups[group].key == t->parts[i].key && weights[group]) {
                add_part(t, group, weights);
                break;
            }
}

/* Gives columns to the chosen cgroups, in their order; without a choice, to those with most samples. */
static void choose_parts(struct table_rows *t, bool afresh)
{
    const struct view *v = t->data;
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
    uint32_t *part_of = mem_array(t->data->n_groups + 1, sizeof *part_of); /* plus one */
    for (uint32_t i = 0; i < t->n_parts; i++)
        part_of[t->parts[i].group] = i + 1;
    return part_of;
}

/* Sums each cgroup's weight in each function itself into part_sums, in the order of the functions' rows. */
static void sum_parts(struct table_rows *t)
{
    const struct view *v = t->data;
    const struct result *r = &v->result;
    uint32_t *row_of = mem_array(v->n_funcs + 1, sizeof *row_of), *part_of = number_parts(t);
    VEC_RESERVE(&t->part_sums, (size_t)t->functions.n * TABLE_PARTS + 1);
    memset(t->part_sums.items, 0, (size_t)t->functions.n * TABLE_PARTS * sizeof *t->part_sums.items);
    for (uint32_t i = 0; i < t->functions.n; i++)
        row_of[t->functions.rows[i].func] = i + 1;
    for (uint32_t i = 0; i < r->n_entries; i++) {
        const struct result_entry *e = &r->entries[i];
        uint32_t part = e->group < v->n_groups ? part_of[e->group] : 0;
        uint32_t row = row_of[functions_leaf(r, v->frame_func, e->node)];
        if (row && part)
            t->part_sums.items[(size_t)(row - 1) * TABLE_PARTS + part - 1] += e->weight;
    }
    mem_free(row_of);
    mem_free(part_of);
}

/* --- comparison with the baseline (--diff) --- */

static uint64_t name_key(const struct table_rows *t, const struct table_row *r)
{
    struct nametree_func f = { .name = table_row_name(t, r),
                               .module = table_row_module(t, r),
                               .is_group = !r->func };
    const char *group = t->by == VIEW_GROUP_COMM_SYMBOL ? table_row_group(t, r) : "";
    f.class = r->func ? t->data->funcs[r->func].class : SYMBOL_CLASS_UNKNOWN;
    return nametree_func_key(&f) ^ map_mix(map_hash_bytes(group, strlen(group), 1));
}

static double percent_of(uint64_t weight, uint64_t all)
{
    return all ? 100 * (double)weight / (double)all : 0;
}

static void set_change(const struct table_rows *t, struct table_row *r, uint64_t self_before,
                       uint64_t baseline_total)
{
    uint64_t all = t->data->result.weight;
    double self, total;
    r->compared = difference_points(t->difference, percent_of(r->self, all), self_before, &self) &&
                  difference_points(t->difference, percent_of(r->total, all), baseline_total, &total);
    r->self_change = r->compared ? (int32_t)lround(100 * self) : 0;
    r->total_change = r->compared ? (int32_t)lround(100 * total) : 0;
}

/* Matches the rows with t->baseline by name and sets their changes. Appends the rows that are only in the
 * baseline. */
static void compare_with_baseline(struct table_rows *t)
{
    const struct table_rows *baseline = t->baseline;
    struct map by_name = { 0 };
    uint8_t *found = mem_array(baseline->n + 1, 1);
    uint64_t at;
    for (size_t i = 0; i < baseline->n; i++)
        (void)map_at(&by_name, name_key(baseline, baseline->rows[i]), i, NULL);
    for (size_t i = 0; i < t->n; i++) {
        bool there = map_get(&by_name, name_key(t, &t->made.items[i]), &at);
        const struct table_row *old = there ? baseline->rows[at] : NULL;
        set_change(t, &t->made.items[i], old ? old->self : 0, old ? old->total : 0);
        if (there)
            found[at] = 1;
    }
    VEC_RESERVE(&t->made, t->n + baseline->n + 1);
    for (size_t i = 0; i < baseline->n; i++) {
        const struct table_row *old = baseline->rows[i];
        /* of rows with the same name, only the first is compared */
        if (!map_get(&by_name, name_key(baseline, old), &at) || at != i || found[at])
            continue;
        t->made.items[t->n] =
            (struct table_row){ .gone = (uint32_t)i + 1, .key = map_mix(name_key(baseline, old) ^ GONE) };
        set_change(t, &t->made.items[t->n++], old->self, old->total);
    }
    map_done(&by_name);
    mem_free(found);
}

/* --- building from a result --- */

static void finish_row(struct table_rows *t, struct table_row *r)
{
    uint64_t all = t->data->result.weight;
    r->self_tenths = table_tenths(r->self, all);
    r->total_tenths = table_tenths(r->total, all);
    table_order_find(t, r);
}

static void add_function_rows(struct table_rows *t)
{
    const struct view *v = t->data;
    bool by_group = t->by == VIEW_GROUP_COMM_SYMBOL;
    functions_build(&t->functions, &v->result, v->frame_func, v->n_funcs, by_group);
    if (v->result.group_events)
        functions_group_sums(&t->functions, &v->result, v->frame_func, by_group, &t->sums.items,
                             &t->sums.cap);
    if (t->by == VIEW_GROUP_CGROUP_SYMBOL)
        sum_parts(t);
    VEC_RESERVE(&t->made, t->functions.n + 1);
    for (uint32_t i = 0; i < t->functions.n; i++) {
        const struct function_row *f = &t->functions.rows[i];
        uint64_t group_key = by_group && f->group < v->n_groups ? map_mix(v->groups[f->group].key) : 0;
        t->made.items[t->n] = (struct table_row){ .func = f->func,
                                                  .group = f->group,
                                                  .self = f->self_weight,
                                                  .total = f->total_weight,
                                                  .key = v->funcs[f->func].key ^ group_key,
                                                  .count = f->total_count,
                                                  .counts = i };
        finish_row(t, &t->made.items[t->n++]);
    }
}

static void add_group_rows(struct table_rows *t)
{
    const struct view *v = t->data;
    uint32_t group_events = v->result.group_events;
    VEC_RESERVE(&t->made, v->n_groups + 1);
    VEC_RESERVE(&t->groups, v->n_groups + 1);
    VEC_RESERVE(&t->sums, (size_t)v->n_groups * group_events + 1);
    memset(t->groups.items, 0, v->n_groups * sizeof *t->groups.items);
    memset(t->sums.items, 0, (size_t)v->n_groups * group_events * sizeof *t->sums.items);
    for (uint32_t i = 0; i < v->n_groups; i++)
        t->made.items[i] = (struct table_row){ .group = i, .key = v->groups[i].key, .counts = i };
    for (uint32_t i = 0; i < v->result.n_entries; i++) {
        const struct result_entry *en = &v->result.entries[i];
        if (en->group >= v->n_groups)
            continue;
        struct table_row *r = &t->made.items[en->group];
        r->self = r->total += en->weight;
        r->count += en->count;
        for (int k = 0; k < QUERY_TREND; k++)
            t->groups.items[en->group].weights[k] += en->trend[k];
        for (uint32_t k = 0; k < group_events; k++)
            t->sums.items[en->group * group_events + k] += v->result.group_sums[(size_t)i * group_events + k];
    }
    for (uint32_t i = 0; i < v->n_groups; i++) {
        if (!t->made.items[i].count)
            continue;
        t->made.items[t->n] = t->made.items[i];
        finish_row(t, &t->made.items[t->n++]);
    }
}

static void add_gone_rows(struct table_rows *t)
{
    size_t n = t->n;
    compare_with_baseline(t);
    for (; n < t->n; n++)
        table_order_find(t, &t->made.items[n]);
}

static void next_beat(struct table_rows *t, uint64_t now_ns, bool afresh)
{
    t->time = (struct trend_time){ t->data->result.from_ns, t->data->result.to_ns, now_ns };
    uint64_t beat = trend_beat(&t->time);
    if (beat == t->beat && !afresh)
        return;
    t->beat = beat;
    t->trends.n = 0;
    map_clear(&t->pictures);
}

void table_rows_build(struct table_rows *t, const struct view *data, enum view_group by, uint64_t now_ns,
                      bool afresh)
{
    table_order_next(t);
    if (afresh || by != t->by)
        t->n_old = 0;
    t->data = data;
    t->by = by;
    t->n_cgroups = 0;
    next_beat(t, now_ns, afresh);
    if (by == VIEW_GROUP_CGROUP_SYMBOL)
        choose_parts(t, afresh);
    else
        t->n_parts = 0;
    if (view_group_is_whole(by))
        add_group_rows(t);
    else
        add_function_rows(t);
    if (t->baseline)
        add_gone_rows(t);
    table_order_put(t);
}

void table_rows_sort(struct table_rows *t, enum column c, bool upwards)
{
    t->sort[0] = c;
    t->n_sort = 1;
    t->upwards = upwards;
    t->n_old = 0;
    table_order_put(t);
}

void table_rows_done(struct table_rows *t)
{
    functions_done(&t->functions);
    map_done(&t->slots);
    map_done(&t->pictures);
    mem_free(t->trends.items);
    mem_free(t->places.items);
    mem_free(t->rows);
    mem_free(t->made.items);
    mem_free(t->made_slots.items);
    mem_free(t->groups.items);
    mem_free(t->sums.items);
    mem_free(t->part_sums.items);
    mem_free(t->order.items);
    mem_free(t->others.items);
    *t = (struct table_rows){ 0 };
}
