// SPDX-License-Identifier: GPL-2.0-or-later
/* Registers of the supported architectures, by perf's numbers and by DWARF's numbers.
 *
 * Sources: asm/perf_regs.h of the kernel (order in samples); System V ABI of x86-64 and "DWARF for the
 * Arm 64-bit Architecture" (DWARF numbers). */
#ifndef FLAMETOP_UNWIND_ARCH_H
#define FLAMETOP_UNWIND_ARCH_H

#include <stdbool.h>
#include <stdint.h>

enum unwind_arch { UNWIND_ARCH_NONE, UNWIND_ARCH_X86_64, UNWIND_ARCH_ARM64, UNWIND_ARCH_I386 };

/* By DWARF number. arm64: x0-x30, sp 31, pc 32; x86-64: 0-15, ra 16; i386: 0-7, ra 8. */
#define UNWIND_REGS_MAX 34

struct unwind_regs {
    uint64_t r[UNWIND_REGS_MAX]; /* by DWARF number */
    uint64_t known;              /* bit mask by DWARF number: registers whose value is known */
    uint64_t pc, sp, fp;         /* sp and fp are in r, too */
};

#define UNWIND_SAVED_MAX 10

/* The ABI's special and callee-saved registers, by DWARF number. */
struct unwind_abi {
    uint8_t sp, fp, pc;
    uint8_t ra;      /* return address column of call-frame information */
    uint8_t n_saved; /* callee-saved registers other than sp and fp */
    uint8_t saved[UNWIND_SAVED_MAX];
};
/* Returns NULL for UNWIND_ARCH_NONE. */
const struct unwind_abi *unwind_arch_abi(enum unwind_arch a);

/* Return the architecture of this program, and of a recording by its header's arch string ("x86_64",
 * "aarch64"). */
enum unwind_arch unwind_arch_native(void);
enum unwind_arch unwind_arch_named(const char *uname_machine);
/* Returns perf_event_attr.sample_regs_user for unwinding on this architecture; 0: not supported. */
uint64_t unwind_arch_regs_mask(enum unwind_arch a);
/* Returns the registers to sample besides a frame-pointer callchain. A leaf function of arm64 keeps its
 * return address in x30 and not in a frame record. 0: the return address is always on the stack. */
uint64_t unwind_arch_link_mask(enum unwind_arch a);
/* Decodes the registers of a sample: popcount(mask) u64 in bit order at `regs`, unaligned, byte-swapped
 * if `swap`. Returns false if pc or sp is missing; `out` then still has the other registers. */
bool unwind_arch_take_regs(enum unwind_arch a, const void *regs, uint64_t mask, bool swap,
                           struct unwind_regs *out);
/* Returns a code address without the pointer authentication bits of arm64. */
uint64_t unwind_arch_strip(enum unwind_arch a, uint64_t addr);

#endif
