// SPDX-License-Identifier: GPL-2.0-or-later
/* Strings are stored in an arena; a linearly probed table of ids finds them by hash. */
#include "base/intern.h"

#include <stdbool.h>
#include <string.h>
#include <sys/random.h>

#include "base/map.h"
#include "base/mem.h"

struct entry {
    const char *s;
    uint32_t len;
    uint32_t hash;
};

struct intern {
    struct arena strings;
    VEC(struct entry) entries; /* by id; [0] is the empty string */
    uint32_t *table;           /* ids; 0 is free */
    size_t table_cap;
    uint64_t seed;
};

struct intern *intern_new(void)
{
    struct intern *in = mem_zalloc(sizeof *in);

    in->table_cap = 64;
    in->table = mem_array(in->table_cap, sizeof *in->table);
    *VEC_PUSH(&in->entries) = (struct entry){ .s = "" };
    /* The seed is random: names come from untrusted processes, which must not be able to force collisions.
     * Without random bytes (early boot) only this protection is missing. */
    if (getrandom(&in->seed, sizeof in->seed, GRND_NONBLOCK) < 0)
        in->seed = (uintptr_t)in;
    return in;
}

void intern_free(struct intern *in)
{
    if (!in)
        return;
    arena_done(&in->strings);
    mem_free(in->entries.items);
    mem_free(in->table);
    mem_free(in);
}

/* Returns the slot of the string, or the free slot for it. */
static size_t find(const struct intern *in, const char *s, size_t n, uint32_t hash)
{
    size_t mask = in->table_cap - 1;
    size_t i = hash & mask;

    for (; in->table[i]; i = (i + 1) & mask) {
        const struct entry *e = &in->entries.items[in->table[i]];
        if (e->hash == hash && e->len == n && !memcmp(e->s, s, n))
            break;
    }
    return i;
}

static void grow_table(struct intern *in)
{
    size_t mask = in->table_cap * 2 - 1;
    size_t id;

    mem_free(in->table);
    in->table_cap *= 2;
    in->table = mem_array(in->table_cap, sizeof *in->table);
    for (id = 1; id < in->entries.n; id++) {
        size_t i = in->entries.items[id].hash & mask;
        while (in->table[i])
            i = (i + 1) & mask;
        in->table[i] = (uint32_t)id;
    }
}

static uint32_t add_new(struct intern *in, const char *s, size_t n, uint32_t hash)
{
    uint32_t id = (uint32_t)in->entries.n;

    *VEC_PUSH(&in->entries) = (struct entry){ arena_strndup(&in->strings, s, n), (uint32_t)n, hash };
    return id;
}

uint32_t intern_add(struct intern *in, const char *s, size_t n)
{
    uint32_t hash;
    size_t i;

    n = n ? strnlen(s, n) : 0;
    if (!n || n >= UINT32_MAX || in->entries.n >= UINT32_MAX)
        return 0;
    hash = (uint32_t)map_hash_bytes(s, n, in->seed);
    i = find(in, s, n, hash);
    if (in->table[i])
        return in->table[i];
    if (in->entries.n + 1 > in->table_cap / 4 * 3) {
        grow_table(in);
        i = find(in, s, n, hash);
    }
    return in->table[i] = add_new(in, s, n, hash);
}

bool intern_find(const struct intern *in, const char *s, size_t n, uint32_t *id)
{
    n = n ? strnlen(s, n) : 0;
    *id = n && n < UINT32_MAX ? in->table[find(in, s, n, (uint32_t)map_hash_bytes(s, n, in->seed))] : 0;
    return *id || !n;
}

const char *intern_str(const struct intern *in, uint32_t id)
{
    return id < in->entries.n ? in->entries.items[id].s : "";
}

uint32_t intern_count(const struct intern *in)
{
    return (uint32_t)in->entries.n;
}

size_t intern_bytes(const struct intern *in)
{
    return sizeof *in + in->strings.held_bytes + in->entries.cap * sizeof *in->entries.items +
           in->table_cap * sizeof *in->table;
}
