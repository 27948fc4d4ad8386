// SPDX-License-Identifier: GPL-2.0-or-later
/* Open-addressing hash map from u64 to u64. Any key is allowed. Zero-initialised is empty. */
#ifndef FLAMETOP_BASE_MAP_H
#define FLAMETOP_BASE_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct map_slot {
    uint64_t key, value;
};
struct map {
    struct map_slot *slots;
    uint8_t *used; /* 0 free, 1 in use */
    size_t cap, n;
};

bool map_get(const struct map *m, uint64_t key, uint64_t *value); /* value may be NULL */
void map_put(struct map *m, uint64_t key, uint64_t value);        /* replaces */
/* Returns a pointer to the value. A new key gets the value `fresh`, and *created (may be NULL) becomes true.
 * The pointer is valid until the next put, at or delete. */
uint64_t *map_at(struct map *m, uint64_t key, uint64_t fresh, bool *created);
bool map_del(struct map *m, uint64_t key); /* no tombstones: later entries shift back */
/* Iterates: start with *pos = 0; false at the end. The map must not change meanwhile. */
bool map_next(const struct map *m, size_t *pos, uint64_t *key, uint64_t *value);
void map_clear(struct map *m); /* keeps the memory */
size_t map_bytes(const struct map *m);
void map_done(struct map *m);

uint64_t map_mix(uint64_t x); /* 64-bit mixer */
uint64_t map_hash_bytes(const void *p, size_t n, uint64_t seed);

#endif
