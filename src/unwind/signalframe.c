// SPDX-License-Identifier: GPL-2.0-or-later
#include "unwind/signalframe.h"

/* x86-64: sp points to the struct ucontext. Its struct sigcontext has r8-r15, di, si, bp, bx, dx, ax,
 * cx, sp, ip, then flags and segments. */
#define X86_LINK     8
#define X86_REGS     40
#define X86_SEGMENTS 184
#define X86_UC_FLAGS 7 /* all defined flags */
#define X86_USER_CS  0x33
static const uint8_t x86_order[] = { 8, 9, 10, 11, 12, 13, 14, 15, 5, 4, 6, 3, 1, 0, 2, 7, 16 };

/* arm64: sp points to the siginfo of 128 bytes. The sigcontext follows at a multiple of 16. It has the
 * fault address, x0-x30, sp, pc, the processor state, then records; the first one has the vector
 * registers. */
#define ARM64_FLAGS   128
#define ARM64_LINK    136
#define ARM64_REGS    312
#define ARM64_RECORDS 592
#define ARM64_FPSIMD  0x46508001u
#define SIGNALS       64

static void set_register(struct unwind_regs *out, unsigned reg, uint64_t value)
{
    out->r[reg] = value;
    out->known |= UINT64_C(1) << reg;
}

static bool take_words(const struct unwind_memory *m, uint64_t at, const uint8_t *order, unsigned n,
                       struct unwind_regs *out)
{
    for (unsigned i = 0; i < n; i++) {
        uint64_t value;
        if (!unwind_memory_word(m, at + 8 * i, &value))
            return false;
        set_register(out, order ? order[i] : i, value);
    }
    return true;
}

bool unwind_signal_take(enum unwind_arch arch, const struct unwind_memory *m, uint64_t sp,
                        struct unwind_regs *out)
{
    const struct unwind_abi *abi = unwind_arch_abi(arch);
    struct unwind_regs regs = { 0 };

    if (arch == UNWIND_ARCH_X86_64 ? !take_words(m, sp + X86_REGS, x86_order, sizeof x86_order, &regs)
                                   : !abi || !take_words(m, sp + ARM64_REGS, NULL, abi->pc + 1u, &regs))
        return false;
    regs.pc = unwind_arch_strip(arch, regs.r[abi->pc]);
    regs.sp = regs.r[abi->sp];
    regs.fp = regs.r[abi->fp];
    *out = regs;
    return true;
}

static bool x86_is(const struct unwind_memory *m, uint64_t sp)
{
    uint64_t flags, link, segments;

    return unwind_memory_word(m, sp, &flags) && flags <= X86_UC_FLAGS &&
           unwind_memory_word(m, sp + X86_LINK, &link) && !link &&
           unwind_memory_word(m, sp + X86_SEGMENTS, &segments) && (segments & 0xffffffff) == X86_USER_CS;
}

static bool arm64_is(const struct unwind_memory *m, uint64_t sp)
{
    uint64_t signo, flags, link, record;

    return unwind_memory_word(m, sp, &signo) && (uint32_t)signo - 1 < SIGNALS &&
           unwind_memory_word(m, sp + ARM64_FLAGS, &flags) && !flags &&
           unwind_memory_word(m, sp + ARM64_LINK, &link) && !link &&
           unwind_memory_word(m, sp + ARM64_RECORDS, &record) && (uint32_t)record == ARM64_FPSIMD;
}

bool unwind_signal_is(enum unwind_arch arch, const struct unwind_memory *m, uint64_t sp)
{
    return arch == UNWIND_ARCH_X86_64 ? x86_is(m, sp) : arch == UNWIND_ARCH_ARM64 && arm64_is(m, sp);
}
