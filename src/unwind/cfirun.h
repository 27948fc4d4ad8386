// SPDX-License-Identifier: GPL-2.0-or-later
/* Runs call-frame instructions (DWARF 5, 6.4.2) and reports the register rules by address. For the
 * worker. */
#ifndef FLAMETOP_UNWIND_CFIRUN_H
#define FLAMETOP_UNWIND_CFIRUN_H

#include "base/cursor.h"
#include "unwind/cfistate.h"

#define CFI_REMEMBER_MAX 8

struct cfi_reader;
struct cfi_fde;
struct cfi_run {
    uint64_t code_align;
    int64_t data_align;
    unsigned n_regs; /* registers from this number on are ignored */
    struct cfi_states *states;
    uint32_t initial;     /* state for DW_CFA_restore; CFI_NO_STATE while a CIE runs */
    uint64_t location;    /* identifies the CIE, as in struct cfi_step */
    uint64_t begin, size; /* address range of the function */
    uint64_t at;          /* current address, relative to begin */
    uint64_t *budget;     /* instructions that may still be run in the whole section */
    uint32_t now;         /* current state */
    /* Called when the location advances: `state` held up to `at`. NULL: not needed. */
    void (*advance)(void *ctx, uint64_t at, uint32_t state);
    void *ctx;
    /* Reads the pointer operand of DW_CFA_set_loc. */
    bool (*pointer)(const struct cfi_run *run, struct cursor *c, uint64_t *value);
    const struct cfi_reader *reader; /* for `pointer` */
    const struct cfi_fde *fde;
};

/* Returns false if the instructions are damaged or the budget is used up. The reported states stay
 * valid. */
bool cfi_run(struct cfi_run *r, struct cursor *c);

#endif
