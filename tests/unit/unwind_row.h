// SPDX-License-Identifier: GPL-2.0-or-later
/* The row of an unwind table that covers an offset, as a plain struct. */
#ifndef FLAMETOP_TESTS_UNWIND_ROW_H
#define FLAMETOP_TESTS_UNWIND_ROW_H

#include "unwind/rowformat.h"
#include "unwind/rows.h"

struct unwind_row {
    enum unwind_row_kind kind;
    int32_t cfa_offset;
    bool fp_saved, ra_in_register;
    uint8_t ra_register;
    int32_t fp_offset, ra_offset;
};

/* False: no row covers it, or a row of the kind UNWIND_ROW_NONE. */
static inline bool unwind_rows_find(const struct unwind_rows *t, uint64_t offset, struct unwind_row *out)
{
    const struct unwind_entry *entry = unwind_rows_entry(t, offset);

    if (!entry || entry->kind == UNWIND_ROW_NONE || entry->kind > UNWIND_ROW_SWITCH)
        return false;
    *out = (struct unwind_row){
        .kind = entry->kind,
        .cfa_offset = entry->cfa_offset,
        .fp_saved = entry->flags & UNWIND_ENTRY_FP_SAVED,
        .ra_in_register = entry->flags & UNWIND_ENTRY_RA_IN_REGISTER,
        .ra_register = entry->ra_register,
        .fp_offset = entry->fp_offset,
        .ra_offset = entry->ra_offset,
    };
    return true;
}

/* Of a table of any bytes: the entry lies in the blob. */
static inline bool unwind_entry_is_inside(const struct unwind_rows *t, const struct unwind_entry *entry)
{
    return entry >= t->entries && entry < t->entries + t->header->n_entries;
}

/* Of a table that the program compiled: the entry is one that the unwinder knows. */
static inline bool unwind_entry_is_valid(const struct unwind_rows *t, const struct unwind_entry *entry)
{
    return unwind_entry_is_inside(t, entry) && entry->kind <= UNWIND_ROW_SWITCH &&
           entry->ra_register < UNWIND_REGS_MAX &&
           (entry->kind != UNWIND_ROW_GENERAL || (uint32_t)entry->cfa_offset < t->header->general_size);
}

static inline size_t unwind_rows_count(const struct unwind_rows *t)
{
    return t->header ? t->header->n_rows : 0;
}

#endif
