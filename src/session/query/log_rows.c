// SPDX-License-Identifier: GPL-2.0-or-later
#include "session/log_rows.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/map.h"
#include "base/mem.h"
#include "profile/operation_data.h"
#include "session/query/log_reader.h"
#include "session/session_state.h"

#define STEP_SAMPLES 64         /* between two looks at the clock */
#define LATE_NS      NS_PER_SEC /* samples of the last second are searched again */
#define FORGOTTEN    100000

/* The range of time whose samples were searched for a text, and the samples that have it. */
struct searched {
    uint64_t serial, from_ns, to_ns; /* behind from_ns, up to to_ns; to_ns 0: none */
    uint32_t names;                  /* symbolizer_generation */
    struct map found;                /* key_of(sample) */
};

struct log_rows_memory {
    struct log_reader reader;
    struct log_judge judge;
    VEC(struct log_row) rows;
    size_t left; /* samples that are not read yet: older than the others */
    struct searched searched;
};

static const struct sample *sample_of(const struct log_rows *r, size_t row)
{
    return &r->memory->reader.samples.list[r->rows[row].sample];
}

const struct view_function *log_row_function(const struct log_rows *r, size_t row)
{
    return log_reader_function(&r->memory->reader, sample_of(r, row));
}

uint64_t log_row_bytes(const struct log_rows *r, size_t row)
{
    struct operation_data data = { .size = 0 };
    char name[OPERATION_NAME_MAX];
    uint32_t size;
    const void *raw = session_sample_raw(&r->memory->reader.samples, sample_of(r, row), &size);
    return operation_data_read(raw, size, &data, name) ? data.size : 0;
}

bool log_rows_have_fields(const struct log_rows *r)
{
    return log_reader_has_fields(&r->memory->reader);
}

bool log_row_field(struct log_rows *r, size_t row, int32_t i, struct log_row_field *out)
{
    return log_reader_field(&r->memory->reader, sample_of(r, row), i, out);
}

void log_row_text(struct log_rows *r, size_t row, struct buf *out)
{
    log_reader_put(&r->memory->reader, sample_of(r, row), out);
}

static uint64_t key_of(const struct sample *sample)
{
    return map_mix(sample->time_ns ^ map_mix(sample->thread * (uint64_t)SAMPLE_EVENTS + sample->event));
}

static struct log_row row_of(const struct log_reader *r, uint32_t i)
{
    const struct sample *sample = &r->samples.list[i];
    const struct world_thread *t = &r->samples.threads[sample->thread];
    return (struct log_row){
        .key = key_of(sample),
        .time_ns = sample->time_ns,
        .weight = sample->weight,
        .event = r->samples.events[sample->event],
        .comm = t->comm,
        .parent = t->parent,
        .ppid = t->ppid,
        .pid = t->pid,
        .tid = t->tid,
        .cpu = sample->cpu,
        .number = sample->event,
        .sample = i,
    };
}

/* ---- the longest ---- */

static int by_weight(const void *a, const void *b)
{
    const struct log_row *x = a, *y = b;
    if (x->weight != y->weight)
        return x->weight > y->weight ? -1 : 1;
    return x->time_ns > y->time_ns ? -1 : x->time_ns < y->time_ns;
}

/* Of samples, by their indices: the one with the smallest weight is first, and none is smaller than its
 * parent (i - 1) / 2. */
struct heap {
    const struct sample *list;
    uint32_t *items;
    size_t n;
};

/* Moves the first item down to its place. */
static void sift_down(const struct heap *h)
{
    for (size_t i = 0, child; (child = 2 * i + 1) < h->n; i = child) {
        uint32_t *at = h->items;
        if (child + 1 < h->n && h->list[at[child + 1]].weight < h->list[at[child]].weight)
            child++;
        if (h->list[at[i]].weight <= h->list[at[child]].weight)
            return;
        uint32_t swap = at[i];
        at[i] = at[child];
        at[child] = swap;
    }
}

static void sift_up(const struct heap *h, size_t i)
{
    for (; i && h->list[h->items[i]].weight < h->list[h->items[(i - 1) / 2]].weight; i = (i - 1) / 2) {
        uint32_t swap = h->items[i];
        h->items[i] = h->items[(i - 1) / 2];
        h->items[(i - 1) / 2] = swap;
    }
}

/* Returns the indices of at most `most` samples with the largest weights. The caller frees them. */
static uint32_t *find_longest(const struct session_samples *samples, size_t most, size_t *n)
{
    most = most < samples->n ? most : samples->n;
    struct heap h = { samples->list, mem_array(most + 1, sizeof *h.items), 0 };
    for (uint32_t i = 0; i < samples->n && most; i++)
        if (h.n < most) {
            h.items[h.n++] = i;
            sift_up(&h, h.n - 1);
        } else if (samples->list[i].weight > samples->list[h.items[0]].weight) {
            h.items[0] = i;
            sift_down(&h);
        }
    *n = h.n;
    return h.items;
}

/* ---- rows ---- */

static void add_row(struct log_rows_memory *m, uint32_t i)
{
    if (log_judge_passes(&m->judge, &m->reader, &m->reader.samples.list[i]))
        *VEC_PUSH(&m->rows) = row_of(&m->reader, i);
}

static void add_longest(struct log_rows_memory *m, size_t most)
{
    size_t n;
    uint32_t *longest = find_longest(&m->reader.samples, most, &n);
    for (size_t i = 0; i < n; i++)
        add_row(m, longest[i]);
    mem_free(longest);
    if (m->rows.n)
        qsort(m->rows.items, m->rows.n, sizeof *m->rows.items, by_weight);
}

/* ---- the newest ---- */

static bool filters_by_text(const struct log_filter *f)
{
    for (uint32_t i = 0; i < f->n; i++)
        if (!*f->of[i].field)
            return true;
    return false;
}

/* True if the sample passes. Its text is formatted only once. */
static bool search_sample(struct log_rows_memory *m, const struct sample *sample)
{
    struct searched *d = &m->searched;
    if (d->to_ns && sample->time_ns > d->from_ns && sample->time_ns <= d->to_ns)
        return map_get(&d->found, key_of(sample), NULL);
    if (!log_judge_passes(&m->judge, &m->reader, sample))
        return false;
    map_put(&d->found, key_of(sample), 1);
    return true;
}

static void reverse(struct log_rows_memory *m)
{
    for (size_t i = 0, n = m->rows.n; i < n / 2; i++) {
        struct log_row swap = m->rows.items[i];
        m->rows.items[i] = m->rows.items[n - 1 - i];
        m->rows.items[n - 1 - i] = swap;
    }
}

/* Reads from the newest on, as long as a step lasts. */
static void add_newest(struct log_rows_memory *m, const struct log_ask *ask)
{
    bool by_text = filters_by_text(&ask->filter);
    uint64_t until_ns = ask->step_ns && by_text ? clock_now_ns() + ask->step_ns : UINT64_MAX;
    reverse(m);
    while (m->left && m->rows.n < ask->most && (m->left % STEP_SAMPLES || clock_now_ns() < until_ns)) {
        const struct sample *sample = &m->reader.samples.list[--m->left];
        if (by_text ? search_sample(m, sample) : log_judge_passes(&m->judge, &m->reader, sample))
            *VEC_PUSH(&m->rows) = row_of(&m->reader, (uint32_t)m->left);
    }
    reverse(m);
}

/* Notes up to where samples were searched. Some may still arrive late, with an earlier time. */
static void note_searched(struct log_rows_memory *m)
{
    const struct session_samples *samples = &m->reader.samples;
    struct searched *d = &m->searched;
    if (m->left == samples->n)
        return;
    uint64_t oldest = samples->list[m->left].time_ns, newest = samples->list[samples->n - 1].time_ns;
    bool joins = d->to_ns && oldest <= d->to_ns;
    d->from_ns = joins && d->from_ns < oldest ? d->from_ns : oldest;
    d->to_ns = newest > LATE_NS && newest - LATE_NS >= oldest ? newest - LATE_NS : joins ? d->to_ns : 0;
}

static void start_search(struct log_rows_memory *m, struct session *s, const struct log_ask *ask)
{
    struct searched *d = &m->searched;
    uint32_t names = symbolizer_generation(s->store.symbolizer);
    bool full = d->found.n > m->reader.samples.n + FORGOTTEN; /* of samples that are not held any more */
    if (ask->serial && d->serial == ask->serial && d->names == names && !full)
        return;
    map_clear(&d->found);
    *d = (struct searched){ .serial = ask->serial, .names = names, .found = d->found };
}

static void tell(struct log_rows_memory *m, const struct log_ask *ask, struct log_rows *out)
{
    out->rows = m->rows.items;
    out->n = m->rows.n;
    out->left = !ask->longest && out->n < ask->most ? m->left : 0;
    out->samples = m->reader.samples.n - (ask->longest ? 0 : m->left);
    out->older = m->reader.samples.older || out->samples < m->reader.samples.n;
}

void session_log_go_on(const struct log_ask *ask, struct log_rows *out)
{
    add_newest(out->memory, ask);
    note_searched(out->memory);
    tell(out->memory, ask, out);
}

bool session_log_rows(struct session *s, const struct view_query *q, const struct log_ask *ask,
                      struct log_rows *out, struct error *e)
{
    if (!out->memory)
        out->memory = mem_zalloc(sizeof *out->memory);
    struct log_rows_memory *m = out->memory;
    struct session_samples *samples = &m->reader.samples;
    m->rows.n = 0;
    *out = (struct log_rows){ .memory = m };
    samples->newest = ask->longest ? 0 : ask->filter.n ? SIZE_MAX : ask->most;
    samples->from = ask->from;
    if (!log_reader_collect(&m->reader, s, q, e))
        return false;
    out->missing_field = log_judge_start(&m->judge, &m->reader, &ask->filter);
    out->next = samples->next;
    m->left = samples->n;
    if (ask->longest) {
        add_longest(m, ask->most);
        tell(m, ask, out);
    } else {
        start_search(m, s, ask);
        session_log_go_on(ask, out);
    }
    return true;
}

void log_rows_done(struct log_rows *r)
{
    struct log_rows_memory *m = r->memory;
    if (m) {
        log_reader_done(&m->reader);
        log_judge_done(&m->judge);
        VEC_FREE(&m->rows);
        map_done(&m->searched.found);
        mem_free(m);
    }
    *r = (struct log_rows){ 0 };
}
