// SPDX-License-Identifier: GPL-2.0-or-later
#include "unwind/cfi.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "unwind/cfiread.h"
#include "unwind/cfirow.h"
#include "unwind/coderows.h"
#include "unwind/gorows.h"

#define FUNCTIONS_MAX (8u << 20)
#define FROM_DEBUG    0x80000000u
#define FROM_GO       0x40000000u
/* Bytes from a program's entry point to its first call. */
#define ENTRY_MAX 128
/* Bytes between the syscall in clone() and the code of its child. */
#define CLONE_MAX 64

struct function {
    uint64_t start; /* offset in the module */
    uint32_t size;
    /* Offset of its FDE, with FROM_DEBUG in .debug_frame. FROM_GO: index in Go's function table. */
    uint32_t fde;
};

struct compiler {
    const struct cfi_input *in;
    const struct unwind_abi *abi;
    struct cfi_reader readers[2]; /* .eh_frame, .debug_frame */
    struct function *functions;
    size_t n, cap;
    struct rowbuild rows;
    uint32_t none; /* number of the entry without information */
    /* The function that is being run. */
    const struct function *now;
    struct cfi_states *states;
    uint64_t covered;      /* rows are complete below this offset */
    const uint64_t *named; /* sorted function starts, from in->functions */
    size_t n_named;
    bool asked;              /* in->functions was called */
    uint64_t code, code_end; /* offsets of in->code */
    uint64_t entry;          /* offset of in->entry */
    bool has_entry;          /* entry is valid */
    bool signal, begun;
};

/* Converts an address to an offset in the module. Limits *size to the segment that contains addr. */
static bool location(const struct cfi_input *in, uint64_t addr, uint64_t *size, uint64_t *offset)
{
    for (size_t i = 0; i < in->n_segments; i++) {
        const struct cfi_segment *s = &in->segments[i];
        uint64_t into = addr - s->addr;
        if (addr < s->addr || into >= s->size)
            continue;
        if (*size > s->size - into)
            *size = s->size - into;
        *offset = s->offset + into;
        return *offset >= into && *offset <= UINT64_MAX - *size;
    }
    return false;
}

static bool add_function(struct compiler *k, const struct cfi_fde *f, uint32_t at)
{
    uint64_t size = f->size, offset;

    /* Linkers leave the FDEs of dropped functions at address 0. */
    if (((at & FROM_DEBUG) && !f->begin) || !location(k->in, f->begin, &size, &offset))
        return true;
    if (k->n == FUNCTIONS_MAX || !MEM_TRY_GROW(k->functions, k->cap, k->n + 1))
        return false;
    k->functions[k->n++] = (struct function){ offset, size < UINT32_MAX ? (uint32_t)size : UINT32_MAX, at };
    return true;
}

static void find_functions(struct compiler *k, bool debug)
{
    struct cfi_reader *r = &k->readers[debug];
    struct cfi_fde f;
    size_t at = 0, next = 0;
    bool is_fde, room = true;

    cfi_reader_of(r, k->in, debug);
    for (; room && cfi_read(r, &next, &f, &is_fde); at = next)
        if (is_fde)
            room = add_function(k, &f, (uint32_t)at | (debug ? FROM_DEBUG : 0));
}

static void find_go_functions(struct compiler *k)
{
    struct cfi_fde f = { 0 };
    uint64_t end;

    for (uint64_t i = 0; k->in->go && i < k->in->go->table->n; i++)
        if (gorows_range(k->in->go, i, &f.begin, &end)) {
            f.size = end - f.begin;
            if (!add_function(k, &f, (uint32_t)i | FROM_GO))
                return;
        }
}

/* Orders functions by start. Of equal ones, .eh_frame comes first, because the program itself unwinds by
 * it. */
static int compare(const void *a, const void *b)
{
    const struct function *x = a, *y = b;

    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    return x->fde < y->fde ? -1 : x->fde > y->fde;
}

static void sort_functions(struct compiler *k)
{
    size_t i;

    for (i = 1; i < k->n && compare(&k->functions[i - 1], &k->functions[i]) <= 0; i++)
        ;
    if (i < k->n)
        qsort(k->functions, k->n, sizeof *k->functions, compare);
}

/* Adds a row. It starts after the rows of earlier functions if they overlap. */
static void add_row(struct compiler *k, uint64_t at, uint32_t entry)
{
    uint64_t offset = k->now->start + at;

    rowbuild_add_number(&k->rows, offset < k->covered ? k->covered : offset, entry, !k->begun);
    k->begun = true;
}

/* Gets the number of a state's entry. Returns false if there is no room for one more. */
static bool entry_of(struct compiler *k, struct cfi_known *known, uint32_t *number)
{
    uint32_t *kept = &known->entry[k->signal];
    struct unwind_entry entry;

    if (!*kept) {
        cfi_row(&k->rows, k->abi, k->signal, &known->state, &entry);
        if (!rowbuild_number(&k->rows, &entry, number))
            return false;
        *kept = *number + 1;
    }
    *number = *kept - 1;
    return true;
}

static void advance(void *ctx, uint64_t at, uint32_t state)
{
    struct compiler *k = ctx;
    uint32_t number;

    if (at >= k->now->size || k->rows.full)
        return;
    if (entry_of(k, cfi_states_at(k->states, state), &number))
        add_row(k, at, number);
    else
        rowbuild_stop(&k->rows);
}

static void add_go_row(void *ctx, uint64_t at, const struct unwind_entry *entry)
{
    struct compiler *k = ctx;
    uint32_t number;

    if (at >= k->now->size || k->rows.full)
        return;
    if (rowbuild_number(&k->rows, entry, &number))
        add_row(k, at, number);
    else
        rowbuild_stop(&k->rows);
}

static void run_go_function(struct compiler *k, const struct function *now)
{
    k->now = now;
    k->begun = false;
    gorows_add(k->in->go, now->fde & ~FROM_GO, add_go_row, k);
}

static void run_function(struct compiler *k, const struct function *now)
{
    struct cfi_reader *r = &k->readers[now->fde & FROM_DEBUG ? 1 : 0];
    struct cfi_run run;
    struct cfi_fde f;
    size_t at = now->fde & ~FROM_DEBUG;
    bool is_fde;

    if (!cfi_read(r, &at, &f, &is_fde) || !is_fde)
        return;
    k->now = now;
    k->states = &r->states;
    k->signal = f.cie->signal;
    k->begun = false;
    run.advance = advance;
    run.ctx = k;
    if (!cfi_run_fde(r, &f, &run))
        add_row(k, run.at < now->size ? run.at : 0, k->none);
}

static bool is_system_call(const struct compiler *k, uint64_t offset)
{
    static const uint8_t syscall[] = { 0x0f, 0x05 }, svc[] = { 0x01, 0x00, 0x00, 0xd4 };
    const uint8_t *call = k->in->arch == UNWIND_ARCH_ARM64 ? svc : syscall;
    size_t n = k->in->arch == UNWIND_ARCH_ARM64 ? sizeof svc : sizeof syscall;

    return offset >= k->code && offset < k->code_end && k->code_end - offset >= n &&
           !memcmp((const uint8_t *)k->in->code.bytes + (offset - k->code), call, n);
}

/* Returns the entry for the code after a function. In glibc's clone() and clone3(), the table ends at
 * the syscall, because it returns in the child on another stack. For the caller nothing has changed, and
 * it may stay there for long: creating threads, or waiting in vfork(). */
static uint32_t gap_entry(struct compiler *k, uint64_t end)
{
    struct unwind_entry entry;
    uint32_t number;

    if (!k->rows.n || end - k->covered > CLONE_MAX || !is_system_call(k, k->covered))
        return k->none;
    entry = *rowbuild_last(&k->rows);
    if (entry.kind != UNWIND_ROW_SP || entry.flags & UNWIND_ENTRY_FP_SAVED)
        return k->none;
    entry.flags |= UNWIND_ENTRY_CLONE;
    if (rowbuild_number(&k->rows, &entry, &number))
        return number;
    rowbuild_stop(&k->rows);
    return k->none;
}

static void deduce_rows(struct compiler *k, const uint8_t *code, uint64_t offset, uint64_t size)
{
    struct coderows_input in = { .code = code, .size = size, .offset = offset };

    if (!k->asked && k->in->functions)
        k->n_named = k->in->functions(k->in->functions_ctx, &k->named);
    k->asked = true;
    in.functions = k->named;
    in.n_functions = k->n_named;
    coderows_add(&in, &k->rows, k->none);
}

/* Deduces rows for [from, end) from the code, if that is available. */
static void deduce(struct compiler *k, uint64_t from, uint64_t end)
{
    for (size_t i = 0; i < k->in->n_segments; i++) {
        const struct cfi_segment *s = &k->in->segments[i];
        uint64_t begin = from > s->offset ? from : s->offset;
        uint64_t limit = end < s->offset + s->size ? end : s->offset + s->size;
        if (k->in->arch == UNWIND_ARCH_X86_64 && s->bytes && begin < limit && limit - begin >= CODEROWS_LEAST)
            deduce_rows(k, s->bytes + (begin - s->offset), begin, limit - begin);
    }
}

/* Adds a root row for the entry point of a program or of the dynamic linker. It was not called, and it
 * usually has no table. */
static void add_entry_point(struct compiler *k, uint64_t end)
{
    struct unwind_entry root;

    rowbuild_none(&root);
    root.kind = UNWIND_ROW_END;
    rowbuild_add(&k->rows, k->entry, &root, true);
    rowbuild_add_number(&k->rows, end, k->none, false);
}

/* Adds rows from k->covered to the end of a gap. While the kernel removes a signal frame, the pc is
 * already past the last instruction of the trampoline; so the signal row covers one byte more. */
static void add_gap(struct compiler *k, uint64_t end)
{
    bool signal = k->rows.n && rowbuild_last(&k->rows)->kind == UNWIND_ROW_SIGNAL;
    uint64_t from = k->covered + signal, entry_end;

    if (k->rows.n)
        rowbuild_add_number(&k->rows, from, signal ? k->none : gap_entry(k, end), false);
    if (k->has_entry && k->entry >= from && k->entry < end) {
        entry_end = end - k->entry > ENTRY_MAX ? k->entry + ENTRY_MAX : end;
        deduce(k, from, k->entry);
        add_entry_point(k, entry_end);
        from = entry_end;
    }
    deduce(k, from, end);
}

static void find_code(struct compiler *k)
{
    uint64_t size = k->in->code.size;

    if (k->in->code.bytes && location(k->in, k->in->code.addr, &size, &k->code))
        k->code_end = k->code + size;
}

/* Finds the entry point. One that is more than 4 GB from the other code is ignored, because row offsets
 * have 32 bits. */
static void find_entry(struct compiler *k)
{
    uint64_t size = 1;

    k->has_entry =
        k->in->entry && location(k->in, k->in->entry, &size, &k->entry) &&
        (!k->n || ((k->entry < k->functions[0].start || k->entry - k->functions[0].start <= UINT32_MAX) &&
                   (k->entry > k->functions[k->n - 1].start ||
                    k->functions[k->n - 1].start - k->entry <= UINT32_MAX)));
}

static void make_rows(struct compiler *k)
{
    struct unwind_entry none;

    rowbuild_none(&none);
    if (!rowbuild_number(&k->rows, &none, &k->none))
        rowbuild_stop(&k->rows);
    for (size_t i = 0; i < k->n && !k->rows.full; i++) {
        const struct function *f = &k->functions[i];
        if (f->start + f->size <= k->covered)
            continue;
        if (f->start > k->covered)
            add_gap(k, f->start);
        if (k->in->go && f->fde & FROM_GO && !(f->fde & FROM_DEBUG))
            run_go_function(k, f);
        else
            run_function(k, f);
        k->covered = f->start + f->size;
    }
    add_gap(k, UINT64_MAX);
}

bool cfi_compile(const struct cfi_input *in, void **blob, size_t *size, struct error *e)
{
    struct compiler *k;
    bool ok;

    if (!unwind_arch_abi(in->arch))
        return error_set(e, ERROR_UNSUPPORTED, "unwinding is not supported on this architecture");
    k = mem_zalloc(sizeof *k);
    k->in = in;
    k->abi = unwind_arch_abi(in->arch);
    find_functions(k, false);
    find_functions(k, true);
    find_go_functions(k);
    sort_functions(k);
    find_code(k);
    find_entry(k);
    make_rows(k);
    if (!k->n && k->rows.n_entries <= 1)
        k->rows.n = 0; /* only entries without information */
    ok = rowbuild_finish(&k->rows, in->arch, in->build_id, in->build_id_size, blob, size, e);
    rowbuild_done(&k->rows);
    cfi_reader_done(&k->readers[0]);
    cfi_reader_done(&k->readers[1]);
    mem_free(k->functions);
    mem_free(k);
    return ok;
}
