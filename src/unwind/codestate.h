// SPDX-License-Identifier: GPL-2.0-or-later
/* Tracks what machine code has done to registers and stack since its function was called.
 *
 * It knows which registers and stack words hold an address in the frame, or the value that a register
 * had at the call. x86-64, for the worker. */
#ifndef FLAMETOP_UNWIND_CODESTATE_H
#define FLAMETOP_UNWIND_CODESTATE_H

#include <stdbool.h>
#include <stdint.h>

#include "unwind/rowbuild.h"
#include "unwind/x86.h"

enum code_value_kind {
    CODE_UNKNOWN,
    CODE_CFA,      /* CFA + offset; the CFA is sp before the call */
    CODE_ALIGNED,  /* offset from the last rounded-down sp */
    CODE_ORIGINAL, /* value of register `reg` at the call */
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
/* Compared as bytes; slots are sorted, unused ones are zero. */
struct code_state {
    struct code_value regs[16];
    struct code_slot slots[CODE_SLOTS_MAX];
    uint32_t n_slots, zero;
};

/* Sets the state at the start of a function. */
void code_state_entry(struct code_state *s);
/* Sets the state inside an unknown function: CODE_CFA counts from sp, CODE_ALIGNED from fp. */
void code_state_middle(struct code_state *s);
/* For a state of code_state_middle: finds the address from which the instruction restores fp. Marks that
 * word as the caller's fp (CODE_ORIGINAL). Returns false if the address is not known. */
bool code_state_takes_fp(struct code_state *s, const struct x86_insn *insn, struct code_value *from);
/* Applies an instruction. Returns true if it changed the state. */
bool code_state_step(struct code_state *s, const struct x86_insn *insn);
/* Reduces s to what holds in both states. Returns true if that changed s. */
bool code_state_meet(struct code_state *s, const struct code_state *other);
/* Converts the state to an entry of an unwind table; its kind is NONE if the frame is unknown. */
void code_state_row(const struct code_state *s, struct rowbuild *b, struct unwind_entry *out);

#endif
