// SPDX-License-Identifier: GPL-2.0-or-later
#include "session/log_rows.h"

#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/text.h"
#include "process/task.h"
#include "profile/operation_data.h"
#include "session/query/log_filter.h"
#include "session/session_state.h"
#include "session/trace.h"

/* LOG_ENTER, LOG_EXIT: the fields have the number of a system call of this machine. */
enum log_kind { LOG_FIELDS, LOG_ENTER, LOG_EXIT, LOG_PLACE, LOG_LENGTH };

#define ERRNO_MOST 4096 /* larger ones are no errors: MAX_ERRNO of the kernel's include/linux/err.h */

struct log_rows_memory {
    struct view view;
    struct session_samples samples;
    struct session_trace *trace; /* of n_events events of the session */
    uint32_t n_events;
    BUFFER(enum log_kind) kinds; /* by event */
    BUFFER(bool) of_32_bits;     /* by thread */
    VEC(struct log_row) rows;
    struct buf text; /* of one row */
};

/* ---- text ---- */

static const struct view_function *function_of(const struct log_rows_memory *m, const struct sample *sample)
{
    const struct view *v = &m->view;
    return sample->stack ? &v->funcs[v->frame_func[v->result.frame[sample->stack]]] : NULL;
}

/* Where a thread was: "__schedule ([kernel])"; of a wait also its length. */
static void put_place(const struct log_rows_memory *m, const struct sample *sample, enum log_kind kind,
                      struct buf *out)
{
    char length[24];
    if (kind == LOG_LENGTH)
        buf_printf(out, "%s ", text_length(length, sizeof length, sample->weight));
    const struct view_function *f = function_of(m, sample);
    buf_puts(out, f ? f->name : "[no stack]");
    if (!f)
        return;
    if (*f->module && f->name[0] != '[')
        buf_printf(out, " (%s)", f->module);
}

static const void *payload_of(const struct log_rows_memory *m, const struct sample *sample, uint32_t *size)
{
    bool has_fields = m->kinds.items[sample->event] <= LOG_EXIT;
    return has_fields ? session_sample_raw(&m->samples, sample, size) : NULL;
}

/* The payloads of raw_syscalls have only numbers: "NR 257 = -2". False: the field is not a number. */
static bool read_number(const struct log_rows_memory *m, const struct sample *sample, const char *field,
                        uint64_t *number, bool *is_negative)
{
    struct buf unused = { 0 };
    uint32_t size;
    const void *raw = session_sample_raw(&m->samples, sample, &size);
    bool ok = session_trace_field(m->trace, sample->event, raw, size, field, number, is_negative, &unused) ==
              PAYLOAD_VALUE_NUMBER;
    buf_done(&unused);
    return ok;
}

static void put_call(const struct log_rows_memory *m, const struct sample *sample, struct buf *out)
{
    uint64_t number;
    bool is_negative;
    if (!read_number(m, sample, "id", &number, &is_negative))
        return;
    const char *name =
        m->of_32_bits.items[sample->thread] ? task_call_name_32(number) : task_call_name(number);
    if (name)
        buf_printf(out, "%s ", name);
}

static void put_error(const struct log_rows_memory *m, const struct sample *sample, struct buf *out)
{
    uint64_t number;
    bool is_negative;
    if (!read_number(m, sample, "ret", &number, &is_negative) || !is_negative || -number >= ERRNO_MOST)
        return;
    const char *name = error_name((int)-number);
    if (name)
        buf_printf(out, " %s", name);
}

static void put_text(const struct log_rows_memory *m, const struct sample *sample, struct buf *out)
{
    uint32_t size;
    size_t before = out->len;
    const void *raw = payload_of(m, sample, &size);
    enum log_kind kind = m->kinds.items[sample->event];
    if (raw && (kind == LOG_ENTER || kind == LOG_EXIT))
        put_call(m, sample, out);
    if (raw)
        session_trace_put(m->trace, sample->event, raw, size, sample->cpu, out);
    if (raw && kind == LOG_EXIT)
        put_error(m, sample, out);
    if (out->len == before)
        put_place(m, sample, kind, out);
}

const struct view_function *log_row_function(const struct log_rows *r, size_t row)
{
    return function_of(r->memory, &r->memory->samples.list[r->rows[row].sample]);
}

uint64_t log_row_bytes(const struct log_rows *r, size_t row)
{
    struct operation_data data = { .size = 0 };
    char name[OPERATION_NAME_MAX];
    uint32_t size;
    const void *raw =
        session_sample_raw(&r->memory->samples, &r->memory->samples.list[r->rows[row].sample], &size);
    return operation_data_read(raw, size, &data, name) ? data.size : 0;
}

void log_row_text(struct log_rows *r, size_t row, struct buf *out)
{
    put_text(r->memory, &r->memory->samples.list[r->rows[row].sample], out);
}

/* ---- the filter ---- */

/* Fields that each row has, also without a payload. */
enum common { COMMON_COMM, COMMON_PID, COMMON_TID, COMMON_CPU, COMMON_EVENT, COMMON_WEIGHT, COMMON_COUNT };
static const char *const common_names[COMMON_COUNT] = {
    [COMMON_COMM] = "comm", [COMMON_PID] = "pid",     [COMMON_TID] = "tid",
    [COMMON_CPU] = "cpu",   [COMMON_EVENT] = "event", [COMMON_WEIGHT] = "weight",
};

static enum common find_common(const char *name)
{
    int i = 0;
    while (i < COMMON_COUNT && strcmp(common_names[i], name) != 0)
        i++;
    return (enum common)i;
}

static bool common_passes(const struct log_filter *f, const struct log_row *row)
{
    switch (find_common(f->field)) {
    case COMMON_COMM:
        return log_filter_text(f, row->comm);
    case COMMON_EVENT:
        return log_filter_text(f, row->event);
    case COMMON_PID:
        return log_filter_number(f, row->pid, false);
    case COMMON_TID:
        return log_filter_number(f, row->tid, false);
    case COMMON_CPU:
        return log_filter_number(f, row->cpu, false);
    case COMMON_WEIGHT:
        return log_filter_number(f, row->weight, false);
    case COMMON_COUNT:
        break;
    }
    return false;
}

static bool field_passes(struct log_rows_memory *m, const struct log_filter *f, const struct log_row *row)
{
    const struct sample *sample = &m->samples.list[row->sample];
    uint32_t size = 0;
    uint64_t number = 0;
    bool is_negative = false;
    const void *raw = payload_of(m, sample, &size);
    m->text.len = 0;
    switch (
        session_trace_field(m->trace, sample->event, raw, size, f->field, &number, &is_negative, &m->text)) {
    case PAYLOAD_VALUE_NUMBER:
        return log_filter_number(f, number, is_negative);
    case PAYLOAD_VALUE_TEXT:
        return log_filter_text(f, buf_str(&m->text));
    case PAYLOAD_VALUE_NONE:
        break;
    }
    return common_passes(f, row);
}

static bool row_passes(struct log_rows_memory *m, const struct log_filter *f, const struct log_row *row)
{
    if (*f->field)
        return field_passes(m, f, row);
    if (!*f->value || text_find_nocase(row->comm, f->value) || text_find_nocase(row->event, f->value))
        return true;
    m->text.len = 0;
    put_text(m, &m->samples.list[row->sample], &m->text);
    return text_find_nocase(buf_str(&m->text), f->value);
}

/* ---- rows ---- */

static enum log_kind kind_of(const struct session *s, const struct session_event *ev)
{
    const char *tracepoint = *ev->event.tracepoint ? ev->event.tracepoint : ev->event.name;
    bool own_numbers = s->unwind.user.arch == unwind_arch_native();
    if (event_is_made(&ev->event))
        return LOG_LENGTH;
    if (ev->attr.type != PERF_TYPE_TRACEPOINT)
        return LOG_PLACE;
    if (own_numbers && text_begins_with(tracepoint, "raw_syscalls:sys_enter"))
        return LOG_ENTER;
    return own_numbers && text_begins_with(tracepoint, "raw_syscalls:sys_exit") ? LOG_EXIT : LOG_FIELDS;
}

static void look_at_events(struct session *s, struct log_rows_memory *m)
{
    pthread_mutex_lock(&s->store.lock);
    uint32_t n = s->store.n_events;
    enum log_kind *kinds = VEC_RESERVE(&m->kinds, n + 1);
    for (uint32_t i = 0; i < n; i++)
        kinds[i] = kind_of(s, &s->store.events[i]);
    bool *of_32_bits = VEC_RESERVE(&m->of_32_bits, m->samples.n_threads + 1);
    for (uint32_t i = 0; i < m->samples.n; i++) {
        uint32_t thread = m->samples.list[i].thread;
        of_32_bits[thread] = world_image_is_32_bits(s->store.world, m->samples.threads[thread].image);
    }
    pthread_mutex_unlock(&s->store.lock);
    if (m->trace && n == m->n_events)
        return;
    session_trace_free(m->trace);
    m->trace = session_trace_new(s);
    m->n_events = n;
}

static struct log_row row_of(const struct log_rows_memory *m, uint32_t i)
{
    const struct sample *sample = &m->samples.list[i];
    const struct world_thread *t = &m->samples.threads[sample->thread];
    struct log_row row = {
        .time_ns = sample->time_ns,
        .weight = sample->weight,
        .event = m->samples.events[sample->event],
        .comm = t->comm,
        .pid = t->pid,
        .tid = t->tid,
        .cpu = sample->cpu,
        .number = sample->event,
        .sample = i,
    };
    row.key = map_mix(sample->time_ns ^ map_mix(sample->thread * (uint64_t)SAMPLE_EVENTS + sample->event));
    return row;
}

static bool has_field(const struct log_rows_memory *m, const char *field)
{
    bool found = find_common(field) != COMMON_COUNT;
    for (uint32_t i = 0; i < m->n_events; i++)
        found |= session_trace_has_field(m->trace, i, field);
    return found;
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

static void add_row(struct log_rows_memory *m, const struct log_filter *filter, uint32_t i)
{
    struct log_row row = row_of(m, i);
    if (row_passes(m, filter, &row))
        *VEC_PUSH(&m->rows) = row;
}

static void add_longest(struct log_rows_memory *m, const struct log_ask *ask)
{
    size_t n;
    uint32_t *longest = find_longest(&m->samples, ask->most, &n);
    for (size_t i = 0; i < n; i++)
        add_row(m, &ask->filter, longest[i]);
    mem_free(longest);
    if (m->rows.n)
        qsort(m->rows.items, m->rows.n, sizeof *m->rows.items, by_weight);
}

bool session_log_rows(struct session *s, const struct view_query *q, const struct log_ask *ask,
                      struct log_rows *out, struct error *e)
{
    struct view_query ungrouped = *q;
    if (!out->memory)
        out->memory = mem_zalloc(sizeof *out->memory);
    struct log_rows_memory *m = out->memory;
    m->rows.n = 0;
    ungrouped.group = VIEW_GROUP_SYMBOL;
    m->samples.with_raw = true;
    m->samples.newest = ask->longest ? 0 : ask->most;
    *out = (struct log_rows){ .memory = m };
    m->samples.from = ask->from;
    if (!session_samples(s, &ungrouped, &m->view, &m->samples, e))
        return false;
    look_at_events(s, m);
    out->field_found = !*ask->filter.field || has_field(m, ask->filter.field);
    if (ask->longest)
        add_longest(m, ask);
    for (uint32_t i = 0; i < m->samples.n && !ask->longest; i++)
        add_row(m, &ask->filter, i);
    out->rows = m->rows.items;
    out->n = m->rows.n;
    out->samples = m->samples.n;
    out->older = m->samples.older;
    out->next = m->samples.next;
    return true;
}

void log_rows_done(struct log_rows *r)
{
    struct log_rows_memory *m = r->memory;
    if (m) {
        view_done(&m->view);
        session_samples_done(&m->samples);
        session_trace_free(m->trace);
        VEC_FREE(&m->kinds);
        VEC_FREE(&m->of_32_bits);
        VEC_FREE(&m->rows);
        buf_done(&m->text);
        mem_free(m);
    }
    *r = (struct log_rows){ 0 };
}
