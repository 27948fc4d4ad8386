// SPDX-License-Identifier: GPL-2.0-or-later
#include "unwind/hotspot.h"

#include <string.h>

#include "unwind/rowbuild.h"
#include "unwind/x86.h"

/* Bytes to search for the prologue: before it are the inline cache check and padding. */
#define ENTRY_MAX 96
#define FRAME_MAX (1u << 20)
#define TAIL_MAX  8 /* instructions after the pop */

struct code {
    const uint8_t *p;
    size_t n;
};

static bool has(const struct code *c, size_t at, const char *bytes, size_t n)
{
    return at <= c->n && n <= c->n - at && !memcmp(c->p + at, bytes, n);
}
#define HAS(c, at, text) has(c, at, text, sizeof text - 1)

static uint32_t u32_at(const struct code *c, size_t at)
{
    const uint8_t *p = c->p + at;

    return p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

/* Matches sub $imm,%rsp and returns its length; 0: no match. */
static unsigned sub_at(const struct code *c, size_t at, uint32_t *imm)
{
    if (HAS(c, at, "\x48\x83\xec") && c->n - at >= 4 && c->p[at + 3] < 0x80)
        return *imm = c->p[at + 3], 4;
    if (HAS(c, at, "\x48\x81\xec") && c->n - at >= 7)
        return *imm = u32_at(c, at + 3), 7;
    return 0;
}

static bool is_frame(uint32_t size)
{
    return size % 8 == 0 && size <= FRAME_MAX;
}

/* Matches the stack bang, which touches a page below the stack. If a jmp has replaced it, the end of its
 * offset is still there. */
static bool is_bang(const struct code *c, size_t at)
{
    if (c->n - at < 7 || !(HAS(c, at, "\x89\x84\x24") || c->p[at] == 0xe9))
        return false;
    return c->p[at + 6] == 0xff && c->p[at + 5] >= 0xf0;
}

static bool pushed(struct unwind_hotspot *h, const struct code *c, size_t at)
{
    uint32_t size = 0, push = (uint32_t)at + 7;
    unsigned sub;

    if (!is_bang(c, at) || !HAS(c, push, "\x55"))
        return false;
    if (HAS(c, push + 1, "\x48\x8b\xec") || HAS(c, push + 1, "\x48\x89\xe5"))
        return false;
    sub = sub_at(c, push + 1, &size);
    if (!is_frame(size))
        return false;
    h->steps[0].from = push + 1;
    h->steps[0].size = 16;
    h->steps[1].from = push + 1 + sub;
    h->steps[1].size = size + 16;
    h->steps[0].fp_saved = h->steps[1].fp_saved = true;
    return true;
}

/* Matches mov %rbp,disp(%rsp) and returns its length; 0: no match. */
static unsigned save_at(const struct code *c, size_t at, uint32_t *disp)
{
    if (HAS(c, at, "\x48\x89\x2c\x24"))
        return *disp = 0, 4;
    if (HAS(c, at, "\x48\x89\x6c\x24") && c->n - at >= 5 && c->p[at + 4] < 0x80)
        return *disp = c->p[at + 4], 5;
    if (HAS(c, at, "\x48\x89\xac\x24") && c->n - at >= 8)
        return *disp = u32_at(c, at + 4), 8;
    return 0;
}

static bool moved(struct unwind_hotspot *h, const struct code *c, size_t at)
{
    uint32_t size = 0, disp = 0;
    unsigned sub = sub_at(c, at, &size), save;

    if (!sub && c->p[at] == 0xe9)
        sub = 7;
    save = sub ? save_at(c, at + sub, &disp) : 0;
    if (!save || disp > FRAME_MAX || disp % 8)
        return false;
    if (c->p[at] == 0xe9 ? u32_at(c, at + 3) >> 16 != (disp + 8) >> 16 : size != disp + 8)
        return false;
    h->steps[0].from = (uint32_t)at + sub;
    h->steps[1].from = (uint32_t)at + sub + save;
    h->steps[0].size = h->steps[1].size = disp + 16;
    h->steps[1].fp_saved = true;
    return true;
}

/* Returns the length of an instruction that may be between the pop and the return; 0: no match. */
static unsigned between(const struct code *c, size_t at)
{
    if (HAS(c, at, "\x49\x3b\xa7") || HAS(c, at, "\x4d\x8b\x97")) /* cmp …(%r15),%rsp; mov …(%r15),%r10 */
        return 7;
    if (HAS(c, at, "\x0f\x87")) /* ja */
        return 6;
    if (HAS(c, at, "\x41\x85\x02") || HAS(c, at, "\xc5\xf8\x77")) /* test %eax,(%r10); vzeroupper */
        return 3;
    return 0;
}

static uint32_t epilogue_end(const struct code *c, size_t pop)
{
    size_t at = pop + 1;

    for (unsigned i = 0, n; i < TAIL_MAX && (n = between(c, at)); i++)
        at += n;
    if (HAS(c, at, "\xc3"))
        return (uint32_t)at + 1;
    return HAS(c, at, "\xe9") && c->n - at >= 5 ? (uint32_t)at + 5 : 0;
}

static void find_epilogues(struct unwind_hotspot *h, const struct code *c)
{
    for (size_t at = h->steps[1].from; at < c->n && h->n_epilogues < UNWIND_HOTSPOT_EPILOGUES; at++) {
        uint32_t end = c->p[at] == 0x5d ? epilogue_end(c, at) : 0;
        if (!end)
            continue;
        h->epilogues[h->n_epilogues].pop = (uint32_t)at;
        h->epilogues[h->n_epilogues++].end = end;
    }
}

bool unwind_hotspot_read(struct unwind_hotspot *h, const uint8_t *code, size_t n)
{
    struct code c = { code, n < UINT32_MAX / 2 ? n : UINT32_MAX / 2 };

    memset(h, 0, sizeof *h);
    for (size_t at = 0; at < ENTRY_MAX && at < c.n; at++)
        if (pushed(h, &c, at) || moved(h, &c, at)) {
            find_epilogues(h, &c);
            return true;
        }
    return false;
}

uint32_t unwind_hotspot_size(const struct unwind_hotspot *h, uint64_t offset, bool exact, bool *fp_saved)
{
    uint32_t size = 8;

    *fp_saved = false;
    for (unsigned i = exact ? 0 : 1; i < 2; i++)
        if (offset >= h->steps[i].from) {
            size = h->steps[i].size;
            *fp_saved = h->steps[i].fp_saved;
        }
    for (unsigned i = 0; exact && i < h->n_epilogues; i++)
        if (offset >= h->epilogues[i].pop && offset < h->epilogues[i].end) {
            *fp_saved = offset == h->epilogues[i].pop;
            return *fp_saved ? 16 : 8;
        }
    return size;
}

/* Returns true if the instructions from `from` lead to `at`. Zeros decode as an instruction, but are
 * data between methods. */
static bool leads_to(const struct code *c, size_t from, size_t at)
{
    struct x86_insn insn;

    while (from < at && !HAS(c, from, "\0\0") && x86_decode(c->p + from, c->n - from, true, &insn))
        from += insn.size;
    return from == at;
}

static void entry_of(const struct unwind_hotspot *h, size_t offset, struct unwind_entry *out)
{
    bool fp_saved;

    rowbuild_none(out);
    out->kind = UNWIND_ROW_SP;
    out->cfa_offset = (int32_t)unwind_hotspot_size(h, offset, true, &fp_saved);
    out->ra_offset = -8;
    out->fp_offset = fp_saved ? -16 : 0;
    out->flags = UNWIND_ENTRY_DEDUCED | (fp_saved ? UNWIND_ENTRY_FP_SAVED : 0);
}

bool unwind_hotspot_find(const uint8_t *code, size_t n, size_t at, struct unwind_entry *out)
{
    struct code c = { code, n < UINT32_MAX / 2 ? n : UINT32_MAX / 2 };
    struct unwind_hotspot h;

    for (size_t from = at < c.n ? at : 0; from-- > 0;) {
        memset(&h, 0, sizeof h);
        if (pushed(&h, &c, from) || moved(&h, &c, from)) {
            if (!leads_to(&c, from, at))
                return false;
            find_epilogues(&h, &c);
            entry_of(&h, at, out);
            return true;
        }
        if (is_bang(&c, from) && c.p[from] != 0xe9) /* a method with a frame pointer */
            return false;
    }
    return false;
}

bool unwind_hotspot_returns(const uint8_t *code, size_t n)
{
    const struct code c = { code, n };

    return HAS(&c, 0, "\x48\x8b\x65\xf0\x48\xc7\x45\xf0\0\0\0\0");
}
