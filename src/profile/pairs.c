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
    p->n_doubtful -= p->slots.items[at].doubtful;
    p->slots.items[at] = (struct pairs_slot){ .next = p->free };
    p->free = at + 1;
    p->n_open--;
}

bool pairs_begin(struct pairs *p, const struct pairs_operation *operation)
{
    uint64_t outer;
    uint32_t at;
    bool again = map_get(&p->index, operation->key, &outer);
    bool doubtful = again && p->slots.items[outer].doubtful;
    if (again && p->again == PAIRS_GO_ON && !doubtful)
        return true;
    if (again && (p->again == PAIRS_REPLACE || p->again == PAIRS_GO_ON)) {
        struct pairs_slot *slot = &p->slots.items[outer];
        *slot = (struct pairs_slot){ .operation = *operation, .open = true, .next = slot->next };
        p->n_doubtful -= doubtful;
        p->counts.replaced += !doubtful;
        return true;
    }
    if (p->n_open >= (p->most ? p->most : PAIRS_MOST)) {
        p->counts.refused++;
        return false;
    }
    struct pairs_slot *slot = take_slot(p, &at);
    *slot =
        (struct pairs_slot){ .operation = *operation, .open = true, .next = again ? (uint32_t)outer + 1 : 0 };
    map_put(&p->index, operation->key, at);
    p->n_open++;
    return true;
}

struct pairs_operation *pairs_find(const struct pairs *p, uint64_t key)
{
    uint64_t at;
    if (!map_get(&p->index, key, &at) || p->slots.items[at].doubtful)
        return NULL;
    return &p->slots.items[at].operation;
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

/* True if the end may belong to another begin, which was lost with the end of this operation: its thread was
 * on the CPU that lost records in between. Then it came back, as that CPU has no records from now. An
 * operation that began since, on the CPU where it ended, would have to be two. */
static bool is_in_gap(const struct pairs *p, const struct pairs_operation *o, uint32_t cpu)
{
    return p->gap_ns && (o->begin_ns < p->gap_ns || o->cpu != cpu);
}

bool pairs_end(struct pairs *p, uint64_t key, uint64_t end_ns, uint32_t cpu, struct pairs_operation *out,
               uint64_t *duration_ns)
{
    uint64_t at;
    if (!map_get(&p->index, key, &at)) {
        p->counts.unbegun += !p->selected;
        return false;
    }
    *out = p->slots.items[at].operation;
    *duration_ns = end_ns > out->begin_ns ? end_ns - out->begin_ns : 0;
    bool was_lost = p->slots.items[at].doubtful, lost = !was_lost && is_in_gap(p, out, cpu);
    bool inner = p->slots.items[at].next && p->again == PAIRS_OUTERMOST;
    close_slot(p, key, (uint32_t)at);
    p->counts.lost += lost && !inner;
    if (was_lost || lost || inner)
        return false;
    p->counts.ended += !out->own;
    return true;
}

void pairs_thread_ended(struct pairs *p, uint64_t key)
{
    for (uint64_t at; map_get(&p->index, key, &at);) {
        p->counts.gone += !p->slots.items[at].doubtful;
        close_slot(p, key, (uint32_t)at);
    }
}

void pairs_drop(struct pairs *p, uint64_t key)
{
    uint64_t at;
    if (!map_get(&p->index, key, &at))
        return;
    p->counts.refused += !p->slots.items[at].doubtful;
    close_slot(p, key, (uint32_t)at);
}

/* A thread may have run on any CPU while it was in its operation, so its end may be among the lost
 * records. */
void pairs_lost(struct pairs *p, uint32_t cpu, bool on_it)
{
    for (size_t i = 0; i < p->slots.n; i++) {
        struct pairs_slot *slot = &p->slots.items[i];
        if (!slot->open || slot->doubtful || (on_it && slot->operation.cpu != cpu))
            continue;
        slot->doubtful = true;
        p->n_doubtful++;
        p->counts.lost++;
    }
}

void pairs_set_gap(struct pairs *p, uint64_t gap_ns)
{
    p->gap_ns = gap_ns;
}

void pairs_forget(struct pairs *p)
{
    p->counts.lost += p->n_open - p->n_doubtful;
    p->n_open = p->n_doubtful = p->free = 0;
    p->slots.n = 0;
    map_clear(&p->index);
}

uint64_t pairs_count_open(const struct pairs *p, bool with_unknown)
{
    uint64_t n = 0;
    for (size_t i = 0; i < p->slots.n; i++) {
        const struct pairs_slot *slot = &p->slots.items[i];
        n += slot->open && !slot->doubtful && !slot->operation.own &&
             (with_unknown || !slot->operation.unknown);
    }
    return n;
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
