// SPDX-License-Identifier: GPL-2.0-or-later
/* Runs call-frame instructions (DWARF 5, 6.4.2): what holds at an address, as rules per register. For the worker. */
#ifndef FLAMETOP_UNWIND_CFIRUN_H
#define FLAMETOP_UNWIND_CFIRUN_H

#include "base/cursor.h"
#include "unwind/cfistate.h"

#define CFI_REMEMBER_MAX 8

struct cfi_run {
    uint64_t code_align;
    int64_t data_align;
    unsigned n_regs; /* higher ones are not followed */
    struct cfi_states *states;
    uint32_t initial;     /* state that DW_CFA_restore goes back to; CFI_NO_STATE while the CIE's own run */
    uint64_t place;       /* whose instructions these are */
    uint64_t begin, size; /* addresses of the function */
    uint64_t at;          /* … reached so far, from begin */
    uint64_t *budget;     /* instructions that may still be run, for the whole section */
    uint32_t now;         /* state */
    /* A new address is reached: what held from `at` up to it is that state. NULL: not wanted. */
    void (*advance)(void *ctx, uint64_t at, uint32_t state);
    void *ctx;
    /* Reads a pointer for DW_CFA_set_loc. */
    bool (*pointer)(void *ctx, struct cursor *c, uint64_t *value);
};

/* False: damaged, or the budget is used up; what was reached holds. */
bool cfi_run(struct cfi_run *r, struct cursor *c);

#endif
