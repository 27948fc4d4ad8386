// SPDX-License-Identifier: GPL-2.0-or-later
/* Feeds the engine of offcpu.c with the records of a file.
 *
 * With perf record --switch-events the file has the switch records of a live session. Without, the tracepoint
 * says both what left a CPU and what came onto it, so all CPUs (-a) must have been recorded: a tracepoint of
 * single processes tells only when their threads left. Nothing in the file is trusted. */
#include "session/collect/offcpu_file.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "perf/payload.h"
#include "session/collect/file_tracepoint.h"
#include "session/session_state.h"

#define NAMES_WAIT_NS (5 * NS_PER_SEC)
#define NAMES_LOOK_NS (100 * NS_PER_MS)
/* Events are opened and closed one CPU after the other, so a few waits at the ends lack a record. */
#define UNENDED_PERCENT 1
#define FROM_SWITCH                                                                                          \
    (PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | PERF_SAMPLE_CALLCHAIN |         \
     PERF_SAMPLE_STACK_USER)
#define TID_NONE UINT32_MAX /* of a thread that has ended */

/* ---- the tracepoints of the file ---- */

static void add_note(struct session *s, const char *what, const char *fix)
{
    if (s->source.n_notes == LIVE_NOTES_MAX)
        return;
    struct live_note *note = &s->source.notes[s->source.n_notes++];
    *note = (struct live_note){ .calm = false };
    snprintf(note->what, sizeof note->what, "%s", what);
    snprintf(note->fix, sizeof note->fix, "%s", fix);
}

static bool find_event(const struct session *s, const char *tracepoint, uint32_t *event)
{
    return file_tracepoint_find(s, tracepoint, strlen(tracepoint), event);
}

/* False: the file does not have the tracepoint with these fields, which are numbers. state may be NULL. */
static bool read_format(struct session *s, struct offcpu_tracepoint *t, const char *tid, const char *state)
{
    if (!(t->format = file_tracepoint_format(s, t->event)))
        return false;
    t->tid = payload_number_find(t->format, tid);
    t->state = state ? payload_number_find(t->format, state) : -1;
    t->flags = payload_number_find(t->format, "common_flags");
    if (t->tid >= 0 && (!state || t->state >= 0))
        return true;
    payload_format_free(t->format);
    t->format = NULL;
    return false;
}

/* True if the file has every switch, with what is needed of it. */
static bool has_all(struct session *s, struct offcpu_tracepoint *t)
{
    const struct perf_event_attr *attr = &s->store.events[t->event].attr;
    const uint64_t needed = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_RAW;
    if (attr->freq || attr->sample_period > 1)
        add_note(s, "no time off the CPU: the file has only some of the switches (sched:sched_switch)",
                 "record without -F and -c: perf record -e sched:sched_switch --switch-events -g -a");
    else if ((attr->sample_type & needed) != needed)
        add_note(s, "no time off the CPU: samples of sched:sched_switch lack a thread, a time or a payload",
                 "perf record -e sched:sched_switch --switch-events -g -a");
    else if (!read_format(s, t, "next_pid", "prev_state"))
        add_note(s, "no time off the CPU: sched:sched_switch of this file lacks next_pid or prev_state",
                 "perf record -e sched:sched_switch --switch-events -g -a");
    return t->format;
}

/* sched_waking is written when the waker acts, sched_wakeup when the thread is in a run queue, perhaps by its
 * own CPU. */
static void find_wakeups(struct session *s)
{
    struct offcpu_tracepoint *t = &s->collect.offcpu.wake;
    static const char *const names[] = { "sched:sched_waking", "sched:sched_wakeup" };
    for (size_t i = 0; i < sizeof names / sizeof *names && !t->format; i++)
        if (find_event(s, names[i], &t->event))
            read_format(s, t, "pid", NULL);
}

static uint32_t add_event(struct session *s, const struct event *event)
{
    const struct perf_event_attr from = s->store.events[s->collect.offcpu.leave.event].attr;
    struct session_event *ev = session_add_event(s);
    uint32_t number = s->store.n_events - 1;
    *ev = (struct session_event){
        .event = *event, .first = number, .leader = number, .period = 1, .attr = from
    };
    offcpu_saved_attr(&ev->attr);
    /* its samples keep these fields of the sched_switch samples */
    ev->attr.sample_type |= PERF_SAMPLE_PERIOD | (from.sample_type & FROM_SWITCH);
    ev->attr.sample_stack_user = from.sample_stack_user;
    ev->event.attr = ev->attr;
    return number;
}

/* True if the file says who wakes a thread. Without the kernel's stack or flags, the thread that an interrupt
 * interrupted would look like the waker. */
static bool has_wakers(const struct session *s)
{
    const struct offcpu_tracepoint *wake = &s->collect.offcpu.wake;
    const struct perf_event_attr *attr = &s->store.events[wake->event].attr;
    bool stack = attr->sample_type & PERF_SAMPLE_CALLCHAIN && !attr->exclude_callchain_kernel;
    return wake->format && attr->sample_type & PERF_SAMPLE_TID && (stack || wake->flags >= 0) &&
           file_tracepoint_is(s, wake->event, "sched:sched_waking", strlen("sched:sched_waking"));
}

/* True if the file has samples of running threads, too. */
static bool has_cpu_time(const struct session *s)
{
    for (uint32_t i = 0; i < s->store.n_events; i++)
        if (event_is_cpu_time(&s->store.events[i].attr))
            return true;
    return false;
}

void offcpu_file_open(struct session *s)
{
    struct session_offcpu_file *f = &s->load.offcpu;
    struct offcpu_tracepoint *leave = &s->collect.offcpu.leave;
    for (uint32_t i = 0; i < s->store.n_events; i++) {
        f->switches |= s->store.events[i].attr.context_switch;
        if (s->store.events[i].event.off_cpu)
            return; /* the waits are in the file */
    }
    if (s->cfg.as_perf || s->store.n_events >= SAMPLE_EVENTS ||
        !find_event(s, "sched:sched_switch", &leave->event) || !has_all(s, leave))
        return;
    find_wakeups(s);
    s->collect.offcpu.event = add_event(s, &(struct event){ .name = "off-cpu", .off_cpu = true });
    if (has_wakers(s) && s->store.n_events < SAMPLE_EVENTS)
        s->collect.offcpu.wakers = add_event(s, &(struct event){ .name = "wakers", .wakers = true });
    if (has_cpu_time(s) && s->store.n_events < SAMPLE_EVENTS)
        add_event(s, &(struct event){ .name = "wall", .wall = true });
    f->runs = true;
}

void offcpu_file_chosen(struct session *s)
{
    struct session_offcpu_file *f = &s->load.offcpu;
    struct session_offcpu *o = &s->collect.offcpu;
    if (!f->runs)
        return;
    wall_adopt(s, s->store.n_events - 1);
    if (!session_reads_event(s, o->wakers))
        o->wakers = 0;
    f->runs = s->collect.wall.runs || o->wakers || session_reads_event(s, o->event);
    if (!f->runs)
        return;
    offcpu_add_running(s);
    offcpu_restart(s);
    o->runs = true;
}

bool offcpu_file_reads(const struct session *s, uint32_t event)
{
    const struct session_offcpu *o = &s->collect.offcpu;
    return s->load.offcpu.runs &&
           (event == o->leave.event || (o->wake.format && event == o->wake.event) || wall_is_from(s, event));
}

bool offcpu_file_makes(const struct session *s, uint32_t event)
{
    /* off-cpu, wall and on-cpu come last */
    return s->load.offcpu.runs && event >= s->collect.offcpu.event;
}

bool offcpu_file_is_apart(const struct session *s, uint32_t event)
{
    return offcpu_file_makes(s, event) && !s->cfg.n_chosen;
}

/* ---- records ---- */

static bool is_thread(uint32_t tid)
{
    return tid && tid != TID_NONE;
}

/* Counts the ends of waits. Without the record that a thread came back, its next wait begins before the last
 * one has ended. */
static void count_end(struct session *s, uint32_t tid, bool leaves)
{
    const struct waits_thread *t = waits_thread(&s->collect.offcpu.waits, tid);
    if (!t || t->state == THREAD_RUNNING || t->state == THREAD_UNKNOWN)
        return;
    s->load.offcpu.unended += leaves;
    s->load.offcpu.ended += !leaves;
}

/* A thread whose switch-in was not seen came onto this CPU after another thread left it. */
static void switch_in_unseen(struct session *s, struct waits_at at, uint64_t switched_ns)
{
    struct waits *w = &s->collect.offcpu.waits;
    const struct waits_thread *t = waits_thread(w, at.tid);
    at.time_ns = switched_ns;
    if (t && t->state != THREAD_RUNNING && switched_ns > t->since_ns)
        waits_switch_in(w, at);
}

static void switch_in(struct session *s, struct waits_at at)
{
    struct waits *w = &s->collect.offcpu.waits;
    const struct waits_thread *t = waits_thread(w, at.tid);
    at.pid = t ? t->pid : 0; /* of a new thread, its next record says it */
    count_end(s, at.tid, false);
    waits_switch_in(w, at);
}

/* Without switch records: one thread leaves, and the next one comes. */
static void switched(struct session *s, struct waits_at at, enum thread_state state, uint32_t stack,
                     uint32_t next)
{
    struct waits *w = &s->collect.offcpu.waits;
    uint64_t *last_ns = &VEC_RESERVE_ZEROED(&s->load.offcpu.switched, SAMPLE_CPUS)[at.cpu % SAMPLE_CPUS];
    if (is_thread(at.tid)) {
        count_end(s, at.tid, true);
        switch_in_unseen(s, at, *last_ns);
        if (state != THREAD_WAITING)
            waits_leave(w, at, state, stack);
        waits_switch_out(w, at, state == THREAD_RUNNABLE);
    }
    at.tid = next;
    if (is_thread(at.tid))
        switch_in(s, at);
    const struct waits_thread *t = waits_thread(w, next);
    bool known = !next || (t && t->pid);
    cpu_runs_leave(&s->collect.offcpu.cpu_runs, at.cpu % SAMPLE_CPUS, at.time_ns,
                   wakers_cpu_thread(s, t ? t->pid : 0, known ? next : CPU_UNSEEN, at.time_ns));
    *last_ns = at.time_ns;
}

/* The tracepoint sched:sched_switch. */
static void on_switch(struct session *s, const struct record *r, uint32_t stack)
{
    const struct offcpu_tracepoint *leave = &s->collect.offcpu.leave;
    struct waits_at at = { r->id.pid, r->id.tid, r->id.cpu, r->id.time_ns };
    uint64_t before, next;
    if (!offcpu_number(leave, leave->state, r, &before) || !offcpu_number(leave, leave->tid, r, &next))
        return;
    enum thread_state state = offcpu_state(before);
    if (!s->load.offcpu.switches)
        switched(s, at, state, stack, (uint32_t)next);
    else if (is_thread(at.tid) && state != THREAD_WAITING)
        waits_leave(&s->collect.offcpu.waits, at, state, stack);
}

void offcpu_file_sample(struct session *s, const struct record *r, uint32_t thread,
                        const struct stack_result *stack)
{
    const struct session_offcpu *o = &s->collect.offcpu;
    if (!s->load.offcpu.runs || !(r->id.has & PERF_SAMPLE_TIME))
        return;
    if (r->source == o->leave.event)
        on_switch(s, r, stack->stack);
    else if (o->wake.format && r->source == o->wake.event)
        wakers_wake(s, r, thread, stack->stack);
}

void offcpu_file_record(struct session *s, const struct record *r)
{
    if (!s->load.offcpu.runs || !r->known)
        return;
    switch (r->type) {
    case PERF_RECORD_SWITCH:
    case PERF_RECORD_SWITCH_CPU_WIDE:
        if (is_thread(r->id.tid))
            count_end(s, r->id.tid, r->misc & PERF_RECORD_MISC_SWITCH_OUT);
        break;
    }
}

/* ---- samples ---- */

/* Waits once for the kernel's names, which say the reasons. A name that is missing then stays missing. */
static void await_names(struct session *s)
{
    uint64_t end_ns = clock_now_ns() + NAMES_WAIT_NS;
    while (!s->load.offcpu.names_awaited && !offcpu_reasons_known(s)) {
        s->load.offcpu.names_awaited = s->stop || s->load.stop || clock_now_ns() >= end_ns;
        pthread_mutex_unlock(&s->store.lock);
        symbolizer_settle(s->store.symbolizer, NAMES_LOOK_NS);
        pthread_mutex_lock(&s->store.lock);
    }
}

void offcpu_file_append(struct session *s)
{
    const struct session_offcpu *o = &s->collect.offcpu;
    if (!s->load.offcpu.runs || !o->parts.n)
        return;
    await_names(s);
    for (size_t i = 0; i < o->parts.n; i++)
        if (o->parts.items[i].to_ns > s->load.last_ns)
            s->load.last_ns = o->parts.items[i].to_ns;
    offcpu_append(s);
}

void offcpu_file_end(struct session *s)
{
    struct session_offcpu_file *f = &s->load.offcpu;
    uint64_t waits = f->ended + f->unended;
    char what[160];
    if (!f->runs)
        return;
    if (100 * f->unended <= UNENDED_PERCENT * waits) {
        waits_report(&s->collect.offcpu.waits, s->load.last_ns, true);
        offcpu_file_append(s);
        return;
    }
    snprintf(what, sizeof what, "%llu of %llu waits are too short: the file does not say when they ended",
             (unsigned long long)f->unended, (unsigned long long)waits);
    add_note(s, what, "record with --switch-events, or all CPUs: perf record -e sched:sched_switch -g -a");
}
