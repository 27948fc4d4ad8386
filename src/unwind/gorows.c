// SPDX-License-Identifier: GPL-2.0-or-later
#include "unwind/gorows.h"

#include <string.h>

#include "unwind/rowbuild.h"
#include "unwind/x86.h"

#define BUDGET    (1u << 26)
#define FRAME_MAX (1 << 30)
/* Bytes from the start of a frame to the instruction that saves the frame pointer. */
#define PROLOGUE_MAX 64
#define REX_W        0x48
#define REX_R        0x04 /* the register operand is one of r8-r15 */
#define REX_B        0x01 /* the memory or r/m operand uses one of r8-r15 */
#define PUSH_RBP     0x55
#define RETURN       8 /* bytes of a return address */

/* What the table lacks or has wrong about a function. */
enum role {
    ROLE_PLAIN,
    ROLE_BOTH,   /* has a frame on both stacks, with a caller on each */
    ROLE_TOP,    /* the outermost frame of its stack */
    ROLE_SWITCH, /* switches stacks, and does not change the frame pointer */
    ROLE_AWAY,   /* switches stacks: its caller cannot be found from there on */
    ROLE_LEAVE,  /* switches stacks and never returns: it is the root from there on */
    /* Signal handlers return to its first byte, without a call. */
    ROLE_SIGNAL,
    /* An address in it is put on a stack as return address, in place of the one in asmcgocall(). */
    ROLE_STAND_IN,
    ROLE_INJECTED, /* a signal handler fakes a call of it by the interrupted instruction */
};

static const struct {
    const char *name;
    enum role role;
} special[] = {
    { "runtime.goexit", ROLE_TOP },
    { "runtime.rt0_go", ROLE_TOP },
    { "runtime.mstart", ROLE_TOP },
    { "_rt0_amd64", ROLE_TOP },
    { "runtime.mcall", ROLE_LEAVE },
    { "runtime.clone", ROLE_LEAVE },
    /* Go's tracebacks see it as the top of the scheduler's stack: it resumes a goroutine and never
     * returns. */
    { "runtime.morestack", ROLE_LEAVE },
    { "gogo", ROLE_AWAY },
    { "runtime.gogo", ROLE_AWAY },
    { "runtime.systemstack", ROLE_SWITCH },
    { "runtime.asmcgocall", ROLE_SWITCH },
    { "runtime.nanotime", ROLE_SWITCH },
    { "runtime.nanotime1", ROLE_SWITCH },
    { "runtime.walltime", ROLE_SWITCH },
    { "runtime.walltime1", ROLE_SWITCH },
    { "time.now", ROLE_SWITCH },
    { "runtime.cgocallback", ROLE_BOTH },
    { "runtime.cgocallback_gofunc", ROLE_BOTH },
    /* Go's tracebacks end here, but its return address leads on to the interrupted code. */
    { "runtime.sigtramp", ROLE_PLAIN },
    { "runtime.cgoSigtramp", ROLE_PLAIN },
    { "runtime.sigreturn", ROLE_SIGNAL },
    { "runtime.sigreturn__sigaction", ROLE_SIGNAL },
    { "runtime.systemstack_switch", ROLE_STAND_IN },
    { "runtime.asyncPreempt", ROLE_INJECTED },
    { "runtime.sigpanic", ROLE_INJECTED },
};

static bool is_named(const struct gotable_function *f, const char *name)
{
    return f->name_n == strlen(name) && !memcmp(f->name, name, f->name_n);
}

static enum role role_of(const struct gorows *g, const struct gotable_function *f)
{
    if (g->entry && f->entry == g->entry)
        return ROLE_TOP;
    for (unsigned i = 0; i < sizeof special / sizeof *special; i++)
        if (is_named(f, special[i].name))
            return special[i].role;
    return f->flags & GOTABLE_TOP ? ROLE_TOP : f->flags & GOTABLE_SP_WRITE ? ROLE_AWAY : ROLE_PLAIN;
}

/* Returns true if the rows must begin one byte early, because a return address is looked up at the byte
 * before it. */
static bool begins_early(enum role role)
{
    return role == ROLE_SIGNAL || role == ROLE_STAND_IN;
}

void gorows_begin(struct gorows *g, const struct gotable *table)
{
    *g = (struct gorows){ .table = table, .budget = BUDGET };
}

static bool next_value(struct gorows *g, struct gotable_values *v)
{
    return g->budget && g->budget-- && gotable_next_value(v);
}

/* Returns the end of a function's code. The padding up to the next function is not in the table. */
static uint64_t find_end(struct gorows *g, uint64_t i, const struct gotable_function *f)
{
    struct gotable_function next;
    struct gotable_values v;
    uint64_t end = f->entry;

    for (gotable_values_of(&v, g->table, f, f->pcsp); next_value(g, &v);)
        end = v.to;
    if (end == f->end && gotable_function(g->table, i + 1, &next) && begins_early(role_of(g, &next)))
        end--;
    return end;
}

bool gorows_range(struct gorows *g, uint64_t i, uint64_t *begin, uint64_t *end)
{
    struct gotable_function f;

    if (!gotable_function(g->table, i, &f) || !f.entry)
        return false;
    *begin = begins_early(role_of(g, &f)) ? f.entry - 1 : f.entry;
    *end = find_end(g, i, &f);
    return *end > f.entry;
}

/* Returns the code at an address; NULL: none. */
static const uint8_t *code_at(const struct gorows *g, uint64_t addr, size_t *n)
{
    uint64_t into = addr - g->code_addr;

    if (into >= g->code_size)
        return NULL;
    *n = g->code_size - (size_t)into;
    return g->code + into;
}

/* Returns the size of an instruction's operand from its ModRM byte on: ModRM, index byte if any,
 * displacement. */
static unsigned operand_size(uint8_t modrm)
{
    unsigned mod = modrm >> 6, rm = modrm & 7, index = mod != 3 && rm == 4;

    return 1 + index + (mod == 1 ? 1 : mod == 2 || (mod == 0 && rm == 5) ? 4 : 0);
}

/* Returns the size of an instruction that sets rsp to anything but itself plus a constant; 0: another
 * instruction. */
static unsigned sp_write_size(const uint8_t *p, size_t n)
{
    uint8_t rex, modrm;

    if (n < 7 || (p[0] & 0xf8) != REX_W)
        return 0;
    rex = p[0];
    modrm = p[2];
    switch (p[1]) {
    case 0x89: /* mov rsp, register */
        return !(rex & REX_B) && (modrm & 0xc7) == 0xc4 ? 3 : 0;
    case 0x8b: /* mov rsp, operand */
        return !(rex & REX_R) && (modrm & 0x38) == 0x20 ? 2 + operand_size(modrm) : 0;
    case 0x8d: /* lea rsp, but not relative to rsp */
        return !(rex & REX_R) && (modrm & 0x38) == 0x20 && (modrm & 7) != 4 ? 2 + operand_size(modrm) : 0;
    case 0x81: /* and rsp, constant */
        return rex == REX_W && modrm == 0xe4 ? 7 : 0;
    case 0x83:
        return rex == REX_W && modrm == 0xe4 ? 4 : 0;
    default:
        return 0;
    }
}

/* Returns the address after the first instruction that sets the stack pointer; `end` if there is none.
 * It tries each byte as the start of an instruction: a false match only makes a stack end earlier. */
static uint64_t find_sp_write(const struct gorows *g, uint64_t from, uint64_t end)
{
    const uint8_t *p;
    unsigned size;
    size_t n;

    for (uint64_t at = from; at < end && (p = code_at(g, at, &n)); at++)
        if ((size = sp_write_size(p, n)))
            return at + size < end ? at + size : end;
    return end;
}

/* Matches mov [rsp + offset], rbp and returns its size; 0: another instruction. */
static unsigned save_size(const uint8_t *p, size_t n, int32_t *offset)
{
    if (n < 8 || p[0] != REX_W || p[1] != 0x89 || p[3] != 0x24)
        return 0;
    if (p[2] == 0x2c) { /* the frame has only rbp */
        *offset = 0;
        return 4;
    }
    if (p[2] == 0x6c) {
        *offset = (int8_t)p[4];
        return 5;
    }
    memcpy(offset, p + 4, sizeof *offset);
    return p[2] == 0xac ? 8 : 0;
}

/* Where the frame pointer is saved. */
struct saved {
    /* From this address on, wherever there is a frame; UINT64_MAX: never. */
    uint64_t from;
    int32_t offset; /* relative to the CFA */
};

/* Finds where a function saves the frame pointer. A frame begins with push rbp; or sp is moved by its
 * whole size, and the frame pointer is saved at its upper end. */
static struct saved find_saved(struct gorows *g, const struct gotable_function *f)
{
    const struct saved never = { UINT64_MAX, 0 };
    struct gotable_values v;
    const uint8_t *p;
    int32_t offset = 0;
    size_t n;

    gotable_values_of(&v, g->table, f, f->pcsp);
    do {
        if (!next_value(g, &v))
            return never;
    } while (v.value <= 0);
    if (v.from > f->entry && v.value == 8 && (p = code_at(g, v.from - 1, &n)) && *p == PUSH_RBP)
        return (struct saved){ v.from, -2 * RETURN };
    for (uint64_t at = v.from; at - v.from < PROLOGUE_MAX && (p = code_at(g, at, &n)); at++) {
        unsigned size = save_size(p, n, &offset);
        while (at >= v.to)
            if (!next_value(g, &v))
                return never;
        if (size && offset >= 0 && offset < v.value)
            return (struct saved){ at + size, offset - v.value - RETURN };
    }
    return never;
}

struct run {
    struct gorows *g;
    const struct gotable_function *f;
    enum role role;
    struct saved saved;
    uint64_t begin;      /* address that rows are relative to */
    uint64_t switched;   /* address from which on another stack is used */
    uint64_t stands_for; /* address to show instead of the function; 0: none */
    uint64_t called;     /* address from which on there may be a new thread, too */
    void (*add)(void *ctx, uint64_t at, const struct unwind_entry *entry);
    void *ctx;
};

static void add_row(struct run *r, uint64_t addr, const struct unwind_entry *entry)
{
    r->add(r->ctx, addr - r->begin, entry);
}

static void add_kind(struct run *r, uint64_t addr, enum unwind_row_kind kind)
{
    struct unwind_entry entry;

    rowbuild_none(&entry);
    entry.kind = (uint8_t)kind;
    if (kind == UNWIND_ROW_SWITCH && r->role == ROLE_SWITCH)
        entry.cfa_offset = r->saved.from <= addr ? UNWIND_SWITCH_OWN : UNWIND_SWITCH_CALLERS;
    add_row(r, addr, &entry);
}

/* Adds a row for a frame size, from addr to the next change. */
static void add_frame(struct run *r, uint64_t addr, int32_t size)
{
    struct unwind_entry entry;

    rowbuild_none(&entry);
    if (size >= 0 && size < FRAME_MAX && size % 8 == 0) {
        entry.kind = UNWIND_ROW_SP;
        entry.flags = UNWIND_ENTRY_CLOBBERS;
        entry.cfa_offset = size + RETURN;
        entry.ra_offset = -RETURN;
        if (size && addr >= r->saved.from) {
            entry.flags |= UNWIND_ENTRY_FP_SAVED;
            entry.fp_offset = r->saved.offset;
        }
        if (r->role == ROLE_BOTH)
            entry.more = UNWIND_MORE_BOTH_STACKS;
        if (r->role == ROLE_INJECTED)
            entry.flags |= UNWIND_ENTRY_INJECTED;
        if (addr >= r->called)
            entry.flags |= UNWIND_ENTRY_CLONE;
        if (r->stands_for) {
            entry.flags |= UNWIND_ENTRY_STANDS_IN;
            unwind_entry_set_stands_for(&entry, (int32_t)(r->stands_for - 1 - r->begin));
        }
    }
    add_row(r, addr, &entry);
}

/* Returns the next address in (from, to) at which the row changes though the frame size does not; `to`
 * if there is none. */
static uint64_t next_change(const struct run *r, uint64_t from, uint64_t to)
{
    uint64_t at = to;

    if (r->saved.from > from && r->saved.from < at)
        at = r->saved.from;
    if (r->called > from && r->called < at)
        at = r->called;
    return at;
}

static void add_frames(struct run *r)
{
    struct gotable_values v;

    gotable_values_of(&v, r->g->table, r->f, r->f->pcsp);
    while (next_value(r->g, &v)) {
        uint64_t to = v.to < r->switched ? v.to : r->switched;
        for (uint64_t at = v.from; at < to; at = next_change(r, at, to))
            add_frame(r, at, v.value);
        if (v.to > r->switched)
            return;
    }
}

/* Returns the address after the first instruction with these two bytes; UINT64_MAX: none. */
static uint64_t find_behind(const struct gorows *g, uint64_t from, uint64_t end, uint8_t first,
                            uint8_t second)
{
    const uint8_t *p;
    size_t n;

    for (uint64_t at = from; at < end && (p = code_at(g, at, &n)) && n >= 2; at++)
        if (p[0] == first && p[1] == second)
            return at + 2;
    return UINT64_MAX;
}

/* Returns the address after the first call; 0: none. */
static uint64_t find_call(const struct gorows *g, uint64_t from, uint64_t end)
{
    struct x86_insn insn;
    const uint8_t *p;
    size_t n;

    for (uint64_t at = from; at < end && (p = code_at(g, at, &n)) && x86_decode(p, n, true, &insn);
         at += insn.size)
        if (insn.kind == X86_CALL || insn.kind == X86_CALL_INDIRECT)
            return at + insn.size;
    return 0;
}

/* Returns the return address of the call of C in asmcgocall(); 0: not found. A goroutine in C pretends
 * to wait in systemstack_switch(), and callbacks from C run further down its stack. The first call on
 * the other stack in asmcgocall() is the call of C, or of code that jumps to it. */
static uint64_t find_cgo_call(struct gorows *g)
{
    struct gotable_function f;
    uint64_t end, behind;

    for (uint64_t i = 0; i < g->table->n; i++) {
        if (!gotable_function(g->table, i, &f) || !is_named(&f, "runtime.asmcgocall"))
            continue;
        end = find_end(g, i, &f);
        behind = find_call(g, find_sp_write(g, f.entry, end), end);
        if (behind)
            return behind;
    }
    return 0;
}

/* Finds where a function switches stacks. Wrappers have the same name, so a name counts only if the code
 * sets the stack pointer. */
static void find_switch(struct run *r, uint64_t end)
{
    uint64_t written = find_sp_write(r->g, r->f->entry, end);

    if (written < end)
        r->switched = written;
    else if (r->f->flags & GOTABLE_SP_WRITE)
        r->switched = r->f->entry;
    if (r->role == ROLE_LEAVE)
        r->called =
            find_behind(r->g, r->f->entry, r->switched < end ? r->switched : end, 0x0f, 0x05); /* syscall */
}

void gorows_add(struct gorows *g, uint64_t i,
                void (*add)(void *ctx, uint64_t at, const struct unwind_entry *entry), void *ctx)
{
    struct gotable_function f;
    struct run r = { .g = g, .f = &f, .switched = UINT64_MAX, .called = UINT64_MAX, .add = add, .ctx = ctx };
    uint64_t end;

    if (!gorows_range(g, i, &r.begin, &end) || !gotable_function(g->table, i, &f))
        return;
    r.role = role_of(g, &f);
    if (r.role == ROLE_TOP || r.role == ROLE_SIGNAL) {
        add_kind(&r, r.begin, r.role == ROLE_TOP ? UNWIND_ROW_END : UNWIND_ROW_SIGNAL);
        return;
    }
    if (r.role == ROLE_SWITCH || r.role == ROLE_AWAY || r.role == ROLE_LEAVE)
        find_switch(&r, end);
    r.saved = find_saved(g, &f);
    if (r.begin < f.entry) {
        r.stands_for = find_cgo_call(g);
        add_frame(&r, r.begin, 0);
    }
    add_frames(&r);
    if (r.switched < end)
        add_kind(&r, r.switched, r.role == ROLE_LEAVE ? UNWIND_ROW_END : UNWIND_ROW_SWITCH);
}
