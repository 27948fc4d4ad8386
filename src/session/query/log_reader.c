// SPDX-License-Identifier: GPL-2.0-or-later
#include "session/query/log_reader.h"

#include <string.h>

#include "base/text.h"
#include "process/task.h"
#include "session/session_state.h"

#define ERRNO_MOST 4096 /* larger ones are no errors: MAX_ERRNO of the kernel's include/linux/err.h */

/* ---- text ---- */

const struct view_function *log_reader_function(const struct log_reader *r, const struct sample *sample)
{
    const struct view *v = &r->view;
    return sample->stack ? &v->funcs[v->frame_func[v->result.frame[sample->stack]]] : NULL;
}

/* Where a thread was: "__schedule ([kernel])"; of a wait also its length, of a process its parent. */
static void put_place(const struct log_reader *r, const struct sample *sample, enum log_kind kind,
                      struct buf *out)
{
    char length[24], parent[WORLD_PARENT_MAX + 16];
    if (kind == LOG_LENGTH || kind == LOG_PROCESS)
        buf_printf(out, "%s ", text_length(length, sizeof length, sample->weight));
    const struct view_function *f = log_reader_function(r, sample);
    buf_puts(out, f ? f->name : "[no stack]");
    if (!f)
        return;
    if (*f->module && f->name[0] != '[')
        buf_printf(out, " (%s)", f->module);
    const struct world_thread *t = &r->samples.threads[sample->thread];
    if (kind == LOG_PROCESS)
        buf_printf(out, " from %s", world_parent_label(t->ppid, t->parent, parent, sizeof parent));
}

static const void *payload_of(const struct log_reader *r, const struct sample *sample, uint32_t *size)
{
    bool has_fields = r->kinds.items[sample->event] <= LOG_EXIT;
    return has_fields ? session_sample_raw(&r->samples, sample, size) : NULL;
}

/* The payloads of raw_syscalls have only numbers: "NR 257 = -2". False: the field is not a number. */
static bool read_number(const struct log_reader *r, const struct sample *sample, const char *field,
                        uint64_t *number, bool *is_negative)
{
    struct buf unused = { 0 };
    uint32_t size;
    const void *raw = session_sample_raw(&r->samples, sample, &size);
    int32_t index = session_trace_find_field(r->trace, sample->event, field);
    bool ok = session_trace_value(r->trace, sample->event, index, raw, size, number, is_negative, &unused) ==
              PAYLOAD_VALUE_NUMBER;
    buf_done(&unused);
    return ok;
}

static const char *call_name(const struct log_reader *r, const struct sample *sample)
{
    uint64_t number;
    bool is_negative;
    if (!read_number(r, sample, "id", &number, &is_negative))
        return NULL;
    return task_call_name(number, r->of_32_bits.items[sample->thread]);
}

static void put_call(const struct log_reader *r, const struct sample *sample, struct buf *out)
{
    const char *name = call_name(r, sample);
    if (name)
        buf_printf(out, "%s ", name);
}

static void put_error(const struct log_reader *r, const struct sample *sample, struct buf *out)
{
    uint64_t number;
    bool is_negative;
    if (!read_number(r, sample, "ret", &number, &is_negative) || !is_negative || -number >= ERRNO_MOST)
        return;
    const char *name = error_name((int)-number);
    if (name)
        buf_printf(out, " %s", name);
}

/* The payload has the numbers of a device: "254,0". */
static void put_device(const struct log_reader *r, const struct sample *sample, const void *raw,
                       uint32_t size, struct buf *out)
{
    const char *name = session_trace_device(r->trace, sample->event, -1, raw, size);
    if (name)
        buf_printf(out, "%s ", name);
}

void log_reader_put(struct log_reader *r, const struct sample *sample, struct buf *out)
{
    uint32_t size;
    size_t before = out->len;
    const void *raw = payload_of(r, sample, &size);
    enum log_kind kind = r->kinds.items[sample->event];
    if (raw && (kind == LOG_ENTER || kind == LOG_EXIT))
        put_call(r, sample, out);
    put_device(r, sample, raw, size, out);
    if (raw)
        session_trace_put(r->trace, sample->event, raw, size, sample->cpu, out);
    if (raw && kind == LOG_EXIT)
        put_error(r, sample, out);
    if (out->len == before)
        put_place(r, sample, kind, out);
}

/* ---- fields ---- */

const char *const log_own_names[LOG_OWN_COUNT] = {
    [LOG_OWN_COMM] = "comm",     [LOG_OWN_PARENT] = "parent",   [LOG_OWN_PPID] = "ppid",
    [LOG_OWN_PID] = "pid",       [LOG_OWN_TID] = "tid",         [LOG_OWN_CPU] = "cpu",
    [LOG_OWN_EVENT] = "event",   [LOG_OWN_WEIGHT] = "weight",   [LOG_OWN_PROCESS] = "process",
    [LOG_OWN_THREAD] = "thread", [LOG_OWN_SYSCALL] = "syscall",
};

bool log_own_is_number(enum log_own own)
{
    return own == LOG_OWN_PPID || own == LOG_OWN_PID || own == LOG_OWN_TID || own == LOG_OWN_CPU ||
           own == LOG_OWN_WEIGHT;
}

/* "openat" of "syscalls:sys_enter_openat:u"; NULL: the event is another one. */
static const char *call_of_event(const char *event)
{
    static const char *const starts[] = { "syscalls:sys_enter_", "syscalls:sys_exit_" };
    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++)
        if (text_begins_with(event, starts[i]))
            return event + strlen(starts[i]);
    return NULL;
}

static bool has_numbers_of_calls(const struct log_reader *r, uint32_t event)
{
    return r->kinds.items[event] == LOG_ENTER || r->kinds.items[event] == LOG_EXIT;
}

static bool event_has_call(const struct log_reader *r, uint32_t event)
{
    return has_numbers_of_calls(r, event) ||
           (r->kinds.items[event] == LOG_FIELDS && call_of_event(r->event_names[event]));
}

void log_field_find(const struct log_reader *r, const char *name, struct log_field *out)
{
    int32_t *of = VEC_RESERVE(&out->of, r->n_events + 1);
    int own = 0;
    while (own < LOG_OWN_COUNT && strcmp(log_own_names[own], name) != 0)
        own++;
    out->own = (enum log_own)own;
    out->found = own < LOG_OWN_SYSCALL;
    out->is_number = log_own_is_number(out->own);
    for (uint32_t i = 0; i < r->n_events; i++) {
        of[i] = session_trace_find_field(r->trace, i, name);
        out->found |= of[i] >= 0 || (own == LOG_OWN_SYSCALL && event_has_call(r, i));
        out->is_number |= session_trace_field_is_number(r->trace, i, of[i]);
    }
}

void log_field_done(struct log_field *f)
{
    mem_free(f->of.items);
    *f = (struct log_field){ .found = false };
}

static struct log_value number_value(uint64_t number)
{
    return (struct log_value){ .kind = PAYLOAD_VALUE_NUMBER, .number = { number, false } };
}

static struct log_value text_value(const char *text)
{
    return (struct log_value){ .kind = text ? PAYLOAD_VALUE_TEXT : PAYLOAD_VALUE_NONE, .text = text };
}

static struct log_value id_value(uint32_t id)
{
    return id == WORLD_ENDED ? text_value("[ended]") : number_value(id);
}

static struct log_value task_value(struct log_reader *r, const char *comm, uint32_t id)
{
    char label[WORLD_COMM_MAX + 16];
    r->text.len = 0;
    buf_puts(&r->text, world_task_label(comm, id, label, sizeof label));
    return text_value(buf_str(&r->text));
}

static struct log_value call_value(struct log_reader *r, const struct sample *sample)
{
    const char *name = has_numbers_of_calls(r, sample->event) ? call_name(r, sample)
                       : event_has_call(r, sample->event)     ? call_of_event(r->event_names[sample->event])
                                                              : NULL;
    if (!name)
        return text_value(NULL);
    r->text.len = 0;
    buf_add(&r->text, name, strcspn(name, ":"));
    return text_value(buf_str(&r->text));
}

static struct log_value own_value(struct log_reader *r, enum log_own own, const struct sample *sample)
{
    const struct world_thread *t = &r->samples.threads[sample->thread];
    switch (own) {
    case LOG_OWN_COMM:
        return text_value(t->comm);
    case LOG_OWN_PARENT:
        return text_value(t->parent);
    case LOG_OWN_PPID:
        return number_value(t->ppid);
    case LOG_OWN_EVENT:
        return text_value(r->event_names[sample->event]);
    case LOG_OWN_PID:
        return id_value(t->pid);
    case LOG_OWN_TID:
        return id_value(t->tid);
    case LOG_OWN_CPU:
        return number_value(sample->cpu);
    case LOG_OWN_WEIGHT:
        return number_value(sample->weight);
    case LOG_OWN_PROCESS:
        return task_value(r, t->comm, t->pid);
    case LOG_OWN_THREAD:
        return task_value(r, t->comm, t->tid);
    case LOG_OWN_SYSCALL:
        return call_value(r, sample);
    case LOG_OWN_COUNT:
        break;
    }
    return text_value(NULL);
}

struct log_value log_reader_value(struct log_reader *r, const struct log_field *f,
                                  const struct sample *sample)
{
    struct log_value v = { .kind = PAYLOAD_VALUE_NONE };
    uint32_t size = 0;
    const void *raw = payload_of(r, sample, &size);
    r->text.len = 0;
    v.kind = session_trace_value(r->trace, sample->event, f->of.items[sample->event], raw, size,
                                 &v.number.bits, &v.number.is_negative, &r->text);
    v.text = buf_str(&r->text);
    return v.kind != PAYLOAD_VALUE_NONE ? v : own_value(r, f->own, sample);
}

bool log_reader_has_fields(const struct log_reader *r)
{
    for (uint32_t i = 0; i < r->n_events; i++)
        if (r->kinds.items[i] <= LOG_EXIT && session_trace_field_name(r->trace, i, 0))
            return true;
    return false;
}

bool log_reader_field(struct log_reader *r, const struct sample *sample, int32_t i, struct log_row_field *out)
{
    uint32_t size = 0;
    const void *raw = payload_of(r, sample, &size);
    *out = (struct log_row_field){ session_trace_field_name(r->trace, sample->event, i), .text = NULL };
    r->text.len = 0;
    enum payload_value kind = session_trace_value(r->trace, sample->event, i, raw, size, &out->number.bits,
                                                  &out->number.is_negative, &r->text);
    out->is_number = kind == PAYLOAD_VALUE_NUMBER;
    out->text = kind == PAYLOAD_VALUE_TEXT ? buf_str(&r->text) : NULL;
    return out->name && raw;
}

/* A name of a field's number: of a system call, or a device. NULL: it has none. */
static const char *name_of_value(const struct log_reader *r, int32_t field, const struct sample *sample,
                                 const void *raw, uint32_t size)
{
    bool is_call = field >= 0 && raw && has_numbers_of_calls(r, sample->event) &&
                   !strcmp(session_trace_field_name(r->trace, sample->event, field), "id");
    if (is_call)
        return call_name(r, sample);
    return field < 0 ? NULL : session_trace_device(r->trace, sample->event, field, raw, size);
}

/* Appends a value without such a name. */
static bool put_plain_value(struct log_reader *r, const struct log_field *f, const struct sample *sample,
                            const void *raw, uint32_t size, struct buf *out)
{
    int32_t field = f->of.items[sample->event];
    if (session_trace_put_field(r->trace, sample->event, field, raw, size, out))
        return true;
    struct log_value v = own_value(r, f->own, sample);
    if (v.kind == PAYLOAD_VALUE_TEXT)
        buf_puts(out, v.text);
    else if (v.kind == PAYLOAD_VALUE_NUMBER)
        value_number_put(&v.number, out);
    return v.kind != PAYLOAD_VALUE_NONE;
}

bool log_reader_put_value(struct log_reader *r, const struct log_field *f, const struct sample *sample,
                          struct buf *out)
{
    uint32_t size = 0;
    const void *raw = payload_of(r, sample, &size);
    const char *name = name_of_value(r, f->of.items[sample->event], sample, raw, size);
    if (!name)
        return put_plain_value(r, f, sample, raw, size, out);
    buf_puts(out, name);
    return true;
}

/* ---- the filter ---- */

const char *log_judge_start(struct log_judge *j, const struct log_reader *r, const struct log_filter *filter)
{
    const char *missing = NULL;
    j->filter = filter;
    for (uint32_t i = filter->n; i-- > 0;) {
        log_field_find(r, filter->of[i].field, &j->fields[i]);
        if (*filter->of[i].field && !j->fields[i].found)
            missing = filter->of[i].field;
    }
    return missing;
}

/* A number that has a name passes by the name or by the number: "vda", "254,0". */
static bool shown_passes(struct log_reader *r, const struct log_field *field, const struct log_condition *c,
                         const struct sample *sample)
{
    uint32_t size = 0;
    const void *raw = payload_of(r, sample, &size);
    const char *name = name_of_value(r, field->of.items[sample->event], sample, raw, size);
    bool named = name && log_filter_text(c, name);
    if (name && named != (c->test == LOG_NOT_EQUAL))
        return named;
    r->text.len = 0;
    (void)put_plain_value(r, field, sample, raw, size, &r->text);
    return log_filter_text(c, buf_str(&r->text));
}

static bool field_passes(struct log_reader *r, const struct log_field *field, const struct log_condition *c,
                         const struct sample *sample)
{
    if (c->test == LOG_ABSENT) {
        r->text.len = 0;
        return !log_reader_put_value(r, field, sample, &r->text);
    }
    struct log_value v = log_reader_value(r, field, sample);
    if (v.kind == PAYLOAD_VALUE_NUMBER && c->is_number)
        return log_filter_number(c, v.number.bits, v.number.is_negative);
    if (v.kind == PAYLOAD_VALUE_NUMBER)
        return shown_passes(r, field, c, sample);
    return v.kind == PAYLOAD_VALUE_TEXT && log_filter_text(c, v.text);
}

static bool text_passes(struct log_reader *r, const char *text, const struct sample *sample)
{
    if (text_find_nocase(r->samples.threads[sample->thread].comm, text) ||
        text_find_nocase(r->samples.events[sample->event], text))
        return true;
    r->text.len = 0;
    log_reader_put(r, sample, &r->text);
    return text_find_nocase(buf_str(&r->text), text);
}

bool log_judge_passes(struct log_judge *j, struct log_reader *r, const struct sample *sample)
{
    for (uint32_t i = 0; i < j->filter->n; i++) {
        const struct log_condition *c = &j->filter->of[i];
        if (!(*c->field ? field_passes(r, &j->fields[i], c, sample) : text_passes(r, c->value, sample)))
            return false;
    }
    return true;
}

void log_judge_done(struct log_judge *j)
{
    for (uint32_t i = 0; i < LOG_CONDITIONS_MAX; i++)
        log_field_done(&j->fields[i]);
}

/* ---- samples ---- */

/* A file does not have the row: one of the same name here is the same. */
static bool is_of_processes(const struct event *ev)
{
    const struct pair_row *row = ev->pair;
    if (!row && ev->latency)
        row = pair_row_find(ev->name + strlen("latency:"), NULL);
    return row && row->by_process;
}

static enum log_kind kind_of(const struct session *s, const struct session_event *ev)
{
    const char *tracepoint = *ev->event.tracepoint ? ev->event.tracepoint : ev->event.name;
    bool own_numbers = s->unwind.user.arch == unwind_arch_native();
    if (event_is_made(&ev->event))
        return is_of_processes(&ev->event) ? LOG_PROCESS : LOG_LENGTH;
    if (ev->attr.type != PERF_TYPE_TRACEPOINT)
        return LOG_PLACE;
    if (own_numbers && text_begins_with(tracepoint, "raw_syscalls:sys_enter"))
        return LOG_ENTER;
    return own_numbers && text_begins_with(tracepoint, "raw_syscalls:sys_exit") ? LOG_EXIT : LOG_FIELDS;
}

void log_reader_open(struct log_reader *r, struct session *s)
{
    (void)pair_rows_all(); /* may read files */
    pthread_mutex_lock(&s->store.lock);
    uint32_t n = s->store.n_events;
    enum log_kind *kinds = VEC_RESERVE(&r->kinds, n + 1);
    r->event_names = mem_resize(r->event_names, n + 1, sizeof *r->event_names);
    for (uint32_t i = 0; i < n; i++) {
        const char *name = s->store.events[i].event.name;
        kinds[i] = kind_of(s, &s->store.events[i]);
        (void)text_clean(r->event_names[i], sizeof r->event_names[i], name, strlen(name));
    }
    pthread_mutex_unlock(&s->store.lock);
    if (r->trace && n == r->n_events)
        return;
    session_trace_free(r->trace);
    r->trace = session_trace_new(s);
    r->n_events = n;
}

static void look_at_threads(struct session *s, struct log_reader *r)
{
    pthread_mutex_lock(&s->store.lock);
    bool *of_32_bits = VEC_RESERVE(&r->of_32_bits, r->samples.n_threads + 1);
    for (uint32_t i = 0; i < r->samples.n_threads; i++)
        of_32_bits[i] = r->samples.threads[i].image &&
                        world_image_is_32_bits(s->store.world, r->samples.threads[i].image);
    pthread_mutex_unlock(&s->store.lock);
}

bool log_reader_collect(struct log_reader *r, struct session *s, const struct view_query *q, struct error *e)
{
    struct view_query ungrouped = *q;
    ungrouped.group = VIEW_GROUP_SYMBOL;
    r->samples.with_raw = true;
    if (!session_samples(s, &ungrouped, &r->view, &r->samples, e))
        return false;
    log_reader_open(r, s);
    look_at_threads(s, r);
    return true;
}

void log_reader_done(struct log_reader *r)
{
    view_done(&r->view);
    session_samples_done(&r->samples);
    session_trace_free(r->trace);
    VEC_FREE(&r->kinds);
    mem_free(r->event_names);
    VEC_FREE(&r->of_32_bits);
    buf_done(&r->text);
    *r = (struct log_reader){ .trace = NULL };
}
