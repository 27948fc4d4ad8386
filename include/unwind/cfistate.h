// SPDX-License-Identifier: GPL-2.0-or-later
/* The states that call-frame instructions lead to, each kept once under a number, and which instruction leads from which to
 * which: code has few of either (node some hundred for 466 thousand rows), so that most instructions need not be
 * run at all. For the worker. */
#ifndef FLAMETOP_UNWIND_CFISTATE_H
#define FLAMETOP_UNWIND_CFISTATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/map.h"
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
struct cfi_rule { /* no padding: compared as bytes */
    uint32_t kind;
    uint32_t size; /* of the expression */
    union {
        int64_t value;
        const uint8_t *bytes; /* borrowed from the section */
    };
};
struct cfi_state {
    struct cfi_rule cfa; /* CFI_REGISTER: register in `size`, offset in `value`; CFI_VAL_EXPRESSION */
    struct cfi_rule regs[UNWIND_REGS_MAX];
};

#define CFI_NO_STATE   UINT32_MAX
#define CFI_STATES_MAX 65536
#define CFI_STEP_BITS  11

struct cfi_known {
    struct cfi_state state;
    uint32_t entry[2]; /* for who makes rows of it: in a usual, in a signal frame; 0: not yet known */
};
struct cfi_step {
    uint64_t instruction; /* its bytes, as many as there are; 0: none */
    uint32_t from, to;
    uint64_t place; /* whose instruction it is: others mean something else by the same bytes */
};
struct cfi_states { /* zero-initialised is empty */
    struct cfi_known *all;
    size_t n, cap;
    struct map by_hash;
    struct cfi_step steps[1 << CFI_STEP_BITS];
};

/* CFI_NO_STATE: too many, or no memory. */
uint32_t cfi_states_number(struct cfi_states *s, const struct cfi_state *state);
struct cfi_known *cfi_states_at(struct cfi_states *s, uint32_t number); /* valid until the next new number */
/* Where it would stand; it does if all but `to` is equal. */
struct cfi_step *cfi_states_step(struct cfi_states *s, uint64_t instruction, uint32_t from, uint64_t place);
/* Forgets all numbers if they are many: true. */
bool cfi_states_trim(struct cfi_states *s);
void cfi_states_done(struct cfi_states *s);

#endif
