// SPDX-License-Identifier: GPL-2.0-or-later
#include "session/log_groups.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/text.h"
#include "session/query/log_reader.h"
#include "session/session_state.h"

/* Parts of a key, which cleaned text does not contain. */
#define KEY_NEXT   '\n' /* between two values */
#define KEY_ABSENT '\1' /* a value: the sample has no such field */
#define KEY_SHORT  '\2' /* behind a truncated value */

struct log_groups_memory {
    struct log_reader reader;
    struct log_judge judge;
    struct log_field fields[LOG_BY_MAX], value;
    struct value_groups groups;
    BUFFER(struct value_group *) rows;
    struct buf key;
};

/* ---- what to group by ---- */

static bool parse_name(const char *from, size_t n, char dst[LOG_FIELD_NAME], struct error *e)
{
    while (n && *from == ' ')
        from++, n--;
    while (n && from[n - 1] == ' ')
        n--;
    if (n && n < LOG_FIELD_NAME && !memchr(from, ' ', n)) {
        (void)text_clean(dst, LOG_FIELD_NAME, from, n);
        return true;
    }
    return error_set(e, ERROR_ARGUMENT,
                     "FIELD[,FIELD][:VALUE] is needed: one or two names of fields, and a "
                     "field with numbers to sum");
}

bool log_by_parse(const char *text, struct log_by *out, struct error *e)
{
    size_t n = strcspn(text, ":");
    *out = (struct log_by){ .n = 0 };
    for (const char *at = text; at <= text + n;) {
        size_t length = strcspn(at, ",:");
        if (out->n == LOG_BY_MAX)
            return error_set(e, ERROR_ARGUMENT, "the log is grouped by one or two fields, not by more");
        if (!parse_name(at, length, out->fields[out->n++], e))
            return false;
        at += length + 1;
    }
    return !text[n] || parse_name(text + n + 1, strlen(text + n + 1), out->value, e);
}

char *log_by_text(const struct log_by *by, char *dst, size_t cap)
{
    (void)snprintf(dst, cap, "%s%s%s%s%s", by->fields[0], by->n > 1 ? "," : "",
                   by->n > 1 ? by->fields[1] : "", *by->value ? ":" : "", by->value);
    return dst;
}

/* ---- fields ---- */

static struct log_field_info *info_of(struct log_field_list *list, const char *name)
{
    for (size_t i = 0; i < list->n; i++)
        if (!strcmp(list->items[i].name, name))
            return &list->items[i];
    struct log_field_info *info = VEC_PUSH(list);
    *info = (struct log_field_info){ .is_number = false };
    (void)snprintf(info->name, sizeof info->name, "%s", name);
    return info;
}

static void add_event(struct log_field_info *info, const char *event)
{
    size_t n = strlen(info->events);
    const char *colon = strchr(event, ':');
    (void)snprintf(info->events + n, sizeof info->events - n, "%s%s", n ? ", " : "",
                   colon && colon[1] ? colon + 1 : event);
}

static void list_fields(const struct log_reader *r, struct log_field_list *out)
{
    for (int own = 0; own < LOG_OWN_COUNT; own++) {
        struct log_field field = { .found = false };
        log_field_find(r, log_own_names[own], &field);
        if (field.found) {
            struct log_field_info *info = info_of(out, log_own_names[own]);
            info->is_number = log_own_is_number((enum log_own)own);
            info->of_all = own != LOG_OWN_SYSCALL;
            (void)snprintf(info->events, sizeof info->events, "%s", info->of_all ? "" : "system calls");
        }
        log_field_done(&field);
    }
    for (uint32_t event = 0; event < r->n_events; event++)
        for (int32_t i = 0; session_trace_field_name(r->trace, event, i); i++) {
            const char *name = session_trace_field_name(r->trace, event, i);
            if (!strncmp(name, "common_", 7)) /* fields of all tracepoints: type, flags, pid */
                continue;
            struct log_field_info *info = info_of(out, name);
            info->is_number |= session_trace_field_is_number(r->trace, event, i);
            if (!info->of_all)
                add_event(info, r->event_names[event]);
        }
}

void session_log_fields(struct session *s, struct log_field_list *out)
{
    struct log_reader r = { .trace = NULL };
    log_reader_open(&r, s);
    list_fields(&r, out);
    log_reader_done(&r);
}

/* Says which fields there are; numbers: only those with numbers. */
static bool say_fields(const struct log_reader *r, const char *wanted, bool numbers, struct error *e)
{
    struct log_field_list list = { .n = 0 };
    struct buf text = { 0 };
    list_fields(r, &list);
    const char **names = mem_array(list.n + 1, sizeof *names);
    size_t n = 0;
    for (size_t i = 0; i < list.n; i++)
        if (list.items[i].is_number || !numbers) {
            buf_printf(&text, "%s%s", n ? ", " : "", list.items[i].name);
            names[n++] = list.items[i].name;
        }
    int nearest = text_nearest(wanted, names, n);
    if (nearest >= 0 && strcmp(names[nearest], wanted) != 0)
        error_hint(e, "did you mean %s? There are %s", names[nearest], buf_str(&text));
    else
        error_hint(e, "there are %s", buf_str(&text));
    buf_done(&text);
    mem_free(names);
    mem_free(list.items);
    return false;
}

static bool find_field(const struct log_reader *r, const char *name, struct log_field *out, struct error *e)
{
    log_field_find(r, name, out);
    if (out->found)
        return true;
    error_set(e, ERROR_ARGUMENT, "no event here has a field %s", name);
    return say_fields(r, name, false, e);
}

static bool find_fields(struct log_groups_memory *m, const struct log_by *by, struct error *e)
{
    for (uint32_t i = 0; i < by->n; i++)
        if (!find_field(&m->reader, by->fields[i], &m->fields[i], e))
            return false;
    if (!*by->value)
        return true;
    if (!find_field(&m->reader, by->value, &m->value, e))
        return false;
    if (m->value.is_number)
        return true;
    error_set(e, ERROR_ARGUMENT, "the field %s is text, which has no sum: a number is needed", by->value);
    return say_fields(&m->reader, by->value, true, e);
}

bool session_log_by_check(struct session *s, const struct log_by *by, struct error *e)
{
    struct log_groups g = { .memory = mem_zalloc(sizeof *g.memory) };
    log_reader_open(&g.memory->reader, s);
    bool ok = find_fields(g.memory, by, e);
    log_groups_done(&g);
    return ok;
}

/* ---- groups ---- */

/* Appends a value to the key: truncated to LOG_VALUE_MAX bytes, but within no character. */
static void add_value(struct log_groups_memory *m, uint32_t i, const struct sample *sample)
{
    struct buf *key = &m->key;
    size_t from = key->len;
    if (!log_reader_put_value(&m->reader, &m->fields[i], sample, key))
        buf_putc(key, KEY_ABSENT);
    if (key->len - from <= LOG_VALUE_MAX)
        return;
    size_t n = from + LOG_VALUE_MAX;
    while (n > from && (key->data[n] & 0xc0) == 0x80) /* a byte within a character of UTF-8 */
        n--;
    key->len = n;
    buf_putc(key, KEY_SHORT);
}

static void add_sample(struct log_groups_memory *m, const struct log_by *by, const struct sample *sample)
{
    struct log_value value = { .kind = PAYLOAD_VALUE_NONE };
    m->key.len = 0;
    for (uint32_t i = 0; i < by->n; i++) {
        if (i)
            buf_putc(&m->key, KEY_NEXT);
        add_value(m, i, sample);
    }
    if (*by->value)
        value = log_reader_value(&m->reader, &m->value, sample);
    value_groups_add(&m->groups, buf_str(&m->key), value.kind == PAYLOAD_VALUE_NUMBER ? &value.number : NULL);
}

static int by_count(const void *a, const void *b)
{
    const struct value_group *x = *(struct value_group *const *)a, *y = *(struct value_group *const *)b;
    if (x->count != y->count)
        return x->count > y->count ? -1 : 1;
    return strcmp(x->key, y->key);
}

static void sort_rows(struct log_groups_memory *m, struct log_groups *out)
{
    struct value_groups *g = &m->groups;
    struct value_group **rows = VEC_RESERVE(&m->rows, g->groups.n + 1);
    for (size_t i = 0; i < g->groups.n; i++)
        rows[i] = &g->groups.items[i];
    if (g->groups.n)
        qsort(rows, g->groups.n, sizeof *rows, by_count);
    out->n = g->groups.n;
    if (g->other.count)
        rows[out->n++] = &g->other;
    out->rows = rows;
    out->all = &g->all;
}

static uint64_t dropped_of(struct session *s)
{
    pthread_mutex_lock(&s->store.lock);
    uint64_t dropped = history_dropped(s->store.history);
    pthread_mutex_unlock(&s->store.lock);
    return dropped;
}

/* If the oldest samples were dropped, the range begins with the first one that is left. */
static uint64_t span_of(const struct log_groups_memory *m, bool dropped)
{
    const struct session_samples *samples = &m->reader.samples;
    uint64_t span = m->reader.view.span_ns,
             left = samples->n ? samples->list[samples->n - 1].time_ns - samples->list[0].time_ns : 0;
    return dropped && left < span ? left : span;
}

bool session_log_groups(struct session *s, const struct view_query *q, const struct log_filter *filter,
                        const struct log_by *by, struct log_groups *out, struct error *e)
{
    if (!out->memory)
        out->memory = mem_zalloc(sizeof *out->memory);
    struct log_groups_memory *m = out->memory;
    value_groups_clear(&m->groups);
    *out = (struct log_groups){ .memory = m, .all = &m->groups.all, .view = &m->reader.view };
    if (!log_reader_collect(&m->reader, s, q, e) || !find_fields(m, by, e))
        return false;
    const char *missing = log_judge_start(&m->judge, &m->reader, filter);
    if (missing) {
        error_set(e, ERROR_ARGUMENT, "no event here has a field %s", missing);
        return say_fields(&m->reader, missing, false, e);
    }
    for (size_t i = 0; i < m->reader.samples.n; i++)
        if (log_judge_passes(&m->judge, &m->reader, &m->reader.samples.list[i]))
            add_sample(m, by, &m->reader.samples.list[i]);
    sort_rows(m, out);
    out->is_time = !strcmp(by->value, log_own_names[LOG_OWN_WEIGHT]) && m->reader.view.weight_is_time;
    out->dropped = dropped_of(s);
    out->span_ns = span_of(m, out->dropped);
    return true;
}

void log_groups_done(struct log_groups *g)
{
    struct log_groups_memory *m = g->memory;
    if (m) {
        log_reader_done(&m->reader);
        log_judge_done(&m->judge);
        for (uint32_t i = 0; i < LOG_BY_MAX; i++)
            log_field_done(&m->fields[i]);
        log_field_done(&m->value);
        value_groups_done(&m->groups);
        mem_free(m->rows.items);
        buf_done(&m->key);
        mem_free(m);
    }
    *g = (struct log_groups){ .n = 0 };
}

/* ---- a group ---- */

bool log_group_is_other(const struct log_groups *g, const struct value_group *group)
{
    return group == &g->memory->groups.other;
}

/* Value i of a key, and its length. */
static const char *value_of(const struct value_group *group, uint32_t i, size_t *n)
{
    const char *from = group->key;
    while (i-- && strchr(from, KEY_NEXT))
        from = strchr(from, KEY_NEXT) + 1;
    *n = strcspn(from, "\n");
    return from;
}

bool log_group_has_value(const struct log_groups *g, const struct value_group *group, uint32_t i)
{
    size_t n;
    return group != g->all && !log_group_is_other(g, group) && *value_of(group, i, &n) != KEY_ABSENT;
}

char *log_group_value(const struct log_groups *g, const struct value_group *group, uint32_t i, char *dst,
                      size_t cap)
{
    size_t n;
    const char *from = value_of(group, i, &n);
    bool is_short = n && from[n - 1] == KEY_SHORT;
    if (group == g->all)
        (void)snprintf(dst, cap, "%s", i ? "" : "(all)");
    else if (log_group_is_other(g, group))
        (void)snprintf(dst, cap, "%s", i ? "" : "(other values)");
    else if (n && *from == KEY_ABSENT)
        (void)snprintf(dst, cap, "(no such field)");
    else if (!n)
        (void)snprintf(dst, cap, "\"\"");
    else
        (void)snprintf(dst, cap, "%.*s%s", (int)(n - is_short), from, is_short ? ".." : "");
    return dst;
}

/* True if the value is no number and ends where the filter ends it: it needs no quotes. */
static bool is_plain(const char *from, size_t n)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+:/.,|[]";
    return n && strspn(from, plain) >= n && !strchr("0123456789-+", *from);
}

static void put_quoted(const char *from, size_t n, struct buf *out)
{
    buf_putc(out, '"');
    for (size_t i = 0; i < n; i++) {
        if (from[i] == '"' || from[i] == '\\')
            buf_putc(out, '\\');
        buf_putc(out, from[i]);
    }
    buf_putc(out, '"');
}

bool log_group_put_filter(const struct log_groups *g, const struct value_group *group,
                          const struct log_by *by, struct buf *out)
{
    if (group == g->all || log_group_is_other(g, group))
        return false;
    for (uint32_t i = 0; i < by->n; i++) {
        size_t n;
        const char *from = value_of(group, i, &n);
        bool is_short = n && from[n - 1] == KEY_SHORT;
        n -= is_short;
        if (n && *from == KEY_ABSENT) {
            buf_printf(out, "%s!%s", i ? " && " : "", by->fields[i]);
            continue;
        }
        /* A part of a text is found anywhere in it: the filter of a truncated value may let others pass. */
        buf_printf(out, "%s%s%s", i ? " && " : "", by->fields[i], is_short ? "~" : "=");
        if (is_plain(from, n))
            buf_add(out, from, n);
        else
            put_quoted(from, n, out);
    }
    return true;
}
