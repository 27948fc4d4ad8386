// SPDX-License-Identifier: GPL-2.0-or-later
/* Counts samples over time. Names cannot be looked up under the lock, and samples cannot be read without
 * it: a query first finds the stacks that pass, and its samples are then counted by these verdicts. */
#include "session/timeline_query.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "profile/operation_data.h"
#include "session/query/inlines.h"
#include "session/query/select.h"

#define EVER INT64_MAX /* an open end would change the query every second */

struct session_times {
    struct view view;
    struct view_query q;
    struct result_moment moment;
    uint64_t version; /* of the verdicts: counts by another version are void */
    struct view_verdicts verdicts, before;
    BUFFER(uint8_t) thread_pass;
    BUFFER(uint32_t) thread_row; /* row + 1 */
};

struct session_times *session_times_new(void)
{
    return mem_zalloc(sizeof(struct session_times));
}

void session_times_free(struct session_times *t)
{
    if (!t)
        return;
    view_done(&t->view);
    mem_free(t->verdicts.items);
    mem_free(t->before.items);
    mem_free(t->thread_pass.items);
    mem_free(t->thread_row.items);
    mem_free(t);
}

const struct view *session_times_view(const struct session_times *t)
{
    return &t->view;
}

void session_times_look(struct session_times *t, struct session *s, const struct view_query *q)
{
    static uint64_t last_version; /* static: differs from versions of freed objects */
    t->q = *q;
    t->q.group = VIEW_GROUP_SYMBOL;
    t->q.window_ns = 0;
    t->q.from_ns = 0;
    t->q.to_ns = EVER;
    session_query(s, &t->q, &t->view);
    struct view_verdicts before = t->verdicts;
    t->verdicts = t->before;
    t->before = before;
    bool goes_on = view_judge(&t->view, &t->q, &t->verdicts, &t->moment);
    if (!goes_on || t->verdicts.n < before.n || memcmp(t->verdicts.items, before.items, before.n) != 0)
        t->version = ++last_version;
}

/* ---- the scan ---- */

struct counting {
    const struct session_times *t;
    struct session *s;
    const struct result *r;
    struct query scan;
    const struct times_ask *ask;
    struct times_counts *counts; /* or chart */
    struct chart *chart;
    uint64_t interval_ns; /* between samples by frequency; 0: unknown */
    bool weight_is_time;
    uint32_t running;    /* with has_activity: the event of time on the CPU, plus one; 0: none */
    uint64_t running_ns; /* the time that each of its samples represents; 0: its weight */
};

static bool is_shown(const struct counting *c, const struct sample *sample, uint32_t *node)
{
    const struct session_times *t = c->t;
    if (sample->time_ns < c->scan.from_ns || sample->time_ns > c->scan.to_ns ||
        !query_passes(&c->scan, sample))
        return false;
    *node = result_node(c->r, sample->stack);
    uint8_t verdict = *node < t->verdicts.n ? t->verdicts.items[*node] : 0;
    bool idle = sample->flags & SAMPLE_IDLE && verdict & VIEW_IDLES;
    return verdict & VIEW_PASSES && (!idle || t->q.show_idle);
}

static void set_label(struct times_counts *counts, uint32_t row, const char *comm, uint64_t number)
{
    struct times_label *label = VEC_RESERVE(&counts->labels, (size_t)row + 1) + row;
    if (comm)
        world_task_label(comm, (uint32_t)number, label->text, sizeof label->text);
    else
        snprintf(label->text, sizeof label->text, "cpu %llu", (unsigned long long)number);
}

/* Row of a thread. A thread with a new comm is a new one in the world, but the same row here; the newest
 * comm comes last. */
static uint32_t thread_row(const struct counting *c, uint32_t thread)
{
    uint32_t *row = &c->t->thread_row.items[thread];
    if (!*row) {
        const struct world_thread *w = world_thread(c->s->store.world, thread);
        *row = timeline_row(&c->counts->timeline, w ? w->tid : 0) + 1;
        set_label(c->counts, *row - 1, w ? w->comm : "?", w ? w->tid : 0);
    }
    return *row - 1;
}

static uint32_t cpu_row(const struct counting *c, uint32_t cpu)
{
    struct timeline *t = &c->counts->timeline;
    uint32_t n = t->n_rows, row = timeline_row(t, cpu);
    if (row == n)
        set_label(c->counts, row, NULL, cpu);
    return row;
}

static uint32_t row_of(const struct counting *c, const struct sample *sample)
{
    switch (c->ask->kind) {
    case TIMES_THREADS:
        return sample->thread < c->scan.n_threads ? thread_row(c, sample->thread) : 0;
    case TIMES_CPUS:
        return cpu_row(c, sample->cpu);
    case TIMES_DURATIONS:
        return timeline_row(&c->counts->timeline, times_exponent(sample->weight));
    default:
        return 0;
    }
}

/* The kind of a sample's time, by the leaf frame. */
static uint32_t kind_of(const struct counting *c, const struct sample *s)
{
    const struct stacks *stacks = c->s->store.stacks;
    uint32_t frame = stacks_frames(stacks)[s->stack];
    uint64_t reason = stacks_frame_offsets(stacks)[frame];
    bool waited = stacks_frame_modules(stacks)[frame] == MODULE_ID_WAIT;
    if (c->s->store.events[s->event].event.wall && (!waited || reason == WAIT_RUNNING))
        return TIMES_RAN;
    return 1 + (waited && reason < WAIT_REASONS ? (uint32_t)reason : WAIT_UNKNOWN);
}

/* Adds the time of a sample to what its thread did. Zooms, mode and filter apply; waits for work are included
 * whether they are hidden elsewhere or not. Time on the CPU is that of c->running, if there is such an event:
 * samples of wall are coarser. */
static void add_activity(const struct counting *c, const struct sample *s)
{
    bool ran = s->event + 1u == c->running;
    uint32_t node = result_node(c->r, s->stack);
    if ((!ran && s->event != c->scan.event) || s->time_ns > c->scan.to_ns || s->thread >= c->scan.n_threads ||
        !query_passes_event_aside(&c->scan, s) || node >= c->t->verdicts.n ||
        !(c->t->verdicts.items[node] & VIEW_PASSES))
        return;
    struct activity_span span = { .from_ns = offcpu_from_ns(c->s, s),
                                  .to_ns = s->time_ns,
                                  .ns = s->weight,
                                  .kind = ran ? TIMES_RAN : kind_of(c, s) };
    if (!ran && span.kind == TIMES_RAN && c->running)
        return;
    if (ran && c->running_ns) {
        span.ns = c->running_ns;
        span.from_ns = s->time_ns > c->running_ns ? s->time_ns - c->running_ns : 0;
    }
    activity_add(&c->counts->activity, thread_row(c, s->thread), span);
}

/* The number of operations that the sampled one represents. */
static uint32_t represents(const struct counting *c, const struct sample *s)
{
    struct operation_data data = { 0 };
    char name[OPERATION_NAME_MAX];
    uint32_t size;
    const void *raw = history_raw(c->s->store.history, s, &size);
    return operation_data_read(raw, size, &data, name) ? operation_data_count(&data) : 1;
}

static void count_run(void *ctx, struct sample *samples, size_t n)
{
    const struct counting *c = ctx;
    uint32_t node;
    for (const struct sample *s = samples; c->counts->has_activity && s < samples + n; s++)
        add_activity(c, s);
    for (const struct sample *s = samples; s < samples + n; s++)
        if (!is_shown(c, s, &node))
            continue;
        else if (c->ask->kind == TIMES_DURATIONS)
            timeline_add_many(&c->counts->timeline, row_of(c, s), s->time_ns, represents(c, s));
        else
            timeline_add(&c->counts->timeline, row_of(c, s), s->time_ns,
                         c->interval_ns      ? c->interval_ns
                         : c->weight_is_time ? s->weight
                                             : 0);
}

static void chart_run(void *ctx, struct sample *samples, size_t n)
{
    const struct counting *c = ctx;
    uint32_t node;
    for (const struct sample *s = samples; s < samples + n; s++)
        if (is_shown(c, s, &node))
            chart_add(c->chart, s->time_ns, node);
}

/* ---- continue, or count again ---- */

static bool same_ask(const struct times_ask *a, const struct times_ask *b)
{
    return a->kind == b->kind && a->id == b->id && a->from_ns == b->from_ns && a->to_ns == b->to_ns &&
           a->bucket_ns == b->bucket_ns;
}

static bool goes_on(const struct session_times *t, struct times_done *d, const struct times_ask *ask)
{
    bool on = d->any && d->version == t->version && same_ask(&d->asked, ask) && d->count <= t->moment.count;
    if (!on)
        *d = (struct times_done){ .asked = *ask, .version = t->version, .any = true };
    return on;
}

/* Limits the scan to the thread, or CPU, of a chart. */
static void narrow(struct counting *c, const struct times_ask *ask)
{
    if (ask->kind == TIMES_CPUS)
        c->scan.only_cpu = ask->id < UINT16_MAX ? (uint32_t)ask->id + 1 : UINT32_MAX;
    for (uint32_t i = 0; i < c->scan.n_threads && ask->kind == TIMES_THREADS; i++) {
        const struct world_thread *w = c->t->thread_pass.items[i] ? world_thread(c->s->store.world, i) : NULL;
        c->t->thread_pass.items[i] = w && w->tid == ask->id;
    }
}

/* The event that says when threads ran. A sample at a frequency is one interval of running. */
static void find_running(struct counting *c)
{
    const struct session_store *store = &c->s->store;
    if (c->s->collect.offcpu.running)
        c->running = c->s->collect.offcpu.running + 1;
    for (uint32_t i = 0; i < store->n_events && !c->running; i++)
        if (store->events[i].freq_hz) {
            c->running = i + 1;
            c->running_ns = NS_PER_SEC / store->events[i].freq_hz;
        }
}

/* Live: what threads have been doing since the last report of their open wait (profile/waits.h). */
static void add_open(const struct counting *c)
{
    struct activity *a = &c->counts->activity;
    for (uint32_t row = 0; row < a->n_rows; row++) {
        struct activity_span span = { .to_ns = c->s->store.drained_ns };
        enum wait_reason reason;
        bool open =
            !c->s->load.file && !c->s->store.frozen_ns &&
            offcpu_open_wait(c->s, (uint32_t)c->counts->timeline.rows[row].key, &span.from_ns, &reason);
        if (open && span.from_ns < span.to_ns) {
            span.ns = span.to_ns - span.from_ns;
            span.kind = 1 + (uint32_t)reason;
        }
        activity_set_open(a, row, span);
    }
}

/* Prepares a scan. Under lock. False: the judged samples are gone. */
static bool start(struct counting *c, struct session_times *t, const struct times_ask *ask)
{
    struct session *s = c->s;
    uint32_t n = world_thread_count(s->store.world);
    if (history_epoch(s->store.history) != t->moment.history_epoch ||
        history_changes(s->store.history) != t->moment.changes ||
        stacks_epoch(s->store.stacks) != t->moment.stacks_epoch)
        return false;
    memset(VEC_RESERVE(&t->thread_row, (size_t)n + 1), 0, n * sizeof *t->thread_row.items);
    c->scan = select_samples(s, &t->q, VEC_RESERVE(&t->thread_pass, (size_t)n + 1));
    if (ask->from_ns > c->scan.from_ns)
        c->scan.from_ns = ask->from_ns;
    const struct session_event *ev = s->store.n_events ? &s->store.events[s->store.current_event] : NULL;
    c->interval_ns = ev && ev->freq_hz ? NS_PER_SEC / ev->freq_hz : 0;
    c->weight_is_time = ev && event_is_time(&ev->event) && ask->kind != TIMES_DURATIONS;
    if (c->counts)
        c->counts->has_activity = ask->kind == TIMES_THREADS && ev && (ev->event.off_cpu || ev->event.wall);
    if (c->counts && c->counts->has_activity) { /* a wait that ends later may have begun in the range */
        find_running(c);
        return true;
    }
    /* a sample after the end also represents time before it */
    uint64_t behind = c->counts ? c->interval_ns : 0;
    if (ask->to_ns && ask->to_ns < EVER - behind && ask->to_ns + behind < c->scan.to_ns)
        c->scan.to_ns = ask->to_ns + behind;
    return true;
}

static void scan(struct counting *c, struct times_done *d, void (*run)(void *, struct sample *, size_t))
{
    history_scan_between(c->s->store.history, d->count, c->t->moment.count, c->scan.from_ns, c->scan.to_ns,
                         run, c);
    d->count = c->t->moment.count;
}

bool session_times_count(struct session_times *t, struct session *s, const struct times_ask *ask,
                         struct times_counts *counts)
{
    struct counting c = { .t = t, .s = s, .r = view_judged(&t->view), .ask = ask, .counts = counts };
    pthread_mutex_lock(&s->store.lock);
    bool ok = start(&c, t, ask);
    if (ok) {
        if (!goes_on(t, &counts->done, ask)) {
            timeline_begin(&counts->timeline, ask->from_ns, ask->to_ns, ask->bucket_ns);
            activity_begin(&counts->activity, ask->from_ns, ask->to_ns, ask->bucket_ns);
            if (ask->kind == TIMES_ALL)
                timeline_row(&counts->timeline, 0);
        }
        scan(&c, &counts->done, count_run);
        if (counts->has_activity)
            add_open(&c);
    }
    pthread_mutex_unlock(&s->store.lock);
    return ok;
}

void times_counts_done(struct times_counts *c)
{
    timeline_done(&c->timeline);
    activity_done(&c->activity);
    mem_free(c->labels.items);
    *c = (struct times_counts){ 0 };
}

struct reach {
    struct counting c;
    uint64_t end_ns; /* 0: none found */
};

static void reach_run(void *ctx, struct sample *samples, size_t n)
{
    struct reach *r = ctx;
    uint32_t node;
    for (const struct sample *s = samples; s < samples + n; s++)
        if (is_shown(&r->c, s, &node) && (!r->end_ns || s->time_ns < r->end_ns))
            r->end_ns = s->time_ns;
}

bool session_times_reach(struct session_times *t, struct session *s, uint32_t tid, uint64_t from_ns,
                         uint64_t *to_ns)
{
    struct times_ask ask = { .kind = TIMES_THREADS, .id = tid, .from_ns = from_ns };
    struct reach r = { .c = { .t = t, .s = s, .r = view_judged(&t->view), .ask = &ask } };
    pthread_mutex_lock(&s->store.lock);
    if (start(&r.c, t, &ask)) {
        narrow(&r.c, &ask);
        history_scan_between(s->store.history, 0, t->moment.count, r.c.scan.from_ns, r.c.scan.to_ns,
                             reach_run, &r);
    }
    pthread_mutex_unlock(&s->store.lock);
    if (r.end_ns > *to_ns)
        *to_ns = r.end_ns;
    return r.end_ns;
}

enum times_state times_state_of(uint32_t kind)
{
    enum wait_reason reason = (enum wait_reason)(kind - 1);
    if (kind == TIMES_RAN)
        return TIMES_RUNNING;
    switch (reason) {
    case WAIT_RUN_QUEUE:
        return TIMES_RUNNABLE;
    case WAIT_LOST:
        return TIMES_UNKNOWN;
    case WAIT_STOPPED:
        return TIMES_STOPPED;
    case WAIT_DISK_READ:
    case WAIT_DISK_WRITE:
    case WAIT_WRITE_BACK:
    case WAIT_PAGE_FAULT:
        return TIMES_ON_DISK;
    default:
        return wait_reason_is_for_work(reason) ? TIMES_FOR_WORK : TIMES_WAITING;
    }
}

const char *times_kind_name(uint32_t kind)
{
    enum wait_reason reason = (enum wait_reason)(kind - 1);
    return kind == TIMES_RAN ? "running" : reason == WAIT_RUN_QUEUE ? "runnable" : wait_reason_title(reason);
}

/* ---- the chart ---- */

/* How long a sample's stack lasts. A sample represents the time since the previous one, if the thread ran
 * all the time: samples may be one and a half intervals apart when the CPU's clock is slightly off.
 * Without a known interval it represents its bucket. */
static uint64_t hold_of(const struct session *s, const struct times_ask *ask)
{
    uint64_t hz = s->store.n_events ? s->store.events[s->store.current_event].freq_hz : 0;
    return hz ? 3 * NS_PER_SEC / (2 * hz) : ask->bucket_ns;
}

bool session_times_chart(struct session_times *t, struct session *s, const struct times_ask *ask,
                         struct times_chart *chart)
{
    struct counting c = { .t = t, .s = s, .r = view_judged(&t->view), .ask = ask, .chart = &chart->chart };
    pthread_mutex_lock(&s->store.lock);
    bool ok = start(&c, t, ask);
    if (ok) {
        narrow(&c, ask);
        if (!goes_on(t, &chart->done, ask))
            chart_begin(&chart->chart, ask->from_ns, ask->to_ns, ask->bucket_ns, hold_of(s, ask));
        scan(&c, &chart->done, chart_run);
    }
    pthread_mutex_unlock(&s->store.lock);
    return ok;
}

void session_times_lay_out(const struct session_times *t, struct times_chart *chart, uint32_t per,
                           uint32_t columns)
{
    const struct view *v = &t->view;
    struct chart_trie trie = {
        .parent = v->result.parent,
        .frame = v->result.frame,
        .frame_func = v->frame_func,
        .node_of = view_inlined_nodes(v),
        .n_nodes = (uint32_t)t->verdicts.n,
    };
    chart_lay_out(&chart->chart, &trie, per, columns);
}

void times_chart_done(struct times_chart *c)
{
    chart_done(&c->chart);
    *c = (struct times_chart){ 0 };
}
