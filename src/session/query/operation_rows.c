// SPDX-License-Identifier: GPL-2.0-or-later
#include "session/operation_rows.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "profile/operation_data.h"
#include "session/samples.h"
#include "session/session_state.h"

struct operation_rows_memory {
    struct session_samples samples;
    VEC(struct operation_row) rows;
    BUFFER(uint32_t) row_of; /* by function, plus one; 0: none yet */
    struct arena strings;
};

/* "[block: vda write]" → "vda write"; "[compaction]" → "compaction" */
static const char *name_of(struct operation_rows *out, const char *frame)
{
    size_t row = strlen(out->row), n = strlen(frame);
    if (n < 2 || frame[0] != '[' || frame[n - 1] != ']')
        return frame;
    const char *from = frame + 1;
    if (!strncmp(from, out->row, row) && !strncmp(from + row, ": ", 2))
        from += row + 2;
    return arena_strndup(&out->memory->strings, from, (size_t)(frame + n - 1 - from));
}

static struct operation_row *row_at(struct operation_rows *out, uint32_t function)
{
    struct operation_rows_memory *m = out->memory;
    uint32_t *at = &VEC_RESERVE_ZEROED(&m->row_of, function + 1)[function];
    if (!*at) {
        struct operation_row *row = VEC_PUSH(&m->rows);
        *row = (struct operation_row){ .name = name_of(out, out->view.funcs[function].name),
                                       .lengths = mem_zalloc(sizeof *row->lengths) };
        *at = (uint32_t)m->rows.n;
    }
    return &m->rows.items[*at - 1];
}

/* The sampled operation represents n. */
static void count_sample(struct operation_row *row, uint64_t ns, uint64_t bytes, uint32_t n)
{
    row->count += n;
    row->sampled++;
    row->sum_ns += ns * n;
    row->max_ns = ns > row->max_ns ? ns : row->max_ns;
    row->bytes += bytes * n;
    durations_add(row->lengths, duration_bucket(ns), n);
}

static int by_sum(const void *a, const void *b)
{
    const struct operation_row *x = a, *y = b;
    if (x->sum_ns != y->sum_ns)
        return x->sum_ns > y->sum_ns ? -1 : 1;
    return strcmp(x->name, y->name);
}

static void forget_rows(struct operation_rows *r)
{
    struct operation_rows_memory *m = r->memory;
    mem_free(r->all.lengths);
    r->all = (struct operation_row){ .name = "" };
    r->rows = NULL;
    r->n = 0;
    *r->row = '\0';
    if (!m)
        return;
    for (size_t i = 0; i < m->rows.n; i++)
        mem_free(m->rows.items[i].lengths);
    m->rows.n = 0;
    arena_clear(&m->strings);
    if (m->row_of.cap)
        memset(m->row_of.items, 0, m->row_of.cap * sizeof *m->row_of.items);
}

/* True if each end in the scope has its begin there. */
static bool sees_begins(const struct session *s, const struct pair_row *row)
{
    return row->by_thread || row->by_cpu || (s->source.scope.kind == SCOPE_ALL && !s->source.scope.cpus);
}

/* The row of the shown event, and what its samples lack. */
static void find_row(struct session *s, struct operation_rows *out)
{
    struct operation_losses *l = &out->losses;
    pthread_mutex_lock(&s->store.lock);
    const struct session_event *ev = &s->store.events[s->store.current_event];
    const struct session_operations *o = &s->collect.operations;
    if (s->store.n_events && ev->event.latency)
        (void)snprintf(out->row, sizeof out->row, "%.63s", ev->event.name + strlen("latency:"));
    *l = (struct operation_losses){ .dropped = history_dropped(s->store.history) };
    for (size_t i = 0; i < o->rows.n; i++) {
        const struct operations_row *row = &o->rows.items[i];
        if (row->event != s->store.current_event)
            continue;
        l->known = true;
        l->open = row->pairs.n_open - row->pairs.n_doubtful;
        l->counts = row->pairs.counts;
        if (!sees_begins(s, row->row))
            l->counts.unbegun = 0;
    }
    pthread_mutex_unlock(&s->store.lock);
}

bool session_operation_rows(struct session *s, const struct view_query *q, struct operation_rows *out,
                            struct error *e)
{
    struct view_query plain = *q;
    if (!out->memory)
        out->memory = mem_zalloc(sizeof *out->memory);
    struct operation_rows_memory *m = out->memory;
    forget_rows(out);
    find_row(s, out);
    plain.group = VIEW_GROUP_SYMBOL;
    plain.all_events = false; /* durations of different operations do not add up */
    m->samples.with_raw = true;
    if (!session_samples(s, &plain, &out->view, &m->samples, e))
        return false;
    out->all.lengths = mem_zalloc(sizeof *out->all.lengths);
    for (size_t i = 0; *out->row && i < m->samples.n; i++) {
        const struct sample *sample = &m->samples.list[i];
        struct operation_data data = { .size = 0 };
        char name[OPERATION_NAME_MAX];
        uint32_t size;
        const void *raw = session_sample_raw(&m->samples, sample, &size);
        (void)operation_data_read(raw, size, &data, name);
        uint32_t frame = out->view.result.frame[sample->stack];
        uint32_t n = data.count ? data.count : 1;
        count_sample(row_at(out, out->view.frame_func[frame]), sample->weight, data.size, n);
        count_sample(&out->all, sample->weight, data.size, n);
    }
    if (m->rows.n)
        qsort(m->rows.items, m->rows.n, sizeof *m->rows.items, by_sum);
    out->rows = m->rows.items;
    out->n = m->rows.n;
    return true;
}

uint64_t operation_row_average_ns(const struct operation_row *r)
{
    return r->count ? r->sum_ns / r->count : 0;
}

uint64_t operation_row_percentile_ns(const struct operation_row *r, double share)
{
    return durations_percentile_below(r->lengths, share, r->max_ns);
}

uint64_t operation_row_bucket(const struct operation_row *r, uint32_t bucket)
{
    uint64_t n = 0;
    uint32_t from = bucket ? duration_bucket(UINT64_C(1) << bucket) : 0;
    uint32_t to = bucket + 1 < OPERATION_BUCKETS ? duration_bucket(UINT64_C(2) << bucket) : DURATION_BUCKETS;
    if (bucket && from == duration_bucket((UINT64_C(1) << bucket) - 1))
        return 0; /* the last bucket of the durations has all longer ones */
    for (uint32_t i = from; i < to; i++)
        n += r->lengths->counts[i];
    return n;
}

void operation_rows_done(struct operation_rows *r)
{
    forget_rows(r);
    view_done(&r->view);
    if (r->memory) {
        session_samples_done(&r->memory->samples);
        mem_free(r->memory->rows.items);
        mem_free(r->memory->row_of.items);
        arena_done(&r->memory->strings);
        mem_free(r->memory);
    }
    *r = (struct operation_rows){ 0 };
}
