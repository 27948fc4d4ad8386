// SPDX-License-Identifier: GPL-2.0-or-later
#include "profile/estimates.h"

/* A sampled operation takes one part of the rest in as many as the selection before had. The first one would
 * else represent nearly all, and the first ones are slower: caches are cold. */
#define PART_FIRST 256 /* until it is known how many a selection has */

static struct estimate *find(struct estimates *e, uint64_t name)
{
    uint64_t at;
    if (map_get(&e->index, name, &at))
        return &e->items[at];
    map_put(&e->index, name, e->n);
    struct estimate *found = VEC_PUSH(e);
    *found = (struct estimate){ .n_before = PART_FIRST };
    return found;
}

void estimates_count(struct estimates *e, uint64_t name, uint64_t n)
{
    find(e, name)->counted += n;
}

void estimates_count_lost(struct estimates *e, uint64_t n)
{
    uint64_t all = 0;
    for (size_t i = 0; i < e->n; i++)
        all += e->items[i].counted;
    for (size_t i = 0; i < e->n && all; i++)
        e->items[i].counted += (uint64_t)((double)n * (double)e->items[i].counted / (double)all);
}

uint64_t estimates_take(struct estimates *e, uint64_t name, uint32_t turn)
{
    struct estimate *of = find(e, name);
    if (of->n && of->turn != turn) {
        of->n_before = of->n;
        of->n = 0;
    }
    of->turn = turn;
    of->n++;
    uint64_t rest = of->counted > of->taken ? of->counted - of->taken : 0;
    uint64_t part = rest / of->n_before;
    of->taken += part ? part : 1;
    return part ? part : 1;
}

void estimates_note(struct estimates *e, uint64_t name, uint64_t number)
{
    struct estimate *of = find(e, name);
    of->last[of->n_noted++ % ESTIMATE_LAST] = number;
}

void estimates_settle(struct estimates *e, uint32_t turn, void (*add)(void *ctx, uint64_t number, uint64_t n),
                      void *ctx)
{
    for (size_t i = 0; i < e->n; i++) {
        struct estimate *of = &e->items[i];
        if (!of->n_noted || of->counted <= of->taken || (int32_t)(of->turn - turn) >= 0)
            continue;
        uint64_t rest = of->counted - of->taken,
                 parts = of->n_noted < ESTIMATE_LAST ? of->n_noted : ESTIMATE_LAST;
        for (uint64_t k = 0; k < parts; k++) {
            uint64_t n = rest * (k + 1) / parts - rest * k / parts;
            if (n)
                add(ctx, of->last[k], n);
        }
        of->taken = of->counted;
    }
}

void estimates_forget_samples(struct estimates *e)
{
    for (size_t i = 0; i < e->n; i++)
        e->items[i].n_noted = 0;
}

void estimates_done(struct estimates *e)
{
    mem_free(e->items);
    map_done(&e->index);
    *e = (struct estimates){ 0 };
}
