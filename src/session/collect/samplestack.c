// SPDX-License-Identifier: GPL-2.0-or-later
/* Makes the stack of a sample: from its callchain, from LBR, or from what userstack.c unwinds. */
#include <string.h>

#include "session/collect/interpreted.h"
#include "session/session_state.h"

#define CHAIN_MAX 1024 /* kernel.perf_event_max_stack is 127 by default; files may have more */

/* A chain entry with its context. A return address is after the call, perhaps in the next function: all
 * entries but the first of a context are looked up one byte earlier. With as_perf they are used unchanged,
 * as perf does. */
struct entry {
    uint64_t addr;
    bool kernel, exact;
    bool interrupted; /* by a signal: an exact address inside a context */
    bool cut;         /* truncated here: addr is an enum broken_reason */
    bool script;      /* addr is an offset in MODULE_SCRIPT */
};

static uint32_t frame_of(struct session *s, const struct frame_owner *o, const struct entry *en, bool *known)
{
    if (en->script) {
        *known = true;
        return stacks_frame(s->store.stacks, MODULE_ID_SCRIPT, en->addr);
    }
    const struct location_slot *slot = locate_address(s, o, en->addr - !en->exact, en->kernel);
    *known = slot != NULL;
    return slot ? slot->frame : 0;
}

/* Replaces the callers of a chain by the branch stack (LBR): the address of each call, innermost first. As
 * perf does, except that the sample's own address stays. */
static uint32_t branch_entries(const struct record *r, struct entry *out, uint32_t n)
{
    const unsigned words = sizeof(struct perf_branch_entry) / sizeof(uint64_t);
    for (uint32_t i = 0; i < r->sample.branch_n && n < CHAIN_MAX; i++)
        out[n++] = (struct entry){ .addr = record_u64(r->sample.branch, i * words, r->swap), .exact = true };
    return n;
}

#define CONTEXT_USER_DEFERRED ((uint64_t)-640) /* PERF_CONTEXT_USER_DEFERRED since Linux 6.18 */

/* User-space words may look like a context: AT_FDCWD is -100. */
static bool is_context(uint64_t v)
{
    return v >= PERF_CONTEXT_MAX &&
           (v == PERF_CONTEXT_USER || v == PERF_CONTEXT_KERNEL || v == PERF_CONTEXT_HV ||
            v == PERF_CONTEXT_GUEST || v == PERF_CONTEXT_GUEST_KERNEL || v == PERF_CONTEXT_GUEST_USER ||
            v == CONTEXT_USER_DEFERRED);
}

/* True if perf drops the chain: one with a context-like value that perf does not know, or without any
 * entry. */
static bool perf_drops(const struct record *r, bool has_chain)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < r->sample.chain_n; i++) {
        uint64_t v = record_u64(r->sample.chain, i, r->swap);
        if (v >= PERF_CONTEXT_MAX && v != PERF_CONTEXT_HV && v != PERF_CONTEXT_KERNEL &&
            v != PERF_CONTEXT_USER)
            return true;
        n += v < PERF_CONTEXT_MAX;
    }
    return has_chain && !n;
}

static uint32_t chain_entries(const struct session *s, const struct record *r, bool by_branches,
                              struct entry *out)
{
    unsigned mode = r->misc & PERF_RECORD_MISC_CPUMODE_MASK;
    bool kernel = mode == PERF_RECORD_MISC_KERNEL;
    uint32_t n = 0;
    bool marked = true; /* a context precedes: the address is exact */
    for (uint32_t i = 0; i < r->sample.chain_n && n < CHAIN_MAX; i++) {
        uint64_t v = record_u64(r->sample.chain, i, r->swap);
        if (is_context(v)) {
            kernel = v == PERF_CONTEXT_KERNEL || v == PERF_CONTEXT_HV;
            marked = true;
            continue;
        }
        /* a reason that flametop wrote, not an address */
        bool cut = s->load.cuts && !kernel && v < BROKEN_REASONS;
        uint64_t ours;
        bool script = s->unwind.file_scripts.n && !kernel && map_get(&s->unwind.file_scripts, v, &ours);
        out[n] = (struct entry){ .addr = script ? ours : v,
                                 .kernel = kernel,
                                 .exact = marked || s->cfg.as_perf,
                                 .cut = cut,
                                 .script = script };
        out[n].interrupted = marked && n && out[n - 1].kernel == kernel && !cut && !script;
        n++;
        if (by_branches && !kernel)
            break;
        marked = false;
    }
    if (!n)
        out[n++] =
            (struct entry){ .addr = r->sample.ip, .kernel = mode == PERF_RECORD_MISC_KERNEL, .exact = true };
    return by_branches ? branch_entries(r, out, n) : n;
}

/* True if unwind tables may tell where a chain ends. What frame pointers find beyond is garbage, or in Go the
 * stack of a goroutine that may have gone on elsewhere. */
static bool ends_at_root(const struct session *s)
{
    return !s->load.file && s->cfg.callchain == CALLCHAIN_AUTO;
}

/* The stack of all entries but the first. A chain that leads to memory without code is truncated there,
 * and rooted in [broken]: the rest is garbage, from a frame pointer used as a plain register. whole_chains
 * keeps the rest, for output equal to that of perf's own tools. */
static struct stack_result callers_stack(struct session *s, const struct frame_owner *o,
                                         const struct entry *entries, uint32_t n, bool give_up)
{
    uint32_t frames[CHAIN_MAX], n_frames = 0;
    struct stack_result a = { 0 };
    for (uint32_t i = 1; i < n; i++) {
        bool known;
        if (entries[i].cut) {
            frames[n_frames++] = stacks_frame(s->store.stacks, MODULE_ID_BROKEN, entries[i].addr);
            a.broken = true;
            break;
        }
        uint32_t frame = frame_of(s, o, &entries[i], &known);
        if (known) {
            frames[n_frames++] =
                entries[i].interrupted ? stacks_frame_interrupted(s->store.stacks, frame) : frame;
            if (!entries[i].kernel && ends_at_root(s) &&
                userstack_is_root(s, o, entries[i].addr - !entries[i].exact, give_up, &a.awaits))
                break;
        } else if (s->cfg.whole_chains) {
            frames[n_frames++] = entries[i].exact
                                     ? locate_unmapped(s, o, entries[i].addr, entries[i].kernel)
                                     : stacks_frame(s->store.stacks, MODULE_ID_UNKNOWN, entries[i].addr - 1);
        } else if (entries[i].exact) {
            frames[n_frames++] = locate_unmapped(s, o, entries[i].addr, entries[i].kernel);
            if (!entries[i].kernel)
                break;
        } else {
            frames[n_frames++] = stacks_frame(s->store.stacks, MODULE_ID_BROKEN, 0);
            a.broken = true;
            break;
        }
    }
    while (n_frames)
        a.stack = stacks_child(s->store.stacks, a.stack, frames[--n_frames]);
    return a;
}

static uint64_t callers_hash(const struct frame_owner *o, const struct entry *entries, uint32_t n)
{
    /* mixed, as the plain values would cancel bits of an address */
    uint64_t h = map_mix((uint64_t)o->image << 32 | o->version);
    for (uint32_t i = 1; i < n; i++) {
        h ^= entries[i].addr + ((uint64_t)entries[i].kernel << 62) + ((uint64_t)entries[i].exact << 61) +
             ((uint64_t)entries[i].cut << 60) + ((uint64_t)entries[i].interrupted << 59);
        h *= UINT64_C(0x9e3779b97f4a7c15);
        h ^= h >> 32;
    }
    return map_mix(h) | 1; /* 0 is an empty slot */
}

/* Finds the slot of a hash, or evicts one; the caller then sets the slot's hash. */
static struct callers_slot *callers_slot(struct session *s, uint64_t hash)
{
    /* both ways share a cache line; the older one is evicted */
    struct callers_slot *way = &s->unwind.callers[hash >> 32 & (CALLERS_CACHE_SLOTS - 2)];
    s->unwind.caches_hold = true;
    if (way[0].hash == hash)
        return &way[0];
    if (way[1].hash == hash)
        return &way[1];
    way[1] = way[0];
    return &way[0];
}

/* The stack of the callers, cached as a whole, since hot paths recur with different leaf addresses. Two
 * chains with equal 64-bit hashes are less likely than a flipped bit in memory. */
static struct stack_result callers_of(struct session *s, const struct frame_owner *o,
                                      const struct entry *entries, uint32_t n, bool give_up)
{
    if (n < 2)
        return (struct stack_result){ 0 };
    uint64_t hash = callers_hash(o, entries, n);
    struct callers_slot *slot = callers_slot(s, hash);
    if (slot->hash == hash)
        return (struct stack_result){ .stack = slot->stack, .broken = slot->broken };
    struct stack_result a = callers_stack(s, o, entries, n, give_up);
    if (!a.awaits && !give_up) /* else more is known later */
        *slot = (struct callers_slot){ .hash = hash, .stack = a.stack, .broken = a.broken };
    return a;
}

/* Inserts the caller of a leaf after the first entry of the user part, where frame pointers skip it. */
static uint32_t add_link(struct session *s, const struct record *r, const struct frame_owner *owner,
                         bool give_up, struct entry *entries, uint32_t n, uint32_t *awaits)
{
    uint64_t caller;
    uint32_t at = 0;
    while (at < n && entries[at].kernel)
        at++;
    if (at == n || n == CHAIN_MAX || !userstack_link(s, owner, r, entries[at].addr, give_up, &caller, awaits))
        return n;
    if (++at < n && entries[at].addr == caller)
        return n;
    memmove(&entries[at + 1], &entries[at], (n - at) * sizeof *entries);
    entries[at] = (struct entry){ .addr = caller, .exact = s->cfg.as_perf };
    return n + 1;
}

/* Marks a user part that has only a leaf as truncated: its frame pointers led nowhere. Chains that
 * flametop wrote contain their own marks. */
static uint32_t cut_behind_leaf(const struct session *s, const struct record *r,
                                const struct perf_event_attr *attr, struct entry *entries, uint32_t n)
{
    bool of_pointers =
        r->sample.chain_n && !attr->exclude_callchain_user && !s->load.cuts && !s->cfg.whole_chains;
    bool only_leaf = !entries[n - 1].kernel && (n == 1 || entries[n - 2].kernel);
    if (of_pointers && only_leaf && n < CHAIN_MAX)
        entries[n++] = (struct entry){ .addr = BROKEN_NO_POINTER, .cut = true };
    return n;
}

static struct stack_result stack_of_chain(struct session *s, const struct record *r,
                                          const struct frame_owner *owner, bool give_up)
{
    struct entry entries[CHAIN_MAX];
    struct stack_result a = { 0 };
    const struct perf_event_attr *attr = &s->store.events[session_event_of(s, r)].attr;
    if (s->cfg.as_perf && perf_drops(r, attr->sample_type & PERF_SAMPLE_CALLCHAIN))
        return a;
    bool calls = r->sample.branch_n && attr->branch_sample_type & PERF_SAMPLE_BRANCH_CALL_STACK;
    uint32_t n = chain_entries(s, r, calls, entries);
    if (!calls) {
        n = add_link(s, r, owner, give_up, entries, n, &a.awaits);
        n = cut_behind_leaf(s, r, attr, entries, n);
    }
    bool known;
    uint32_t leaf = frame_of(s, owner, &entries[0], &known);
    if (!known)
        leaf = locate_unmapped(s, owner, entries[0].addr, entries[0].kernel);
    if (!known && !entries[0].kernel && !s->cfg.whole_chains)
        a.stack = stacks_child(s->store.stacks, 0, leaf); /* the callers are not credible either */
    else {
        struct stack_result callers = callers_of(s, owner, entries, n, give_up);
        a.stack = stacks_child(s->store.stacks, callers.stack, leaf);
        a.broken = callers.broken;
        a.awaits = a.awaits ? a.awaits : callers.awaits;
    }
    return a;
}

static uint32_t kernel_frame(struct session *s, const struct frame_owner *owner, const struct entry *en)
{
    bool known;
    uint32_t frame = frame_of(s, owner, en, &known);
    return known ? frame : stacks_frame(s->store.stacks, MODULE_ID_UNKNOWN, en->addr);
}

/* Adds the kernel frames to a user stack. The user part of the chain is ignored: it is no better than the
 * unwound one. */
static uint32_t add_kernel(struct session *s, const struct record *r, const struct frame_owner *owner,
                           uint32_t user)
{
    static const struct frame_owner kernel = { 0 };
    struct entry entries[CHAIN_MAX];
    uint32_t n = 0, all = chain_entries(s, r, false, entries);
    while (n < all && entries[n].kernel)
        n++;
    if (!n)
        return user;
    uint64_t hash = map_mix(callers_hash(&kernel, entries, n) + user) | 1;
    struct callers_slot *slot = callers_slot(s, hash);
    if (slot->hash != hash) {
        uint32_t stack = user;
        for (uint32_t i = n; i-- > 1;)
            stack = stacks_child(s->store.stacks, stack, kernel_frame(s, owner, &entries[i]));
        *slot = (struct callers_slot){ .hash = hash, .stack = stack };
    }
    return stacks_child(s->store.stacks, slot->stack, kernel_frame(s, owner, &entries[0]));
}

/* Puts frames, leaf first, on a stack of callers. As with chains, recent callers are found as a whole. */
static uint32_t stack_of_frames(struct session *s, uint32_t callers, const uint32_t *frames, uint32_t n)
{
    if (n == 1)
        return stacks_child(s->store.stacks, callers, frames[0]);
    uint64_t hash = map_mix(~(uint64_t)callers);
    for (uint32_t i = 1; i < n; i++)
        hash = map_mix(hash + frames[i]);
    hash |= 1;
    struct callers_slot *slot = callers_slot(s, hash);
    if (slot->hash != hash) {
        uint32_t stack = callers;
        for (uint32_t i = n; i-- > 1;)
            stack = stacks_child(s->store.stacks, stack, frames[i]);
        *slot = (struct callers_slot){ .hash = hash, .stack = stack };
    }
    return stacks_child(s->store.stacks, slot->stack, frames[0]);
}

static struct stack_result stack_of_dump(struct session *s, const struct record *r,
                                         const struct frame_owner *owner, bool give_up)
{
    uint32_t frames[USER_FRAMES_MAX];
    struct stack_result a = { 0 };
    struct user_unwind walk;
    uint32_t n = userstack_unwind(s, owner, r, give_up, frames, &walk);
    uint32_t user = n ? stack_of_frames(s, walk.callers, frames, n) : 0;
    userstack_keep(s, user);
    a.awaits = walk.awaits;
    a.broken = n && stacks_frame_modules(s->store.stacks)[frames[n - 1]] == MODULE_ID_BROKEN;
    if (n && s->unwind.interpreted) {
        uint32_t merged[USER_FRAMES_MAX];
        uint32_t n_merged = interpreted_merge(s, r, owner, user, walk.sp, give_up, merged, &a.awaits);
        user = n_merged ? stack_of_frames(s, 0, merged, n_merged) : user;
    }
    a.stack = add_kernel(s, r, owner, user);
    if (!a.stack)
        return stack_of_chain(s, r, owner, give_up);
    return a;
}

struct stack_result samplestack_of(struct session *s, const struct record *r, const struct frame_owner *owner,
                                   bool give_up)
{
    unsigned mode = r->misc & PERF_RECORD_MISC_CPUMODE_MASK;
    struct stack_result a = { 0 };
    s->unwind.user.other = 0;
    if (mode == PERF_RECORD_MISC_GUEST_KERNEL || mode == PERF_RECORD_MISC_GUEST_USER)
        a.stack =
            stacks_child(s->store.stacks, 0, stacks_frame(s->store.stacks, MODULE_ID_GUEST, r->sample.ip));
    else if (userstack_taken(s, r))
        return stack_of_dump(s, r, owner, give_up);
    else
        return stack_of_chain(s, r, owner, give_up);
    return a;
}
