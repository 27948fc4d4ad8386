// SPDX-License-Identifier: GPL-2.0-or-later
#include "session/operation_rows.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "profile/operation_data.h"
#include "session/query/view_parts.h"
#include "session/samples.h"

const char *const operation_rows_by_names[OPERATION_ROWS_KINDS] = {
    [OPERATION_ROWS_NAME] = "name",       [OPERATION_ROWS_DEVICE] = "device",
    [OPERATION_ROWS_PROCESS] = "process", [OPERATION_ROWS_THREAD] = "thread",
    [OPERATION_ROWS_CPU] = "CPU",         [OPERATION_ROWS_CGROUP] = "cgroup",
    [OPERATION_ROWS_PARENT] = "parent",
};
static const enum view_group groups[OPERATION_ROWS_KINDS] = {
    [OPERATION_ROWS_PROCESS] = VIEW_GROUP_PROCESS,
    [OPERATION_ROWS_THREAD] = VIEW_GROUP_THREAD,
    [OPERATION_ROWS_CPU] = VIEW_GROUP_CPU,
    [OPERATION_ROWS_CGROUP] = VIEW_GROUP_CGROUP,
};
static const enum zoom_kind zooms[OPERATION_ROWS_KINDS] = {
    [OPERATION_ROWS_NAME] = ZOOM_FUNCTION,   [OPERATION_ROWS_DEVICE] = ZOOM_DEVICE,
    [OPERATION_ROWS_PROCESS] = ZOOM_PROCESS, [OPERATION_ROWS_THREAD] = ZOOM_THREAD,
    [OPERATION_ROWS_CPU] = ZOOM_CPU,         [OPERATION_ROWS_CGROUP] = ZOOM_CGROUP,
    [OPERATION_ROWS_PARENT] = ZOOM_PARENT,
};

struct operation_rows_memory {
    struct session_samples samples;
    VEC(struct operation_row) rows;
    BUFFER(uint32_t) row_of; /* by function, group or thread, plus one; 0: none yet */
    struct map by_key;       /* of devices and parents: key → index */
    struct arena strings;
    bool has_devices; /* the names begin with a device */
};

const char *operation_name_part(const char *frame, const char *row, size_t *n)
{
    size_t length = strlen(row);
    *n = strlen(frame);
    if (*n < 2 || frame[0] != '[' || frame[*n - 1] != ']')
        return frame;
    const char *from = frame + 1;
    if (!strncmp(from, row, length) && !strncmp(from + length, ": ", 2))
        from += length + 2;
    *n = (size_t)(frame + *n - 1 - from);
    return from;
}

/* ---- rows ---- */

/* Names a row by its function or group. */
static void name_row(struct operation_rows *out, enum operation_rows_by by, struct operation_row *row,
                     uint32_t number)
{
    const struct view *v = &out->view;
    size_t n;
    row->zoom.kind = zooms[by];
    if (zooms[by] == ZOOM_FUNCTION || zooms[by] == ZOOM_DEVICE) {
        const struct view_function *f = &v->funcs[number];
        const char *name = operation_name_part(f->name, out->row, &n);
        if (zooms[by] == ZOOM_DEVICE)
            n = out->memory->has_devices && memchr(name, ' ', n)
                    ? (size_t)((const char *)memchr(name, ' ', n) - name)
                    : n;
        row->name = arena_strndup(&out->memory->strings, name, n);
        row->key = zooms[by] == ZOOM_DEVICE ? map_hash_bytes(name, n, 1) : f->key;
        row->zoom.number = row->key;
    } else if (zooms[by] == ZOOM_PARENT) {
        const struct world_thread *t = &out->memory->samples.threads[number];
        char label[WORLD_PARENT_MAX + 16];
        (void)world_parent_label(t->ppid, t->parent, label, sizeof label);
        row->name = arena_strndup(&out->memory->strings, label, strlen(label));
        row->zoom.number = t->ppid;
        row->key = map_mix(t->ppid) ^ 3;
    } else {
        row->name = v->groups[number].label;
        row->key = v->groups[number].key;
        row->zoom.number = v->groups[number].number;
    }
    text_clean(row->zoom.text, sizeof row->zoom.text, row->name, strlen(row->name));
}

static struct operation_row *row_at(struct operation_rows *out, enum operation_rows_by by, uint32_t number)
{
    struct operation_rows_memory *m = out->memory;
    uint32_t *at = &VEC_RESERVE_ZEROED(&m->row_of, number + 1)[number];
    if (!*at) {
        struct operation_row row = { 0 };
        bool created = true;
        name_row(out, by, &row, number);
        uint64_t index = m->rows.n;
        if (by == OPERATION_ROWS_DEVICE || by == OPERATION_ROWS_PARENT) /* several have the same */
            index = *map_at(&m->by_key, row.key, m->rows.n, &created);
        if (created) {
            row.lengths = mem_zalloc(sizeof *row.lengths);
            *VEC_PUSH(&m->rows) = row;
        }
        *at = (uint32_t)index + 1;
    }
    return &m->rows.items[*at - 1];
}

/* The function or group of a sample. */
static uint32_t number_of(const struct view *v, enum operation_rows_by by, const struct sample *sample)
{
    switch (by) {
    case OPERATION_ROWS_NAME:
    case OPERATION_ROWS_DEVICE:
        return v->frame_func[v->result.frame[sample->stack]];
    case OPERATION_ROWS_CPU:
        return sample->cpu + 1;
    case OPERATION_ROWS_PARENT:
        return sample->thread;
    default:
        return v->memory->thread_group.items[sample->thread];
    }
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
    r->all = (struct operation_row){ .name = "all" };
    r->rows = NULL;
    r->n = 0;
    *r->row = '\0';
    if (!m)
        return;
    for (size_t i = 0; i < m->rows.n; i++)
        mem_free(m->rows.items[i].lengths);
    m->rows.n = 0;
    map_clear(&m->by_key);
    arena_clear(&m->strings);
    if (m->row_of.cap)
        memset(m->row_of.items, 0, m->row_of.cap * sizeof *m->row_of.items);
}

/* True if each end in the scope has its begin there. */
static bool sees_begins(const struct session *s, const struct pair_row *row)
{
    return row->by_thread || row->by_cpu || (s->source.scope.kind == SCOPE_ALL && !s->source.scope.cpus);
}

static bool names_devices(const struct pair_row *row)
{
    return row && row->n_names && (row->names[0].kind == PAIR_NAME_DEVICE || row->command);
}

/* The row of the shown event, and what its samples lack. A file does not have the row: one of the same name
 * here is the same. */
static void find_row(struct session *s, struct operation_rows *out)
{
    struct operation_losses *l = &out->losses;
    pthread_mutex_lock(&s->store.lock);
    const struct session_event *ev = &s->store.events[s->store.current_event];
    const struct session_operations *o = &s->collect.operations;
    if (s->store.n_events && ev->event.latency)
        (void)snprintf(out->row, sizeof out->row, "%.63s", ev->event.name + strlen("latency:"));
    const struct pair_row *pair = *out->row ? ev->event.pair : NULL;
    *l = (struct operation_losses){ .dropped = history_dropped(s->store.history) };
    for (size_t i = 0; i < o->rows.n; i++) {
        const struct operations_row *row = &o->rows.items[i];
        if (row->event != s->store.current_event)
            continue;
        l->known = true;
        l->open = operations_count_open(s, row);
        l->counts = row->pairs.counts;
        l->incomplete = row->incomplete;
        if (row->row->command && row->parts[PAIR_MORE] == UINT32_MAX)
            (void)snprintf(l->no_command, sizeof l->no_command, "%s",
                           row->fields.no_command.class ? row->fields.no_command.text
                                                        : "the event of their probe did not open");
        if (!sees_begins(s, row->row))
            l->counts.unbegun = 0;
    }
    pthread_mutex_unlock(&s->store.lock);
    if (*out->row && !pair) /* may read files */
        pair = pair_row_find(out->row, NULL);
    out->of_programs = pair && pair->command;
    out->memory->has_devices = names_devices(pair);
    out->of_processes = pair && pair->by_process;
}

bool session_operation_rows(struct session *s, const struct view_query *q, enum operation_rows_by by,
                            struct operation_rows *out, struct error *e)
{
    struct view_query grouped = *q;
    if (!out->memory)
        out->memory = mem_zalloc(sizeof *out->memory);
    struct operation_rows_memory *m = out->memory;
    forget_rows(out);
    find_row(s, out);
    grouped.group = groups[by];
    grouped.all_events = false; /* durations of different operations do not add up */
    m->samples.with_raw = true;
    if (!session_samples(s, &grouped, &out->view, &m->samples, e))
        return false;
    out->all.lengths = mem_zalloc(sizeof *out->all.lengths);
    for (size_t i = 0; *out->row && i < m->samples.n; i++) {
        const struct sample *sample = &m->samples.list[i];
        struct operation_data data = { .size = 0 };
        char name[OPERATION_NAME_MAX];
        uint32_t size;
        const void *raw = session_sample_raw(&m->samples, sample, &size);
        (void)operation_data_read(raw, size, &data, name);
        uint32_t n = operation_data_count(&data);
        count_sample(row_at(out, by, number_of(&out->view, by, sample)), sample->weight, data.size, n);
        count_sample(&out->all, sample->weight, data.size, n);
    }
    if (m->rows.n)
        qsort(m->rows.items, m->rows.n, sizeof *m->rows.items, by_sum);
    out->rows = m->rows.items;
    out->n = m->rows.n;
    return true;
}

bool operation_arguments_put(const struct operation_losses *l, struct buf *out)
{
    char count[32];
    if (*l->no_command)
        buf_printf(out, "arguments are not known: %s", l->no_command);
    else if (l->incomplete)
        buf_printf(
            out,
            "arguments of %s are not known: of static and 32-bit programs, of those of another loader, "
            "or too many",
            text_thousands(count, sizeof count, l->incomplete));
    return *l->no_command || l->incomplete;
}

size_t operation_losses_put(const struct operation_losses *l, const char *between, struct buf *out)
{
    const struct {
        uint64_t n;
        const char *what;
    } parts[] = {
        { l->open, "still open" },
        { l->counts.gone, "whose thread ended first" },
        { l->counts.unbegun, "ends without a begin" },
        { l->counts.replaced, "begun again before their end" },
        { l->counts.lost, "in doubt because records were lost" },
        { l->counts.refused, "begun while too many were open" },
        { l->dropped, "dropped to keep memory within --history" },
    };
    char count[32];
    size_t n = 0;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (parts[i].n)
            buf_printf(out, "%s%s %s", n++ ? between : "", text_thousands(count, sizeof count, parts[i].n),
                       parts[i].what);
    return n;
}

void operation_range_text(uint64_t min_ns, uint64_t max_ns, bool unicode, char *dst, size_t cap)
{
    char from[24], to[24];
    text_length(from, sizeof from, min_ns);
    if (max_ns == UINT64_MAX)
        (void)snprintf(dst, cap, ">=%s", from);
    else /* shown as the end of the range, not as its last nanosecond */
        (void)snprintf(dst, cap, "%s%s%s", from, unicode ? "–" : "-", text_length(to, sizeof to, max_ns + 1));
}

bool operation_range_parse(const char *text, uint64_t *min_ns, uint64_t *max_ns, struct error *e)
{
    char safe[64];
    const char *at = *text == '-' ? text : text_parse_length(text, min_ns);
    if (*text == '-')
        *min_ns = 0;
    *max_ns = UINT64_MAX;
    if (at && !*at)
        return true;
    at = at && *at == '-' ? text_parse_length(at + 1, max_ns) : NULL;
    if (at && !*at && *max_ns > *min_ns) {
        --*max_ns;
        return true;
    }
    text_clean(safe, sizeof safe, text, strlen(text));
    return error_set(e, ERROR_ARGUMENT, "\"%s\" is no range of durations: 10ms, 1ms-40ms and -500us are",
                     safe);
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
        map_done(&r->memory->by_key);
        arena_done(&r->memory->strings);
        mem_free(r->memory);
    }
    *r = (struct operation_rows){ 0 };
}
