// SPDX-License-Identifier: GPL-2.0-or-later
/* Call-frame information (.eh_frame, .debug_frame) and, where there is none, machine code → compiled rows. Reads bytes that are not to be trusted; for the
 * worker and its tests. Sources: DWARF 5, 6.4; Linux Standard Base, 10.6 (.eh_frame). */
#ifndef FLAMETOP_UNWIND_CFI_H
#define FLAMETOP_UNWIND_CFI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "unwind/arch.h"

struct gorows;
struct cfi_section {
    const void *bytes; /* NULL: not there */
    size_t size;
    uint64_t addr; /* virtual address */
};
struct cfi_segment { /* an executable PT_LOAD: virtual address → offset in the module */
    uint64_t addr, offset, size;
    const uint8_t *bytes; /* NULL: not at hand */
};
struct cfi_input {
    enum unwind_arch arch;
    struct cfi_section eh_frame, debug_frame;
    uint64_t text_addr, data_addr; /* for DW_EH_PE_textrel and datarel; 0: not known */
    struct cfi_section code;       /* .text: what it says of where tables have gaps */
    struct gorows *go;             /* NULL: no Go program */
    uint64_t entry;                /* where the program begins, 0: not known: nobody called what is there */
    const struct cfi_segment *segments;
    size_t n_segments;
    const uint8_t *build_id;
    unsigned build_id_size;
    /* Offsets in the module where functions begin, sorted; returns their number. Called once at most, if there is code
     * without a table. NULL: not known. */
    size_t (*functions)(void *ctx, const uint64_t **list);
    void *functions_ctx;
};
/* *blob is the caller's, for mem_free. Damaged entries are skipped; false only if nothing can be made (no memory,
 * over a limit, no entry at all: ERROR_NOT_FOUND or what fits of enum error_class). */
bool cfi_compile(const struct cfi_input *in, void **blob, size_t *size, struct error *e);

#endif
