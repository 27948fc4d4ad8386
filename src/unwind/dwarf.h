// SPDX-License-Identifier: GPL-2.0-or-later
/* Constants of DWARF 5 (7.7, 7.24), the Linux Standard Base (10.5) and the Arm 64-bit ABI; LEB128
 * reader. */
#ifndef FLAMETOP_UNWIND_DWARF_H
#define FLAMETOP_UNWIND_DWARF_H

#include "base/cursor.h"

/* Call-frame instructions. */
enum {
    /* These three have their operand in the lower six bits. */
    DW_CFA_ADVANCE_LOC = 0x40,
    DW_CFA_OFFSET = 0x80,
    DW_CFA_RESTORE = 0xc0,
    DW_CFA_NOP = 0,
    DW_CFA_SET_LOC = 1,
    DW_CFA_ADVANCE_LOC1 = 2,
    DW_CFA_ADVANCE_LOC2 = 3,
    DW_CFA_ADVANCE_LOC4 = 4,
    DW_CFA_OFFSET_EXTENDED = 5,
    DW_CFA_RESTORE_EXTENDED = 6,
    DW_CFA_UNDEFINED = 7,
    DW_CFA_SAME_VALUE = 8,
    DW_CFA_REGISTER = 9,
    DW_CFA_REMEMBER_STATE = 0xa,
    DW_CFA_RESTORE_STATE = 0xb,
    DW_CFA_DEF_CFA = 0xc,
    DW_CFA_DEF_CFA_REGISTER = 0xd,
    DW_CFA_DEF_CFA_OFFSET = 0xe,
    DW_CFA_DEF_CFA_EXPRESSION = 0xf,
    DW_CFA_EXPRESSION = 0x10,
    DW_CFA_OFFSET_EXTENDED_SF = 0x11,
    DW_CFA_DEF_CFA_SF = 0x12,
    DW_CFA_DEF_CFA_OFFSET_SF = 0x13,
    DW_CFA_VAL_OFFSET = 0x14,
    DW_CFA_VAL_OFFSET_SF = 0x15,
    DW_CFA_VAL_EXPRESSION = 0x16,
    DW_CFA_AARCH64_NEGATE_RA_STATE_WITH_PC = 0x2c,
    DW_CFA_AARCH64_NEGATE_RA_STATE = 0x2d, /* GNU_window_save on other architectures */
    DW_CFA_GNU_ARGS_SIZE = 0x2e,
    DW_CFA_GNU_NEGATIVE_OFFSET_EXTENDED = 0x2f,
};

/* Pointer encodings. */
enum {
    DW_EH_PE_ABSPTR = 0,
    DW_EH_PE_ULEB128 = 1,
    DW_EH_PE_UDATA2 = 2,
    DW_EH_PE_UDATA4 = 3,
    DW_EH_PE_UDATA8 = 4,
    DW_EH_PE_SIGNED = 8,
    DW_EH_PE_SLEB128 = 9,
    DW_EH_PE_SDATA2 = 0xa,
    DW_EH_PE_SDATA4 = 0xb,
    DW_EH_PE_SDATA8 = 0xc,
    DW_EH_PE_PCREL = 0x10,
    DW_EH_PE_TEXTREL = 0x20,
    DW_EH_PE_DATAREL = 0x30,
    DW_EH_PE_FUNCREL = 0x40,
    DW_EH_PE_ALIGNED = 0x50,
    DW_EH_PE_INDIRECT = 0x80,
    DW_EH_PE_OMIT = 0xff,
};

/* Operations of expressions. */
enum {
    DW_OP_ADDR = 0x03,
    DW_OP_DEREF = 0x06,
    DW_OP_CONST1U = 0x08,
    DW_OP_CONST1S,
    DW_OP_CONST2U,
    DW_OP_CONST2S,
    DW_OP_CONST4U,
    DW_OP_CONST4S,
    DW_OP_CONST8U,
    DW_OP_CONST8S,
    DW_OP_CONSTU,
    DW_OP_CONSTS,
    DW_OP_DUP,
    DW_OP_DROP,
    DW_OP_OVER,
    DW_OP_PICK,
    DW_OP_SWAP,
    DW_OP_ROT,
    DW_OP_ABS = 0x19,
    DW_OP_AND,
    DW_OP_DIV,
    DW_OP_MINUS,
    DW_OP_MOD,
    DW_OP_MUL,
    DW_OP_NEG,
    DW_OP_NOT,
    DW_OP_OR,
    DW_OP_PLUS,
    DW_OP_PLUS_UCONST,
    DW_OP_SHL,
    DW_OP_SHR,
    DW_OP_SHRA,
    DW_OP_XOR,
    DW_OP_BRA,
    DW_OP_EQ,
    DW_OP_GE,
    DW_OP_GT,
    DW_OP_LE,
    DW_OP_LT,
    DW_OP_NE,
    DW_OP_SKIP,
    DW_OP_LIT0 = 0x30,
    DW_OP_BREG0 = 0x70,
    DW_OP_BREGX = 0x92,
    DW_OP_DEREF_SIZE = 0x94,
    DW_OP_NOP = 0x96,
};

/* Read LEB128. Bits beyond the 64th are dropped. More than ten bytes, or bytes past the end, make the
 * cursor bad. */
uint64_t dwarf_uleb(struct cursor *c);
int64_t dwarf_sleb(struct cursor *c);
/* Returns true for the expression "register + offset", followed by a dereference if `deref`. */
bool dwarf_is_register_plus(struct cursor expression, unsigned reg, bool deref, int64_t *offset);

#endif
