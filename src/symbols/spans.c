// SPDX-License-Identifier: GPL-2.0-or-later
#include "symbols/spans.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/search.h"

bool spans_add(struct spans *s, uint64_t low, uint64_t high, uint32_t what)
{
    if (low >= high)
        return true;
    if (s->n == SPANS_MAX || !MEM_TRY_GROW(s->items, s->cap, s->n + 1))
        return false;
    s->items[s->n++] = (struct span){ low, high, what };
    return true;
}

static int compare(const void *left, const void *right)
{
    const struct span *a = left, *b = right;

    if (a->low != b->low)
        return a->low < b->low ? -1 : 1;
    return a->what < b->what ? -1 : a->what > b->what;
}

bool spans_sort(struct spans *s)
{
    uint64_t *reach = mem_try_resize(s->reach, s->n ? s->n : 1, sizeof *reach), high = 0;
    size_t i;

    if (!reach)
        return false;
    s->reach = reach;
    if (s->n)
        qsort(s->items, s->n, sizeof *s->items, compare);
    for (i = 0; i < s->n; i++) {
        high = s->items[i].high > high ? s->items[i].high : high;
        reach[i] = high;
    }
    return true;
}

/* Return the number of spans that begin at or before the address. */
static size_t count_begun(const struct spans *s, uint64_t address)
{
    return SEARCH_FIRST(i, 0, s->n, s->items[i].low > address);
}

static bool is_better(const struct span *a, const struct span *b)
{
    uint64_t size_a = a->high - a->low, size_b = b->high - b->low;

    return size_a < size_b || (size_a == size_b && a->what > b->what);
}

bool spans_find(const struct spans *s, uint64_t address, uint32_t *what)
{
    const struct span *best = NULL;
    size_t i;

    for (i = count_begun(s, address); i && s->reach[i - 1] > address; i--) {
        const struct span *item = &s->items[i - 1];
        if (item->high > address && (!best || is_better(item, best)))
            best = item;
    }
    if (best)
        *what = best->what;
    return best != NULL;
}

void spans_narrow(const struct spans *s, uint64_t address, uint64_t *low, uint64_t *high)
{
    size_t i = count_begun(s, address);

    if (i < s->n && s->items[i].low < *high)
        *high = s->items[i].low;
    if (i && s->items[i - 1].low > *low)
        *low = s->items[i - 1].low;
    for (; i && s->reach[i - 1] > *low; i--) {
        uint64_t end = s->items[i - 1].high;
        if (end > address && end < *high)
            *high = end;
        else if (end <= address && end > *low)
            *low = end;
    }
}

void spans_done(struct spans *s)
{
    mem_free(s->items);
    mem_free(s->reach);
    *s = (struct spans){ 0 };
}
