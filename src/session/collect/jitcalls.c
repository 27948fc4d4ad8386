// SPDX-License-Identifier: GPL-2.0-or-later
/* Proves callers in code made at run time: reads the bytes before a return address from the process's
 * memory. They are read once, and not under the lock, since the memory may be slow to read. */
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "process/opener.h"
#include "session/session_state.h"
#include "unwind/hotspot.h"
#include "unwind/x86.h"

#define WANTED_MAX 4096 /* at once; later requests are repeated */
#define CALL_BYTES 8
#define CALL_BITS  4
#define CALL_MASK  ((UINT64_C(1) << CALL_BITS) - 1)
#define DIRECT     5 /* bytes of a direct call: 0xe8 and an offset */

enum unwind_call jitcalls_find(struct session *s, const struct module *m, uint32_t frame, uint64_t back,
                               uint64_t *target)
{
    struct jit_calls *c = &s->unwind.jit_calls;
    uint64_t known;
    *target = 0;
    if (s->unwind.user.arch != UNWIND_ARCH_X86_64 || !m->live || back < CALL_BYTES)
        return UNWIND_CALL_UNKNOWN;
    if (map_get(&c->known, frame, &known)) {
        *target = known >> CALL_BITS;
        return (enum unwind_call)(known & CALL_MASK);
    }
    if (c->wanted.n < WANTED_MAX) {
        *VEC_PUSH(&c->wanted) = (struct jit_call){ .back = back, .frame = frame, .pid = m->pid };
        map_put(&c->known, frame, UNWIND_CALL_PENDING);
    }
    return UNWIND_CALL_PENDING;
}

/* Target of a direct call that ends at the end of the bytes; 0: none, or it may be an indirect call. */
static uint64_t target_of(const uint8_t bytes[CALL_BYTES], uint64_t back)
{
    uint8_t other[CALL_BYTES];
    struct x86_insn insn;
    memcpy(other, bytes, sizeof other);
    other[CALL_BYTES - DIRECT] = 0x90;
    if (!x86_decode(bytes + CALL_BYTES - DIRECT, DIRECT, true, &insn) || insn.kind != X86_CALL ||
        insn.size != DIRECT || x86_call_ends(other, sizeof other, true))
        return 0;
    return back + (uint64_t)insn.value;
}

static uint64_t read_call(const struct jit_call *call)
{
    uint8_t bytes[CALL_BYTES + UNWIND_HOTSPOT_RETURN];
    size_t n = opener_read_memory(call->pid, call->back - CALL_BYTES, bytes, sizeof bytes);
    if (n < CALL_BYTES)
        return UNWIND_CALL_UNKNOWN;
    bool returns = unwind_hotspot_returns(bytes + CALL_BYTES, n - CALL_BYTES);
    if (returns)
        return UNWIND_CALL_PROVEN;
    if (!x86_call_ends(bytes, CALL_BYTES, true))
        return UNWIND_CALL_REFUTED;
    return UNWIND_CALL_PROVEN | target_of(bytes, call->back) << CALL_BITS;
}

void jitcalls_read(struct session *s)
{
    struct jit_calls *c = &s->unwind.jit_calls;
    pthread_mutex_lock(&s->store.lock);
    struct jit_call *wanted = c->wanted.items;
    size_t n = c->wanted.n;
    uint32_t cleared = c->cleared;
    memset(&c->wanted, 0, sizeof c->wanted);
    pthread_mutex_unlock(&s->store.lock);
    uint64_t *found = mem_array(n, sizeof *found);
    for (size_t i = 0; i < n; i++)
        found[i] = read_call(&wanted[i]);
    pthread_mutex_lock(&s->store.lock);
    for (size_t i = 0; i < n && c->cleared == cleared; i++)
        map_put(&c->known, wanted[i].frame, found[i]);
    s->unwind.jit_frames.fresh |= n > 0;
    pthread_mutex_unlock(&s->store.lock);
    mem_free(wanted);
    mem_free(found);
}

void jitcalls_forget(struct session *s)
{
    map_clear(&s->unwind.jit_calls.known);
    s->unwind.jit_calls.wanted.n = 0;
    s->unwind.jit_calls.cleared++;
}

void jitcalls_done(struct session *s)
{
    map_done(&s->unwind.jit_calls.known);
    mem_free(s->unwind.jit_calls.wanted.items);
    s->unwind.jit_calls = (struct jit_calls){ 0 };
}
