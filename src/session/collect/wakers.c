// SPDX-License-Identifier: GPL-2.0-or-later
/* Who woke a thread: samples of the event wakers. The stack of such a sample is that of the wait with its
 * reason, then a frame that names the waker, then the waker's own stack: a call tree leads from what waited to
 * what ended the wait. While the kernel's names are unknown, the waker may be the thread of the sample, or an
 * interrupt that only interrupted it: "[woken]" names neither. */
#include <stdio.h>

#include "process/waker.h"
#include "session/session_state.h"

#define KERNEL_MAX 64 /* kernel functions of a waker that may tell what it is */

bool offcpu_wake(struct session *s, const struct record *r)
{
    struct session_offcpu *o = &s->collect.offcpu;
    if (!o->wakers || session_event_of(s, r) != o->wakers)
        return false;
    uint32_t tid = o->wake.format ? (uint32_t)offcpu_number(&o->wake, r) : 0;
    if (!waits_may_wake(&o->waits, tid))
        return true;
    scan_proc_of(s, r->id.pid);
    uint32_t thread = world_thread_of(s->store.world, r->id.pid, r->id.tid, r->id.time_ns, r->sample.cgroup);
    struct frame_owner owner = locate_owner(s, thread);
    o->waker = (struct offcpu_waker){ thread, samplestack_of(s, r, &owner, true).stack };
    waits_wake(&o->waits, tid, r->id.time_ns);
    return true;
}

/* The kind of a waker and the number of frames of an interrupt, by its stack. False: not known yet. */
static bool kind_of(struct session *s, uint32_t stack, enum waker *kind, size_t *own)
{
    struct map *seen = &s->collect.offcpu.interrupts;
    const char *names[KERNEL_MAX];
    uint64_t known;
    size_t n;
    if (!map_get(seen, stack, &known)) {
        if (!kernel_names_of(s, stack, KERNEL_MAX, names, &n))
            return false;
        known = waker_of(names, n, own);
        map_put(seen, stack, known |= (uint64_t)*own << 8);
    }
    *kind = (enum waker)(known & 0xff);
    *own = known >> 8;
    return true;
}

bool wakers_known(struct session *s, const struct offcpu_waker *waker)
{
    enum waker kind;
    size_t own;
    return !waker->thread || kind_of(s, waker->stack, &kind, &own);
}

/* known: whether `kind` is. */
static uint32_t frame_of(struct session *s, bool known, enum waker kind, uint32_t waker)
{
    char text[64] = "[woken]";
    const struct world_thread *t = world_thread(s->store.world, waker);
    if (known)
        snprintf(text, sizeof text, "[woken by %s]",
                 kind != WAKER_THREAD ? waker_name(kind)
                 : t                  ? t->comm
                                      : "a thread that has ended");
    return stacks_frame(s->store.stacks, MODULE_ID_WAIT, symbolizer_script(s->store.symbolizer, text));
}

uint32_t wakers_stack(struct session *s, const struct offcpu_waker *waker, uint32_t stack)
{
    enum waker kind = WAKER_THREAD;
    size_t own;
    uint32_t interrupted = 0; /* the part of the waker's stack that only was on the CPU */
    bool known = kind_of(s, waker->stack, &kind, &own);
    if (known && kind != WAKER_THREAD)
        for (interrupted = waker->stack; own--;)
            interrupted = stacks_parents(s->store.stacks)[interrupted];
    stack = stacks_child(s->store.stacks, stack, frame_of(s, known, kind, waker->thread));
    return stacks_rebase(s->store.stacks, waker->stack, interrupted, stack);
}
