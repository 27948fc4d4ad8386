// SPDX-License-Identifier: GPL-2.0-or-later
/* The mappings of an address space: sorted, without overlaps, with those that were replaced kept behind them.
 * Shared by reference count after a fork; the writer of a shared one clones it first. */
#ifndef FLAMETOP_PROCESS_SPACE_H
#define FLAMETOP_PROCESS_SPACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "process/modtab.h"
#include "process/world.h"

#define SPACE_MAPS_MAX    65536u
#define SPACE_RETIRED_MAX 512u /* the older half goes when it is full */

struct space_map {
    uint64_t start, end, pgoff;
    uint64_t time_ns;
    struct mod *mod;
    uint64_t seq; /* order of mapping */
};

struct space {
    int refs;
    uint32_t version;   /* the world's counter when it last changed */
    bool complete;      /* nothing has to be read from /proc any more */
    uint32_t owner_pid; /* the process that it was made for */
    uint32_t n, cap, n_retired, retired_cap;
    uint32_t last; /* where the last look-up ended */
    uint64_t next_seq;
    struct space_map *maps, *retired;
};

struct space *space_new(void);
struct space *space_clone(const struct space *s);
void space_put(struct space *s, struct modtab *t);

/* A new mapping takes the place of whatever it overlaps. False: nothing changed. m->seq is set here. */
bool space_add(struct space *s, struct modtab *t, const struct space_map *m);
/* The same below what is mapped already: only gaps are filled. */
bool space_fill(struct space *s, const struct space_map *m);
/* Unmaps a range; retire: it is remembered. */
bool space_cut(struct space *s, struct modtab *t, uint64_t start, uint64_t end, bool retire);
/* Takes a mapping, of another space, among those that went before all others. */
void space_remember(struct space *s, struct modtab *t, const struct space_map *m);
bool space_maps_module(const struct space *s, const struct mod *mod);
/* What maps `from` maps `to` from now on. */
void space_change_module(struct space *s, struct modtab *t, struct mod *from, struct mod *to);
const struct space_map *space_find(struct space *s, uint64_t addr);
bool space_address(const struct space *s, uint32_t module, uint64_t offset, uint64_t time_ns,
                   struct world_address *out);
/* All mappings, retired ones too, by the order in which they were made; `out` has room for n + n_retired. */
uint32_t space_list(const struct space *s, struct world_map *out);
size_t space_bytes(const struct space *s);

#endif
