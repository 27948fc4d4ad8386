// SPDX-License-Identifier: GPL-2.0-or-later
/* Fuzzes machine code without unwind tables: any bytes give valid rows and calls. The first byte selects the
 * machine. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "unwind/calls.h"
#include "unwind/coderows.h"
#include "../unit/unwind_row.h"
#include "unwind/x86.h"

#define OFFSET UINT64_C(0x1000)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static size_t functions(void *ctx, const uint64_t **list)
{
    static const uint64_t named[] = { 0, OFFSET, OFFSET + 1, OFFSET + 64, UINT64_MAX };

    (void)ctx;
    *list = named;
    return sizeof named / sizeof *named;
}

static void use_rows(const struct cfi_segment *segment)
{
    struct cfi_input in = {
        .arch = UNWIND_ARCH_X86_64, .segments = segment, .n_segments = 1, .functions = functions
    };
    struct unwind_rows t;
    const struct unwind_entry *entry;
    void *blob;
    size_t n;

    if (!cfi_compile(&in, &blob, &n, NULL))
        return;
    if (!unwind_rows_view(&t, blob, n, NULL))
        abort();
    for (uint64_t at = OFFSET; at < OFFSET + segment->size; at++)
        if ((entry = unwind_rows_entry(&t, at)) && !unwind_entry_is_valid(&t, entry))
            abort();
    mem_free(blob);
}

static void use_calls(const struct cfi_segment *segment, enum calls_machine machine)
{
    struct calls_input in = { .machine = machine, .segments = segment, .n_segments = 1 };
    struct calls c;
    void *blob;
    size_t n;

    in.n_functions = functions(NULL, &in.functions);
    if (!calls_build(&in, &blob, &n, NULL))
        return;
    if (!calls_view(&c, blob, n, NULL))
        abort();
    for (uint64_t back = OFFSET - 1; back <= OFFSET + segment->size; back++)
        if (calls_lead(&c, back, OFFSET + segment->size / 2) && !c.header->n_calls)
            abort();
    mem_free(blob);
}

/* Analyses code of a process of which only the location of a thread is known. */
static void use_ahead(const uint8_t *code, size_t size)
{
    struct unwind_rows t;
    const struct unwind_entry *entry;
    void *blob;
    size_t n;

    for (size_t at = 0; at < size; at += 1 + at / 8) {
        const struct codeahead_input in = { code, size, OFFSET, OFFSET + at, at & 1 };
        x86_call_ends(code, at, true);
        if (!coderows_build_ahead(&in, 1, &blob, &n, NULL))
            continue;
        if (!unwind_rows_view(&t, blob, n, NULL))
            abort();
        if ((entry = unwind_rows_entry(&t, OFFSET + at)) && entry->kind != UNWIND_ROW_NONE &&
            entry->kind != UNWIND_ROW_SP && entry->kind != UNWIND_ROW_FP)
            abort();
        mem_free(blob);
    }
}

/* Reads what the worker of a hostile file may reply. */
static void use_blob(const uint8_t *data, size_t size)
{
    struct calls c;
    void *copy = mem_alloc(size ? size : 1);

    memcpy(copy, data, size);
    if (calls_view(&c, copy, size, NULL))
        for (uint64_t at = 0; at < 256; at++)
            (void)(calls_lead(&c, c.header->base + at, at & 1 ? CALLS_ELSEWHERE : c.header->base + at / 2) ||
                   calls_reach(&c, c.header->base + at, at & 1 ? CALLS_ELSEWHERE : c.header->base + at / 2));
    mem_free(copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct cfi_segment segment = { .addr = OFFSET, .offset = OFFSET, .size = size - 1, .bytes = data + 1 };

    if (size < 2)
        return 0;
    use_rows(&segment);
    use_ahead(data + 1, size - 1);
    use_calls(&segment, (enum calls_machine)(data[0] % 3));
    use_blob(data + 1, size - 1);
    return 0;
}
