// SPDX-License-Identifier: GPL-2.0-or-later
/* Unwinds the user part of a stack from registers and a stack dump. */
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "session/collect/interpreted.h"
#include "session/session_state.h"
#include "unwind/expression.h"
#include "unwind/rowformat.h"

enum rows_state { ROWS_ASK, ROWS_READY, ROWS_NONE, ROWS_PENDING };

void userstack_forget(struct session *s)
{
    locate_forget(s);
    if (s->unwind.user.tables.items)
        memset(s->unwind.user.tables.items, 0,
               s->unwind.user.tables.cap * sizeof *s->unwind.user.tables.items);
    jitframe_forget(s);
    otherstack_forget(s);
}

void userstack_done(struct session *s)
{
    mem_free(s->unwind.user.tables.items);
    unwind_cache_done(&s->unwind.user.unwind_cache);
    jitframe_done(s);
    stacktouch_done(s);
    memset(&s->unwind.user, 0, sizeof s->unwind.user);
}

void userstack_give_up(struct session *s, uint32_t module)
{
    if (module < s->unwind.user.tables.cap)
        s->unwind.user.tables.items[module] = (struct user_table){ .state = ROWS_NONE };
}

/* State of a module's table. Requests the table if the state is unknown. */
static const struct user_table *table_of(struct session *s, uint32_t module)
{
    struct user_stacks *u = &s->unwind.user;
    uint32_t generation = symbolizer_generation(s->store.symbolizer);
    struct user_table *t = VEC_RESERVE_ZEROED(&u->tables, module + 1) + module;
    if (t->state == ROWS_READY || t->state == ROWS_NONE ||
        (t->state == ROWS_PENDING && t->generation == generation))
        return t;
    struct module *m = world_module(s->store.world, module);
    const struct unwind_rows *rows = NULL;
    enum symbol_state state = m ? symbolizer_unwind(s->store.symbolizer, m, &rows) : SYMBOL_NONE;
    t->rows = rows;
    t->generation = generation;
    t->state = state == SYMBOL_PENDING ? ROWS_PENDING : rows ? ROWS_READY : ROWS_NONE;
    return t;
}

uint64_t userstack_regs_mask(const struct session *s, const struct record *r)
{
    if (s->load.file)
        return s->store.events[r->source].attr.sample_regs_user;
    return r->id.has & PERF_SAMPLE_STACK_USER ? unwind_arch_regs_mask(s->unwind.user.arch)
                                              : unwind_arch_link_mask(s->unwind.user.arch);
}

struct walk {
    struct session *s;
    const struct frame_owner *owner;
    bool give_up;     /* what is not ready counts as missing */
    uint32_t awaits;  /* module whose table is pending; 0: none */
    uint32_t late;    /* frame whose table counts as missing; 0: none */
    uint64_t pc;      /* of the sample */
    uint32_t callers; /* see struct user_unwind */
    bool changes;     /* met code that may be better known the next time */
};

static void wait_for(struct walk *w, struct unwind_location *out, uint32_t module)
{
    out->pending = !w->give_up;
    if (out->pending)
        w->awaits = module;
    else
        w->late = out->frame;
}

/* Caches the row of an address, even if there is none: the same addresses recur. */
static void keep_row(struct location_slot *slot, struct unwind_location *location)
{
    if (location->rows)
        location->entry = unwind_rows_entry(location->rows, location->offset);
    slot->rows = location->rows;
    slot->entry = location->entry;
    slot->has_row = true;
}

static bool find_target(void *ctx, uint64_t addr, struct unwind_location *out)
{
    struct walk *w = ctx;
    struct session *s = w->s;
    struct location_slot *slot = locate_address(s, w->owner, addr, false);
    if (!slot)
        return false;
    uint64_t offset = stacks_frame_offsets(s->store.stacks)[slot->frame];
    if (slot->has_row) {
        *out = (struct unwind_location){
            .offset = offset, .frame = slot->frame, .rows = slot->rows, .entry = slot->entry
        };
        return true;
    }
    uint32_t module = stacks_frame_modules(s->store.stacks)[slot->frame];
    const struct module *m = world_module(s->store.world, module);
    *out = (struct unwind_location){ .offset = offset, .frame = slot->frame };
    if (!m || m->kind == MODULE_JIT) {
        out->jit = true;
        enum jit_location known =
            m ? jitframe_location(s, w->owner, m, slot->frame, addr == w->pc, out) : JIT_LOCATION_UNKNOWN;
        w->changes |= known != JIT_LOCATION_KNOWN;
        if (known == JIT_LOCATION_PENDING)
            wait_for(w, out, module);
        return true;
    }
    const struct user_table *t = table_of(s, module);
    out->rows = t->rows;
    if (t->state == ROWS_PENDING)
        wait_for(w, out, module);
    else
        keep_row(slot, out);
    return true;
}

static void deduce_row(void *ctx, uint64_t addr, uint64_t pc, struct unwind_location *location)
{
    struct walk *w = ctx;
    struct session *s = w->s;
    const struct location_slot *slot = locate_address(s, w->owner, addr, false);
    struct module *m =
        slot ? world_module(s->store.world, stacks_frame_modules(s->store.stacks)[slot->frame]) : NULL;
    location->offset = pc;
    if (m && symbolizer_jit_row(s->store.symbolizer, m, pc, addr == pc, &location->rows) == SYMBOL_PENDING)
        wait_for(w, location, m->id);
}

/* Call table of a module. PROVEN: it is available. */
static enum unwind_call calls_of(struct walk *w, uint32_t module, const struct calls **calls)
{
    struct session *s = w->s;
    struct module *m = world_module(s->store.world, module);
    enum symbol_state state = m ? symbolizer_calls(s->store.symbolizer, m, calls) : SYMBOL_NONE;
    if (state == SYMBOL_PENDING && !w->give_up) {
        w->awaits = module;
        return UNWIND_CALL_PENDING;
    }
    w->changes |= !*calls;
    return *calls ? UNWIND_CALL_PROVEN : UNWIND_CALL_UNKNOWN;
}

/* Offset of an address in the module, as in find_target; CALLS_ELSEWHERE: not in it. */
static uint64_t offset_in(struct walk *w, uint64_t addr, uint32_t module)
{
    struct session *s = w->s;
    const struct location_slot *to = locate_address(s, w->owner, addr, false);
    bool same = to && stacks_frame_modules(s->store.stacks)[to->frame] == module;
    return same ? stacks_frame_offsets(s->store.stacks)[to->frame] : CALLS_ELSEWHERE;
}

/* Judges a direct call from code made at run time: if its target is in a file's code, that code must lead
 * to the callee. */
static enum unwind_call follow_call(struct walk *w, uint64_t target, uint64_t callee, uint32_t *awaits)
{
    const struct frame_owner *o = w->owner;
    const struct calls *calls = NULL;
    struct location location;
    bool known = o->maps ? world_resolve_held(o->maps, target, &location)
                         : world_resolve(w->s->store.world, o->thread, target, false, &location);
    struct module *m = known ? world_module(w->s->store.world, location.module) : NULL;
    if (!m || m->kind != MODULE_FILE)
        return known ? UNWIND_CALL_PROVEN : UNWIND_CALL_REFUTED;
    *awaits = m->id;
    if (symbolizer_calls(w->s->store.symbolizer, m, &calls) == SYMBOL_PENDING)
        return UNWIND_CALL_PENDING;
    return !calls || calls_reach(calls, location.offset, offset_in(w, callee, m->id)) ? UNWIND_CALL_PROVEN
                                                                                      : UNWIND_CALL_REFUTED;
}

static enum unwind_call judge_call(struct walk *w, uint32_t caller, uint64_t back, uint64_t callee)
{
    struct session *s = w->s;
    uint32_t module = stacks_frame_modules(s->store.stacks)[caller];
    struct module *m = world_module(s->store.world, module);
    const struct calls *calls = NULL;
    enum unwind_call call;
    uint64_t target = 0;
    if (m && m->kind == MODULE_JIT) {
        call = jitcalls_find(s, m, caller, back, &target);
        if (call == UNWIND_CALL_PROVEN && target)
            call = follow_call(w, target, callee, &module);
        if (call == UNWIND_CALL_PENDING && !w->give_up)
            w->awaits = module;
        else if (call == UNWIND_CALL_PENDING || call == UNWIND_CALL_UNKNOWN)
            w->changes = true;
        return call == UNWIND_CALL_PENDING && w->give_up ? UNWIND_CALL_UNKNOWN : call;
    }
    call = calls_of(w, module, &calls);
    if (call != UNWIND_CALL_PROVEN)
        return call;
    uint64_t at = offset_in(w, callee, module);
    return calls_lead(calls, stacks_frame_offsets(s->store.stacks)[caller] + 1, at) ? UNWIND_CALL_PROVEN
                                                                                    : UNWIND_CALL_REFUTED;
}

static enum unwind_call find_call(void *ctx, uint64_t back, uint64_t callee)
{
    struct walk *w = ctx;
    struct session *s = w->s;
    const struct location_slot *from = locate_address(s, w->owner, back - 1, false);
    if (!from)
        return UNWIND_CALL_REFUTED;
    uint32_t caller = from->frame;
    const struct location_slot *to = locate_address(s, w->owner, callee, false);
    if (!to)
        return judge_call(w, caller, back, callee);
    uint32_t called = to->frame;
    struct call_verdict *known = &s->unwind.user.verdicts[(caller * 31 + called) % CALL_VERDICTS];
    if (known->caller == caller && known->callee == called && (caller || called))
        return known->proven ? UNWIND_CALL_PROVEN : UNWIND_CALL_REFUTED;
    enum unwind_call call = judge_call(w, caller, back, callee);
    if (call == UNWIND_CALL_PROVEN || call == UNWIND_CALL_REFUTED) {
        *known =
            (struct call_verdict){ .caller = caller, .callee = called, .proven = call == UNWIND_CALL_PROVEN };
        s->unwind.caches_hold = true;
    }
    return call;
}

static enum unwind_call find_between(void *ctx, uint64_t back, uint64_t callee, uint64_t *between)
{
    struct walk *w = ctx;
    struct session *s = w->s;
    const struct location_slot *from = locate_address(s, w->owner, back - 1, false);
    if (!from)
        return UNWIND_CALL_REFUTED;
    uint32_t module = stacks_frame_modules(s->store.stacks)[from->frame];
    uint64_t offset = stacks_frame_offsets(s->store.stacks)[from->frame] + 1, found;
    const struct calls *calls = NULL;
    enum unwind_call call = calls_of(w, module, &calls);
    if (call != UNWIND_CALL_PROVEN)
        return call;
    if (!calls_between(calls, offset, offset_in(w, callee, module), &found))
        return UNWIND_CALL_REFUTED;
    *between = back - offset + found; /* one mapping contains all code of a module that calls itself */
    return UNWIND_CALL_PROVEN;
}

static enum unwind_call find_other(void *ctx, uint64_t at, struct unwind_memory *out)
{
    struct walk *w = ctx;
    const struct other_stack *o = w->owner->other;
    if (o && o->state == OTHER_STACK_READ && at - o->base < o->size) {
        *out = (struct unwind_memory){ .bytes = o->bytes, .size = o->size, .base = o->base };
        return UNWIND_CALL_PROVEN;
    }
    if (w->give_up || w->s->load.file || (o && !otherstack_may_try(o)))
        return UNWIND_CALL_REFUTED;
    w->s->unwind.user.other = at;
    return UNWIND_CALL_PENDING;
}

static bool read_again(void *ctx, uint64_t at)
{
    struct walk *w = ctx;
    bool again = !w->give_up && otherstack_may_try(w->owner->other);
    w->s->unwind.user.other = again ? at : 0;
    return again;
}

static bool believe_other(void *ctx, uint64_t fp, uint64_t function, const struct unwind_frame *frames,
                          uint32_t n)
{
    struct walk *w = ctx;
    return otherstack_believe(w->s, w->owner->version, fp, function, frames, n);
}

/* Looks up the callers in the cache of unwinds. The leaf is not part of the hash: it may be anywhere in
 * its function. */
static bool knows_callers(void *ctx, const struct unwind_frame *frames, uint32_t n,
                          const struct unwind_memory *memory, const struct unwind_regs *regs)
{
    struct walk *w = ctx;
    struct user_stacks *u = &w->s->unwind.user;
    uint64_t hash = map_mix(w->owner->version);
    for (uint32_t i = 1; i < n; i++)
        hash = map_mix(hash ^ frames[i].frame);
    hash = map_mix(map_mix(hash ^ regs->pc) ^ regs->sp);
    u->n_from = n;
    u->from = (struct unwind_start){ .hash = hash, .fp = regs->fp };
    w->callers = unwind_cache_find(&u->unwind_cache, hash, memory, regs);
    return w->callers;
}

/* Only results that reached a true root are kept, and only if no code was met of which more may be known
 * later. They are forgotten with the frames. */
void userstack_keep(struct session *s, uint32_t stack)
{
    struct user_stacks *u = &s->unwind.user;
    if (u->reads.bad)
        return;
    for (uint32_t i = 0; i < u->n_from; i++)
        stack = stacks_parents(s->store.stacks)[stack];
    unwind_cache_keep(&u->unwind_cache, &u->from, &u->reads, stack);
    s->unwind.caches_hold = true;
}

static bool has_regs(const struct session *s, const struct record *r)
{
    return r->sample.user_regs && r->sample.user_abi != PERF_SAMPLE_REGS_ABI_NONE &&
           s->unwind.user.arch != UNWIND_ARCH_NONE;
}

bool userstack_taken(const struct session *s, const struct record *r)
{
    return has_regs(s, r) && r->id.has & PERF_SAMPLE_STACK_USER;
}

bool userstack_link(struct session *s, const struct frame_owner *owner, const struct record *r, uint64_t pc,
                    bool give_up, uint64_t *caller, uint32_t *awaits)
{
    struct walk w = { .s = s, .owner = owner, .give_up = give_up, .pc = pc };
    struct unwind_location location = { 0 };
    struct unwind_regs regs;
    if (!has_regs(s, r) || r->sample.user_abi != PERF_SAMPLE_REGS_ABI_64 || !find_target(&w, pc, &location))
        return false;
    *awaits = w.awaits;
    const struct unwind_entry *entry = location.entry;
    if (!entry && location.rows)
        entry = unwind_rows_entry(location.rows, location.offset);
    if (!entry || !(entry->flags & UNWIND_ENTRY_RA_IN_REGISTER))
        return false;
    (void)unwind_arch_take_regs(s->unwind.user.arch, r->sample.user_regs, userstack_regs_mask(s, r), r->swap,
                                &regs); /* pc is not needed */
    if (!unwind_regs_value(&regs, entry->ra_register, caller))
        return false;
    *caller = unwind_arch_strip(s->unwind.user.arch, *caller);
    return true;
}

bool userstack_is_root(struct session *s, const struct frame_owner *owner, uint64_t addr, bool give_up,
                       uint32_t *awaits)
{
    struct walk w = { .s = s, .owner = owner, .give_up = give_up };
    struct unwind_location location;
    const struct location_slot *slot = locate_address(s, owner, addr, false);
    const struct module *m =
        slot ? world_module(s->store.world, stacks_frame_modules(s->store.stacks)[slot->frame]) : NULL;
    if (!m || m->kind != MODULE_FILE || !find_target(&w, addr, &location))
        return false;
    if (w.awaits)
        *awaits = w.awaits;
    return location.entry && location.entry->kind == UNWIND_ROW_END;
}

/* True if the dump ends because memory was not present, and not at its size. */
static bool is_unread(enum unwind_end end, const struct record *r)
{
    return end == UNWIND_DUMP && r->sample.stack_dyn_size < r->sample.stack_size;
}

static enum broken_reason reason_of(enum unwind_end end, const struct record *r)
{
    static const enum broken_reason reasons[] = {
        [UNWIND_DUMP] = BROKEN_DUMP,           [UNWIND_NO_TABLE] = BROKEN_NO_TABLE,
        [UNWIND_PENDING] = BROKEN_PENDING,     [UNWIND_NO_MAP] = BROKEN_NO_MAP,
        [UNWIND_BAD_STEP] = BROKEN_STEP,       [UNWIND_DEEP] = BROKEN_DEEP,
        [UNWIND_ELSEWHERE] = BROKEN_ELSEWHERE, [UNWIND_UNPROVEN] = BROKEN_UNPROVEN,
    };
    return is_unread(end, r) ? BROKEN_UNREAD : reasons[end];
}

/* Sets the user part of the chain, without its context marker. */
static void take_chain(const struct record *r, struct unwind_input *in)
{
    for (uint32_t i = 0; i < r->sample.chain_n; i++)
        if (record_u64(r->sample.chain, i, r->swap) == PERF_CONTEXT_USER) {
            in->chain = (const uint64_t *)r->sample.chain + i + 1;
            in->n_chain = r->sample.chain_n - i - 1;
            return;
        }
}

uint32_t userstack_unwind(struct session *s, const struct frame_owner *owner, const struct record *r,
                          bool give_up, uint32_t frames[USER_FRAMES_MAX], struct user_unwind *out)
{
    struct walk w = { .s = s, .owner = owner, .give_up = give_up };
    struct unwind_reads *reads = &s->unwind.user.reads;
    struct unwind_source source = { .ctx = &w,
                                    .find = find_target,
                                    .deduce = deduce_row,
                                    .called = find_call,
                                    .between = find_between,
                                    .other = find_other,
                                    .again = read_again,
                                    .believe = believe_other,
                                    .knows = knows_callers,
                                    .reads = reads };
    struct unwind_input in = { .arch = s->unwind.user.arch,
                               .stack = r->sample.stack,
                               .stack_bytes = r->sample.stack_dyn_size,
                               .swap = r->swap };
    struct unwind_frame *unwound = s->unwind.user.unwound;
    enum unwind_end end;
    *out = (struct user_unwind){ 0 };
    reads->bad = true;
    if (!unwind_arch_take_regs(in.arch, r->sample.user_regs, userstack_regs_mask(s, r), r->swap, &in.regs))
        return 0;
    w.pc = in.regs.pc;
    take_chain(r, &in);
    out->sp = in.regs.sp;
    uint32_t n = (r->sample.user_abi == PERF_SAMPLE_REGS_ABI_32 ? unwind_stack_32 : unwind_stack)(
        &in, &source, unwound, USER_FRAMES_MAX - 1, &end);
    for (uint32_t i = 0; i < n; i++)
        frames[i] = i && unwound[i].exact ? stacks_frame_interrupted(s->store.stacks, unwound[i].frame)
                                          : unwound[i].frame;
    if (s->unwind.user.other && n)
        w.awaits = stacks_frame_modules(s->store.stacks)[frames[n - 1]];
    if ((end == UNWIND_NO_TABLE || end == UNWIND_UNPROVEN) && n && w.late == unwound[n - 1].frame)
        end = UNWIND_PENDING; /* it has a table, which came too late */
    if (!n)
        frames[n++] = locate_unmapped(s, owner, in.regs.pc, false);
    else if (end != UNWIND_ROOT && end != UNWIND_KNOWN)
        frames[n++] = stacks_frame(s->store.stacks, MODULE_ID_BROKEN, reason_of(end, r));
    if (!owner->maps && end != UNWIND_PENDING) { /* otherwise the sample is an old one */
        s->source.deep.dumped++;
        s->source.deep.cut += end == UNWIND_DUMP && !is_unread(end, r);
    }
    if (is_unread(end, r) && !owner->maps)
        stacktouch_want(s, owner->thread, r->id.time_ns, in.regs.sp, in.stack_bytes);
    const struct unwind_memory memory = { .bytes = in.stack, .size = in.stack_bytes, .base = in.regs.sp };
    reads->bad =
        reads->bad || end != UNWIND_ROOT || w.changes ||
        !unwind_reads_sum(reads->runs, reads->n > 0, reads->words, reads->sp, &memory,
                          &s->unwind.user.from.first) ||
        !unwind_reads_sum(reads->runs, reads->n, reads->words, reads->sp, &memory, &s->unwind.user.from.sum);
    out->awaits = end == UNWIND_PENDING ? w.awaits : 0;
    out->callers = end == UNWIND_KNOWN ? w.callers : 0;
    return n;
}
