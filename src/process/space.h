// SPDX-License-Identifier: GPL-2.0-or-later
/* The mappings of an address space: sorted, without overlaps, plus the replaced (retired) ones. After a fork
 * a space is shared by reference count; a writer clones a shared space first. */
#ifndef FLAMETOP_PROCESS_SPACE_H
#define FLAMETOP_PROCESS_SPACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "process/modtab.h"
#include "process/world.h"

#define SPACE_MAPS_MAX    65536u
#define SPACE_RETIRED_MAX 512u /* when full, the older half is dropped */

struct space_map {
    uint64_t start, end, pgoff;
    uint64_t time_ns;
    struct mod *mod;
    uint64_t seq; /* order of mapping */
};

struct space {
    int refs;
    uint32_t version;   /* value of the world's counter at the last change */
    bool complete;      /* nothing more to read from /proc */
    uint32_t owner_pid; /* process that it was created for */
    uint32_t n, cap, n_retired, retired_cap;
    uint32_t last; /* index of the last lookup */
    uint64_t next_seq;
    struct space_map *maps, *retired;
};

struct space *space_new(void);
struct space *space_clone(const struct space *s);
void space_put(struct space *s, struct modtab *t);

/* Adds a mapping that replaces whatever it overlaps. Sets m->seq in its copy. False: nothing changed. */
bool space_add(struct space *s, struct modtab *t, const struct space_map *m);
/* Adds a mapping below the existing ones: fills only gaps. */
bool space_fill(struct space *s, const struct space_map *m);
/* Unmaps a range; retire: remember the old mappings. */
bool space_cut(struct space *s, struct modtab *t, uint64_t start, uint64_t end, bool retire);
/* Adds another space's mapping to the retired ones, as the oldest. */
void space_remember(struct space *s, struct modtab *t, const struct space_map *m);
/* True if something is mapped at each address of m; exactly: the same bytes of the same module. */
bool space_covers(const struct space *s, const struct space_map *m, bool exactly);
bool space_maps_module(const struct space *s, const struct mod *mod);
/* Replaces module `from` by `to` in all mappings. */
void space_change_module(struct space *s, struct modtab *t, struct mod *from, struct mod *to);
const struct space_map *space_find(struct space *s, uint64_t addr);
bool space_address(const struct space *s, uint32_t module, uint64_t offset, uint64_t time_ns,
                   struct world_address *out);
/* Lists all mappings, retired ones included, in the order of their creation. `out` has room for n +
 * n_retired. */
uint32_t space_list(const struct space *s, struct world_map *out);
size_t space_bytes(const struct space *s);

#endif
