// SPDX-License-Identifier: GPL-2.0-or-later
/* Compiles call-frame information, or machine code where there is none, into unwind rows.
 *
 * Reads untrusted bytes (.eh_frame, .debug_frame, code); used by the worker and its tests. Sources:
 * DWARF 5, 6.4; Linux Standard Base, 10.6 (.eh_frame). */
#ifndef FLAMETOP_UNWIND_CFI_H
#define FLAMETOP_UNWIND_CFI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "unwind/arch.h"

struct gorows;
struct cfi_section {
    const void *bytes; /* NULL: no such section */
    size_t size;
    uint64_t addr; /* virtual address */
};
/* An executable PT_LOAD: maps virtual addresses to offsets in the module. */
struct cfi_segment {
    uint64_t addr, offset, size;
    const uint8_t *bytes; /* NULL: not available */
};
struct cfi_input {
    enum unwind_arch arch;
    struct cfi_section eh_frame, debug_frame;
    uint64_t text_addr, data_addr; /* for DW_EH_PE_textrel and datarel; 0: unknown */
    struct cfi_section code;       /* .text, read where the tables have gaps */
    struct gorows *go;             /* NULL: not a Go program */
    uint64_t entry;                /* the program's entry point, which has no caller; 0: unknown */
    const struct cfi_segment *segments;
    size_t n_segments;
    const uint8_t *build_id;
    unsigned build_id_size;
    /* Returns the number of functions and their sorted offsets in the module. Called at most once, if
     * there is code without a table. NULL: unknown. */
    size_t (*functions)(void *ctx, const uint64_t **list);
    void *functions_ctx;
};
/* Compiles the tables into *blob, which the caller frees with mem_free. Skips damaged entries. Returns
 * false only if there is no result: no memory, over a limit, or no entry at all (ERROR_NOT_FOUND, or
 * another enum error_class). */
bool cfi_compile(const struct cfi_input *in, void **blob, size_t *size, struct error *e);

#endif
