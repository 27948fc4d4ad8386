// SPDX-License-Identifier: GPL-2.0-or-later
/* Time off the CPU: makes samples of the event off-cpu from the records of the scheduler.
 *
 * The tracepoint sched:sched_switch gives the stack and state of a thread that leaves its CPU, the kernel's
 * switch records the times (profile/waits.h). Parts of waits with equal stacks are merged until the next
 * flush. Then each becomes a sample: time = end of the last part, weight = nanoseconds. Its leaf frame says
 * what the thread waited for. A sample of several parts has a payload: the time when the first one began.
 *
 * Times on the CPU become samples of an event of their own, without stacks, which only the time view reads. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "perf/tracepoint.h"
#include "process/wait_reason.h"
#include "session/session_state.h"

/* What the `stack` of a wait (profile/waits.h) is, by its two highest bits. */
enum kept {
    KEPT_STACK, /* a stack of the store */
    /* No stack, but the reason: of a thread that waited before sampling began (offcpu_scan.c). */
    KEPT_REASON,
    /* A stack that waits for an unwind table: the number of a sample of the history, whose stack is
     * corrected when the table is there (aside.c). Such samples belong to an event of their own, which is
     * never shown. */
    KEPT_HOLDER,
    KEPT_NOTHING /* WAITS_NO_STACK */
};
#define KEPT_SHIFT 62

#define REPORT_NS  (NS_PER_SEC / 2) /* shortest time between two reports of open intervals */
#define NAMES_NS   (5 * NS_PER_SEC) /* how long parts wait for the kernel's names at first */
#define PARTS_MAX  65536            /* merged parts that may wait */
#define NO_TID     UINT32_MAX       /* of a thread whose end was seen and whose number is free; 0: idle */
#define KERNEL_MAX 16               /* kernel functions of a stack that may tell the reason */

/* Bits of prev_state (fs/proc/array.c, task_state_array). The filter of the live event lets only these pass.
 * Other bits are idle workers, parked and ended threads, and above them a preempted one. */
enum { STATE_SLEEPING = 1, STATE_BLOCKED = 2, STATE_STOPPED = 4 | 8, STATE_ALL = 255 };

static bool by_tracepoint(const struct session *s)
{
    const struct perf_event_attr *attr = &s->store.events[s->collect.offcpu.event].attr;
    return s->load.file || (attr->type == PERF_TYPE_TRACEPOINT && !attr->exclude_kernel);
}

static uint64_t keep(enum kept kept, uint64_t number)
{
    return (uint64_t)kept << KEPT_SHIFT | number;
}

static enum kept kept_in(uint64_t stack)
{
    return (enum kept)(stack >> KEPT_SHIFT);
}

static uint64_t number_in(uint64_t stack)
{
    return stack & ((UINT64_C(1) << KEPT_SHIFT) - 1);
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

/* 0: none. */
static uint32_t stack_of(const struct session *s, uint64_t stack)
{
    const struct sample *holder;
    switch (kept_in(stack)) {
    case KEPT_STACK:
        return (uint32_t)stack;
    case KEPT_HOLDER:
        holder = history_sample(s->store.history, number_in(stack));
        return holder ? holder->stack : 0;
    default:
        return 0;
    }
}

static void count_end(struct session_offcpu *o, struct offcpu_part *p, uint64_t ns)
{
    uint32_t bucket = duration_bucket(ns), at = p->ends;
    p->sum_ns += ns;
    while (at && o->ends.items[at - 1].bucket != bucket)
        at = o->ends.items[at - 1].before;
    if (!at) {
        *VEC_PUSH(&o->ends) = (struct offcpu_end){ .bucket = bucket, .before = p->ends };
        at = p->ends = (uint32_t)o->ends.n;
    }
    o->ends.items[at - 1].count++;
}

static void add_part(struct session *s, const struct waits_part *part, struct offcpu_waker waker)
{
    struct session_offcpu *o = &s->collect.offcpu;
    bool created;
    uint32_t thread = world_thread_of(s->store.world, part->pid, part->tid, part->to_ns, 0);
    uint64_t key = map_mix((uint64_t)thread << 8 | (uint64_t)waker.kind << 4 | part->state) +
                   map_mix(part->stack) + map_mix((uint64_t)waker.thread << 32 | waker.stack);
    uint64_t *at = map_at(&o->index, key, o->parts.n, &created);
    if (created)
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

/* Who ran on the CPU while the thread waited for it: each part of the wait is a wait for one thread. */
static void add_meanwhile(struct session *s, const struct waits_part *part)
{
    struct cpu_share shares[CPU_SHARES_MAX];
    size_t n = cpu_runs_between(&s->collect.offcpu.cpu_runs, part->cpu, part->from_ns, part->to_ns, shares);
    for (size_t i = 0; i < n; i++) {
        const struct cpu_thread *t = &shares[i].thread;
        struct offcpu_waker who = { .kind = t->tid == CPU_UNSEEN ? OFFCPU_UNSEEN
                                            : t->tid             ? OFFCPU_RAN
                                                                 : OFFCPU_IDLE };
        struct waits_part own = *part;
        own.from_ns = part->to_ns - shares[i].ns;
        own.whole_ns = shares[i].ns;
        if (who.kind == OFFCPU_RAN)
            who.thread = world_thread_of(s->store.world, t->pid, t->tid, part->to_ns, 0);
        add_part(s, &own, who);
    }
}

/* True if the tracepoint said nothing of the switch, although it would of a wait: an idle kernel worker, or a
 * thread that ends. */
static bool is_no_wait(const struct session *s, enum thread_state state, uint64_t stack)
{
    return state == THREAD_WAITING && stack == WAITS_NO_STACK && by_tracepoint(s);
}

static void on_part(void *session, const struct waits_part *part)
{
    struct session *s = session;
    if (part->state == THREAD_UNKNOWN || is_no_wait(s, part->state, part->stack))
        return;
    add_part(s, part, (struct offcpu_waker){ 0 });
    if (!s->collect.offcpu.wakers)
        return;
    if (part->state == THREAD_RUNNABLE)
        add_meanwhile(s, part);
    else if (part->woken)
        add_part(s, part, s->collect.offcpu.waker);
}

static void on_ran(void *session, const struct waits_part *part)
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
    if (kept_in(p->stack) == KEPT_REASON)
        return (enum wait_reason)number_in(p->stack);
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
                             stack_of(s, t->stack));
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

/* The stack of a sample is corrected when the unwind table that it waits for is there. */
static void follow_holder(struct session *s, const struct offcpu_part *p, uint64_t number)
{
    if (kept_in(p->stack) == KEPT_HOLDER)
        aside_also(s, number_in(p->stack), number);
}

static void append_wait(struct session *s, const struct offcpu_part *p, const struct sample *sample,
                        const struct wait_summary *summary)
{
    bool plain = wait_summary_is_plain(summary, p->weight_ns);
    follow_holder(s, p, append_sample(s, sample, plain ? NULL : summary, wait_summary_size(summary)));
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
    uint32_t callers = stack_of(s, p->stack);
    struct sample sample = {
        .time_ns = p->to_ns,
        .weight = sample_weight(p->weight_ns),
        .thread = p->thread,
        .stack = callers,
        .cpu = p->cpu % SAMPLE_CPUS,
        .event = (p->waker.kind ? s->collect.offcpu.wakers : s->collect.offcpu.event) % SAMPLE_EVENTS,
    };
    put_reason(s, reason_of_part(s, p, callers), &sample);
    summarise(&s->collect.offcpu, p, &summary);
    if (p->waker.kind) {
        enum waker kind;
        sample.stack = wakers_stack(s, &p->waker, sample.stack, &kind);
        follow_holder(s, p, wakers_append(s, &sample, &summary, kind, p->waker.thread));
        return;
    }
    if (session_reads_event(s, sample.event))
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
    s->store.generation++;
}

bool offcpu_reasons_known(struct session *s)
{
    const struct session_offcpu *o = &s->collect.offcpu;
    enum wait_reason reason;
    for (size_t i = 0; i < o->parts.n; i++)
        if (!reason_of(s, stack_of(s, o->parts.items[i].stack), &reason) ||
            !wakers_known(s, &o->parts.items[i].waker))
            return false;
    return true;
}

bool offcpu_settle(struct session *s, bool last)
{
    if (last || offcpu_reasons_known(s))
        offcpu_append(s);
    return !s->collect.offcpu.parts.n;
}

void offcpu_flush(struct session *s, uint64_t now_ns, bool final)
{
    struct session_offcpu *o = &s->collect.offcpu;
    if (!o->runs)
        return;
    if (final || now_ns >= o->reported_ns + REPORT_NS) {
        waits_report(&o->waits, now_ns, final);
        o->reported_ns = now_ns;
    }
    offcpu_settle(s, now_ns >= o->begun_ns + NAMES_NS || o->parts.n >= PARTS_MAX);
}

/* ---- records ---- */

static struct waits_at at(const struct record *r)
{
    return (struct waits_at){ r->id.pid, r->id.tid, r->id.cpu, r->id.time_ns };
}

enum thread_state offcpu_state(uint64_t prev_state)
{
    return prev_state & STATE_BLOCKED    ? THREAD_BLOCKED
           : prev_state & STATE_SLEEPING ? THREAD_SLEEPING
           : prev_state & STATE_STOPPED  ? THREAD_STOPPED
           : prev_state & STATE_ALL      ? THREAD_WAITING
                                         : THREAD_RUNNABLE;
}

static enum thread_state state_of(const struct session *s, const struct record *r)
{
    const struct offcpu_tracepoint *leave = &s->collect.offcpu.leave;
    uint64_t state;
    return offcpu_number(leave, leave->state, r, &state) ? offcpu_state(state) : THREAD_WAITING;
}

bool offcpu_sample(struct session *s, const struct record *r, const struct sample *sample,
                   const struct stack_result *stack)
{
    struct session_offcpu *o = &s->collect.offcpu;
    uint64_t kept = stack->stack;
    if (!o->runs || sample->event != o->event)
        return false;
    o->stacks[0]++;
    if (!r->id.tid)
        return true;
    if (stack->awaits) {
        struct sample holder = *sample;
        holder.event = o->holders % SAMPLE_EVENTS;
        uint64_t number = history_append(s->store.history, &holder, NULL, 0);
        aside_put(s, r, sample->thread, number);
        kept = keep(KEPT_HOLDER, number);
    }
    waits_leave(&o->waits, at(r), state_of(s, r), kept);
    return true;
}

/* A new thread waits for a CPU. Threads that perf found when it started have no time. */
static void born(struct waits *w, const struct record *r)
{
    struct waits_at at = { r->task.pid, r->task.tid, r->id.cpu, r->task.time_ns };
    if (!r->known || !at.time_ns)
        return;
    waits_exit(w, at.tid, at.time_ns); /* an earlier thread with this number */
    waits_found(w, at, THREAD_RUNNABLE, WAITS_NO_STACK);
}

/* A thread leaves its CPU. Where not all stacks are sampled, one of which the tracepoint said nothing may be a
 * wait: of a kernel thread it is not counted, as most are idle workers. */
static void switch_out(struct session *s, const struct record *r)
{
    struct session_offcpu *o = &s->collect.offcpu;
    uint32_t thread = world_thread_of(s->store.world, r->id.pid, r->id.tid, r->id.time_ns, 0);
    const struct world_thread *t = world_thread(s->store.world, thread);
    if (t && t->exited) { /* for the last time */
        waits_exit(&o->waits, r->id.tid, r->id.time_ns);
        return;
    }
    waits_switch_out(&o->waits, at(r), r->misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT);
    if (thin_may_lack(s, thread, r->id.time_ns))
        waits_untold(&o->waits, r->id.tid, keep(KEPT_REASON, WAIT_NOT_TAKEN));
}

void offcpu_record(struct session *s, const struct record *r)
{
    struct session_offcpu *o = &s->collect.offcpu;
    if (!o->runs)
        return;
    switch (r->type) {
    case PERF_RECORD_SWITCH:
    case PERF_RECORD_SWITCH_CPU_WIDE:
        wakers_follow_cpu(s, r);
        if (!r->id.tid || r->id.tid == NO_TID)
            break;
        if (r->misc & PERF_RECORD_MISC_SWITCH_OUT) {
            if (!s->load.file)
                scan_proc_of(s, r->id.pid);
            switch_out(s, r);
        } else {
            waits_switch_in(&o->waits, at(r));
        }
        break;
    case PERF_RECORD_FORK:
        born(&o->waits, r);
        break;
    case PERF_RECORD_EXIT:
        waits_exit(&o->waits, r->task.tid, r->task.time_ns);
        break;
    case PERF_RECORD_LOST:
    case PERF_RECORD_LOST_SAMPLES:
        o->scan_again = true;
        cpu_runs_forget(&o->cpu_runs);
        waits_lost(&o->waits, r->id.time_ns  ? r->id.time_ns
                              : s->load.file ? s->load.last_ns
                                             : clock_now_ns());
        break;
    }
}

/* ---- a session's part ---- */

/* Adds an event that is never listed, once. */
static void add_hidden(struct session *s, uint32_t *number, const char *name)
{
    if (*number || s->store.n_events >= SAMPLE_EVENTS)
        return;
    *number = s->store.n_events;
    struct session_event *ev = session_add_event(s);
    *ev = (struct session_event){
        .leader = *number, .first = *number, .period = 1, .left_out = true, .removed = true
    };
    snprintf(ev->event.name, sizeof ev->event.name, "%s", name);
}

void offcpu_add_running(struct session *s)
{
    uint32_t *number = &s->collect.offcpu.running;
    add_hidden(s, number, OFFCPU_RUNNING);
    if (*number)
        offcpu_saved_attr(&s->store.events[*number].attr);
}

/* False: no event of the running source is off-cpu. */
static bool find_event(const struct session *s, uint32_t *event)
{
    for (uint32_t i = s->store.live_event; i < s->store.n_events; i++) {
        const struct session_event *ev = &s->store.events[i];
        if (ev->first == s->store.live_event && ev->event.off_cpu && !ev->left_out) {
            *event = i;
            return true;
        }
    }
    return false;
}

/* True if the event wakers of this event off-cpu opened too. */
static bool follows(const struct session *s, uint32_t event)
{
    return event + 1 < s->store.n_events && s->store.events[event + 1].event.wakers &&
           !s->store.events[event + 1].left_out;
}

void offcpu_restart(struct session *s)
{
    struct session_offcpu *o = &s->collect.offcpu;
    waits_done(&o->waits);
    o->waits = (struct waits){
        .part = on_part,
        .ran = on_ran,
        .rest = s->collect.wall.runs ? wall_rest : NULL,
        .ctx = s,
        .checks = o->wakers != 0,
    };
    cpu_runs_forget(&o->cpu_runs);
    o->begun_ns = o->reported_ns = clock_now_ns();
    o->scan_wanted = true;
}

static void forget_tracepoint(struct offcpu_tracepoint *t)
{
    payload_format_free(t->format);
    *t = (struct offcpu_tracepoint){ 0 };
}

static void read_tracepoint(struct offcpu_tracepoint *t, const char *name, const char *tid, const char *state)
{
    if (!(t->format = tracepoint_payload("sched", name)))
        return;
    t->tid = payload_field_find(t->format, tid);
    t->state = state ? payload_field_find(t->format, state) : -1;
    t->flags = payload_field_find(t->format, "common_flags");
}

void offcpu_adopt(struct session *s)
{
    struct session_offcpu *o = &s->collect.offcpu;
    bool ran = o->runs;
    uint32_t before = o->event;
    offcpu_append(s);
    wall_adopt(s, s->store.live_event);
    o->runs = find_event(s, &o->event);
    o->wakers = o->runs && follows(s, o->event) ? o->event + 1 : 0;
    o->waits.checks = o->wakers != 0;
    if (o->runs && ran && o->event == before)
        return; /* the new source was opened before the old one was closed: open waits go on */
    offcpu_restart(s);
    forget_tracepoint(&o->leave);
    forget_tracepoint(&o->wake);
    if (!o->runs)
        return;
    add_hidden(s, &o->holders, "stacks off the CPU");
    offcpu_add_running(s);
    if (!by_tracepoint(s))
        return;
    read_tracepoint(&o->leave, "sched_switch", "next_pid", "prev_state");
    read_tracepoint(&o->wake, "sched_waking", "pid", NULL);
}

void offcpu_found(struct session *s, struct waits_at at, enum thread_state state, enum wait_reason reason)
{
    if (state == THREAD_RUNNABLE)
        waits_found_ready(&s->collect.offcpu.waits, at);
    else
        waits_found(&s->collect.offcpu.waits, at, state, keep(KEPT_REASON, (uint64_t)reason));
}

void offcpu_before_drop(struct session *s, bool all)
{
    struct session_offcpu *o = &s->collect.offcpu;
    offcpu_append(s);
    for (size_t i = 0; i < o->waits.threads.n; i++) {
        uint64_t *stack = &o->waits.threads.items[i].stack;
        if (kept_in(*stack) == KEPT_HOLDER && (all || !aside_has(s, number_in(*stack))))
            *stack = stack_of(s, *stack);
        if (all) /* numbers of samples begin anew */
            o->waits.threads.items[i].sample = WAITS_NO_STACK;
    }
}

void offcpu_mark_stacks(struct session *s, uint8_t *marks)
{
    const struct session_offcpu *o = &s->collect.offcpu;
    for (size_t i = 0; i < o->waits.threads.n; i++)
        marks[stack_of(s, o->waits.threads.items[i].stack)] = 1;
}

void offcpu_renumber_stacks(struct session *s, const uint32_t *new_stack)
{
    struct session_offcpu *o = &s->collect.offcpu;
    map_clear(&o->reasons);
    map_clear(&o->interrupts);
    for (size_t i = 0; i < o->waits.threads.n; i++) {
        uint64_t *stack = &o->waits.threads.items[i].stack;
        if (kept_in(*stack) == KEPT_STACK)
            *stack = new_stack[*stack];
    }
}

/* ---- files ---- */

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

void offcpu_done(struct session *s)
{
    struct session_offcpu *o = &s->collect.offcpu;
    waits_done(&o->waits);
    cpu_runs_done(&o->cpu_runs);
    forget_tracepoint(&o->leave);
    forget_tracepoint(&o->wake);
    mem_free(o->parts.items);
    mem_free(o->ends.items);
    map_done(&o->index);
    map_done(&o->reasons);
    map_done(&o->interrupts);
}
