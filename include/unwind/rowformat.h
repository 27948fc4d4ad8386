// SPDX-License-Identifier: GPL-2.0-or-later
/* Format of unwind tables, shared by their reader and their builder.
 *
 * Layout, in host byte order: struct unwind_rows_header; u32 index[n_index]; u32 pcs[n_rows], sorted,
 * relative to base; struct unwind_entry entries[n_entries]; u16 rows[n_rows], each the number of an
 * entry and a flag; general_size bytes of general rules. Code has far fewer distinct states than rows
 * (node: 300 for 466 thousand), so an entry has room for all callee-saved registers. index[b] is the
 * first row at or above b << index_shift, which keeps the search short. */
#ifndef FLAMETOP_UNWIND_ROWFORMAT_H
#define FLAMETOP_UNWIND_ROWFORMAT_H

#include "unwind/rows.h"

#define UNWIND_ROWS_MAGIC   0x57525446u /* FTRW */
#define UNWIND_ROWS_VERSION 7           /* of the layout and of the meaning of entries */
#define UNWIND_ROWS_MAX     (16u << 20)
#define UNWIND_ENTRIES_MAX  32768u
#define UNWIND_GENERAL_MAX  (4u << 20)

#define UNWIND_ROW_ENTRY    0x7fff /* in a row: number of its entry */
#define UNWIND_ROW_FUNCTION 0x8000 /* in a row: a function begins here */

struct unwind_rows_header {
    uint32_t magic;
    uint16_t version;
    uint8_t arch, build_id_size;
    uint64_t size; /* bytes of the whole blob */
    uint64_t base;
    uint32_t n_index, n_rows, n_entries, general_size;
    uint32_t index_shift;
    uint8_t build_id[20];
};

#define UNWIND_ENTRY_FP_SAVED       1 /* fp is at CFA + fp_offset */
#define UNWIND_ENTRY_RA_IN_REGISTER 2 /* the return address is (still) in a register */
#define UNWIND_ENTRY_CLONE          4 /* a new thread begins where the syscall returned 0: no caller */
/* Needs a proof: deduced from the instructions (unwind/coderows.h), or the code puts another frame on
 * top of its own. */
#define UNWIND_ENTRY_DEDUCED   8
#define UNWIND_ENTRY_FP_LOST   16  /* also deduced; fp's value at the call is unknown */
#define UNWIND_ENTRY_CLOBBERS  32  /* saves no register for its caller except fp (Go) */
#define UNWIND_ENTRY_INJECTED  64  /* the "return address" is an interrupted pc: it is exact */
#define UNWIND_ENTRY_STANDS_IN 128 /* as a return address, means another one: unwind_entry_stands_for() */
/* Flag of `more`: its frame pointer belongs to the stack that it came from (Go's cgocallback). */
#define UNWIND_MORE_BOTH_STACKS 1
#define UNWIND_NOT_SAVED        INT16_MIN

/* cfa_offset of an UNWIND_ROW_SWITCH: whether the frame pointer belongs to this function's own frame or
 * its caller's. It still points to the stack that was left. */
enum unwind_switch { UNWIND_SWITCH_LOST, UNWIND_SWITCH_OWN, UNWIND_SWITCH_CALLERS };

struct unwind_entry {
    uint8_t kind, flags;
    uint8_t ra_register; /* DWARF number (x86-64 vfork: rdi; arm64 leaf: x30) */
    uint8_t more;
    int32_t cfa_offset;           /* by kind: enum unwind_row_kind */
    int32_t fp_offset, ra_offset; /* relative to the CFA */
    /* Callee-saved registers of the ABI: saved at CFA (UNWIND_ROW_DRAP: at fp) + 8 times this. */
    int16_t saved[UNWIND_SAVED_MAX];
};

/* Return and set the offset of UNWIND_ENTRY_STANDS_IN: from the start of the function to the address
 * that is meant. It is stored in `saved`, because such a function saves no registers. */
static inline int32_t unwind_entry_stands_for(const struct unwind_entry *e)
{
    return (int32_t)((uint32_t)(uint16_t)e->saved[0] | (uint32_t)(uint16_t)e->saved[1] << 16);
}

static inline void unwind_entry_set_stands_for(struct unwind_entry *e, int32_t by)
{
    e->saved[0] = (int16_t)((uint32_t)by & 0xffff);
    e->saved[1] = (int16_t)((uint32_t)by >> 16);
}

static inline uint64_t unwind_rows_size(const struct unwind_rows_header *h)
{
    return sizeof *h + (uint64_t)h->n_index * 4 + (uint64_t)h->n_rows * 6 +
           (uint64_t)h->n_entries * sizeof(struct unwind_entry) + h->general_size;
}

/* Returns the entry that covers offset, of any kind. NULL: none, or a damaged blob. Borrowed from the
 * blob. */
const struct unwind_entry *unwind_rows_entry(const struct unwind_rows *t, uint64_t offset);

#endif
