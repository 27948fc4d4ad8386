// SPDX-License-Identifier: GPL-2.0-or-later
/* The values of one row of the functions table. */
#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "ui/table_rows.h"

#define RATE_LEAST_NS (NS_PER_SEC / 2) /* rates over less time are unreliable */

const char *table_row_group(const struct table_rows *t, const struct table_row *r)
{
    if (r->gone)
        return table_row_group(t->baseline, t->baseline->rows[r->gone - 1]);
    return r->group < t->data->n_groups ? t->data->groups[r->group].label : "";
}

const char *table_row_name(const struct table_rows *t, const struct table_row *r)
{
    if (r->gone)
        return table_row_name(t->baseline, t->baseline->rows[r->gone - 1]);
    return r->func ? t->data->funcs[r->func].name : table_row_group(t, r);
}

const char *table_row_module(const struct table_rows *t, const struct table_row *r)
{
    if (r->gone)
        return table_row_module(t->baseline, t->baseline->rows[r->gone - 1]);
    return r->func ? t->data->funcs[r->func].module : "";
}

static const uint64_t *weights_of(const struct table_rows *t, const struct table_row *r)
{
    static const uint64_t none[QUERY_TREND];
    if (r->gone)
        return none;
    return view_group_is_whole(t->by) ? t->groups.items[r->counts].weights
                                      : t->functions.rows[r->counts].trend;
}

/* A trend's sparkline stays the same until the next beat. */
void table_row_trend(struct table_rows *t, const struct table_row *r, uint64_t dst[QUERY_TREND])
{
    bool created;
    size_t i = (size_t)*map_at(&t->pictures, r->key, t->trends.n, &created);
    if (created)
        trend_picture(VEC_PUSH(&t->trends)->weights, weights_of(t, r), &t->time);
    memcpy(dst, t->trends.items[i].weights, sizeof t->trends.items[i].weights);
}

uint64_t table_row_newest(const struct table_rows *t, const struct table_row *r)
{
    return weights_of(t, r)[trend_newest(&t->time)];
}

uint32_t table_tenths(uint64_t weight, uint64_t all)
{
    return all ? (uint32_t)(1000.0 * (double)weight / (double)all + 0.5) : 0;
}

uint32_t table_row_part(const struct table_rows *t, const struct table_row *r, uint32_t part)
{
    return r->gone ? 0
                   : table_tenths(t->part_sums.items[(size_t)r->counts * TABLE_PARTS + part],
                                  t->data->result.weight);
}

double table_row_rate(const struct table_rows *t, const struct table_row *r)
{
    uint64_t span = t->data->span_ns;
    if (r->gone || span < RATE_LEAST_NS)
        return NAN;
    return (double)r->self / (double)span * (t->data->weight_is_time ? 1 : (double)NS_PER_SEC);
}

uint32_t table_row_pid(const struct table_rows *t, const struct table_row *r)
{
    bool has = t->by == VIEW_GROUP_PROCESS || t->by == VIEW_GROUP_THREAD;
    return has && !r->gone && r->group < t->data->n_groups ? (uint32_t)t->data->groups[r->group].number : 0;
}

/* NULL: the event is not in a group. */
static const uint64_t *sums_of(const struct table_rows *t, const struct table_row *r)
{
    uint32_t group_events = t->data->result.group_events;
    return group_events && !r->gone ? &t->sums.items[(size_t)r->counts * group_events] : NULL;
}

double table_row_group_sums(const struct table_rows *t, const struct table_row *r, uint32_t kind)
{
    const struct view_group_column *b = &t->data->group_sums[kind];
    const uint64_t *sums = sums_of(t, r);
    double value;
    if (!sums || !b->title[0])
        return NAN;
    uint32_t count = view_group_is_whole(t->by) ? r->count : t->functions.rows[r->counts].self_count;
    return group_column_value(b, sums, r->self, count, &value) ? value : NAN;
}

bool table_row_is_partly(const struct table_rows *t, const struct table_row *r)
{
    const uint64_t *sums = sums_of(t, r);
    return sums && group_column_is_partial(sums, t->data->result.group_events, r->self);
}
