// SPDX-License-Identifier: GPL-2.0-or-later
/* Builds a module's call table.
 *
 * Decodes the code for the targets of calls, which are function starts, and then once more for the jumps
 * that leave a function. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "unwind/callsformat.h"
#include "unwind/x86.h"

#define NUMBERS_MAX (16u << 20)           /* of each kind */
#define CODE_MAX    (UINT64_C(512) << 20) /* bytes */

struct pair {
    uint32_t a, b;
};
struct pairs {
    struct pair *list;
    size_t n, cap;
};
struct builder {
    const struct calls_input *in;
    uint64_t base;
    /* calls: return address and target; jumps: function and target. */
    struct pairs calls, jumps;
    struct pairs functions; /* b is 0 */
    /* Function starts found by calls, not yet in `functions`. */
    struct pairs called;
    size_t now; /* functions that begin at or before the current code */
    bool full;
};

static void add(struct builder *k, struct pairs *to, uint64_t a, uint64_t b)
{
    if (to->n < NUMBERS_MAX && MEM_TRY_GROW(to->list, to->cap, to->n + 1))
        to->list[to->n++] = (struct pair){ (uint32_t)a, (uint32_t)b };
    else
        k->full = true;
}

/* Returns the offset relative to the base, or CALLS_ANYWHERE if it is not in the module's code. */
static uint64_t number_of(const struct builder *k, uint64_t offset)
{
    for (size_t i = 0; i < k->in->n_segments; i++)
        if (offset - k->in->segments[i].offset < k->in->segments[i].size)
            return offset - k->base;
    return CALLS_ANYWHERE;
}

static int64_t signed_bits(uint32_t word, unsigned low, unsigned n)
{
    return (int64_t)(int32_t)(word << (32 - low - n)) >> (32 - n);
}

/* Decodes an arm64 branch; `value` is relative to its end, as for x86. Source: Arm Architecture
 * Reference Manual, C4.1 (branches). */
static bool decode_arm64(const uint8_t *p, size_t n, struct x86_insn *out)
{
    uint32_t w;

    *out = (struct x86_insn){ .size = 4, .kind = X86_OTHER };
    if (n < 4)
        return false;
    memcpy(&w, p, sizeof w);
    if ((w & 0x7c000000) == 0x14000000) {
        out->kind = w >> 31 ? X86_CALL : X86_JUMP;
        out->value = signed_bits(w, 0, 26) * 4 - 4;
    } else if ((w & 0xff000010) == 0x54000000 || (w & 0x7e000000) == 0x34000000) {
        out->kind = X86_BRANCH;
        out->value = signed_bits(w, 5, 19) * 4 - 4;
    } else if ((w & 0x7e000000) == 0x36000000) {
        out->kind = X86_BRANCH;
        out->value = signed_bits(w, 5, 14) * 4 - 4;
    } else if ((w & 0xfe000000) == 0xd6000000) { /* branch to a register, perhaps authenticated */
        unsigned kind = w >> 21 & 3;
        out->kind = kind == 0 ? X86_JUMP_INDIRECT : kind == 1 ? X86_CALL_INDIRECT : X86_RETURN;
    } else if ((w & 0xffe00000) == 0xd4200000 || w >> 16 == 0) {
        out->kind = X86_TRAP;
    }
    return true;
}

static bool decode(const struct builder *k, const uint8_t *p, size_t n, struct x86_insn *out)
{
    if (k->in->machine == CALLS_ARM64)
        return decode_arm64(p, n, out);
    return x86_decode(p, n, k->in->machine == CALLS_X86_64, out);
}

struct pass {
    void (*take)(struct builder *k, uint64_t offset, const struct x86_insn *insn);
    /* Called if a function falls through into the next one. NULL: not needed. */
    void (*leave)(struct builder *k, uint64_t end);
};

static bool goes_on(const struct x86_insn *insn)
{
    return insn->kind != X86_JUMP && insn->kind != X86_JUMP_INDIRECT && insn->kind != X86_RETURN &&
           insn->kind != X86_TRAP;
}

/* Returns true for padding after a function: zeros, or a nop. */
static bool is_filler(const uint8_t *p, size_t n)
{
    while (n > 1 && (*p == 0x66 || *p == 0x2e))
        p++, n--;
    return *p == 0x90 || (n > 1 && (p[0] << 8 | p[1]) == 0x0f1f) || (n > 1 && !p[0] && !p[1]);
}

static void decode_function(struct builder *k, const struct pass *pass, const struct cfi_segment *s,
                            uint64_t at, uint64_t end)
{
    struct x86_insn insn;
    bool on = true;

    while (at < end) {
        const uint8_t *p = s->bytes + (at - s->offset);
        if (decode(k, p, (size_t)(end - at), &insn)) {
            pass->take(k, at, &insn);
            at += insn.size;
            on = goes_on(&insn) && (on || !is_filler(p, insn.size));
        } else {
            at++;
            on = true;
        }
    }
    if (on && pass->leave)
        pass->leave(k, end);
}

/* Decodes all code of a segment, restarting at each function start. */
static void decode_segment(struct builder *k, const struct pass *pass, const struct cfi_segment *s)
{
    uint64_t end = s->offset + s->size, next;

    k->now = 0;
    while (k->now < k->functions.n && k->base + k->functions.list[k->now].a <= s->offset)
        k->now++;
    for (uint64_t at = s->offset; at < end && !k->full; at = next) {
        next = k->now < k->functions.n ? k->base + k->functions.list[k->now].a : end;
        next = next < end ? next : end;
        decode_function(k, pass, s, at, next);
        k->now++;
    }
}

static void decode_all(struct builder *k, const struct pass *pass)
{
    for (size_t i = 0; i < k->in->n_segments; i++)
        if (k->in->segments[i].bytes)
            decode_segment(k, pass, &k->in->segments[i]);
}

static void take_call(struct builder *k, uint64_t offset, const struct x86_insn *insn)
{
    uint64_t next = offset + insn->size, target;

    if (insn->kind == X86_CALL_INDIRECT) {
        add(k, &k->calls, next - k->base, CALLS_ANYWHERE);
    } else if (insn->kind == X86_CALL) {
        target = number_of(k, next + (uint64_t)insn->value);
        add(k, &k->calls, next - k->base, target);
        if (target != CALLS_ANYWHERE && insn->value) /* a call of the next instruction only reads rip */
            add(k, &k->called, target, 0);
    }
}

/* Gets the bounds of the function that is being decoded. Returns false if no function begins before this
 * code. */
static bool bounds(const struct builder *k, uint64_t *function, uint64_t *end)
{
    if (!k->now)
        return false;
    *function = k->functions.list[k->now - 1].a;
    *end = k->now < k->functions.n ? k->functions.list[k->now].a : CALLS_ANYWHERE;
    return true;
}

static void take_jump(struct builder *k, uint64_t offset, const struct x86_insn *insn)
{
    uint64_t function, end, target;

    if (!bounds(k, &function, &end))
        return;
    if (insn->kind == X86_JUMP_INDIRECT) {
        add(k, &k->jumps, function, CALLS_ANYWHERE);
    } else if (insn->kind == X86_JUMP || insn->kind == X86_BRANCH) {
        target = number_of(k, offset + insn->size + (uint64_t)insn->value);
        if (target < function || target >= end)
            add(k, &k->jumps, function, target);
    }
}

static void take_end(struct builder *k, uint64_t end)
{
    uint64_t function, next;

    if (bounds(k, &function, &next) && end - k->base == next)
        add(k, &k->jumps, function, next);
}

static int compare(const void *a, const void *b)
{
    const struct pair *x = a, *y = b;

    if (x->a != y->a)
        return x->a < y->a ? -1 : 1;
    return x->b < y->b ? -1 : x->b > y->b;
}

static void sort(struct pairs *p)
{
    size_t n = 0;

    if (p->n)
        qsort(p->list, p->n, sizeof *p->list, compare);
    for (size_t i = 0; i < p->n; i++)
        if (!n || compare(&p->list[n - 1], &p->list[i]))
            p->list[n++] = p->list[i];
    p->n = n;
}

static uint32_t *write_column(uint32_t *to, const struct pairs *p, bool second)
{
    for (size_t i = 0; i < p->n; i++)
        to[i] = second ? p->list[i].b : p->list[i].a;
    return to + p->n;
}

static bool write_blob(const struct builder *k, void **blob, size_t *size, struct error *e)
{
    struct calls_header h = { .magic = CALLS_MAGIC,
                              .version = CALLS_VERSION,
                              .base = k->base,
                              .n_calls = (uint32_t)k->calls.n,
                              .n_functions = (uint32_t)k->functions.n,
                              .n_jumps = (uint32_t)k->jumps.n };
    uint32_t *at;

    h.size = calls_size(&h);
    *size = (size_t)h.size;
    *blob = mem_try_array(1, *size);
    if (!*blob)
        return error_set(e, ERROR_LIMIT, "no memory for a call table of %zu bytes", *size);
    memcpy(*blob, &h, sizeof h);
    at = (uint32_t *)((char *)*blob + sizeof h);
    at = write_column(at, &k->calls, false);
    at = write_column(at, &k->calls, true);
    at = write_column(at, &k->functions, false);
    at = write_column(at, &k->jumps, false);
    write_column(at, &k->jumps, true);
    return true;
}

static bool find_base(struct builder *k)
{
    uint64_t end = 0, size = 0;

    k->base = UINT64_MAX;
    for (size_t i = 0; i < k->in->n_segments; i++) {
        const struct cfi_segment *s = &k->in->segments[i];
        k->base = s->offset < k->base ? s->offset : k->base;
        end = s->offset + s->size > end ? s->offset + s->size : end;
        size += s->size;
    }
    return k->base < end && end - k->base < CALLS_ANYWHERE && size <= CODE_MAX;
}

bool calls_build(const struct calls_input *in, void **blob, size_t *size, struct error *e)
{
    static const struct pass find_calls = { take_call, NULL }, find_jumps = { take_jump, take_end };
    struct builder k = { .in = in };
    bool ok;

    if (!find_base(&k))
        return error_set(e, ERROR_LIMIT, "no code, or too much code, for a call table");
    for (size_t i = 0; i < in->n_functions; i++)
        if (number_of(&k, in->functions[i]) != CALLS_ANYWHERE)
            add(&k, &k.functions, in->functions[i] - k.base, 0);
    /* Twice, because the second pass restarts at the functions that the first pass found. */
    for (unsigned i = 0; i < 2; i++) {
        k.calls.n = 0;
        sort(&k.functions);
        decode_all(&k, &find_calls);
        for (size_t n = 0; n < k.called.n; n++)
            add(&k, &k.functions, k.called.list[n].a, 0);
        k.called.n = 0;
    }
    sort(&k.functions);
    sort(&k.calls);
    decode_all(&k, &find_jumps);
    sort(&k.jumps);
    ok =
        k.full ? error_set(e, ERROR_LIMIT, "too many calls for a call table") : write_blob(&k, blob, size, e);
    mem_free(k.calls.list);
    mem_free(k.jumps.list);
    mem_free(k.functions.list);
    mem_free(k.called.list);
    return ok;
}
