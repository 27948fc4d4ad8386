// SPDX-License-Identifier: GPL-2.0-or-later
/* Collects rows in order and makes the blob of them. For the worker: memory may be refused, sizes are bounded. */
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
    struct map by_entry, by_rules; /* hash → number of the entry, offset of the rules */
    uint64_t base;
    bool full; /* a limit was met, or there was no memory: nothing more is taken */
};

/* An entry of kind NONE. */
void rowbuild_none(struct unwind_entry *out);
/* Offsets must not go down. A second row at one offset replaces the first; one that says what the last one says is
 * left out, unless a function begins there. */
void rowbuild_add(struct rowbuild *b, uint64_t offset, const struct unwind_entry *entry, bool function);
/* The number of an entry, for the same at once; false: no room. */
bool rowbuild_number(struct rowbuild *b, const struct unwind_entry *entry, uint32_t *number);
void rowbuild_add_number(struct rowbuild *b, uint64_t offset, uint32_t number, bool function);
/* What the last row says; there must be one. */
const struct unwind_entry *rowbuild_last(const struct rowbuild *b);
/* Nothing more is taken, and of what comes behind the last row nothing is known. */
void rowbuild_stop(struct rowbuild *b);
/* Keeps general rules (once each); false: no room. */
bool rowbuild_rules(struct rowbuild *b, const uint8_t *bytes, size_t n, uint32_t *at);
bool rowbuild_finish(struct rowbuild *b, enum unwind_arch arch, const uint8_t *build_id,
                     unsigned build_id_size, void **blob, size_t *size, struct error *e);
void rowbuild_done(struct rowbuild *b);

#endif
