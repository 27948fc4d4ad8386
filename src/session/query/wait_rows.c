// SPDX-License-Identifier: GPL-2.0-or-later
#include "session/wait_rows.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "profile/wait_summary.h"
#include "session/query/view_parts.h"
#include "session/samples.h"

const char *const wait_rows_by_names[WAIT_ROWS_KINDS] = {
    [WAIT_ROWS_REASON] = "reason",     [WAIT_ROWS_PROCESS] = "process", [WAIT_ROWS_THREAD] = "thread",
    [WAIT_ROWS_FUNCTION] = "function", [WAIT_ROWS_CPU] = "CPU",         [WAIT_ROWS_CGROUP] = "cgroup",
    [WAIT_ROWS_WAKER] = "waker",
};

static const enum view_group groups[WAIT_ROWS_KINDS] = {
    [WAIT_ROWS_PROCESS] = VIEW_GROUP_PROCESS,
    [WAIT_ROWS_THREAD] = VIEW_GROUP_THREAD,
    [WAIT_ROWS_CPU] = VIEW_GROUP_CPU,
    [WAIT_ROWS_CGROUP] = VIEW_GROUP_CGROUP,
};
static const enum zoom_kind zooms[WAIT_ROWS_KINDS] = {
    [WAIT_ROWS_REASON] = ZOOM_FUNCTION, [WAIT_ROWS_PROCESS] = ZOOM_PROCESS,
    [WAIT_ROWS_THREAD] = ZOOM_THREAD,   [WAIT_ROWS_FUNCTION] = ZOOM_FUNCTION,
    [WAIT_ROWS_CPU] = ZOOM_CPU,         [WAIT_ROWS_CGROUP] = ZOOM_CGROUP,
    [WAIT_ROWS_WAKER] = ZOOM_FUNCTION,
};

/* Time of a row by reason and state, to find that of most of it. */
static const char states[] = "RSDT?";
struct parts {
    uint64_t reasons_ns[WAIT_REASONS], states_ns[sizeof states - 1];
};

struct wait_rows_memory {
    struct session_samples samples;
    VEC(struct wait_row) rows;
    VEC(struct parts) parts; /* by row */
    BUFFER(uint32_t) row_of; /* by function or group, plus one; 0: none yet */
};

/* ---- what a stack says ---- */

/* The node of the frame that says the reason, and in the event wakers that of the waker, whose stack is above
 * it; 0: none. */
static void find_wait(const struct view *v, uint32_t node, uint32_t *reason, uint32_t *waker)
{
    const struct result *r = &v->result;
    for (*waker = 0; node; node = r->parent[node]) {
        uint32_t frame = r->frame[node];
        if (r->frame_module[frame] != MODULE_ID_WAIT)
            continue;
        if (r->frame_offset[frame] < WAIT_REASONS)
            break;
        *waker = node;
    }
    *reason = node;
}

static bool is_kernel(const struct module *m)
{
    return m && (m->kind == MODULE_KERNEL || m->kind == MODULE_KMOD || m->kind == MODULE_KSYM);
}

/* The C library waits on behalf of the program. */
static bool is_c_library(const struct module *m)
{
    static const char *const names[] = {
        "libc.so", "libc-", "libpthread", "ld-linux", "ld-musl", "libc.musl"
    };
    for (size_t i = 0; m && i < sizeof names / sizeof *names; i++)
        if (!strncmp(m->name, names[i], strlen(names[i])))
            return true;
    return false;
}

/* Where every kernel thread begins. */
static bool is_start(const char *function)
{
    return !strncmp(function, "ret_from_fork", 13) || !strcmp(function, "kthread");
}

/* The node of the function that waits: the innermost one of the program, not of its C library; of a kernel
 * thread, its main function. */
static uint32_t waiting_node(const struct view *v, uint32_t node)
{
    const struct result *r = &v->result;
    uint32_t user = 0, main = 0;
    for (; node; node = r->parent[node]) {
        const struct module *m = view_module(v, r->frame[node]);
        if (is_kernel(m)) {
            if (!is_start(v->funcs[v->frame_func[r->frame[node]]].name))
                main = node;
            continue;
        }
        if (m && m->kind != MODULE_BROKEN && !is_c_library(m))
            return node;
        user = user ? user : node;
    }
    return user ? user : main;
}

/* ---- rows ---- */

static void name_row(const struct view *v, enum wait_rows_by by, struct wait_row *row, uint32_t number)
{
    const char *label = "";
    row->module = "";
    row->zoom.kind = zooms[by];
    if (zooms[by] == ZOOM_FUNCTION) {
        const struct view_function *f = &v->funcs[number];
        row->module = f->module_id == MODULE_ID_WAIT ? "" : f->module;
        row->key = row->zoom.number = f->key;
        row->name = label = f->name;
    } else {
        row->key = v->groups[number].key;
        row->zoom.number = v->groups[number].number;
        row->name = label = v->groups[number].label;
    }
    text_clean(row->zoom.text, sizeof row->zoom.text, label, strlen(label));
}

/* The function or group of a sample. */
static uint32_t number_of(const struct view *v, enum wait_rows_by by, const struct sample *sample,
                          uint32_t reason, uint32_t waker)
{
    const struct view_memory *m = v->memory;
    switch (by) {
    case WAIT_ROWS_REASON:
        return v->frame_func[v->result.frame[reason]];
    case WAIT_ROWS_FUNCTION: {
        uint32_t node = waiting_node(v, v->result.parent[reason]);
        return v->frame_func[v->result.frame[node ? node : reason]];
    }
    case WAIT_ROWS_WAKER:
        return v->frame_func[v->result.frame[waker]];
    case WAIT_ROWS_CPU:
        return sample->cpu + 1;
    default:
        return m->thread_group.items[sample->thread];
    }
}

static size_t row_at(struct wait_rows *out, enum wait_rows_by by, uint32_t number)
{
    struct wait_rows_memory *m = out->memory;
    uint32_t *at = &VEC_RESERVE_ZEROED(&m->row_of, number + 1)[number];
    if (!*at) {
        struct wait_row *row = VEC_PUSH(&m->rows);
        *row = (struct wait_row){ .lengths = mem_zalloc(sizeof *row->lengths) };
        *VEC_PUSH(&m->parts) = (struct parts){ 0 };
        name_row(&out->view, by, row, number);
        *at = (uint32_t)m->rows.n;
    }
    return *at - 1;
}

/* Index in `states`. */
static size_t state_of(const struct wait_summary *w, enum wait_reason reason)
{
    enum { RUNNABLE, SLEEPING, BLOCKED, STOPPED, UNKNOWN };
    if (reason == WAIT_RUN_QUEUE)
        return RUNNABLE;
    if (reason == WAIT_STOPPED)
        return STOPPED;
    return w->state == 'S' ? SLEEPING : w->state == 'D' ? BLOCKED : UNKNOWN;
}

static void count_sample(struct wait_rows *out, size_t at, const struct sample *sample,
                         enum wait_reason reason)
{
    const struct result *r = &out->view.result;
    struct wait_row *row = &out->memory->rows.items[at];
    struct parts *parts = &out->memory->parts.items[at];
    struct wait_summary w;
    uint32_t size;
    const void *raw = session_sample_raw(&out->memory->samples, sample, &size);
    wait_summary_read(&w, raw, size, sample->weight);
    row->time_ns += sample->weight;
    row->sum_ns += w.sum_ns;
    row->max_ns = w.max_ns > row->max_ns ? w.max_ns : row->max_ns;
    for (uint32_t i = 0; i < w.n; i++) {
        durations_add(row->lengths, w.durations[i].bucket, w.durations[i].count);
        row->waits += w.durations[i].count;
    }
    uint64_t bucket = (sample->time_ns - r->from_ns) / query_bucket_ns(r->from_ns, r->to_ns);
    row->trend_ns[bucket < QUERY_TREND ? bucket : QUERY_TREND - 1] += sample->weight;
    parts->reasons_ns[reason] += sample->weight;
    parts->states_ns[state_of(&w, reason)] += sample->weight;
}

static size_t largest(const uint64_t *ns, size_t n)
{
    size_t most = 0;
    for (size_t i = 1; i < n; i++)
        most = ns[i] > ns[most] ? i : most;
    return most;
}

static int by_time(const void *a, const void *b)
{
    const struct wait_row *x = a, *y = b;
    if (x->time_ns != y->time_ns)
        return x->time_ns > y->time_ns ? -1 : 1;
    return x->key < y->key ? -1 : x->key > y->key;
}

static void forget_rows(struct wait_rows *r)
{
    for (size_t i = 0; r->memory && i < r->memory->rows.n; i++)
        mem_free(r->memory->rows.items[i].lengths);
    r->rows = NULL;
    r->n = 0;
    r->time_ns = 0;
    if (!r->memory)
        return;
    r->memory->rows.n = r->memory->parts.n = 0;
    if (r->memory->row_of.cap)
        memset(r->memory->row_of.items, 0, r->memory->row_of.cap * sizeof *r->memory->row_of.items);
}

bool session_wait_rows(struct session *s, const struct view_query *q, enum wait_rows_by by,
                       struct wait_rows *out, struct error *e)
{
    struct view_query grouped = *q;
    if (!out->memory)
        out->memory = mem_zalloc(sizeof *out->memory);
    struct wait_rows_memory *m = out->memory;
    forget_rows(out);
    grouped.group = groups[by];
    m->samples.with_raw = true;
    if (!session_samples(s, &grouped, &out->view, &m->samples, e))
        return false;
    if (!view_has_waits(&out->view))
        return true;
    for (size_t i = 0; i < m->samples.n; i++) {
        const struct sample *sample = &m->samples.list[i];
        uint32_t node, waker;
        find_wait(&out->view, sample->stack, &node, &waker);
        if (!node || (by == WAIT_ROWS_WAKER && !waker))
            continue;
        enum wait_reason reason =
            (enum wait_reason)out->view.result.frame_offset[out->view.result.frame[node]];
        if (!wait_reason_is_wait(reason))
            continue;
        out->time_ns += sample->weight;
        count_sample(out, row_at(out, by, number_of(&out->view, by, sample, node, waker)), sample, reason);
    }
    for (size_t i = 0; i < m->rows.n; i++) {
        struct wait_row *row = &m->rows.items[i];
        row->reason = (enum wait_reason)largest(m->parts.items[i].reasons_ns, WAIT_REASONS);
        row->state = states[largest(m->parts.items[i].states_ns, sizeof states - 1)];
        if (by == WAIT_ROWS_REASON)
            row->name = wait_reason_title(row->reason);
    }
    if (m->rows.n)
        qsort(m->rows.items, m->rows.n, sizeof *m->rows.items, by_time);
    out->rows = m->rows.items;
    out->n = m->rows.n;
    return true;
}

uint64_t wait_row_average_ns(const struct wait_row *r)
{
    return r->waits ? r->sum_ns / r->waits : 0;
}

uint64_t wait_row_percentile_ns(const struct wait_row *r, double share)
{
    return durations_percentile_below(r->lengths, share, r->max_ns);
}

void wait_rows_done(struct wait_rows *r)
{
    forget_rows(r);
    view_done(&r->view);
    if (r->memory) {
        session_samples_done(&r->memory->samples);
        mem_free(r->memory->rows.items);
        mem_free(r->memory->parts.items);
        mem_free(r->memory->row_of.items);
        mem_free(r->memory);
    }
    *r = (struct wait_rows){ 0 };
}
