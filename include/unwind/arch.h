// SPDX-License-Identifier: GPL-2.0-or-later
/* Registers of the machines that flametop unwinds: perf's order in samples (asm/perf_regs.h of the kernel) and
 * DWARF's numbers (System V ABI of x86-64, "DWARF for the Arm 64-bit Architecture"). */
#ifndef FLAMETOP_UNWIND_ARCH_H
#define FLAMETOP_UNWIND_ARCH_H

#include <stdbool.h>
#include <stdint.h>

enum unwind_arch { UNWIND_ARCH_NONE, UNWIND_ARCH_X86_64, UNWIND_ARCH_ARM64, UNWIND_ARCH_I386 };

#define UNWIND_REGS_MAX                                                                                      \
    34 /* by DWARF number; arm64: x0-x30, sp 31, pc 32; x86-64: 0-15, ra 16; i386: 0-7, ra 8 */

struct unwind_regs {
    uint64_t r[UNWIND_REGS_MAX]; /* by DWARF number */
    uint64_t known;              /* a bit per register that holds a value */
    uint64_t pc, sp, fp;         /* sp and fp are in r as well */
};

#define UNWIND_SAVED_MAX 10

/* What the ABI says of the registers, by DWARF number. */
struct unwind_abi {
    uint8_t sp, fp, pc;
    uint8_t ra;      /* the column that stands for the return address in call-frame information */
    uint8_t n_saved; /* registers that a function leaves as they were, besides sp and fp */
    uint8_t saved[UNWIND_SAVED_MAX];
};
/* NULL for UNWIND_ARCH_NONE. */
const struct unwind_abi *unwind_arch_abi(enum unwind_arch a);

/* The machine that this program runs on; of a file, by the arch string of its header ("x86_64", "aarch64"). */
enum unwind_arch unwind_arch_native(void);
enum unwind_arch unwind_arch_named(const char *uname_machine);
/* The mask for perf_event_attr.sample_regs_user: all that unwinding wants on this machine. 0: not supported. */
uint64_t unwind_arch_regs_mask(enum unwind_arch a);
/* The same for stacks by frame pointers: where a function that calls no other one keeps its return address, which is in no
 * frame record then (arm64: x30). 0: it always lies on the stack. */
uint64_t unwind_arch_link_mask(enum unwind_arch a);
/* Takes the registers of a sample: popcount(mask) u64 in bit order at `regs` (unaligned, maybe swapped). False:
 * pc or sp is not among them; what there is has been taken. */
bool unwind_arch_take_regs(enum unwind_arch a, const void *regs, uint64_t mask, bool swap,
                           struct unwind_regs *out);
/* A code address without what is not part of it (pointer authentication of arm64). */
uint64_t unwind_arch_strip(enum unwind_arch a, uint64_t addr);

#endif
