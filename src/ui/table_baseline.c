// SPDX-License-Identifier: GPL-2.0-or-later
#include "ui/table_baseline.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "session/nametree.h"
#include "ui/difference.h"

#define GONE UINT64_C(0x676f6e65) /* marks the key of a row that is in the baseline only */

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

void table_baseline_compare(struct table_rows *t)
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
