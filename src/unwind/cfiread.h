// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads the CIEs and FDEs of .eh_frame and .debug_frame. For the worker. */
#ifndef FLAMETOP_UNWIND_CFIREAD_H
#define FLAMETOP_UNWIND_CFIREAD_H

#include "unwind/cfi.h"
#include "unwind/cfirun.h"

#define CFI_CIES_KEPT 16

struct cfi_cie {
    /* sized: FDEs have augmentation data with a length. */
    bool valid, signal, sized;
    size_t at;
    uint8_t pointer_encoding;
    unsigned ra;
    uint64_t code_align;
    int64_t data_align;
    /* Offsets of the instructions. */
    size_t run, end;
    bool ran;         /* the initial instructions were run */
    uint32_t initial; /* state after the initial instructions */
};
struct cfi_reader {
    const struct cfi_input *in;
    const struct cfi_section *section;
    const struct unwind_abi *abi;
    bool debug;                         /* .debug_frame instead of .eh_frame */
    uint64_t budget;                    /* instructions that may still be run */
    struct cfi_cie cies[CFI_CIES_KEPT]; /* cache, hashed by offset in the section */
    struct cfi_states states;           /* state numbers are valid until the next cfi_run_fde */
};
struct cfi_fde {
    struct cfi_cie *cie;  /* valid until the next cfi_read */
    uint64_t begin, size; /* address range of the function */
    size_t run, end;
};

void cfi_reader_of(struct cfi_reader *r, const struct cfi_input *in, bool debug);
/* Reads the entry at *at and moves *at past it. Returns false at the end of the section. Sets *is_fde if
 * `out` has an FDE; damaged FDEs are skipped. */
bool cfi_read(struct cfi_reader *r, size_t *at, struct cfi_fde *out, bool *is_fde);
/* Runs the instructions of an FDE. The caller has set advance and ctx in `run`. */
bool cfi_run_fde(struct cfi_reader *r, struct cfi_fde *f, struct cfi_run *run);
void cfi_reader_done(struct cfi_reader *r);

#endif
