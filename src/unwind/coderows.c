// SPDX-License-Identifier: GPL-2.0-or-later
#include "unwind/coderows.h"

#include <string.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/search.h"
#include "unwind/codeahead.h"
#include "unwind/codestate.h"
#include "unwind/hotspot.h"

#define STATES_MAX (1u << 15)
/* Limit of instructions to follow, per byte of code. */
#define STEPS_PER_BYTE 8
#define ALIGNED        16 /* alignment of unnamed function starts */
#define NUMBER         0x3fffffffu
#define FUNCTION       0x40000000u
#define FIXED          0x80000000u

/* Deduces the state at each instruction. at[] has, per byte of code where an instruction begins, the
 * number of the state before it, plus 1 (0: not reached), and flags. FUNCTION: a function begins there.
 * FIXED: the function is called or named, so the state there is that of a function start. */
struct flow {
    const struct coderows_input *in;
    uint32_t *at;
    struct code_state *states; /* [0] is the unknown state, [1] that of a function start */
    size_t n, cap;
    struct map by_hash;
    uint32_t *queue; /* offsets in the code to continue from */
    size_t n_queue, queue_cap;
    uint64_t steps; /* remaining */
    bool full;
};
enum { STATE_UNKNOWN, STATE_ENTRY };

static uint32_t number_of(struct flow *f, const struct code_state *s)
{
    uint64_t hash = map_hash_bytes(s, sizeof *s, 0);
    bool created = false;
    uint64_t *known = map_at(&f->by_hash, hash, f->n, &created);

    if (!created)
        return memcmp(&f->states[*known], s, sizeof *s) ? STATE_UNKNOWN : (uint32_t)*known;
    if (f->n == STATES_MAX || !MEM_TRY_GROW(f->states, f->cap, f->n + 1)) {
        *known = STATE_UNKNOWN;
        return STATE_UNKNOWN;
    }
    f->states[f->n] = *s;
    return (uint32_t)f->n++;
}

static void go_on_from(struct flow *f, uint32_t offset)
{
    if (MEM_TRY_GROW(f->queue, f->queue_cap, f->n_queue + 1))
        f->queue[f->n_queue++] = offset;
    else
        f->full = true;
}

/* Returns true for zeros, which decode as an instruction but are padding. */
static bool is_filler(const struct flow *f, uint64_t at)
{
    return f->in->size - at >= 2 && !f->in->code[at] && !f->in->code[at + 1];
}

static void enter_function(struct flow *f, uint64_t offset)
{
    if (offset >= f->in->size || f->at[offset] & FIXED || is_filler(f, offset))
        return;
    f->at[offset] = (STATE_ENTRY + 1) | FUNCTION | FIXED;
    go_on_from(f, (uint32_t)offset);
}

/* Records that a path reaches `offset` with a state. If another path reached it before, keeps what both
 * states have in common. */
static void reach(struct flow *f, uint64_t offset, uint32_t state)
{
    uint32_t known = offset < f->in->size ? f->at[offset] : FIXED;
    struct code_state both;

    if (known & FIXED || (known & NUMBER) == state + 1)
        return;
    if (known) {
        both = f->states[(known & NUMBER) - 1];
        if (!code_state_meet(&both, &f->states[state]))
            return;
        state = number_of(f, &both);
    }
    f->at[offset] = (state + 1) | (known & FUNCTION);
    go_on_from(f, (uint32_t)offset);
}

static uint32_t state_after(struct flow *f, uint32_t state, const struct x86_insn *insn)
{
    struct code_state s = f->states[state];

    return code_state_step(&s, insn) ? number_of(f, &s) : state;
}

static bool ends(const struct x86_insn *insn)
{
    return insn->kind == X86_JUMP || insn->kind == X86_JUMP_INDIRECT || insn->kind == X86_RETURN ||
           insn->kind == X86_TRAP;
}

/* Follows instructions from `offset` until one that was reached before. */
static void follow(struct flow *f, uint32_t offset)
{
    uint32_t state = (f->at[offset] & NUMBER) - 1;
    struct x86_insn insn;
    uint64_t at = offset, next, target;

    for (; f->steps && !is_filler(f, at) && x86_decode(f->in->code + at, f->in->size - at, true, &insn);
         at = next) {
        f->steps--;
        next = at + insn.size;
        target = next + (uint64_t)insn.value;
        if (insn.kind == X86_JUMP || insn.kind == X86_BRANCH)
            reach(f, target, state);
        else if (insn.kind == X86_CALL && target != next) /* a call of the next instruction reads rip */
            enter_function(f, target);
        if (ends(&insn) || next >= f->in->size)
            return;
        state = insn.kind == X86_CALL && target == next ? STATE_UNKNOWN : state_after(f, state, &insn);
        if (f->at[next]) {
            reach(f, next, state);
            return;
        }
        f->at[next] = state + 1;
    }
}

static void follow_all(struct flow *f)
{
    while (f->n_queue && !f->full)
        follow(f, f->queue[--f->n_queue]);
    f->n_queue = 0;
}

/* Returns the length of padding between functions, or 1 for an invalid instruction; 0: code. */
static uint32_t padding_at(const struct flow *f, uint64_t at)
{
    const uint8_t *p = f->in->code + at;
    size_t n = f->in->size - at, i = 0;
    struct x86_insn insn;

    if (p[0] == 0xcc || p[0] == 0x90)
        return 1;
    if (is_filler(f, at))
        return 2;
    while (i < n && (p[i] == 0x66 || p[i] == 0x2e || p[i] == 0x3e)) /* prefixes of a nop */
        i++;
    if (i < n && p[i] == 0x90)
        return (uint32_t)i + 1;
    if (!x86_decode(p, n, true, &insn))
        return 1;
    return i + 1 < n && p[i] == 0x0f && p[i + 1] == 0x1f ? insn.size : 0;
}

/* Continues at code that no path has reached. After a jump through a table, it is one of the cases and
 * has the state of the jump. Otherwise a function begins there, if the previous code ended or the
 * alignment fits. */
static bool enter_unreached(struct flow *f, uint64_t at, uint32_t jump, bool ended)
{
    if (jump != STATE_UNKNOWN && jump != STATE_ENTRY) {
        reach(f, at, jump);
    } else if (ended || (f->in->offset + at) % ALIGNED == 0) {
        f->at[at] = (STATE_ENTRY + 1) | FUNCTION;
        go_on_from(f, (uint32_t)at);
    } else {
        return false;
    }
    follow_all(f);
    return true;
}

static void find_unreached(struct flow *f)
{
    uint32_t jump = STATE_UNKNOWN, padding;
    bool ended = true;
    struct x86_insn insn;

    for (uint64_t at = 0; at < f->in->size && !f->full;) {
        if (!f->at[at]) {
            padding = padding_at(f, at);
            if (!padding && !enter_unreached(f, at, jump, ended))
                padding = 1;
            at += padding;
            continue;
        }
        if (f->at[at] & FUNCTION)
            jump = STATE_UNKNOWN;
        if (!x86_decode(f->in->code + at, f->in->size - at, true, &insn)) {
            at++;
            continue;
        }
        if (insn.kind == X86_JUMP_INDIRECT && !insn.rip) /* else through a word of a PLT */
            jump = (f->at[at] & NUMBER) - 1;
        ended = ends(&insn);
        at += insn.size;
    }
}

static void find_named(struct flow *f)
{
    const struct coderows_input *in = f->in;
    size_t n = SEARCH_FIRST(i, 0, in->n_functions, in->functions[i] >= in->offset);

    for (; n < in->n_functions && in->functions[n] - in->offset < in->size; n++)
        enter_function(f, in->functions[n] - in->offset);
    follow_all(f);
}

/* Returns true for a call by a function that has popped its own return address: it cannot return, so it
 * is the root. musl's clone() calls the start function of a thread that way. */
static bool is_outermost(const struct flow *f, uint64_t at, const struct x86_insn *insn)
{
    struct code_value sp = f->states[(f->at[at] & NUMBER) - 1].regs[X86_SP];

    return (insn->kind == X86_CALL || insn->kind == X86_CALL_INDIRECT) && sp.kind == CODE_CFA &&
           sp.offset >= 0;
}

static bool add_root(const struct flow *f, struct rowbuild *b, uint64_t at)
{
    struct unwind_entry root;
    uint32_t number;

    rowbuild_none(&root);
    root.kind = UNWIND_ROW_END;
    if (!rowbuild_number(b, &root, &number))
        return false;
    rowbuild_add_number(b, f->in->offset + at, number, false);
    return true;
}

static void add_rows(struct flow *f, struct rowbuild *b, uint32_t none)
{
    uint32_t *numbers = mem_try_array(f->n, sizeof *numbers); /* of entries, plus 1 */
    struct unwind_entry entry;
    struct x86_insn insn;

    if (!numbers) {
        rowbuild_stop(b);
        return;
    }
    for (uint64_t at = 0; at < f->in->size && !b->full;) {
        uint32_t state = (f->at[at] & NUMBER) - 1, number = none;
        bool reached = f->at[at];
        if (reached && !numbers[state]) {
            code_state_row(&f->states[state], b, &entry);
            if (!rowbuild_number(b, &entry, &number)) {
                rowbuild_stop(b);
                break;
            }
            numbers[state] = number + 1;
        }
        if (reached)
            number = numbers[state] - 1;
        reached = reached && x86_decode(f->in->code + at, f->in->size - at, true, &insn);
        if (!reached || !is_outermost(f, at, &insn) || !add_root(f, b, at))
            rowbuild_add_number(b, f->in->offset + at, number, f->at[at] & FUNCTION);
        at += reached ? insn.size : 1;
    }
    mem_free(numbers);
}

static bool start_flow(struct flow *f)
{
    struct code_state s;

    memset(&s, 0, sizeof s);
    f->steps = (uint64_t)f->in->size * STEPS_PER_BYTE;
    f->at = mem_try_array(f->in->size, sizeof *f->at);
    if (!f->at || number_of(f, &s) != STATE_UNKNOWN || !f->states)
        return false;
    code_state_entry(&s);
    return number_of(f, &s) == STATE_ENTRY;
}

void coderows_add(const struct coderows_input *in, struct rowbuild *b, uint32_t none)
{
    struct flow f = { .in = in };

    rowbuild_add_number(b, in->offset, none, false);
    if (in->size && in->size <= CODEROWS_MOST && start_flow(&f)) {
        find_named(&f);
        find_unreached(&f);
        add_rows(&f, b, none);
    }
    rowbuild_add_number(b, in->offset + in->size, none, false);
    mem_free(f.at);
    mem_free(f.states);
    mem_free(f.queue);
    map_done(&f.by_hash);
}

/* Starts a table with the entry of kind NONE. */
static bool begin_table(struct rowbuild *b, uint32_t *none, struct error *e)
{
    struct unwind_entry entry;

    rowbuild_none(&entry);
    return rowbuild_number(b, &entry, none) || error_set(e, ERROR_LIMIT, "no memory for an unwind table");
}

bool coderows_build(const struct coderows_input *in, unsigned n, void **blob, size_t *size, struct error *e)
{
    struct rowbuild b = { 0 };
    uint32_t none;
    bool ok = begin_table(&b, &none, e);

    for (unsigned i = 0; ok && i < n; i++)
        coderows_add(&in[i], &b, none);
    ok = ok && rowbuild_finish(&b, UNWIND_ARCH_X86_64, NULL, 0, blob, size, e);
    rowbuild_done(&b);
    return ok;
}

/* Finds the entry of one address. At a call, the frame has the size that the prologue shows. Elsewhere a
 * method may have pushed more for a moment, so the code ahead is tried first; but an endless loop has no
 * path to a return. */
static bool find_entry(const struct codeahead_input *in, struct unwind_entry *out)
{
    size_t at = (size_t)(in->at - in->offset);

    if (in->at < in->offset || in->at - in->offset >= in->size)
        return false;
    if (in->exact)
        return codeahead_entry(in->code, in->size, at, out) ||
               unwind_hotspot_find(in->code, in->size, at, out);
    return unwind_hotspot_find(in->code, in->size, at, out) || codeahead_entry(in->code, in->size, at, out);
}

bool coderows_build_ahead(const struct codeahead_input *in, unsigned n, void **blob, size_t *size,
                          struct error *e)
{
    struct rowbuild b = { 0 };
    struct unwind_entry entry;
    uint32_t none;
    bool ok = begin_table(&b, &none, e);

    for (unsigned i = 0; ok && i < n; i++) {
        if (!find_entry(&in[i], &entry))
            rowbuild_none(&entry);
        rowbuild_add(&b, in[i].at, &entry, false);
        rowbuild_add_number(&b, in[i].at + 1, none, false);
    }
    ok = ok && rowbuild_finish(&b, UNWIND_ARCH_X86_64, NULL, 0, blob, size, e);
    rowbuild_done(&b);
    return ok;
}
