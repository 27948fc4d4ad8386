// SPDX-License-Identifier: GPL-2.0-or-later
#include "export/json.h"

#include "base/text.h"

#define ROWS_MOST  20000 /* the newest, as on the screen */
#define VALUE_TEXT (LOG_VALUE_MAX + 16)

/* ---- rows ---- */

static void put_fields(struct log_rows *r, size_t row, struct buf *out)
{
    struct log_row_field field;
    json_open_key(out, "fields", '{');
    for (int32_t i = 0; log_row_field(r, row, i, &field); i++) {
        if (text_begins_with(field.name, "common_")) /* of all tracepoints: type, flags */
            continue;
        if (field.is_number) {
            json_key(out, field.name);
            value_number_put(&field.number, out);
        } else if (field.text) {
            json_text(out, field.name, field.text);
        }
    }
    buf_putc(out, '}');
}

static void put_row(struct log_rows *r, size_t row, struct buf *text, struct buf *out)
{
    const struct log_row *l = &r->rows[row];
    text->len = 0;
    log_row_text(r, row, text);
    json_open(out, '{');
    json_number(out, "time_ns", l->time_ns);
    json_number(out, "cpu", l->cpu);
    json_id(out, "pid", l->pid);
    json_id(out, "tid", l->tid);
    json_text(out, "comm", l->comm);
    json_text(out, "event", l->event);
    json_text(out, "text", buf_str(text));
    put_fields(r, row, out);
    buf_putc(out, '}');
}

static bool put_rows(struct session *s, const struct view_query *q, struct buf *out, struct error *e)
{
    struct log_rows rows = { .n = 0 };
    struct buf text = { 0 };
    bool ok = session_log_rows(s, q, &(struct log_ask){ .most = ROWS_MOST }, &rows, e);
    if (ok && log_rows_have_fields(&rows)) {
        json_open_key(out, "log", '[');
        for (size_t i = 0; i < rows.n; i++)
            put_row(&rows, i, &text, out);
        buf_putc(out, ']');
        json_key(out, "log_older");
        buf_puts(out, rows.older ? "true" : "false");
    }
    buf_done(&text);
    log_rows_done(&rows);
    return ok;
}

/* ---- groups ---- */

static void put_values(const struct log_groups *g, const struct value_group *group, const struct log_by *by,
                       struct buf *out)
{
    char text[VALUE_TEXT];
    json_open_key(out, "values", '[');
    for (uint32_t i = 0; i < by->n; i++)
        json_item(out,
                  log_group_has_value(g, group, i) ? log_group_value(g, group, i, text, sizeof text) : NULL);
    buf_putc(out, ']');
}

static void put_bucket(uint32_t power, uint64_t count, struct buf *out)
{
    json_open(out, '{');
    json_number(out, "le", power + 1 < DURATION_POWERS ? (UINT64_C(1) << power) - 1 : UINT64_MAX);
    json_number(out, "count", count);
    buf_putc(out, '}');
}

static void put_numbers(const struct value_group *group, struct buf *out)
{
    uint64_t middle;
    json_number(out, "numbers", group->numbers);
    if (!group->numbers)
        return;
    json_key(out, "sum");
    buf_printf(out, "%.0f", value_group_sum(group));
    json_key(out, "p50");
    if (value_group_percentile(group, 0.5, &middle))
        buf_printf(out, "%llu", (unsigned long long)middle);
    else
        buf_puts(out, "null");
    json_key(out, "max");
    value_number_put(&group->max, out);
    json_number(out, "negative", group->below);
    json_open_key(out, "buckets", '[');
    for (uint32_t i = 0; i < DURATION_POWERS && group->sizes; i++)
        if (durations_power(group->sizes, i))
            put_bucket(i, durations_power(group->sizes, i), out);
    buf_putc(out, ']');
}

static void put_group(const struct log_groups *g, const struct value_group *group, const struct log_by *by,
                      struct buf *out)
{
    json_open(out, '{');
    put_values(g, group, by, out);
    if (log_group_is_other(g, group))
        buf_puts(out, ",\"other\":true");
    json_number(out, "count", group->count);
    if (*by->value)
        put_numbers(group, out);
    buf_putc(out, '}');
}

static bool put_groups(struct session *s, const struct view_query *q, const struct log_by *by,
                       struct buf *out, struct error *e)
{
    struct log_groups g = { .n = 0 };
    bool ok = session_log_groups(s, q, &(struct log_filter){ .n = 0 }, by, &g, e);
    if (ok) {
        json_open_key(out, "log_groups", '{');
        json_open_key(out, "by", '[');
        for (uint32_t i = 0; i < by->n; i++)
            json_item(out, by->fields[i]);
        buf_putc(out, ']');
        if (*by->value)
            json_text(out, "of", by->value);
        json_number(out, "span_ns", g.span_ns);
        json_number(out, "dropped", g.dropped);
        json_open_key(out, "groups", '[');
        for (size_t i = 0; i < g.n; i++)
            put_group(&g, g.rows[i], by, out);
        buf_puts(out, "]}");
    }
    log_groups_done(&g);
    return ok;
}

bool log_json(struct session *s, const struct view_query *q, const struct log_by *by, struct buf *out,
              struct error *e)
{
    return by->n ? put_groups(s, q, by, out, e) : put_rows(s, q, out, e);
}
