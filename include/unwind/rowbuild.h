// SPDX-License-Identifier: GPL-2.0-or-later
/* Collects unwind rows in order and builds the blob of them. For the worker: sizes are limited,
 * allocations may fail. */
#ifndef FLAMETOP_UNWIND_ROWBUILD_H
#define FLAMETOP_UNWIND_ROWBUILD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/map.h"
#include "unwind/rowformat.h"

struct rowbuild { /* zero-initialised is empty */
    uint32_t *pcs;
    uint16_t *rows;
    size_t n, rows_cap;
    struct unwind_entry *entries;
    size_t n_entries, entries_cap;
    uint8_t *general;
    size_t general_size, general_cap;
    struct map by_entry, by_rules; /* hash → number of the entry; hash → offset of the rules */
    uint64_t base;
    bool full; /* over a limit or out of memory: adds nothing more */
};

/* Sets an entry of kind NONE. */
void rowbuild_none(struct unwind_entry *out);
/* Adds a row. Offsets must not decrease. A second row at the same offset replaces the first. A row equal
 * to the last one is dropped, unless a function begins there. */
void rowbuild_add(struct rowbuild *b, uint64_t offset, const struct unwind_entry *entry, bool function);
/* Gets the number of an entry, to add it repeatedly. Returns false if there is no room. */
bool rowbuild_number(struct rowbuild *b, const struct unwind_entry *entry, uint32_t *number);
void rowbuild_add_number(struct rowbuild *b, uint64_t offset, uint32_t number, bool function);
/* Returns the entry of the last row, which must exist. */
const struct unwind_entry *rowbuild_last(const struct rowbuild *b);
/* Adds nothing more. Code after the last row has no information. */
void rowbuild_stop(struct rowbuild *b);
/* Stores general rules, each distinct one once. Returns false if there is no room. */
bool rowbuild_rules(struct rowbuild *b, const uint8_t *bytes, size_t n, uint32_t *at);
bool rowbuild_finish(struct rowbuild *b, enum unwind_arch arch, const uint8_t *build_id,
                     unsigned build_id_size, void **blob, size_t *size, struct error *e);
void rowbuild_done(struct rowbuild *b);

#endif
