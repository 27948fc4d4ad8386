// SPDX-License-Identifier: GPL-2.0-or-later
/* Fuzzes the reader of unwind tables and the unwinder, from stack to stack too: no blob, registers, dump,
 * callchain or memory of another stack leads outside. The input is a u16 size, a blob of that size, the
 * registers of the first frame, then the dump, whose words are also the callchain and the other stack. */
#include <stdlib.h>
#include <string.h>

#include "../unit/unwind_row.h"
#include "base/mem.h"
#include "unwind/expression.h"
#include "unwind/rowformat.h"
#include "unwind/unwind.h"

#define STACK UINT64_C(0x7fff0000)
#define REGS  34

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct source {
    struct unwind_rows *rows;
    const uint8_t *stack;
    size_t stack_bytes;
};

static bool find(void *ctx, uint64_t addr, struct unwind_location *out)
{
    struct source *s = ctx;

    *out = (struct unwind_location){ .offset = addr & 0xffff,
                                     .rows = addr & 0x10000 ? NULL : s->rows,
                                     .jit = addr & 0x20000 };
    return addr < 0x80000;
}

static enum unwind_call called(void *ctx, uint64_t back, uint64_t callee)
{
    (void)ctx;
    return (back ^ callee) % 8 ? UNWIND_CALL_PROVEN : (enum unwind_call)(back % 4);
}

static enum unwind_call between(void *ctx, uint64_t back, uint64_t callee, uint64_t *out)
{
    *out = back ^ (callee & 0xff);
    return called(ctx, back, callee);
}

static enum unwind_call other(void *ctx, uint64_t at, struct unwind_memory *out)
{
    const struct source *s = ctx;

    *out = (struct unwind_memory){ .bytes = s->stack, .size = s->stack_bytes, .base = at - (at & 0x78) };
    return at % 3 ? UNWIND_CALL_PROVEN : UNWIND_CALL_REFUTED;
}

static bool again(void *ctx, uint64_t at)
{
    (void)ctx;
    return at & 8;
}

static bool believe(void *ctx, uint64_t fp, uint64_t function, const struct unwind_frame *frames, uint32_t n)
{
    (void)ctx;
    (void)function;
    (void)frames;
    return fp & 16 && n > 1;
}

static void walk(struct unwind_rows *t, enum unwind_arch arch, const uint8_t *data, size_t size)
{
    struct source s = { .rows = t };
    struct unwind_source source = { .ctx = &s,
                                    .find = find,
                                    .called = called,
                                    .between = between,
                                    .other = other,
                                    .again = again,
                                    .believe = believe };
    struct unwind_input in = { .arch = arch };
    struct unwind_frame frames[64];
    enum unwind_end end;
    uint64_t regs[REGS] = { 0 };
    size_t n = size < sizeof regs ? size : sizeof regs;
    uint8_t *stack = mem_alloc(size - n);

    memcpy(regs, data, n);
    memcpy(stack, data + n, size - n);
    unwind_arch_take_regs(arch, regs, unwind_arch_regs_mask(arch), false, &in.regs);
    in.stack = s.stack = stack;
    in.stack_bytes = s.stack_bytes = size - n;
    in.chain = stack;
    in.n_chain = (uint32_t)(in.stack_bytes / 8);
    in.swap = size & 1;
    if (unwind_stack(&in, &source, frames, 64, &end) > 64 || end > UNWIND_UNPROVEN)
        abort();
    in.regs.sp = STACK; /* the usual case */
    in.regs.pc &= 0xffff;
    if (unwind_stack(&in, &source, frames, 64, &end) > 64 || end > UNWIND_UNPROVEN)
        abort();
    source.called = NULL;
    source.other = NULL;
    if (unwind_stack(&in, &source, frames, 64, &end) > 64 || end > UNWIND_UNPROVEN)
        abort();
    source.called = called;
    if (unwind_stack_32(&in, &source, frames, 64, &end) > 64 || end > UNWIND_UNPROVEN)
        abort();
    mem_free(stack);
}

static void look_up(const struct unwind_rows *t)
{
    const struct unwind_entry *entry;
    uint64_t start, length;
    uint8_t id[20];

    if (unwind_rows_build_id(t, id) > sizeof id)
        abort();
    for (uint64_t at = t->header->base - 1, i = 0; i < 60; i++, at += 1 + i) {
        if ((entry = unwind_rows_entry(t, at)) && !unwind_entry_is_inside(t, entry))
            abort();
        if (unwind_rows_function(t, at, &start, &length) && !length)
            abort();
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
    blob = mem_alloc(n); /* exact size, and aligned like a mapping */
    memcpy(blob, data, n);
    if (unwind_rows_view(&t, blob, n, NULL))
        look_up(&t);
    walk(&t, UNWIND_ARCH_X86_64, data + n, size - n);
    walk(&t, UNWIND_ARCH_ARM64, data + n, size - n);
    mem_free(blob);
    return 0;
}
