// SPDX-License-Identifier: GPL-2.0-or-later
/* Finds threads that wait already when sampling begins, or when records were lost: no record says so, and a
 * thread that hangs writes none. Names long waits whose stacks were not sampled (thin.c).
 * Their state and reason are read from /proc, without the user's part of the stack. Since when they wait is
 * unknown: their time counts from now on. */
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "perf/targets.h"
#include "process/task.h"
#include "process/wait_reason.h"
#include "session/collect/kept_stack.h"
#include "session/session_state.h"

#define SCAN_NS  (NS_PER_SEC / 2) /* longest time for all threads */
#define SCAN_MAX 65536
/* Between two scans, if records are lost all the time: and as many times as long as a scan takes. */
#define AGAIN_NS (2 * NS_PER_SEC)
#define PAUSES   20
/* Open waits without a stack are named when they are this old, the longest first. */
#define NAME_NS       NS_PER_SEC
#define NAME_EVERY_NS NS_PER_SEC

struct scanning {
    struct session *s;
    uint64_t until_ns;
};

static enum wait_reason read_reason(int dir)
{
    const char *functions[TASK_FUNCTIONS_MAX];
    struct buf text = { 0 };
    bool whole;
    enum wait_reason reason = wait_reason_of(functions, task_read_functions(dir, &text, functions, &whole));
    buf_done(&text);
    return reason;
}

static enum thread_state state_of(char state)
{
    switch (state) {
    case 'S':
        return THREAD_SLEEPING;
    case 'D':
        return THREAD_BLOCKED;
    case 'T':
    case 't':
        return THREAD_STOPPED;
    case 'R': /* or it runs: offcpu_check.c finds out */
        return THREAD_RUNNABLE;
    default: /* it is an idle worker, or ends */
        return THREAD_UNKNOWN;
    }
}

static bool may_go_on(const struct scanning *sc)
{
    return sc->s->collect.offcpu.found.n < SCAN_MAX && !sc->s->stop && clock_now_ns() < sc->until_ns;
}

static void scan_thread(struct scanning *sc, uint32_t pid, uint32_t tid)
{
    struct task_stat stat;
    int dir = task_open(pid, tid);
    bool ok = dir >= 0 && task_read_stat(dir, &stat) && state_of(stat.state) != THREAD_UNKNOWN;
    enum wait_reason reason = ok && state_of(stat.state) != THREAD_RUNNABLE ? read_reason(dir) : WAIT_UNKNOWN;
    if (ok && !(stat.kernel && wait_reason_is_for_work(reason)))
        *VEC_PUSH(&sc->s->collect.offcpu.found) =
            (struct offcpu_found){ { pid, tid, stat.cpu, clock_now_ns() }, state_of(stat.state), reason };
    if (dir >= 0)
        close(dir);
}

static void scan_process(struct scanning *sc, uint32_t pid)
{
    uint32_t n, *tids = targets_threads_of(pid, &n);
    for (uint32_t i = 0; i < n && may_go_on(sc); i++)
        scan_thread(sc, pid, tids[i]);
    mem_free(tids);
}

/* The processes of the scope, or its threads. The caller frees the array. */
static uint32_t *tasks_of_scope(const struct session *s, uint32_t *n)
{
    switch (s->source.scope.kind) {
    case SCOPE_ALL:
        return targets_pids(n);
    case SCOPE_USER:
        return targets_pids_of_user(s->source.scope.uid, n);
    case SCOPE_PIDS:
    case SCOPE_TIDS:
        return live_known(s->source.live, n);
    case SCOPE_CGROUP:
        return targets_pids_of_cgroups(&s->source.scope, SCAN_MAX, n);
    }
    return *n = 0, NULL;
}

static void scan(struct scanning *sc)
{
    uint32_t n, *ids = tasks_of_scope(sc->s, &n);
    for (uint32_t i = 0; i < n && may_go_on(sc); i++)
        if (sc->s->source.scope.kind == SCOPE_TIDS)
            scan_thread(sc, scope_process_of(ids[i]), ids[i]);
        else
            scan_process(sc, ids[i]);
    mem_free(ids);
}

void offcpu_scan(struct session *s)
{
    struct session_offcpu *o = &s->collect.offcpu;
    uint64_t now_ns = clock_now_ns();
    struct scanning sc = { .s = s, .until_ns = now_ns + SCAN_NS };
    bool first = o->scan_wanted, again = o->scan_again && now_ns >= o->scan_after_ns;
    if (!o->runs || (!first && !again))
        return;
    o->scan_wanted = o->scan_again = false;
    if (first && s->source.scope.command && s->source.n_sources == 1) /* from its exec on there are records */
        return;
    scan(&sc);
    uint64_t pause_ns = PAUSES * (clock_now_ns() - now_ns);
    o->scan_after_ns = now_ns + (pause_ns > AGAIN_NS ? pause_ns : AGAIN_NS);
}

/* ---- long waits without a stack ---- */

/* False: the wait has ended. One of which nothing can be read gets the reason "unknown": it would be read
 * again each second, in place of others. */
static bool read_name(struct offcpu_named *named)
{
    struct task_stat stat;
    int dir = task_open(named->open.pid, named->open.tid);
    bool ok = dir >= 0 && task_read_stat(dir, &stat);
    enum thread_state state = ok ? state_of(stat.state) : THREAD_UNKNOWN;
    named->state = state == THREAD_UNKNOWN ? THREAD_WAITING : state;
    named->reason = ok ? read_reason(dir) : WAIT_UNKNOWN;
    named->time_ns = clock_now_ns();
    if (dir >= 0)
        close(dir);
    return state != THREAD_RUNNABLE;
}

void offcpu_name(struct session *s)
{
    struct session_offcpu *o = &s->collect.offcpu;
    struct waits_open open[OFFCPU_NAMED_MAX];
    uint64_t now_ns = clock_now_ns();
    if (!o->runs || o->n_named || now_ns < o->named_ns + NAME_EVERY_NS)
        return;
    o->named_ns = now_ns;
    pthread_mutex_lock(&s->store.lock);
    size_t n = waits_untold_longest(&o->waits, kept_make(KEPT_REASON, WAIT_NOT_TAKEN), now_ns - NAME_NS, open,
                                    OFFCPU_NAMED_MAX);
    pthread_mutex_unlock(&s->store.lock);
    for (size_t i = 0; i < n && !s->stop; i++) {
        struct offcpu_named *named = &o->named[o->n_named];
        named->open = open[i];
        o->n_named += read_name(named);
    }
}

/* A thread may have run since its last record that was applied, and then waits for something else: only the
 * next records tell. */
void offcpu_apply_names(struct session *s, uint64_t now_ns)
{
    struct session_offcpu *o = &s->collect.offcpu;
    if (!o->n_named || now_ns < o->named[o->n_named - 1].time_ns)
        return;
    for (uint32_t i = 0; i < o->n_named; i++)
        waits_tell(&o->waits, &o->named[i].open, o->named[i].state,
                   kept_make(KEPT_REASON, (uint64_t)o->named[i].reason));
    o->n_named = 0;
}
