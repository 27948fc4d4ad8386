// SPDX-License-Identifier: GPL-2.0-or-later
/* Entries of .eh_frame and .debug_frame: CIEs and FDEs, as they lie in the file. For the worker. */
#ifndef FLAMETOP_UNWIND_CFIREAD_H
#define FLAMETOP_UNWIND_CFIREAD_H

#include "unwind/cfi.h"
#include "unwind/cfirun.h"

#define CFI_CIES_KEPT 16

struct cfi_cie {
    bool valid, signal, sized; /* sized: FDEs have augmentation data with a length */
    size_t at;
    uint8_t pointer_encoding;
    unsigned ra;
    uint64_t code_align;
    int64_t data_align;
    size_t run, end;  /* instructions */
    bool ran;         /* initial is made */
    uint32_t initial; /* state */
};
struct cfi_reader {
    const struct cfi_input *in;
    const struct cfi_section *section;
    const struct unwind_abi *abi;
    bool debug;                         /* .debug_frame */
    uint64_t budget;                    /* for instructions */
    struct cfi_cie cies[CFI_CIES_KEPT]; /* by place in the section */
    struct cfi_states states;           /* numbers are valid until the next function is run */
};
struct cfi_fde {
    struct cfi_cie *cie;  /* valid until the next look at another FDE */
    uint64_t begin, size; /* addresses */
    size_t run, end;
};

void cfi_reader_of(struct cfi_reader *r, const struct cfi_input *in, bool debug);
/* The entry at *at; *at moves behind it. False at the end. *is_fde: out was filled; a damaged one is left out. */
bool cfi_read(struct cfi_reader *r, size_t *at, struct cfi_fde *out, bool *is_fde);
/* Runs the instructions of an FDE; the caller set advance and ctx. */
bool cfi_run_fde(struct cfi_reader *r, struct cfi_fde *f, struct cfi_run *run);
void cfi_reader_done(struct cfi_reader *r);

#endif
