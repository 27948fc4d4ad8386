// SPDX-License-Identifier: GPL-2.0-or-later
/* Linear probing in a table of a power of two slots, at most three quarters full. */
#include "base/map.h"

#include <string.h>

#include "base/mem.h"

#define MAP_MIN_CAP 16
#define LANES       8 /* parallel hash lanes for long input: one cache line */
#define LANES_MIN   256
#define AHEAD_BYTES 2048 /* beyond the CPU's own prefetch, which ends at a page boundary */

/* The finaliser of MurmurHash3 with David Stafford's constants (variant 13), as in splitmix64. */
uint64_t map_mix(uint64_t x)
{
    x ^= x >> 30;
    x *= UINT64_C(0xbf58476d1ce4e5b9);
    x ^= x >> 27;
    x *= UINT64_C(0x94d049bb133111eb);
    x ^= x >> 31;
    return x;
}

static inline uint64_t hash_word(uint64_t h, uint64_t word)
{
    h = (h ^ word) * UINT64_C(0x9fb21c651e98df25);
    return h ^ h >> 32;
}

/* Hashes in independent lanes: within a lane each word depends on the previous one, but lanes run in
 * parallel. */
static uint64_t hash_lanes(const unsigned char **bytes, size_t *n, uint64_t h)
{
    uint64_t lane[LANES], word[LANES];

    for (int i = 0; i < LANES; i++)
        lane[i] = h + (uint64_t)i;
    for (; *n >= sizeof word; *n -= sizeof word, *bytes += sizeof word) {
        __builtin_prefetch(*bytes + AHEAD_BYTES);
        memcpy(word, *bytes, sizeof word);
        for (int i = 0; i < LANES; i++)
            lane[i] = hash_word(lane[i], word[i]);
    }
    h = lane[0];
    for (int i = 1; i < LANES; i++)
        h = hash_word(h, lane[i]);
    return h;
}

uint64_t map_hash_bytes(const void *p, size_t n, uint64_t seed)
{
    const unsigned char *bytes = p;
    uint64_t h = map_mix(seed ^ (uint64_t)n);
    uint64_t word;

    if (n >= LANES_MIN)
        h = hash_lanes(&bytes, &n, h);
    for (; n >= sizeof word; n -= sizeof word, bytes += sizeof word) {
        memcpy(&word, bytes, sizeof word);
        h = hash_word(h, word);
    }
    word = 0;
    if (n)
        memcpy(&word, bytes, n);
    return map_mix(h ^ word);
}

static size_t home_of(const struct map *m, uint64_t key)
{
    return (size_t)map_mix(key) & (m->cap - 1);
}

/* Returns the slot of the key, or the free slot for it. The table is never full. */
static size_t find(const struct map *m, uint64_t key)
{
    size_t i = home_of(m, key);

    while (m->used[i] && m->slots[i].key != key)
        i = (i + 1) & (m->cap - 1);
    return i;
}

static void grow(struct map *m)
{
    struct map old = *m;
    size_t i;

    m->cap = old.cap ? old.cap * 2 : MAP_MIN_CAP;
    m->slots = mem_array(m->cap, sizeof *m->slots);
    m->used = mem_array(m->cap, sizeof *m->used);
    for (i = 0; i < old.cap; i++) {
        if (old.used[i]) {
            size_t to = find(m, old.slots[i].key);
            m->slots[to] = old.slots[i];
            m->used[to] = 1;
        }
    }
    mem_free(old.slots);
    mem_free(old.used);
}

bool map_get(const struct map *m, uint64_t key, uint64_t *value)
{
    size_t i;

    if (!m->n)
        return false;
    i = find(m, key);
    if (!m->used[i])
        return false;
    if (value)
        *value = m->slots[i].value;
    return true;
}

uint64_t *map_at(struct map *m, uint64_t key, uint64_t fresh, bool *created)
{
    bool is_new;
    size_t i = 0;

    if (m->cap)
        i = find(m, key);
    is_new = !m->cap || !m->used[i];
    if (is_new && m->n + 1 > m->cap / 4 * 3) {
        grow(m);
        i = find(m, key);
    }
    if (is_new) {
        m->slots[i] = (struct map_slot){ key, fresh };
        m->used[i] = 1;
        m->n++;
    }
    if (created)
        *created = is_new;
    return &m->slots[i].value;
}

void map_put(struct map *m, uint64_t key, uint64_t value)
{
    *map_at(m, key, value, NULL) = value;
}

/* Closes the hole. A later entry moves into it unless the entry's home is between the hole and the entry: the
 * move would put it before its home, where it could not be found. */
static void shift_back(struct map *m, size_t hole)
{
    size_t mask = m->cap - 1;
    size_t i = hole;

    for (;;) {
        i = (i + 1) & mask;
        if (!m->used[i])
            break;
        if (((i - home_of(m, m->slots[i].key)) & mask) >= ((i - hole) & mask)) {
            m->slots[hole] = m->slots[i];
            hole = i;
        }
    }
    m->used[hole] = 0;
}

bool map_del(struct map *m, uint64_t key)
{
    size_t i;

    if (!m->n)
        return false;
    i = find(m, key);
    if (!m->used[i])
        return false;
    shift_back(m, i);
    m->n--;
    return true;
}

bool map_next(const struct map *m, size_t *pos, uint64_t *key, uint64_t *value)
{
    while (*pos < m->cap) {
        size_t i = (*pos)++;
        if (!m->used[i])
            continue;
        if (key)
            *key = m->slots[i].key;
        if (value)
            *value = m->slots[i].value;
        return true;
    }
    return false;
}

void map_clear(struct map *m)
{
    if (m->cap)
        memset(m->used, 0, m->cap * sizeof *m->used);
    m->n = 0;
}

size_t map_bytes(const struct map *m)
{
    return m->cap * (sizeof *m->slots + sizeof *m->used);
}

void map_done(struct map *m)
{
    mem_free(m->slots);
    mem_free(m->used);
    *m = (struct map){ 0 };
}
