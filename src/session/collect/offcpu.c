// SPDX-License-Identifier: GPL-2.0-or-later
/* Time off the CPU: makes samples of the event off-cpu from the records of the scheduler.
 *
 * The tracepoint sched:sched_switch gives the stack and state of a thread that leaves its CPU, the kernel's
 * switch records the times (profile/waits.h). offcpu_parts.c makes samples of the waits. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "perf/tracepoint.h"
#include "process/wait_reason.h"
#include "session/collect/offcpu_parts.h"
#include "session/session_state.h"

#define REPORT_NS (NS_PER_SEC / 2) /* shortest time between two reports of open intervals */
#define NAMES_NS  (5 * NS_PER_SEC) /* how long parts wait for the kernel's names at first */
#define PARTS_MAX 65536            /* merged parts that may wait */
#define NO_TID    UINT32_MAX       /* of a thread whose end was seen and whose number is free; 0: idle */

/* Bits of prev_state (fs/proc/array.c, task_state_array). The filter of the live event lets only these pass.
 * Other bits are idle workers, parked and ended threads, and above them a preempted one. */
enum { STATE_SLEEPING = 1, STATE_BLOCKED = 2, STATE_STOPPED = 4 | 8, STATE_ALL = 255 };

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
    if (!o->runs || sample->event != o->event)
        return false;
    o->stacks[0]++;
    if (!r->id.tid)
        return true;
    waits_leave(&o->waits, at(r), state_of(s, r), kept_stack_put(s, r, sample, stack));
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

/* A thread leaves its CPU. Where not all stacks are sampled, one of which the tracepoint said nothing may be
 * a wait: of a kernel thread it is not counted, as most are idle workers. */
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
        waits_untold(&o->waits, r->id.tid, kept_make(KEPT_REASON, WAIT_NOT_TAKEN));
}

/* A file may have a ring for each thread: the record before is not known there. */
static void lost(struct session *s, const struct record *r)
{
    struct session_offcpu *o = &s->collect.offcpu;
    bool by_cpu = !s->load.file && r->id.has & PERF_SAMPLE_CPU;
    struct waits_loss loss = { .cpu = by_cpu ? r->id.cpu : WAITS_ANY_CPU,
                               .from_ns = by_cpu ? r->lost.from_ns : 0,
                               .to_ns = r->id.time_ns  ? r->id.time_ns
                                        : s->load.file ? s->load.last_ns
                                                       : clock_now_ns() };
    if (by_cpu)
        cpu_runs_forget(&o->cpu_runs, r->id.cpu);
    else
        cpu_runs_forget_all(&o->cpu_runs);
    waits_lost(&o->waits, &loss);
    o->scan_again = true;
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
            o->waits.wakeups = o->wakers && s->source.thin.one_in[1] <= 1;
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
        lost(s, r);
        break;
    }
}

/* ---- a session's part ---- */

void offcpu_add_running(struct session *s)
{
    uint32_t *number = &s->collect.offcpu.running;
    session_add_hidden_event(s, number, OFFCPU_RUNNING);
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
        .part = offcpu_on_part,
        .ran = offcpu_on_ran,
        .rest = s->collect.wall.runs ? wall_rest : NULL,
        .ctx = s,
        .checks = o->wakers != 0,
        .lost_stack = kept_make(KEPT_REASON, WAIT_UNKNOWN),
    };
    cpu_runs_forget_all(&o->cpu_runs);
    o->found.n = o->n_applied = 0;
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
    uint32_t event = 0;
    bool runs = find_event(s, &event);
    uint32_t wakers = runs && follows(s, event) ? event + 1 : 0;
    bool same = runs && o->runs && event == o->event;
    if (!same || wakers != o->wakers) /* else the parts still wait for the names that tell their reasons */
        offcpu_append(s);
    wall_adopt(s, s->store.live_event);
    o->runs = runs;
    o->event = runs ? event : o->event;
    o->wakers = wakers;
    o->waits.checks = o->wakers != 0;
    if (same)
        return; /* the new source was opened before the old one was closed: open waits go on */
    offcpu_restart(s);
    forget_tracepoint(&o->leave);
    forget_tracepoint(&o->wake);
    if (!o->runs)
        return;
    kept_stack_prepare(s);
    offcpu_add_running(s);
    if (!offcpu_by_tracepoint(s))
        return;
    read_tracepoint(&o->leave, "sched_switch", "next_pid", "prev_state");
    read_tracepoint(&o->wake, "sched_waking", "pid", NULL);
}

void offcpu_apply_found(struct session *s, uint64_t now_ns)
{
    struct session_offcpu *o = &s->collect.offcpu;
    for (; o->n_applied < o->found.n; o->n_applied++) {
        const struct offcpu_found *found = &o->found.items[o->n_applied];
        if (found->at.time_ns > now_ns)
            return;
        scan_proc_of(s, found->at.pid);
        if (found->state == THREAD_RUNNABLE)
            waits_found_ready(&o->waits, found->at);
        else
            waits_found(&o->waits, found->at, found->state, kept_make(KEPT_REASON, (uint64_t)found->reason));
    }
    o->found.n = o->n_applied = 0;
}

void offcpu_before_drop(struct session *s, bool all)
{
    struct session_offcpu *o = &s->collect.offcpu;
    offcpu_append(s);
    for (size_t i = 0; i < o->waits.threads.n; i++) {
        uint64_t *stack = &o->waits.threads.items[i].stack;
        *stack = kept_stack_before_drop(s, *stack, all);
        if (all) /* numbers of samples begin anew */
            o->waits.threads.items[i].sample = WAITS_NO_STACK;
    }
}

void offcpu_mark_stacks(struct session *s, uint8_t *marks)
{
    const struct session_offcpu *o = &s->collect.offcpu;
    for (size_t i = 0; i < o->waits.threads.n; i++)
        marks[kept_stack_of(s, o->waits.threads.items[i].stack)] = 1;
}

void offcpu_renumber_stacks(struct session *s, const uint32_t *new_stack)
{
    struct session_offcpu *o = &s->collect.offcpu;
    map_clear(&o->reasons);
    map_clear(&o->interrupts);
    for (size_t i = 0; i < o->waits.threads.n; i++) {
        uint64_t *stack = &o->waits.threads.items[i].stack;
        *stack = kept_stack_renumber(*stack, new_stack);
    }
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
    mem_free(o->found.items);
    map_done(&o->index);
    map_done(&o->index_of_ends);
    map_done(&o->reasons);
    map_done(&o->interrupts);
    map_done(&o->runners);
}
