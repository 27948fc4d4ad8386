// SPDX-License-Identifier: GPL-2.0-or-later
#include "unwind/arch.h"

#include <string.h>

#include "base/cursor.h"

#define X86_64_RA   16
#define ARM64_SP    31
#define ARM64_PC    32
#define ARM64_FP    29
#define ARM64_VA    48                /* addresses of user space; wider ones must be asked for page by page */
#define ARM64_UPPER (1ull << 55)      /* tells the two halves of the address space apart, never signed */

/* From perf's number (asm/perf_regs.h) to DWARF's; -1: a register that no call-frame information speaks of. */
static const int8_t x86_64_dwarf[24] = {
    0, 3, 2, 1, 4, 5, 6, 7, X86_64_RA, -1, -1, -1, -1, -1, -1, -1, 8, 9, 10, 11, 12, 13, 14, 15,
};

static int dwarf_of(enum unwind_arch a, int perf_reg)
{
    if (a == UNWIND_ARCH_X86_64)
        return perf_reg < (int)sizeof x86_64_dwarf ? x86_64_dwarf[perf_reg] : -1;
    if (a == UNWIND_ARCH_ARM64)
        return perf_reg <= ARM64_PC ? perf_reg : -1;
    return -1;
}

enum unwind_arch unwind_arch_native(void)
{
#if defined(__x86_64__)
    return UNWIND_ARCH_X86_64;
#elif defined(__aarch64__)
    return UNWIND_ARCH_ARM64;
#else
    return UNWIND_ARCH_NONE;
#endif
}

enum unwind_arch unwind_arch_named(const char *uname_machine)
{
    if (!strcmp(uname_machine, "x86_64"))
        return UNWIND_ARCH_X86_64;
    if (!strcmp(uname_machine, "aarch64") || !strcmp(uname_machine, "arm64"))
        return UNWIND_ARCH_ARM64;
    return UNWIND_ARCH_NONE;
}

uint64_t unwind_arch_regs_mask(enum unwind_arch a)
{
    uint64_t mask = 0;

    for (int reg = 0; reg < 64; reg++) {
        if (dwarf_of(a, reg) >= 0)
            mask |= 1ull << reg;
    }
    return mask;
}

bool unwind_arch_take_regs(enum unwind_arch a, const void *regs, uint64_t mask, bool swap, struct unwind_regs *out)
{
    int pc = a == UNWIND_ARCH_ARM64 ? ARM64_PC : X86_64_RA, sp = a == UNWIND_ARCH_ARM64 ? ARM64_SP : 7;
    int fp = a == UNWIND_ARCH_ARM64 ? ARM64_FP : 6;
    struct cursor c = cursor_of(regs, (size_t)__builtin_popcountll(mask) * 8, swap);

    *out = (struct unwind_regs){ 0 };
    for (; mask; mask &= mask - 1) {
        int reg = dwarf_of(a, __builtin_ctzll(mask));
        uint64_t value = cursor_u64(&c);
        if (reg < 0)
            continue;
        out->r[reg] = value;
        out->known |= 1ull << reg;
    }
    out->pc = unwind_arch_strip(a, out->r[pc]);
    out->sp = out->r[sp];
    out->fp = out->r[fp];
    return a != UNWIND_ARCH_NONE && (out->known >> pc & 1) && (out->known >> sp & 1);
}

uint64_t unwind_arch_strip(enum unwind_arch a, uint64_t addr)
{
    if (a != UNWIND_ARCH_ARM64)
        return addr;
    if (addr & ARM64_UPPER)
        return addr | ~0ull << ARM64_VA;
    return addr & ~(~0ull << ARM64_VA);
}
