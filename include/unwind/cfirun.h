// SPDX-License-Identifier: GPL-2.0-or-later
/* Runs call-frame instructions (DWARF 5, 6.4.2): what holds at an address, as rules per register. For the worker. */
#ifndef FLAMETOP_UNWIND_CFIRUN_H
#define FLAMETOP_UNWIND_CFIRUN_H

#include "base/cursor.h"
#include "unwind/arch.h"

enum cfi_rule_kind {
    CFI_UNSPECIFIED,
    CFI_SAME,
    CFI_UNDEFINED,
    CFI_OFFSET,     /* at CFA + value */
    CFI_VAL_OFFSET, /* CFA + value */
    CFI_REGISTER,   /* in register `value` */
    CFI_EXPRESSION, /* at the address that the expression gives */
    CFI_VAL_EXPRESSION,
};
struct cfi_rule {
    uint8_t kind;
    uint32_t size;            /* of the expression */
    union {
        int64_t value;
        const uint8_t *bytes; /* borrowed from the section */
    };
};
struct cfi_state {
    struct cfi_rule cfa; /* CFI_REGISTER: register in `size`, offset in `value`; CFI_VAL_EXPRESSION */
    struct cfi_rule regs[UNWIND_REGS_MAX];
};

#define CFI_REMEMBER_MAX 8

struct cfi_run {
    uint64_t code_align;
    int64_t data_align;
    unsigned n_regs;                 /* higher ones are not followed */
    const struct cfi_state *initial; /* what DW_CFA_restore goes back to; NULL while the CIE's own run */
    uint64_t begin, size;            /* addresses of the function */
    uint64_t at;                     /* … reached so far, from begin */
    uint64_t *budget;                /* instructions that may still be run, for the whole section */
    struct cfi_state state;
    /* A new address is reached: what held from `at` up to it is `state`. NULL: not wanted. */
    void (*advance)(void *ctx, uint64_t at, const struct cfi_state *state);
    void *ctx;
    /* Reads a pointer for DW_CFA_set_loc. */
    bool (*pointer)(void *ctx, struct cursor *c, uint64_t *value);
};

/* False: damaged, or the budget is used up; what was reached holds. */
bool cfi_run(struct cfi_run *r, struct cursor *c);

#endif
