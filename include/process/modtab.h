// SPDX-License-Identifier: GPL-2.0-or-later
/* The world's modules: one per file, whoever maps it and from wherever it is known (a record or /proc). */
#ifndef FLAMETOP_PROCESS_MODTAB_H
#define FLAMETOP_PROCESS_MODTAB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/map.h"
#include "process/module.h"

struct mod {
    struct module *module; /* replaced by a copy with the same id when more is known of it */
    uint64_t key;
    uint64_t serial;     /* of the address space that a MODULE_JIT belongs to */
    uint64_t generation; /* of the inode; 0 until a record told it */
    uint32_t holds;      /* mappings, current and retired */
    bool asked;          /* its id was given out: only a collection may drop it */
};

struct modtab {
    struct map by_key, by_id; /* → struct mod * */
    uint32_t next_id;
    size_t bytes;
    struct map build_id_index; /* hash of path → index */
    struct build_id_entry *build_ids;
    uint32_t n_build_ids, build_ids_cap;
};

void modtab_init(struct modtab *t, bool live); /* with the modules that always exist */
void modtab_done(struct modtab *t);

/* The module like this one, made if there is none. Not held yet: modtab_drop_unused if it is of no use. */
struct mod *modtab_get(struct modtab *t, const struct module *like, uint64_t serial);
struct mod *modtab_find(const struct modtab *t, uint32_t id); /* NULL */
void modtab_hold(struct mod *m);
void modtab_drop(struct modtab *t, struct mod *m); /* takes a hold back; frees what nobody ever saw */
void modtab_drop_unused(struct modtab *t, struct mod *m);
/* A copy of `like` takes the place of the module; the id stays. */
void modtab_replace(struct modtab *t, struct mod *m, const struct module *like);
void modtab_collect(struct modtab *t, const uint8_t *keep, uint32_t n_keep);
void modtab_set_build_id(struct modtab *t, const char *path, const uint8_t *id, unsigned size, bool kernel);

#endif
