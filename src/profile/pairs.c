// SPDX-License-Identifier: GPL-2.0-or-later
#include "profile/pairs.h"

uint64_t pairs_key(uint64_t key, uint64_t number)
{
    return map_mix(key + map_mix(number));
}

static struct pairs_slot *take_slot(struct pairs *p, uint32_t *at)
{
    if (p->free) {
        *at = p->free - 1;
        p->free = p->slots.items[*at].next;
        return &p->slots.items[*at];
    }
    *at = (uint32_t)p->slots.n;
    return VEC_PUSH(&p->slots);
}

static void free_slot(struct pairs *p, uint32_t at)
{
    p->slots.items[at] = (struct pairs_slot){ .next = p->free };
    p->free = at + 1;
    p->n_open--;
}

bool pairs_begin(struct pairs *p, const struct pairs_operation *operation)
{
    uint64_t outer;
    uint32_t at;
    bool again = map_get(&p->index, operation->key, &outer);
    if (again && p->again == PAIRS_GO_ON)
        return true;
    if (again && p->again == PAIRS_REPLACE) {
        p->slots.items[outer].operation = *operation;
        p->counts.replaced++;
        return true;
    }
    if (p->n_open >= (p->most ? p->most : PAIRS_MOST)) {
        p->counts.refused++;
        return false;
    }
    struct pairs_slot *slot = take_slot(p, &at);
    *slot = (struct pairs_slot){ *operation, true, again ? (uint32_t)outer + 1 : 0 };
    map_put(&p->index, operation->key, at);
    p->n_open++;
    return true;
}

/* Closes the innermost operation of the key. */
static void close_slot(struct pairs *p, uint64_t key, uint32_t at)
{
    uint32_t outer = p->slots.items[at].next;
    if (outer)
        map_put(&p->index, key, outer - 1);
    else
        map_del(&p->index, key);
    free_slot(p, at);
}

bool pairs_end(struct pairs *p, uint64_t key, uint64_t end_ns, struct pairs_operation *out,
               uint64_t *duration_ns)
{
    uint64_t at;
    if (!map_get(&p->index, key, &at)) {
        p->counts.unbegun += !p->selected;
        return false;
    }
    *out = p->slots.items[at].operation;
    *duration_ns = end_ns > out->begin_ns ? end_ns - out->begin_ns : 0;
    bool inner = p->slots.items[at].next;
    close_slot(p, key, (uint32_t)at);
    if (inner && p->again == PAIRS_OUTERMOST)
        return false;
    p->counts.ended += !out->own;
    return true;
}

void pairs_thread_ended(struct pairs *p, uint64_t key)
{
    for (uint64_t at; map_get(&p->index, key, &at);) {
        close_slot(p, key, (uint32_t)at);
        p->counts.gone++;
    }
}

void pairs_drop(struct pairs *p, uint64_t key)
{
    uint64_t at;
    if (!map_get(&p->index, key, &at))
        return;
    close_slot(p, key, (uint32_t)at);
    p->counts.refused++;
}

void pairs_forget(struct pairs *p)
{
    p->counts.lost += p->n_open;
    p->n_open = p->free = 0;
    p->slots.n = 0;
    map_clear(&p->index);
}

void pairs_each(struct pairs *p, void (*each)(void *ctx, struct pairs_operation *operation), void *ctx)
{
    for (size_t i = 0; i < p->slots.n; i++)
        if (p->slots.items[i].open)
            each(ctx, &p->slots.items[i].operation);
}

void pairs_done(struct pairs *p)
{
    mem_free(p->slots.items);
    map_done(&p->index);
    *p = (struct pairs){ 0 };
}
