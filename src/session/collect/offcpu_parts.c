// SPDX-License-Identifier: GPL-2.0-or-later
/* Samples of waits: parts of waits with equal stacks and short gaps are merged until the next flush. Then
 * each becomes a sample: time = end of the last part, weight = nanoseconds. Its leaf frame says what the
 * thread waited for. A sample of several parts has a payload: the time when the first one began.
 *
 * Times on the CPU become samples of an event of their own, without stacks, which only the time view
 * reads. */
#include "session/collect/offcpu_parts.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "process/wait_reason.h"
#include "session/session_state.h"

#define KERNEL_MAX 16 /* kernel functions of a stack that may tell the reason */
/* A flush may come after a second. The time view shows shorter turns. */
#define GAP_MAX_NS (20 * NS_PER_MS)

bool offcpu_by_tracepoint(const struct session *s)
{
    const struct perf_event_attr *attr = &s->store.events[s->collect.offcpu.event].attr;
    return s->load.file || (attr->type == PERF_TYPE_TRACEPOINT && !attr->exclude_kernel);
}

/* ---- what a stack waits for ---- */

/* False: names that tell the reason are not read yet. */
static bool reason_of(struct session *s, uint32_t stack, enum wait_reason *reason)
{
    struct session_offcpu *o = &s->collect.offcpu;
    const char *names[KERNEL_MAX];
    size_t n;
    uint64_t known;
    bool found = map_get(&o->reasons, stack, &known);
    *reason = found ? (enum wait_reason)known : WAIT_UNKNOWN;
    if (found || !stack)
        return true;
    if (!kernel_names_of(s, stack, KERNEL_MAX, names, &n))
        return false;
    *reason = wait_reason_of(names, n);
    map_put(&o->reasons, stack, *reason);
    return true;
}

/* ---- parts ---- */

static void count_end(struct session_offcpu *o, struct offcpu_part *p, uint64_t ns)
{
    uint32_t bucket = duration_bucket(ns);
    bool created;
    uint64_t part = (uint64_t)(p - o->parts.items);
    uint64_t *at = map_at(&o->index_of_ends, part << 32 | bucket, o->ends.n, &created);
    p->sum_ns += ns;
    if (created) {
        *VEC_PUSH(&o->ends) = (struct offcpu_end){ .bucket = bucket, .before = p->ends };
        p->ends = (uint32_t)o->ends.n;
    }
    o->ends.items[*at].count++;
}

static void add_part(struct session *s, const struct waits_part *part, struct offcpu_waker waker)
{
    struct session_offcpu *o = &s->collect.offcpu;
    bool created;
    uint32_t thread = world_thread_of(s->store.world, part->pid, part->tid, part->to_ns, 0);
    uint64_t key = map_mix((uint64_t)thread << 8 | (uint64_t)waker.kind << 4 | part->state) +
                   map_mix(part->stack) + map_mix((uint64_t)waker.thread << 32 ^ waker.stack);
    uint64_t *at = map_at(&o->index, key, o->parts.n, &created);
    bool alone = !created && part->from_ns > o->parts.items[*at].to_ns + GAP_MAX_NS;
    *at = alone ? o->parts.n : *at;
    if (created || alone)
        *VEC_PUSH(&o->parts) = (struct offcpu_part){ .from_ns = part->from_ns,
                                                     .thread = thread,
                                                     .state = part->state,
                                                     .stack = part->stack,
                                                     .waker = waker };
    struct offcpu_part *p = &o->parts.items[*at];
    p->weight_ns += part->to_ns - part->from_ns;
    p->to_ns = part->to_ns;
    p->cpu = part->cpu;
    if (part->whole_ns > p->max_ns)
        p->max_ns = part->whole_ns;
    if (part->ended)
        count_end(o, p, part->whole_ns);
}

static struct offcpu_waker who_ran(struct session *s, const struct cpu_thread *t, uint64_t time_ns)
{
    struct map *runners = &s->collect.offcpu.runners;
    uint64_t thread;
    if (t->tid == CPU_UNSEEN)
        return (struct offcpu_waker){ .told = true, .kind = WAKER_UNSEEN };
    if (!t->tid)
        return (struct offcpu_waker){ .told = true, .kind = WAKER_IDLE };
    if (!map_get(runners, t->name, &thread)) {
        thread = world_thread_of(s->store.world, t->pid, t->tid, time_ns, 0);
        if (wakers_cpu_thread(s, t->pid, t->tid, time_ns).name == t->name) /* it has no new name since */
            map_put(runners, t->name, thread);
    }
    return (struct offcpu_waker){ .told = true, .kind = WAKER_RAN, .thread = (uint32_t)thread };
}

/* The switch at which a thread left the CPU counts as a run of it. In its own wait, that is a part of the
 * wait for the next thread, if that is known yet. Returns the new number of shares. */
static size_t without_own(struct cpu_share *shares, size_t n, uint32_t tid)
{
    size_t i = 0;
    while (i < n && shares[i].thread.tid != tid)
        i++;
    if (i < n && n == 1)
        shares[i].thread.tid = CPU_UNSEEN;
    else if (i < n) {
        shares[i ? i - 1 : 1].ns += shares[i].ns;
        shares[i] = shares[--n];
    }
    return n;
}

/* Who ran on the CPU while the thread waited for it: each part of the wait is a wait for one thread. */
static void add_meanwhile(struct session *s, const struct waits_part *part)
{
    struct cpu_share shares[CPU_SHARES_MAX];
    size_t n = cpu_runs_between(&s->collect.offcpu.cpu_runs, part->cpu, part->from_ns, part->to_ns, shares);
    n = without_own(shares, n, part->tid);
    for (size_t i = 0; i < n; i++) {
        struct waits_part own = *part;
        own.from_ns = part->to_ns - shares[i].ns;
        own.whole_ns = shares[i].ns;
        add_part(s, &own, who_ran(s, &shares[i].thread, part->to_ns));
    }
}

/* True if the tracepoint said nothing of the switch, although it would of a wait: an idle kernel worker, or a
 * thread that ends. */
static bool is_no_wait(const struct session *s, enum thread_state state, uint64_t stack)
{
    return state == THREAD_WAITING && stack == WAITS_NO_STACK && offcpu_by_tracepoint(s);
}

void offcpu_on_part(void *session, const struct waits_part *part)
{
    struct session *s = session;
    if (part->lost && s->collect.wall.runs) /* there the time of a thread adds up */
        add_part(s, part, (struct offcpu_waker){ 0 });
    if (part->state == THREAD_UNKNOWN || is_no_wait(s, part->state, part->stack))
        return;
    add_part(s, part, (struct offcpu_waker){ 0 });
    runqueue_on_part(s, part);
    limits_on_part(s, part);
    if (!s->collect.offcpu.wakers)
        return;
    if (part->state == THREAD_RUNNABLE)
        add_meanwhile(s, part);
    else if (part->woken)
        add_part(s, part, s->collect.offcpu.waker);
}

void offcpu_on_ran(void *session, const struct waits_part *part)
{
    add_part(session, part, (struct offcpu_waker){ 0 });
}

static enum wait_reason reason_of_part(struct session *s, const struct offcpu_part *p, uint32_t stack)
{
    enum wait_reason reason;
    if (p->state == THREAD_RUNNABLE)
        return WAIT_RUN_QUEUE;
    if (p->state == THREAD_STOPPED)
        return WAIT_STOPPED;
    if (p->state == THREAD_UNKNOWN)
        return WAIT_LOST;
    if (kept_kind_of(p->stack) == KEPT_REASON)
        return (enum wait_reason)kept_number(p->stack);
    reason_of(s, stack, &reason);
    return reason;
}

bool offcpu_open_wait(struct session *s, uint32_t tid, uint64_t *since_ns, enum wait_reason *reason)
{
    const struct session_offcpu *o = &s->collect.offcpu;
    const struct waits_thread *t = o->runs ? waits_thread(&o->waits, tid) : NULL;
    if (!t || t->state == THREAD_RUNNING || t->state == THREAD_UNKNOWN || t->check.ran_ns ||
        is_no_wait(s, t->state, t->stack))
        return false;
    *since_ns = t->since_ns;
    *reason = reason_of_part(s, &(struct offcpu_part){ .state = t->state, .stack = t->stack },
                             kept_stack_of(s, t->stack));
    return true;
}

static void put_reason(struct session *s, enum wait_reason reason, struct sample *sample)
{
    uint32_t frame = stacks_frame(s->store.stacks, MODULE_ID_WAIT, (uint64_t)reason);
    sample->stack = stacks_child(s->store.stacks, sample->stack, frame);
    sample->flags = SAMPLE_KERNEL | (wait_reason_is_for_work(reason) ? SAMPLE_IDLE : 0u);
}

static void summarise(const struct session_offcpu *o, const struct offcpu_part *p, struct wait_summary *w)
{
    w->magic = WAIT_SUMMARY_MAGIC;
    w->n = 0;
    w->from_ns = p->from_ns;
    w->max_ns = p->max_ns;
    w->sum_ns = p->sum_ns;
    w->state = p->state == THREAD_BLOCKED ? 'D' : p->state == THREAD_WAITING ? 0 : 'S';
    for (uint32_t at = p->ends; at && w->n < DURATION_BUCKETS; at = o->ends.items[at - 1].before)
        w->durations[w->n++] =
            (struct wait_duration){ o->ends.items[at - 1].bucket, o->ends.items[at - 1].count };
}

static void append_wait(struct session *s, const struct offcpu_part *p, const struct sample *sample,
                        const struct wait_summary *summary)
{
    bool plain = wait_summary_is_plain(summary, p->weight_ns);
    kept_stack_follow(s, p->stack,
                      append_sample(s, sample, plain ? NULL : summary, wait_summary_size(summary)), false);
}

/* Times on the CPU are not counted as samples. raw: NULL if they are one time. */
static uint64_t append_running(struct session *s, const struct sample *sample, const void *raw, uint32_t size)
{
    s->store.events[sample->event].samples++;
    return history_append(s->store.history, sample, raw, size);
}

static void append_ran(struct session *s, const struct offcpu_part *p)
{
    struct wait_summary summary;
    struct sample sample = { .time_ns = p->to_ns,
                             .weight = sample_weight(p->weight_ns),
                             .thread = p->thread,
                             .cpu = p->cpu % SAMPLE_CPUS,
                             .event = s->collect.offcpu.running % SAMPLE_EVENTS };
    bool several = p->to_ns - p->from_ns > p->weight_ns;
    summarise(&s->collect.offcpu, p, &summary);
    if (s->collect.offcpu.running)
        append_running(s, &sample, several ? &summary : NULL, wait_summary_size(&summary));
}

uint64_t offcpu_from_ns(const struct session *s, const struct sample *sample)
{
    uint64_t from_ns = sample->time_ns > sample->weight ? sample->time_ns - sample->weight : 0;
    struct wait_summary summary;
    uint32_t size;
    const void *raw = history_raw(s->store.history, sample, &size);
    if (raw)
        wait_summary_read(&summary, raw, size, sample->weight);
    return raw && summary.from_ns && summary.from_ns < from_ns ? summary.from_ns : from_ns;
}

static void append_part(struct session *s, const struct offcpu_part *p)
{
    struct wait_summary summary;
    if (p->state == THREAD_RUNNING) {
        append_ran(s, p);
        return;
    }
    uint32_t callers = kept_stack_of(s, p->stack);
    struct sample sample = {
        .time_ns = p->to_ns,
        .weight = sample_weight(p->weight_ns),
        .thread = p->thread,
        .stack = callers,
        .cpu = p->cpu % SAMPLE_CPUS,
        .event = (p->waker.told ? s->collect.offcpu.wakers : s->collect.offcpu.event) % SAMPLE_EVENTS,
    };
    put_reason(s, reason_of_part(s, p, callers), &sample);
    summarise(&s->collect.offcpu, p, &summary);
    if (p->waker.told) {
        enum waker kind;
        sample.stack = wakers_stack(s, &p->waker, sample.stack, &kind);
        uint64_t number = wakers_append(s, &sample, &summary, kind, p->waker.thread);
        kept_stack_follow(s, p->stack, number, false);
        if (!waker_is_interrupt(kind)) /* else what it interrupted is left out */
            kept_stack_follow(s, p->waker.stack, number, true);
        return;
    }
    if (p->state != THREAD_UNKNOWN && session_reads_event(s, sample.event))
        append_wait(s, p, &sample, &summary);
    sample.event = s->collect.wall.event % SAMPLE_EVENTS;
    if (s->collect.wall.runs)
        append_wait(s, p, &sample, &summary);
}

static int by_time(const void *a, const void *b)
{
    const struct offcpu_part *x = a, *y = b;
    return x->to_ns < y->to_ns ? -1 : x->to_ns > y->to_ns;
}

void offcpu_append(struct session *s)
{
    struct session_offcpu *o = &s->collect.offcpu;
    if (!o->parts.n)
        return;
    qsort(o->parts.items, o->parts.n, sizeof *o->parts.items, by_time); /* the history is in order of time */
    for (size_t i = 0; i < o->parts.n; i++)
        append_part(s, &o->parts.items[i]);
    o->parts.n = o->ends.n = 0;
    map_clear(&o->index);
    map_clear(&o->index_of_ends);
    map_clear(&o->runners);
    s->store.generation++;
}

bool offcpu_reasons_known(struct session *s)
{
    const struct session_offcpu *o = &s->collect.offcpu;
    enum wait_reason reason;
    for (size_t i = 0; i < o->parts.n; i++)
        if (!reason_of(s, kept_stack_of(s, o->parts.items[i].stack), &reason) ||
            !wakers_known(s, &o->parts.items[i].waker))
            return false;
    return true;
}

bool offcpu_is_time(const struct session *s, uint32_t event)
{
    return session_is_on_cpu(s, event) || event_is_wait(&s->store.events[event].event);
}

uint64_t offcpu_load(struct session *s, const struct record *r, struct sample *sample)
{
    bool told = r->sample.weight && r->sample.weight <= WAIT_REASONS;
    if (session_is_on_cpu(s, sample->event)) {
        sample->stack = sample->flags = 0;
        return append_running(s, sample, r->sample.aux, r->sample.aux_size);
    }
    if (!r->sample.chain_n && !r->sample.ip) /* runnable, without a stack */
        sample->stack = 0;
    put_reason(s, told ? (enum wait_reason)(r->sample.weight - 1) : WAIT_UNKNOWN, sample);
    if (s->store.events[sample->event].event.wakers)
        return wakers_load(s, r, sample);
    return append_sample(s, sample, r->sample.aux, r->sample.aux_size);
}
