// SPDX-License-Identifier: GPL-2.0-or-later
/* Check that a probe is at the start of an instruction: the kernel replaces the byte there, and in the middle
 * of an instruction that would damage the program. */
#include <elf.h>

#include "symbols/probefile.h"
#include "unwind/x86.h"

#define FURTHEST   (UINT64_C(1) << 20) /* bytes of instructions that are decoded */
#define ARM64_SIZE 4

/* Decode from `start` on. What cannot be decoded is believed. */
static bool x86_begins(const struct elffile *f, uint64_t start, uint64_t address, uint64_t around[2])
{
    struct elf_bytes code;
    struct x86_insn insn;
    uint64_t at = 0, to = address - start;

    if (!elffile_loaded(f, start, &code) || to >= code.n)
        return true;
    while (at < to) {
        if (!x86_decode(code.p + at, code.n - (size_t)at, f->wide, &insn) || !insn.size)
            return true;
        around[0] = start + at;
        at += insn.size;
        around[1] = start + at;
    }
    return at == to;
}

bool probefile_begins_instruction(const struct elffile *f, uint64_t start, uint64_t address,
                                  uint64_t around[2])
{
    if (address < start || address - start > FURTHEST)
        return true;
    if (f->machine == EM_X86_64 || f->machine == EM_386)
        return x86_begins(f, start, address, around);
    around[0] = address - address % ARM64_SIZE;
    around[1] = around[0] + ARM64_SIZE;
    return f->machine != EM_AARCH64 || around[0] == address;
}
