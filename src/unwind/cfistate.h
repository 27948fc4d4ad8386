// SPDX-License-Identifier: GPL-2.0-or-later
/* Interns call-frame states and caches which instruction leads from which state to which. For the
 * worker.
 *
 * Code has few distinct states and steps (node: some hundred states for 466 thousand rows), so most
 * instructions need not be run at all. */
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
    CFI_OFFSET,     /* saved at CFA + value */
    CFI_VAL_OFFSET, /* value is CFA + value */
    CFI_REGISTER,   /* in register `value` */
    CFI_EXPRESSION, /* saved at the address that the expression computes */
    CFI_VAL_EXPRESSION,
};
/* Has no padding: it is compared as bytes. */
struct cfi_rule {
    uint32_t kind;
    uint32_t size; /* bytes of the expression */
    union {
        int64_t value;
        const uint8_t *bytes; /* borrowed from the section */
    };
};
struct cfi_state {
    /* CFI_REGISTER (register in `size`, offset in `value`) or CFI_VAL_EXPRESSION. */
    struct cfi_rule cfa;
    struct cfi_rule regs[UNWIND_REGS_MAX];
};

#define CFI_NO_STATE   UINT32_MAX
#define CFI_STATES_MAX 65536
#define CFI_STEP_BITS  11

struct cfi_known {
    struct cfi_state state;
    /* For the builder of rows: the entry in a normal frame and in a signal frame; 0: not yet known. */
    uint32_t entry[2];
};
struct cfi_step {
    uint64_t instruction; /* the bytes of the instruction; 0: none */
    uint32_t from, to;
    /* Identifies the CIE: with another CIE the same bytes mean something else. */
    uint64_t location;
};
struct cfi_states { /* zero-initialised is empty */
    struct cfi_known *all;
    size_t n, cap;
    struct map by_hash;
    struct cfi_step steps[1 << CFI_STEP_BITS];
};

/* Returns the number of a state. CFI_NO_STATE: too many states, or no memory. */
uint32_t cfi_states_number(struct cfi_states *s, const struct cfi_state *state);
struct cfi_known *cfi_states_at(struct cfi_states *s, uint32_t number); /* valid until the next new state */
/* Returns the cache slot of a step. It is a hit if all fields except `to` are equal. */
struct cfi_step *cfi_states_step(struct cfi_states *s, uint64_t instruction, uint32_t from,
                                 uint64_t location);
/* Forgets all states if there are many. Returns true if it did. */
bool cfi_states_trim(struct cfi_states *s);
void cfi_states_done(struct cfi_states *s);

#endif
