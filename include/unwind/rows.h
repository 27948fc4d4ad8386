// SPDX-License-Identifier: GPL-2.0-or-later
/* Compiled unwind tables: flat, sorted, position-independent blobs, one per module.
 *
 * The worker makes them from call-frame information (unwind/cfi.h), or they are read from disk. So they
 * are not trusted: each use is bounds-checked, and a hostile blob gives wrong stacks but never a wild
 * read.
 *
 * Addresses are offsets in the module (struct location): in a file, offsets in the file; in the vdso,
 * offsets from its start. A row holds from its offset to the next row's. */
#ifndef FLAMETOP_UNWIND_ROWS_H
#define FLAMETOP_UNWIND_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "unwind/arch.h"

enum unwind_row_kind {
    UNWIND_ROW_NONE,    /* no code, or no information */
    UNWIND_ROW_SP,      /* CFA = sp + cfa_offset */
    UNWIND_ROW_FP,      /* CFA = fp + cfa_offset */
    UNWIND_ROW_PLT,     /* x86-64: CFA = sp + 8 + ((pc & 15) >= cfa_offset ? 8 : 0) */
    UNWIND_ROW_SIGNAL,  /* signal frame: the interrupted registers are on the stack */
    UNWIND_ROW_END,     /* return address undefined: the outermost frame */
    UNWIND_ROW_DRAP,    /* CFA = *(fp + cfa_offset); fp_offset is relative to fp */
    UNWIND_ROW_GENERAL, /* general rules at offset cfa_offset (unwind/general.h) */
    UNWIND_ROW_SWITCH,  /* the caller's frame is on another stack, whose location is unknown */
};

/* A checked view of a blob, which must stay mapped and unchanged. Zero-initialised is empty. */
struct unwind_rows {
    const struct unwind_rows_header *header;
    const uint32_t *index, *pcs; /* for the layout see unwind/rowformat.h */
    const struct unwind_entry *entries;
    const uint16_t *rows;
    const uint8_t *general;
};
/* Checks a blob. Returns false with the error if it is damaged. */
bool unwind_rows_view(struct unwind_rows *t, const void *blob, size_t size, struct error *e);
enum unwind_arch unwind_rows_arch(const struct unwind_rows *t);
/* Gets the range of the function (FDE) that covers offset. For modules without symbols. */
bool unwind_rows_function(const struct unwind_rows *t, uint64_t offset, uint64_t *start, uint64_t *size);
/* Gets the module's build-id, as the worker read it. Returns its size in bytes; 0: none. */
unsigned unwind_rows_build_id(const struct unwind_rows *t, uint8_t id[20]);

#endif
