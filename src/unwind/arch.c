// SPDX-License-Identifier: GPL-2.0-or-later
#include "unwind/arch.h"

#include <string.h>

/* Bits of a user-space address. A process gets wider ones only if it requests them with an mmap() hint. */
#define ARM64_VA 48
/* Selects the half of the address space; pointer authentication never uses it. */
#define ARM64_UPPER (1ull << 55)

static const struct unwind_abi abi_x86_64 = {
    .sp = 7,
    .fp = 6,
    .pc = 16,
    .ra = 16,
    .n_saved = 5,
    .saved = { 3, 12, 13, 14, 15 },
};
static const struct unwind_abi abi_arm64 = {
    .sp = 31,
    .fp = 29,
    .pc = 32,
    .ra = 30,
    .n_saved = 10,
    .saved = { 19, 20, 21, 22, 23, 24, 25, 26, 27, 28 },
};
/* Only these registers of i386 are tracked. */
static const struct unwind_abi abi_i386 = { .sp = 4, .fp = 5, .pc = 8, .ra = 8 };

/* Map perf's register number (asm/perf_regs.h) to DWARF's. -1: no call-frame information uses the
 * register. */
static const int8_t x86_64_dwarf[] = {
    0, 3, 2, 1, 4, 5, 6, 7, 16, -1, -1, -1, -1, -1, -1, -1, 8, 9, 10, 11, 12, 13, 14, 15,
};
static const int8_t arm64_dwarf[] = {
    0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15, 16,
    17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32,
};

static unsigned numbers_of(enum unwind_arch a, const int8_t **numbers)
{
    *numbers = a == UNWIND_ARCH_ARM64 ? arm64_dwarf : x86_64_dwarf;
    return a == UNWIND_ARCH_X86_64 ? sizeof x86_64_dwarf : a == UNWIND_ARCH_ARM64 ? sizeof arm64_dwarf : 0;
}

const struct unwind_abi *unwind_arch_abi(enum unwind_arch a)
{
    if (a == UNWIND_ARCH_X86_64)
        return &abi_x86_64;
    if (a == UNWIND_ARCH_I386)
        return &abi_i386;
    return a == UNWIND_ARCH_ARM64 ? &abi_arm64 : NULL;
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
    const int8_t *numbers;
    uint64_t mask = 0;

    for (unsigned n = numbers_of(a, &numbers); n--;) {
        if (numbers[n] >= 0)
            mask |= 1ull << n;
    }
    return mask;
}

uint64_t unwind_arch_link_mask(enum unwind_arch a)
{
    return a == UNWIND_ARCH_ARM64 ? 1ull << abi_arm64.ra : 0;
}

bool unwind_arch_take_regs(enum unwind_arch a, const void *regs, uint64_t mask, bool swap,
                           struct unwind_regs *out)
{
    const struct unwind_abi *abi = unwind_arch_abi(a);
    const char *at = regs;
    const int8_t *numbers;
    unsigned n = numbers_of(a, &numbers);

    *out = (struct unwind_regs){ 0 };
    if (!abi)
        return false;
    for (; mask; mask &= mask - 1, at += sizeof(uint64_t)) {
        unsigned bit = (unsigned)__builtin_ctzll(mask);
        int reg = bit < n ? numbers[bit] : -1;
        uint64_t value;
        if (reg < 0)
            continue;
        memcpy(&value, at, sizeof value);
        out->r[reg] = swap ? __builtin_bswap64(value) : value;
        out->known |= 1ull << reg;
    }
    out->pc = unwind_arch_strip(a, out->r[abi->pc]);
    out->sp = out->r[abi->sp];
    out->fp = out->r[abi->fp];
    return (out->known >> abi->pc & 1) && (out->known >> abi->sp & 1);
}

uint64_t unwind_arch_strip(enum unwind_arch a, uint64_t addr)
{
    if (a != UNWIND_ARCH_ARM64)
        return addr;
    if (addr & ARM64_UPPER)
        return addr | ~0ull << ARM64_VA;
    return addr & ~(~0ull << ARM64_VA);
}
