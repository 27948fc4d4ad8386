// SPDX-License-Identifier: GPL-2.0-or-later
/* Compiled unwind tables: flat, sorted, position-independent blobs, one per module, made from call-frame
 * information by the worker (unwind/cfi.h) or read from disk, and therefore not trusted: everything is
 * bounds-checked when it is used, so that a hostile blob gives wrong stacks but never a wild read.
 *
 * Addresses are offsets in the module as all of flametop counts them (struct place): of a file, offsets in the file;
 * of the vdso, offsets from its start. A row holds from its offset up to the next row's. */
#ifndef FLAMETOP_UNWIND_ROWS_H
#define FLAMETOP_UNWIND_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "unwind/arch.h"

enum unwind_row_kind {
    UNWIND_ROW_NONE,   /* no code, or nothing is known of it */
    UNWIND_ROW_SP,     /* CFA = sp + cfa_offset */
    UNWIND_ROW_FP,     /* CFA = fp + cfa_offset */
    UNWIND_ROW_PLT,    /* x86-64: CFA = sp + 8 + ((pc & 15) >= cfa_offset ? 8 : 0) */
    UNWIND_ROW_SIGNAL, /* a signal frame: the interrupted registers lie on the stack */
    UNWIND_ROW_END,    /* the return address is undefined: the outermost frame */
    UNWIND_ROW_DRAP,   /* CFA = *(fp + cfa_offset); fp_offset is from fp */
    UNWIND_ROW_GENERAL, /* what a row cannot say: rules in the blob, at cfa_offset of them (unwind/general.h) */
    UNWIND_ROW_SWITCH, /* the caller's frame is on another stack, and nothing on this one tells where */
};
struct unwind_row {
    enum unwind_row_kind kind;
    int32_t cfa_offset;
    bool fp_saved,
        ra_in_register;           /* fp is at CFA + fp_offset; the return address is (still) in a register: */
    uint8_t ra_register;          /* its DWARF number (x86-64 vfork: rdi; arm64 leaf: x30) */
    int32_t fp_offset, ra_offset; /* from the CFA */
};

struct unwind_rows { /* a checked view of a blob, which must stay mapped and unchanged; zero: empty */
    const struct unwind_rows_header *header;
    const uint32_t *index, *pcs; /* layout: unwind/rowformat.h */
    const struct unwind_entry *entries;
    const uint16_t *rows;
    const uint8_t *general;
};
bool unwind_rows_view(struct unwind_rows *t, const void *blob, size_t size, struct error *e);
/* The row that covers offset; false: none (UNWIND_ROW_NONE, or before the first). */
bool unwind_rows_find(const struct unwind_rows *t, uint64_t offset, struct unwind_row *out);
enum unwind_arch unwind_rows_arch(const struct unwind_rows *t);
/* Where the function (FDE) that covers offset begins and ends: for modules without symbols. */
bool unwind_rows_function(const struct unwind_rows *t, uint64_t offset, uint64_t *start, uint64_t *size);
/* The build-id of the module, as the worker read it; its size, 0: none. */
unsigned unwind_rows_build_id(const struct unwind_rows *t, uint8_t id[20]);
size_t unwind_rows_count(const struct unwind_rows *t);

#endif
