// SPDX-License-Identifier: GPL-2.0-or-later
/* Fuzzes the compiler of call-frame information: any bytes give an error or a table that can be used to
 * unwind. The first byte selects the machine, the section, the address of the code (0 or as in the seeds),
 * and whether the code has the largest size that a table supports. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "unwind/cfi.h"
#include "../unit/unwind_row.h"
#include "unwind/unwind.h"

#define STACK UINT64_C(0x7fff0000)
#define CODE  UINT64_C(0x401000)
#define FRAME UINT64_C(0x500000)
#define SPAN  UINT64_C(0x10000)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool find(void *ctx, uint64_t addr, struct unwind_location *out)
{
    *out = (struct unwind_location){ .offset = addr, .rows = ctx };
    return addr < 2 * SPAN;
}

static void walk(const struct unwind_rows *t, enum unwind_arch arch, uint64_t pc)
{
    static uint64_t stack[512];
    struct unwind_source source = { .ctx = (void *)(uintptr_t)t, .find = find };
    struct unwind_input in = { .arch = arch, .stack = (const uint8_t *)stack, .stack_bytes = sizeof stack };
    struct unwind_frame frames[64];
    enum unwind_end end;

    for (unsigned i = 0; i < UNWIND_REGS_MAX; i++)
        in.regs.r[i] = STACK + 8 * i;
    for (unsigned i = 0; i < 512; i++)
        stack[i] = i % 3 ? STACK + i * 37 % 4096 : 0x1000 + i * 97 % SPAN;
    in.regs.known = ~UINT64_C(0);
    in.regs.sp = STACK;
    in.regs.fp = STACK + 64;
    in.regs.pc = pc;
    if (unwind_stack(&in, &source, frames, 64, &end) > 64)
        abort();
}

static void use(const void *blob, size_t size, enum unwind_arch arch)
{
    struct unwind_rows t;
    const struct unwind_entry *entry;
    uint64_t start, length;

    if (!unwind_rows_view(&t, blob, size, NULL) || !unwind_rows_count(&t) || unwind_rows_arch(&t) != arch)
        abort();
    for (uint64_t at = 0; at < SPAN; at += 509) {
        if ((entry = unwind_rows_entry(&t, at)) && !unwind_entry_is_valid(&t, entry))
            abort();
        if (unwind_rows_function(&t, at, &start, &length) && (at < start || at - start >= length))
            abort();
    }
    for (uint64_t pc = 0x1000; pc < 0x1100; pc += 17)
        walk(&t, arch, pc);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct cfi_segment segment = { .addr = CODE, .offset = 0x1000, .size = SPAN };
    struct cfi_input in = {
        .segments = &segment, .n_segments = 1, .text_addr = CODE, .data_addr = FRAME, .entry = CODE + SPAN / 2
    };
    void *blob;
    size_t n;

    if (!size)
        return 0;
    in.arch = data[0] & 1 ? UNWIND_ARCH_ARM64 : UNWIND_ARCH_X86_64;
    if (data[0] & 2)
        in.debug_frame = (struct cfi_section){ data + 1, size - 1, 0 };
    if (!(data[0] & 2) || data[0] & 8)
        in.eh_frame = (struct cfi_section){ data + 1, size - 1, FRAME };
    if (data[0] & 4)
        segment.addr = 0;
    if (data[0] & 32)
        segment.size = UINT32_MAX;
    if (data[0] & 16)
        in.code = (struct cfi_section){ data + 1, size - 1, segment.addr };
    if (!cfi_compile(&in, &blob, &n, NULL))
        return 0;
    use(blob, n, in.arch);
    mem_free(blob);
    return 0;
}
