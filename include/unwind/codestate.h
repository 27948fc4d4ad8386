// SPDX-License-Identifier: GPL-2.0-or-later
/* What machine code has done to the stack since its function began: which registers and which words of the stack hold
 * an address in the frame, or what a register held when the function was called. x86-64, for the worker. */
#ifndef FLAMETOP_UNWIND_CODESTATE_H
#define FLAMETOP_UNWIND_CODESTATE_H

#include <stdbool.h>
#include <stdint.h>

#include "unwind/rowbuild.h"
#include "unwind/x86.h"

enum code_value_kind {
    CODE_UNKNOWN,
    CODE_CFA,      /* CFA + offset: the CFA is sp before the call */
    CODE_ALIGNED,  /* offset from where sp was rounded down last */
    CODE_ORIGINAL, /* what register `reg` held at the call */
    CODE_RETURN,   /* the return address */
};
struct code_value {
    uint8_t kind, reg;
    uint16_t zero;
    int32_t offset;
};

#define CODE_SLOTS_MAX 20
struct code_slot {               /* a word of the stack */
    struct code_value at, holds; /* at: CODE_CFA or CODE_ALIGNED */
};
struct code_state { /* compared as bytes; slots are sorted, unused ones zero */
    struct code_value regs[16];
    struct code_slot slots[CODE_SLOTS_MAX];
    uint32_t n_slots, zero;
};

/* Where a function is called. */
void code_state_entry(struct code_state *s);
/* Somewhere in a function of which nothing else is known: CODE_CFA counts from sp, CODE_ALIGNED from fp. */
void code_state_middle(struct code_state *s);
/* In such a state: the address that an instruction is about to take fp from. It is remembered that it holds what fp was at
 * the call (CODE_ORIGINAL). False: it takes fp from nowhere that is known. */
bool code_state_takes_fp(struct code_state *s, const struct x86_insn *insn, struct code_value *from);
/* True if the instruction changed the state. */
bool code_state_step(struct code_state *s, const struct x86_insn *insn);
/* Keeps of s what holds in both; true if that changed it. */
bool code_state_meet(struct code_state *s, const struct code_state *other);
/* What holds there as an entry of an unwind table, of kind NONE if the frame is not known. */
void code_state_row(const struct code_state *s, struct rowbuild *b, struct unwind_entry *out);

#endif
