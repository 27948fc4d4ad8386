// SPDX-License-Identifier: GPL-2.0-or-later
/* The reader of unwind tables and the walk by them: no blob, no registers and no dump lead outside. The input: u16 size of
 * the blob, the blob, then the registers that the walk begins with, then the dump. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "unwind/rowformat.h"
#include "unwind/walk.h"

#define STACK UINT64_C(0x7fff0000)
#define REGS  34

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool find(void *ctx, uint64_t addr, struct unwind_place *out)
{
    *out = (struct unwind_place){ .offset = addr & 0xffff, .rows = addr & 0x10000 ? NULL : ctx, .jit = addr & 0x20000 };
    return addr < 0x80000;
}

static void walk(struct unwind_rows *t, enum unwind_arch arch, const uint8_t *data, size_t size)
{
    struct unwind_source source = { .ctx = t, .find = find };
    struct unwind_input in = { .arch = arch };
    struct unwind_frame frames[64];
    enum unwind_end end;
    uint64_t regs[REGS] = { 0 };
    size_t n = size < sizeof regs ? size : sizeof regs;
    uint8_t *stack = mem_alloc(size - n);

    memcpy(regs, data, n);
    memcpy(stack, data + n, size - n);
    unwind_arch_take_regs(arch, regs, unwind_arch_regs_mask(arch), false, &in.regs);
    in.stack = stack;
    in.stack_bytes = size - n;
    in.swap = size & 1;
    if (unwind_walk(&in, &source, frames, 64, &end) > 64 || end > UNWIND_UNPROVEN)
        abort();
    in.regs.sp = STACK; /* as it would be, mostly */
    in.regs.pc &= 0xffff;
    if (unwind_walk(&in, &source, frames, 64, &end) > 64 || end > UNWIND_UNPROVEN)
        abort();
    mem_free(stack);
}

static void look_up(const struct unwind_rows *t)
{
    struct unwind_row row;
    uint64_t start, length;
    uint8_t id[20];

    if (unwind_rows_build_id(t, id) > sizeof id)
        abort();
    for (uint64_t at = t->header->base - 1, i = 0; i < 60; i++, at += 1 + i) {
        if (unwind_rows_find(t, at, &row) && (row.kind > UNWIND_ROW_SWITCH || row.ra_register >= UNWIND_REGS_MAX))
            abort();
        unwind_rows_function(t, at, &start, &length);
    }
    unwind_rows_function(t, UINT64_MAX, &start, &length);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct unwind_rows t;
    uint16_t n;
    void *blob;

    if (size < sizeof n)
        return 0;
    memcpy(&n, data, sizeof n);
    data += sizeof n;
    size -= sizeof n;
    n = n < size ? n : (uint16_t)size;
    blob = mem_alloc(n); /* of just this size, and aligned as a mapping is */
    memcpy(blob, data, n);
    if (unwind_rows_view(&t, blob, n, NULL))
        look_up(&t);
    walk(&t, UNWIND_ARCH_X86_64, data + n, size - n);
    walk(&t, UNWIND_ARCH_ARM64, data + n, size - n);
    mem_free(blob);
    return 0;
}
