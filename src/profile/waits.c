// SPDX-License-Identifier: GPL-2.0-or-later
#include "profile/waits.h"

#include <string.h>

#include "base/clock.h"
#include "base/mem.h"

#define PAUSE_MAX_NS (8 * NS_PER_SEC) /* between two reports of an interval */
#define UNSEEN_MAX   8                /* unseen threads at each waits_unsure: only to notice their ends */

static struct waits_thread *find(const struct waits *w, uint32_t tid)
{
    uint64_t number;
    return map_get(&w->index, tid, &number) ? &w->threads.items[number] : NULL;
}

static void see(struct waits *w, struct waits_thread *t)
{
    w->n_unseen -= t->unseen;
    t->unseen = false;
    t->has_records = true;
}

/* The thread of a record; if it is new, it was in `state` until now. */
static struct waits_thread *thread_of(struct waits *w, struct waits_at at, enum thread_state state)
{
    bool created;
    uint64_t *number = map_at(&w->index, at.tid, w->threads.n, &created);
    if (!created) {
        see(w, &w->threads.items[*number]);
        return &w->threads.items[*number];
    }
    struct waits_thread *t = VEC_PUSH(&w->threads);
    *t = (struct waits_thread){ .pid = at.pid,
                                .tid = at.tid,
                                .cpu = at.cpu,
                                .state = state,
                                .state_ns = at.time_ns,
                                .since_ns = at.time_ns,
                                .has_records = true,
                                .stack = WAITS_NO_STACK,
                                .sample = WAITS_NO_STACK };
    return t;
}

static void report_running(const struct waits *w, const struct waits_thread *t, uint64_t time_ns)
{
    struct waits_part part = { .pid = t->pid,
                               .tid = t->tid,
                               .cpu = t->cpu,
                               .state = THREAD_RUNNING,
                               .from_ns = t->since_ns,
                               .to_ns = time_ns,
                               .stack = WAITS_NO_STACK };
    if (w->ran)
        w->ran(w->ctx, &part);
}

/* Reports what a thread did until time_ns. next: its state from then on. */
static void spend(struct waits *w, struct waits_thread *t, uint64_t time_ns, enum thread_state next)
{
    if (time_ns <= t->since_ns)
        return;
    t->spent_ns[t->state] += time_ns - t->since_ns;
    if (t->state != THREAD_RUNNING) {
        struct waits_part part = { .pid = t->pid,
                                   .tid = t->tid,
                                   .cpu = t->cpu,
                                   .state = t->state,
                                   .from_ns = t->since_ns,
                                   .to_ns = time_ns,
                                   .stack = t->stack,
                                   .woken = t->state != THREAD_RUNNABLE && next == THREAD_RUNNABLE,
                                   .ended = next != t->state && !t->lost,
                                   .whole_ns = time_ns - t->state_ns,
                                   .lost = t->lost };
        w->part(w->ctx, &part);
    } else {
        report_running(w, t, time_ns);
    }
    t->since_ns = time_ns;
}

static void begin(struct waits_thread *t, enum thread_state state)
{
    if (state == t->state)
        return;
    t->state = state;
    t->state_ns = t->since_ns;
    t->lost = false;
    memset(&t->check, 0, sizeof t->check);
}

static bool is_off_cpu(enum thread_state state)
{
    return state != THREAD_RUNNING && state != THREAD_UNKNOWN;
}

static bool is_long(const struct waits_thread *t, uint64_t now_ns)
{
    return t->state == THREAD_RUNNABLE && now_ns >= t->state_ns + WAITS_CHECK_NS;
}

/* Until when an open state is certain. */
static uint64_t sure_until(const struct waits *w, const struct waits_thread *t, uint64_t now_ns, bool all)
{
    if (!all && w->gap_ns && w->gap_ns < now_ns && is_off_cpu(t->state))
        now_ns = w->gap_ns;
    if (!w->checks || t->state != THREAD_RUNNABLE)
        return now_ns;
    if (all && !t->check.guess && (t->has_records || !is_long(t, now_ns)))
        return now_ns;
    return t->check.sure_ns < now_ns ? t->check.sure_ns : now_ns;
}

/* What a thread does from time_ns on is hidden by lost records. */
static void lose(struct waits *w, struct waits_thread *t, uint64_t time_ns)
{
    spend(w, t, sure_until(w, t, time_ns, true), t->state);
    begin(t, THREAD_UNKNOWN);
    t->left = THREAD_RUNNING;
    t->stack = WAITS_NO_STACK;
    t->lost = true;
}

/* The next record after lost ones tells what the thread did since: a record that ended this state would not
 * have been lost. */
static void find_again(struct waits_thread *t, enum thread_state state, uint64_t stack)
{
    if (!t->lost)
        return;
    begin(t, state);
    t->stack = stack;
}

/* Ends the state of a thread at time_ns and begins another. */
static void change(struct waits *w, struct waits_thread *t, uint64_t time_ns, enum thread_state state)
{
    if (w->gap_ns && time_ns > w->gap_ns && is_off_cpu(t->state)) {
        state = state == t->state ? THREAD_UNKNOWN : state;
        lose(w, t, w->gap_ns);
    }
    spend(w, t, time_ns, state);
    begin(t, state);
}

/* Between the tracepoint and the switch. The state then begins before the tracepoint, which tells the
 * next. */
static bool is_leaving(const struct waits_thread *t)
{
    return t->state == THREAD_RUNNING && t->left != THREAD_RUNNING;
}

/* Returns the time on a CPU until since_ns that was not told yet. */
static uint64_t tell(struct waits_thread *t)
{
    uint64_t ran_ns = t->spent_ns[THREAD_RUNNING] - t->told_ns;
    t->told_ns = t->spent_ns[THREAD_RUNNING];
    return ran_ns;
}

static void tell_rest(struct waits *w, struct waits_thread *t)
{
    uint64_t ran_ns = w->rest ? tell(t) : 0;
    struct waits_part part = { .pid = t->pid,
                               .tid = t->tid,
                               .cpu = t->cpu,
                               .state = THREAD_RUNNING,
                               .from_ns = t->since_ns - ran_ns,
                               .to_ns = t->since_ns,
                               .stack = t->sample };
    if (ran_ns)
        w->rest(w->ctx, &part);
}

uint64_t waits_sampled(struct waits *w, struct waits_at at, uint64_t **sample)
{
    struct waits_thread *t = thread_of(w, at, THREAD_RUNNING);
    find_again(t, THREAD_RUNNING, WAITS_NO_STACK);
    if (t->state == THREAD_UNKNOWN || (t->state == THREAD_RUNNING && !is_leaving(t)))
        change(w, t, at.time_ns, THREAD_RUNNING);
    if (t->state == THREAD_RUNNING)
        t->cpu = at.cpu;
    t->pid = at.pid;
    *sample = &t->sample;
    return tell(t);
}

void waits_leave(struct waits *w, struct waits_at at, enum thread_state state, uint64_t stack)
{
    struct waits_thread *t = thread_of(w, at, THREAD_RUNNING);
    t->left = state;
    t->left_ns = at.time_ns;
    t->stack = stack;
}

void waits_switch_out(struct waits *w, struct waits_at at, bool preempted)
{
    struct waits_thread *t = thread_of(w, at, THREAD_RUNNING);
    bool told = t->left != THREAD_RUNNING && t->left_ns >= t->since_ns;
    enum thread_state next = told ? t->left : THREAD_WAITING;
    bool woken = told && t->woken_ns >= t->left_ns;
    uint64_t stack = told ? t->stack : WAITS_NO_STACK;
    find_again(t, THREAD_RUNNING, WAITS_NO_STACK);
    if (is_off_cpu(t->state)) /* its switch-in was not seen: it ran for a part of the time */
        lose(w, t, t->since_ns);
    t->pid = at.pid; /* a new process may have got the number of a thread whose end was not seen */
    t->stack = stack;
    t->cpu = at.cpu;
    change(w, t, at.time_ns, preempted || woken ? THREAD_RUNNABLE : next);
    t->left = THREAD_RUNNING;
}

void waits_switch_in(struct waits *w, struct waits_at at)
{
    struct waits_thread *t = thread_of(w, at, THREAD_RUNNING);
    if (w->wakeups) /* none ended a wait for something else */
        find_again(t, THREAD_RUNNABLE, WAITS_NO_STACK);
    else
        find_again(t, THREAD_WAITING, w->lost_stack);
    if (t->state == THREAD_RUNNABLE)
        t->cpu = at.cpu;
    change(w, t, at.time_ns, THREAD_RUNNING);
    t->cpu = at.cpu;
}

void waits_untold(struct waits *w, uint32_t tid, uint64_t stack)
{
    struct waits_thread *t = find(w, tid);
    if (t && t->state == THREAD_WAITING && t->stack == WAITS_NO_STACK)
        t->stack = stack;
}

/* Inserts an open wait, if it is one of the cap longest. */
static size_t insert_longest(struct waits_open *out, size_t n, size_t cap, const struct waits_thread *t)
{
    size_t at = n;
    while (at && out[at - 1].state_ns > t->state_ns)
        at--;
    if (at == cap)
        return n;
    n += n < cap;
    memmove(out + at + 1, out + at, (n - at - 1) * sizeof *out);
    out[at] = (struct waits_open){ .pid = t->pid, .tid = t->tid, .state_ns = t->state_ns };
    return n;
}

size_t waits_untold_longest(const struct waits *w, uint64_t stack, uint64_t until_ns, struct waits_open *out,
                            size_t cap)
{
    size_t n = 0;
    for (size_t i = 0; i < w->threads.n; i++) {
        const struct waits_thread *t = &w->threads.items[i];
        if (t->state == THREAD_WAITING && t->stack == stack && t->state_ns < until_ns)
            n = insert_longest(out, n, cap, t);
    }
    return n;
}

void waits_tell(struct waits *w, const struct waits_open *open, enum thread_state state, uint64_t stack)
{
    struct waits_thread *t = find(w, open->tid);
    if (!t || t->state != THREAD_WAITING || t->state_ns != open->state_ns)
        return;
    t->state = state;
    t->stack = stack;
}

static bool may_wake(const struct waits_thread *t)
{
    return t && (t->state == THREAD_RUNNING   ? t->left != THREAD_RUNNING
                 : t->state == THREAD_UNKNOWN ? t->lost
                                              : t->state != THREAD_RUNNABLE);
}

bool waits_may_wake(const struct waits *w, uint32_t tid)
{
    return may_wake(find(w, tid));
}

void waits_wake(struct waits *w, uint32_t tid, uint64_t time_ns)
{
    struct waits_thread *t = find(w, tid);
    if (!may_wake(t))
        return;
    if (t->state == THREAD_RUNNING) { /* it leaves its CPU at this moment */
        t->woken_ns = time_ns;
        return;
    }
    find_again(t, THREAD_WAITING, w->lost_stack);
    change(w, t, time_ns, THREAD_RUNNABLE);
}

void waits_found(struct waits *w, struct waits_at at, enum thread_state state, uint64_t stack)
{
    struct waits_thread *t = find(w, at.tid);
    if (t && (t->state != THREAD_UNKNOWN || t->unseen))
        return;
    if (t && state != THREAD_RUNNABLE)
        find_again(t, state, stack);
    if (t)
        change(w, t, at.time_ns, state);
    else
        t = thread_of(w, at, state);
    t->stack = stack;
    t->has_records = false;
}

void waits_found_ready(struct waits *w, struct waits_at at)
{
    if (!w->checks)
        return;
    waits_found(w, at, THREAD_RUNNABLE, WAITS_NO_STACK);
    struct waits_thread *t = find(w, at.tid);
    t->check.guess = t->check.guess || (t->state == THREAD_RUNNABLE && t->state_ns == at.time_ns);
}

void waits_exit(struct waits *w, uint32_t tid, uint64_t time_ns)
{
    uint64_t number;
    if (!map_get(&w->index, tid, &number))
        return;
    change(w, &w->threads.items[number], time_ns, THREAD_UNKNOWN);
    tell_rest(w, &w->threads.items[number]);
    see(w, &w->threads.items[number]);
    map_del(&w->index, tid);
    if (number == --w->threads.n)
        return;
    w->threads.items[number] = w->threads.items[w->threads.n];
    map_put(&w->index, w->threads.items[number].tid, number);
}

void waits_lost(struct waits *w, const struct waits_loss *loss)
{
    for (size_t i = 0; i < w->threads.n; i++) {
        struct waits_thread *t = &w->threads.items[i];
        bool elsewhere = t->state == THREAD_RUNNING && t->cpu != loss->cpu && loss->cpu != WAITS_ANY_CPU;
        if (elsewhere || (t->state == THREAD_UNKNOWN && !t->lost))
            continue;
        lose(w, t, loss->from_ns < loss->to_ns ? loss->from_ns : loss->to_ns);
        spend(w, t, loss->to_ns, THREAD_UNKNOWN);
    }
}

/* ---- open waits for a CPU ---- */

/* True: it was forgotten. */
static bool end_unseen(struct waits *w, struct waits_thread *t, uint64_t now_ns)
{
    bool gone = t->check.gone, guess = t->check.guess;
    t->state = THREAD_UNKNOWN; /* since it was reported, for which a check had confirmed it */
    change(w, t, now_ns, THREAD_UNKNOWN);
    memset(&t->check, 0, sizeof t->check);
    w->n_unseen += !t->unseen && !guess;
    t->unseen |= !guess;
    t->has_records = false;
    if (gone)
        waits_exit(w, t->tid, now_ns);
    return gone;
}

static size_t add_unsure(struct waits *w, uint64_t now_ns, bool unseen, struct waits_open *out, size_t cap)
{
    size_t n = 0, threads = w->threads.n, *next = &w->next[unseen];
    for (size_t i = 0; i < threads && n < cap; i++) {
        const struct waits_thread *t = &w->threads.items[ *next = *next + 1 < threads ? *next + 1 : 0];
        if (unseen ? t->unseen : is_long(t, now_ns))
            out[n++] = (struct waits_open){ t->pid, t->tid, t->state_ns, t->check.made, t->check.progress };
    }
    return n;
}

size_t waits_unsure(struct waits *w, uint64_t now_ns, struct waits_open *out, size_t cap)
{
    size_t n = add_unsure(w, now_ns, false, out, cap), left = cap - n;
    return n + add_unsure(w, now_ns, true, out + n, left < UNSEEN_MAX ? left : UNSEEN_MAX);
}

void waits_checked(struct waits *w, const struct waits_open *open, uint64_t time_ns, uint64_t progress,
                   enum waits_finding finding)
{
    struct waits_thread *t = find(w, open->tid);
    if (!t || t->state_ns != open->state_ns || (t->state != THREAD_RUNNABLE && !t->unseen))
        return;
    if (finding == WAITS_QUEUED)
        t->check.sure_ns = time_ns;
    else if (finding != WAITS_READY && !t->check.ran_ns && (!t->unseen || finding == WAITS_GONE))
        t->check.ran_ns = time_ns;
    t->check.made = true;
    t->check.progress = progress;
    t->check.gone |= finding == WAITS_GONE;
}

void waits_set_gap(struct waits *w, uint64_t gap_ns, uint64_t time_ns)
{
    uint64_t from_ns = w->gap_ns;
    w->gap_ns = gap_ns;
    if (from_ns && !gap_ns)
        waits_lost(w, &(struct waits_loss){ WAITS_NO_CPU, from_ns, time_ns });
}

void waits_report(struct waits *w, uint64_t now_ns, bool all)
{
    for (size_t i = w->threads.n; i-- > 0;) {
        struct waits_thread *t = &w->threads.items[i];
        uint64_t age_ns = t->since_ns - t->state_ns, pause_ns = age_ns / 8;
        if (t->check.ran_ns && now_ns >= t->check.ran_ns && end_unseen(w, t, now_ns))
            continue;
        if (pause_ns > PAUSE_MAX_NS)
            pause_ns = PAUSE_MAX_NS;
        if (t->state == THREAD_RUNNABLE) /* few threads, and who ran meanwhile is not known for long */
            pause_ns = 0;
        if (all || (!is_leaving(t) && !t->lost && now_ns >= t->since_ns + pause_ns))
            change(w, t, sure_until(w, t, now_ns, all), t->state);
        if (all)
            tell_rest(w, t);
    }
}

const struct waits_thread *waits_thread(const struct waits *w, uint32_t tid)
{
    return find(w, tid);
}

void waits_done(struct waits *w)
{
    mem_free(w->threads.items);
    map_done(&w->index);
}
