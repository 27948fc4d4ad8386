// SPDX-License-Identifier: GPL-2.0-or-later
/* Decodes one x86 instruction: its length, where it leads, and what it does to the stack pointer and the general
 * registers. Reads bytes that are not to be trusted, and never beyond them.
 * Source: Intel 64 and IA-32 Architectures Software Developer's Manual, volume 2, chapter 2 and appendix A. */
#ifndef FLAMETOP_UNWIND_X86_H
#define FLAMETOP_UNWIND_X86_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum x86_kind {
    X86_OTHER,         /* goes on to the next instruction; `writes` */
    X86_CALL,          /* target = end of the instruction + value */
    X86_CALL_INDIRECT, /* through a register or memory */
    X86_JUMP,          /* as X86_CALL */
    X86_JUMP_INDIRECT,
    X86_BRANCH, /* conditional; as X86_CALL */
    X86_RETURN,
    X86_TRAP,  /* int3, hlt, ud2: nothing follows */
    X86_PUSH,  /* reg, or X86_NO_REG: a value that is not followed */
    X86_POP,   /* as X86_PUSH */
    X86_COPY,  /* reg = base + value; base is a register or X86_NO_REG (value is not followed) */
    X86_ALIGN, /* reg is rounded down */
    X86_LOAD,  /* reg = memory at base + value, a whole word */
    X86_STORE, /* memory at base + value = reg, a whole word */
    X86_LEAVE,
};

/* Registers by their number in instructions (not DWARF's). */
enum { X86_SP = 4, X86_FP = 5, X86_NO_REG = 16 };
#define X86_INSN_MAX 15

struct x86_insn {
    uint8_t size; /* bytes */
    uint8_t kind; /* enum x86_kind */
    uint8_t reg, base;
    bool rip;        /* memory operand relative to the end of the instruction: that + value */
    uint16_t writes; /* a bit per general register that it changes, besides what `kind` says of sp */
    int64_t value;
};

/* wide: 64-bit code. False: no instruction begins there, or it does not end within n bytes. */
bool x86_decode(const uint8_t *p, size_t n, bool wide, struct x86_insn *out);
/* May a call instruction end behind these n bytes? Fewer than 8 may be too few to tell. */
bool x86_call_ends(const uint8_t *p, size_t n, bool wide);

#endif
