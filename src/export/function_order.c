// SPDX-License-Identifier: GPL-2.0-or-later
#include "export/function_order.h"

#include <stdlib.h>
#include <string.h>

static int descending(uint64_t x, uint64_t y)
{
    return (x < y) - (x > y);
}

static int by_names(const struct view *v, const struct function_row *x, const struct function_row *y)
{
    int order = 0;
    if (x->func != y->func) {
        order = strcmp(v->funcs[x->func].name, v->funcs[y->func].name);
        order = order ? order : strcmp(v->funcs[x->func].module, v->funcs[y->func].module);
    }
    if (!order && x->group != y->group)
        order = strcmp(v->groups[x->group].full, v->groups[y->group].full);
    order = order ? order : descending(y->func, x->func);
    return order ? order : descending(y->group, x->group);
}

static int by_weight(const void *a, const void *b, void *view)
{
    const struct function_row *x = a, *y = b;
    int order = descending(x->self_weight, y->self_weight);
    order = order ? order : descending(x->total_weight, y->total_weight);
    return order ? order : by_names(view, x, y);
}

static int by_count(const void *a, const void *b, void *view)
{
    const struct function_row *x = a, *y = b;
    int order = descending(x->self_count, y->self_count);
    order = order ? order : descending(x->total_count, y->total_count);
    return order ? order : by_names(view, x, y);
}

void function_order(struct functions *f, const struct view *v, bool by_samples)
{
    if (f->n)
        qsort_r(f->rows, f->n, sizeof *f->rows, by_samples ? by_count : by_weight, (void *)(uintptr_t)v);
}
