// SPDX-License-Identifier: GPL-2.0-or-later
/* Decodes one x86 instruction: its length, its target, and its effect on the stack pointer and
 * registers.
 *
 * Reads untrusted bytes, and never beyond them. Source: Intel 64 and IA-32 Architectures Software
 * Developer's Manual, volume 2, chapter 2 and appendix A. */
#ifndef FLAMETOP_UNWIND_X86_H
#define FLAMETOP_UNWIND_X86_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum x86_kind {
    X86_OTHER,         /* continues with the next instruction; see `writes` */
    X86_CALL,          /* target = end of the instruction + value */
    X86_CALL_INDIRECT, /* through a register or memory */
    X86_JUMP,          /* like X86_CALL */
    X86_JUMP_INDIRECT,
    X86_BRANCH, /* conditional; like X86_CALL */
    X86_RETURN,
    X86_TRAP,  /* int3, hlt, ud2: does not continue */
    X86_PUSH,  /* reg, or X86_NO_REG: an unknown value */
    X86_POP,   /* like X86_PUSH */
    X86_COPY,  /* reg = base + value; base X86_NO_REG: an unknown value */
    X86_ALIGN, /* reg is rounded down */
    X86_LOAD,  /* reg = memory at base + value, a full word */
    X86_STORE, /* memory at base + value = reg, a full word */
    X86_LEAVE,
};

/* Register numbers of instructions, which are not DWARF's. */
enum { X86_SP = 4, X86_FP = 5, X86_NO_REG = 16 };
#define X86_INSN_MAX 15

struct x86_insn {
    uint8_t size; /* bytes */
    uint8_t kind; /* enum x86_kind */
    uint8_t reg, base;
    bool rip;        /* memory operand at the end of the instruction + value */
    uint16_t writes; /* bit mask of changed registers, besides what `kind` does to sp */
    int64_t value;
};

/* Returns false if no instruction begins there, or if it does not end within n bytes. wide: 64-bit code. */
bool x86_decode(const uint8_t *p, size_t n, bool wide, struct x86_insn *out);
/* Returns true if a call instruction can end after these n bytes. Fewer than 8 bytes may be too few to
 * decide. */
bool x86_call_ends(const uint8_t *p, size_t n, bool wide);

#endif
