// SPDX-License-Identifier: GPL-2.0-or-later
#include "profile/value_groups.h"

static uint64_t add_up(uint64_t a, uint64_t b)
{
    return a + b < a ? UINT64_MAX : a + b;
}

static bool is_larger(const struct value_number *a, const struct value_number *b)
{
    return a->is_negative != b->is_negative ? b->is_negative : a->bits > b->bits;
}

static void add_number(struct value_group *g, const struct value_number *number)
{
    if (!g->numbers++ || is_larger(number, &g->max))
        g->max = *number;
    if (number->is_negative) {
        g->below++;
        g->minus = add_up(g->minus, -number->bits);
        return;
    }
    g->plus = add_up(g->plus, number->bits);
    if (!g->sizes)
        g->sizes = mem_zalloc(sizeof *g->sizes);
    durations_add(g->sizes, duration_bucket(number->bits), 1);
}

static void add(struct value_group *g, const struct value_number *number)
{
    g->count++;
    if (number)
        add_number(g, number);
}

static struct value_group *group_of(struct value_groups *g, const char *key)
{
    size_t n = strlen(key);
    uint64_t hash = map_hash_bytes(key, n, 1), index;
    while (map_get(&g->by_hash, hash, &index)) {
        if (!strcmp(g->groups.items[index].key, key))
            return &g->groups.items[index];
        hash++; /* another key has this hash */
    }
    if (g->groups.n == VALUE_GROUPS_MAX)
        return &g->other;
    map_put(&g->by_hash, hash, g->groups.n);
    struct value_group *group = VEC_PUSH(&g->groups);
    *group = (struct value_group){ .key = arena_strndup(&g->strings, key, n), .hash = hash };
    return group;
}

void value_groups_add(struct value_groups *g, const char *key, const struct value_number *number)
{
    add(group_of(g, key), number);
    add(&g->all, number);
}

void value_groups_clear(struct value_groups *g)
{
    for (size_t i = 0; i < g->groups.n; i++)
        mem_free(g->groups.items[i].sizes);
    mem_free(g->all.sizes);
    mem_free(g->other.sizes);
    g->all = g->other = (struct value_group){ .key = "" };
    g->groups.n = 0;
    map_clear(&g->by_hash);
    arena_clear(&g->strings);
}

void value_groups_done(struct value_groups *g)
{
    value_groups_clear(g);
    VEC_FREE(&g->groups);
    map_done(&g->by_hash);
    arena_done(&g->strings);
}

double value_group_sum(const struct value_group *g)
{
    return (double)g->plus - (double)g->minus;
}

void value_group_put_sum(const struct value_group *g, struct buf *out)
{
    bool negative = g->minus > g->plus;
    uint64_t sum = negative ? g->minus - g->plus : g->plus - g->minus;
    if (g->plus == UINT64_MAX || g->minus == UINT64_MAX)
        buf_putc(out, '>');
    buf_printf(out, "%s%llu", negative ? "-" : "", (unsigned long long)sum);
}

void value_number_put(const struct value_number *n, struct buf *out)
{
    buf_printf(out, n->is_negative ? "%lld" : "%llu", (long long)n->bits);
}

bool value_group_percentile(const struct value_group *g, double share, uint64_t *number)
{
    double wanted = share * (double)g->numbers;
    if (!g->sizes || (double)g->below >= wanted)
        return false;
    double rest = (wanted - (double)g->below) / (double)(g->numbers - g->below);
    *number = durations_percentile_below(g->sizes, rest, g->max.bits);
    return true;
}
