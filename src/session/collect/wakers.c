// SPDX-License-Identifier: GPL-2.0-or-later
/* Who woke a thread, and who ran while a thread waited for a CPU: samples of the event wakers. The stack of
 * such a sample is that of the wait with its reason, then a frame that names the waker, then the waker's own
 * stack: a call tree leads from what waited to what ended the wait. While the kernel's names are unknown, the
 * waker may be the thread of the sample, or an interrupt that only interrupted it: "[woken]" names
 * neither. */
#include <stdio.h>
#include <string.h>

#include "base/map.h"
#include "process/waker.h"
#include "session/collect/kept_stack.h"
#include "session/session_state.h"

#define KERNEL_MAX 64 /* kernel functions of a waker that may tell what it is */
/* Bits of common_flags (enum trace_flag_type of the kernel), in a hard and in a soft interrupt, and in an
 * NMI. */
#define IN_INTERRUPT (0x08 | 0x10 | 0x40)

/* True if a sample of sched_waking may end a wait. */
static bool may_end(const struct session *s, const struct record *r, uint32_t *tid)
{
    const struct session_offcpu *o = &s->collect.offcpu;
    uint64_t number;
    bool told = offcpu_number(&o->wake, o->wake.tid, r, &number);
    return waits_may_wake(&o->waits, *tid = (uint32_t)number) && told;
}

void wakers_wake(struct session *s, const struct record *r, uint32_t thread, uint64_t stack)
{
    struct session_offcpu *o = &s->collect.offcpu;
    uint64_t flags;
    uint32_t tid;
    offcpu_number(&o->wake, o->wake.flags, r, &flags);
    enum waker kind = flags & IN_INTERRUPT ? WAKER_INTERRUPT : WAKER_UNKNOWN;
    o->waker = (struct offcpu_waker){ true, kind, thread, stack };
    if (may_end(s, r, &tid))
        waits_wake(&o->waits, tid, r->id.time_ns);
}

bool offcpu_wake(struct session *s, const struct record *r)
{
    struct session_offcpu *o = &s->collect.offcpu;
    uint32_t tid;
    if (s->load.file || !o->wakers || session_event_of(s, r) != o->wakers)
        return false;
    o->stacks[1]++;
    if (!may_end(s, r, &tid)) /* its stack is not needed */
        return true;
    scan_proc_of(s, r->id.pid);
    uint32_t thread = world_thread_of(s->store.world, r->id.pid, r->id.tid, r->id.time_ns, r->sample.cgroup);
    struct frame_owner owner = locate_owner(s, thread);
    struct stack_result stack = samplestack_of(s, r, &owner, false);
    struct sample sample = { .time_ns = r->id.time_ns, .thread = thread, .stack = stack.stack };
    wakers_wake(s, r, thread, kept_stack_put(s, r, &sample, &stack));
    return true;
}

struct cpu_thread wakers_cpu_thread(const struct session *s, uint32_t pid, uint32_t tid, uint64_t time_ns)
{
    const struct world_thread *t =
        tid && tid != CPU_UNSEEN
            ? world_thread(s->store.world, world_thread_of(s->store.world, pid, tid, time_ns, 0))
            : NULL;
    return (struct cpu_thread){ pid, tid, t ? map_hash_bytes(t->comm, strlen(t->comm), 0) : 0 };
}

/* A thread without records of its own is known by those of its neighbours. */
void wakers_follow_cpu(struct session *s, const struct record *r)
{
    struct cpu_runs *runs = &s->collect.offcpu.cpu_runs;
    bool names_other = r->type == PERF_RECORD_SWITCH_CPU_WIDE;
    uint32_t pid = names_other ? r->cpu_switch.next_prev_pid : 0;
    uint32_t tid = names_other ? r->cpu_switch.next_prev_tid : CPU_UNSEEN;
    if (!s->collect.offcpu.wakers || r->id.cpu >= SAMPLE_CPUS)
        return;
    if (r->misc & PERF_RECORD_MISC_SWITCH_OUT) {
        cpu_runs_leave(runs, r->id.cpu, r->id.time_ns, wakers_cpu_thread(s, pid, tid, r->id.time_ns));
        return;
    }
    struct cpu_thread now = cpu_runs_now(runs, r->id.cpu);
    if (!s->load.file && tid && tid != CPU_UNSEEN && now.tid == tid)
        scan_proc_of(s, pid);
    if (now.tid != r->id.tid)
        now = wakers_cpu_thread(s, r->id.pid, r->id.tid, r->id.time_ns);
    cpu_runs_come(runs, r->id.cpu, r->id.time_ns, now);
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

static bool stack_tells(const struct offcpu_waker *waker)
{
    return waker->kind == WAKER_UNKNOWN || waker->kind == WAKER_INTERRUPT;
}

bool wakers_known(struct session *s, const struct offcpu_waker *waker)
{
    enum waker kind;
    size_t own;
    return !stack_tells(waker) || kind_of(s, kept_stack_of(s, waker->stack), &kind, &own);
}

static uint32_t frame_of(struct session *s, enum waker kind, uint32_t thread)
{
    char text[WORLD_COMM_MAX + 16];
    const struct world_thread *t = world_thread(s->store.world, thread);
    const char *comm = t ? t->comm : "an unknown thread";
    switch (kind) {
    case WAKER_UNKNOWN:
        snprintf(text, sizeof text, "[woken]");
        break;
    case WAKER_RAN:
        snprintf(text, sizeof text, "[while %s ran]", comm);
        break;
    case WAKER_IDLE:
        snprintf(text, sizeof text, "[while the CPU was idle]");
        break;
    case WAKER_UNSEEN:
        snprintf(text, sizeof text, "[not seen]");
        break;
    default:
        snprintf(text, sizeof text, "[woken by %s]", kind == WAKER_THREAD ? comm : waker_name(kind));
    }
    return stacks_frame(s->store.stacks, MODULE_ID_WAIT, symbolizer_script(s->store.symbolizer, text));
}

uint64_t wakers_append(struct session *s, const struct sample *sample, const struct wait_summary *summary,
                       enum waker kind, uint32_t thread)
{
    char raw[sizeof *summary + sizeof(struct wait_waker)];
    uint32_t size = wait_summary_size(summary);
    struct wait_waker waker = { .magic = WAIT_WAKER_MAGIC, .kind = (uint16_t)kind, .thread = thread };
    memcpy(raw, summary, size);
    memcpy(raw + size, &waker, sizeof waker);
    return append_sample(s, sample, raw, size + (uint32_t)sizeof waker);
}

/* own: frames of an interrupt that woke the thread. */
static enum waker waker_told(struct session *s, const struct offcpu_waker *waker, size_t *own)
{
    enum waker kind;
    *own = 0;
    if (!stack_tells(waker) || !kind_of(s, kept_stack_of(s, waker->stack), &kind, own))
        return waker->kind;
    if (kind != WAKER_THREAD)
        return kind;
    *own = 0;
    return waker->kind == WAKER_INTERRUPT ? WAKER_INTERRUPT : WAKER_THREAD;
}

uint32_t wakers_stack(struct session *s, const struct offcpu_waker *waker, uint32_t stack, enum waker *kind)
{
    size_t own;
    uint32_t top = kept_stack_of(s, waker->stack),
             interrupted = 0; /* the part of the waker's stack that only was on the CPU */
    *kind = waker_told(s, waker, &own);
    if (waker_is_interrupt(*kind))
        for (interrupted = top; own--;)
            interrupted = stacks_parents(s->store.stacks)[interrupted];
    stack = stacks_child(s->store.stacks, stack, frame_of(s, *kind, waker->thread));
    return stacks_rebase(s->store.stacks, top, interrupted, stack);
}

/* The stack in the payload of a file, whose addresses are those of the waker's process. */
static uint32_t saved_stack(struct session *s, const struct record *r, const struct wait_waker *waker,
                            uint32_t thread, const void *chain)
{
    struct frame_owner owner = locate_owner(s, thread);
    struct record own = { .type = r->type,
                          .misc = PERF_RECORD_MISC_KERNEL,
                          .source = r->source,
                          .id = r->id,
                          .sample = { .chain = chain, .chain_n = waker->n } };
    own.id.pid = waker->pid;
    own.id.tid = waker->tid;
    return waker->n ? samplestack_of(s, &own, &owner, true).stack : 0;
}

uint64_t wakers_load(struct session *s, const struct record *r, struct sample *sample)
{
    struct wait_waker waker = { .kind = WAKER_THREAD };
    struct wait_summary summary;
    uint32_t at = wait_waker_at(&waker, r->sample.aux, r->sample.aux_size), thread = 0, stack = 0;
    enum waker kind = waker.kind < WAKERS ? (enum waker)waker.kind : WAKER_THREAD;
    if (at) {
        thread = world_thread_of(s->store.world, waker.pid, waker.tid, sample->time_ns, 0);
        stack = saved_stack(s, r, &waker, thread, (const char *)r->sample.aux + at + sizeof waker);
    }
    sample->stack = stacks_child(s->store.stacks, sample->stack, frame_of(s, kind, thread));
    sample->stack = stacks_rebase(s->store.stacks, stack, 0, sample->stack);
    wait_summary_read(&summary, r->sample.aux, r->sample.aux_size, sample->weight);
    return wakers_append(s, sample, &summary, kind, thread);
}

uint32_t wakers_thread(const struct session *s, const struct sample *sample, const void *raw, uint32_t size)
{
    struct wait_waker waker;
    bool has = s->store.events[sample->event].event.wakers && wait_waker_at(&waker, raw, size);
    return has ? waker.thread : 0;
}

void wakers_renumber(const struct session *s, const struct sample *sample, const uint32_t *new_thread)
{
    struct wait_waker waker;
    uint32_t size;
    char *raw =
        s->store.events[sample->event].event.wakers ? history_raw_of(s->store.history, sample, &size) : NULL;
    uint32_t at = raw ? wait_waker_at(&waker, raw, size) : 0;
    if (!at)
        return;
    waker.thread = new_thread[waker.thread];
    memcpy(raw + at, &waker, sizeof waker);
}
