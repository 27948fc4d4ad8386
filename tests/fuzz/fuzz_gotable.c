// SPDX-License-Identifier: GPL-2.0-or-later
/* Fuzzes the function table of Go programs and the rows made from it: any bytes give an error or rows that
 * can be used to unwind, also those of one address in a program's memory, and readable lines and inlined
 * functions. The input is a byte with the size of the code in units of 16 bytes, the code, then the table. The
 * code is also used as the table of inlined calls. */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "symbols/golines.h"
#include "unwind/cfi.h"
#include "unwind/gorows.h"
#include "unwind/remote_go.h"
#include "../unit/unwind_row.h"
#include "unwind/unwind.h"

#define STACK  UINT64_C(0xc000010000)
#define CODE   UINT64_C(0x401000)
#define OFFSET UINT64_C(0x1000)
#define SPAN   UINT64_C(0x10000)
#define TABLE  UINT64_C(0x800000)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool find(void *ctx, uint64_t addr, struct unwind_location *out)
{
    *out = (struct unwind_location){ .offset = addr - CODE + OFFSET, .rows = ctx };
    return addr - CODE < SPAN;
}

static void walk(struct unwind_rows *t, uint64_t pc)
{
    static uint64_t stack[512];
    struct unwind_source source = { .ctx = t, .find = find };
    struct unwind_input in = { .arch = UNWIND_ARCH_X86_64,
                               .stack = (const uint8_t *)stack,
                               .stack_bytes = sizeof stack };
    struct unwind_frame frames[64];
    enum unwind_end end;

    for (unsigned i = 0; i < 512; i++)
        stack[i] = i % 3 ? STACK + i * 37 % 4096 : CODE + i * 97 % 0x1000;
    in.regs.known = ~UINT64_C(0);
    in.regs.r[7] = in.regs.sp = STACK;
    in.regs.r[6] = in.regs.fp = STACK + 64;
    in.regs.pc = pc;
    if (unwind_stack(&in, &source, frames, 64, &end) > 64)
        abort();
}

static void use(const void *blob, size_t size)
{
    struct unwind_rows t;
    const struct unwind_entry *entry;
    uint64_t start, length;

    if (!unwind_rows_view(&t, blob, size, NULL) || !unwind_rows_count(&t))
        abort();
    for (uint64_t at = OFFSET; at < OFFSET + 0x1000; at += 13) {
        if ((entry = unwind_rows_entry(&t, at)) && !unwind_entry_is_valid(&t, entry))
            abort();
        if (unwind_rows_function(&t, at, &start, &length) && (at < start || at - start >= length))
            abort();
    }
    for (uint64_t pc = CODE; pc < CODE + 0x1000; pc += 61)
        walk(&t, pc);
}

static void check_functions(const struct gotable *t)
{
    struct gotable_function f;

    for (uint64_t i = 0; i < t->n && i < 4096; i++)
        if (gotable_function(t, i, &f) && (f.end <= f.entry || memchr(f.name, 0, f.name_n)))
            abort();
}

/* The result is readable and contains the address. */
static void check_place(const struct lines_location *place, uint64_t address)
{
    size_t n = place->file ? strlen(place->file) : 0;

    if (place->n > LINES_DEPTH_MAX || address < place->low || address >= place->high)
        abort();
    for (uint32_t i = 0; i < place->n; i++) {
        n += place->inlined[i].name ? strlen(place->inlined[i].name) : 0;
        n += place->inlined[i].file ? strlen(place->inlined[i].file) : 0;
    }
    if (n > (size_t)(2 * LINES_DEPTH_MAX + 1) * 4096)
        abort();
}

static void check_lines(const struct golines *g)
{
    static struct lines_location place;
    struct gotable_function f;
    enum lines_find_result result;

    for (uint64_t i = 0; i < g->table.n && i < 64; i++) {
        if (!gotable_function(&g->table, i, &f))
            continue;
        for (uint64_t at = f.entry; at < f.end && at - f.entry < 512; at += 7) {
            result = golines_find(g, at, false, clock_now_ns() + NS_PER_SEC / 100, &place);
            if (result != LINES_FIND_DONE && result != LINES_FIND_LATE)
                abort();
            check_place(&place, at);
        }
    }
}

struct memory {
    const uint8_t *bytes;
    size_t size;
};

/* The code is at CODE, as in the rows, and the table at TABLE. */
static bool read_memory(void *ctx, uint64_t address, void *to, size_t n)
{
    const struct memory *m = ctx;
    uint64_t into = address - (address < TABLE ? CODE : TABLE);

    if (into > m->size || n > m->size - into)
        return false;
    memcpy(to, m->bytes + into, n);
    return true;
}

static void check_memory(const uint8_t *table, size_t size)
{
    struct memory m = { table, size };
    struct remote_go *go = remote_go_find(read_memory, &m, TABLE, TABLE + size, CODE, CODE + SPAN);
    struct unwind_entry entry;

    for (uint64_t at = CODE; go && at < CODE + 0x1000; at += 61)
        if (remote_go_row(go, read_memory, &m, at, &entry) && entry.kind > UNWIND_ROW_SWITCH)
            abort();
    if (go)
        remote_go_free(go);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct golines lines;
    struct cfi_segment segment = { .addr = CODE, .offset = OFFSET, .size = SPAN };
    struct gotable table;
    struct gorows go;
    struct cfi_input in = { .arch = UNWIND_ARCH_X86_64, .segments = &segment, .n_segments = 1, .go = &go };
    size_t code = size ? (size_t)data[0] * 16 : 0, n;
    void *blob;

    if (!size || size - 1 < code)
        return 0;
    if (size - 1 - code >= GOTABLE_HEADER_MIN)
        gotable_is_header(data + 1 + code);
    if (!gotable_open(&table, data + 1 + code, size - 1 - code))
        return 0;
    check_functions(&table);
    check_memory(data + 1 + code, size - 1 - code);
    lines = (struct golines){ .table = table, .calls = data + 1, .calls_n = code };
    if (table.has_lines)
        check_lines(&lines);
    gorows_begin(&go, &table);
    go.code = data + 1;
    go.code_size = code;
    go.code_addr = CODE;
    if (!cfi_compile(&in, &blob, &n, NULL))
        return 0;
    use(blob, n);
    mem_free(blob);
    return 0;
}
