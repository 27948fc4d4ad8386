// SPDX-License-Identifier: GPL-2.0-or-later
/* The world's table of modules: one per file, whichever process maps it and whatever the source (a record or
 * /proc). */
#ifndef FLAMETOP_PROCESS_MODTAB_H
#define FLAMETOP_PROCESS_MODTAB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/map.h"
#include "base/mem.h"
#include "process/module.h"

struct mod {
    struct module *module; /* replaced by a copy with the same id when more is known */
    uint64_t key;
    uint64_t serial;     /* of the address space that owns a MODULE_JIT */
    uint64_t generation; /* of the inode; 0 until a record gives it */
    uint32_t holds;      /* number of mappings, current and retired */
    bool asked;          /* its id was handed out: only a collection may drop it */
};

struct modtab {
    struct map by_key, by_id; /* → struct mod * */
    uint32_t next_id;
    size_t bytes;
    struct map build_id_index; /* hash of path → index */
    VEC(struct build_id_entry) build_ids;
};

void modtab_init(struct modtab *t, bool live); /* with the modules that always exist */
void modtab_done(struct modtab *t);

/* Finds a module equal to `like`, or creates it. It is not held yet: call modtab_drop_unused if it is not
 * needed. */
struct mod *modtab_get(struct modtab *t, const struct module *like, uint64_t serial);
struct mod *modtab_find(const struct modtab *t, uint32_t id); /* NULL: unknown */
void modtab_hold(struct mod *m);
/* Releases a hold; frees the module if its id was never handed out. */
void modtab_drop(struct modtab *t, struct mod *m);
void modtab_drop_unused(struct modtab *t, struct mod *m);
/* Replaces the module by a copy of `like`; the id stays. */
void modtab_replace(struct modtab *t, struct mod *m, const struct module *like);
void modtab_collect(struct modtab *t, const uint8_t *keep, uint32_t n_keep);
void modtab_set_build_id(struct modtab *t, const char *path, const uint8_t *id, unsigned size, bool kernel);

#endif
