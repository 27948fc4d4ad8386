// SPDX-License-Identifier: GPL-2.0-or-later
#include "export/json.h"

#include "base/mem.h"
#include "session/operation_rows.h"

static void put_buckets(const struct operation_row *r, struct buf *out)
{
    json_open_key(out, "buckets", '[');
    for (uint32_t i = 0; i < OPERATION_BUCKETS; i++) {
        uint64_t n = operation_row_bucket(r, i);
        if (!n)
            continue;
        json_open(out, '{');
        json_number(out, "le_ns", i + 1 < OPERATION_BUCKETS ? (UINT64_C(2) << i) - 1 : UINT64_MAX);
        json_number(out, "count", n);
        buf_putc(out, '}');
    }
    buf_putc(out, ']');
}

/* by NULL: the row is one by name. */
static void put_row(const struct operation_rows *o, const struct operation_row *r, const char *by,
                    struct buf *out)
{
    json_open(out, '{');
    json_text(out, "row", o->row);
    if (by)
        json_text(out, "by", by);
    json_text(out, "name", r->name);
    json_number(out, "count", r->count);
    json_number(out, "sampled", r->sampled);
    json_number(out, "sum_ns", r->sum_ns);
    json_number(out, "p50_ns", operation_row_percentile_ns(r, 0.5));
    json_number(out, "p90_ns", operation_row_percentile_ns(r, 0.9));
    json_number(out, "p99_ns", operation_row_percentile_ns(r, 0.99));
    json_number(out, "max_ns", r->max_ns);
    json_number(out, "bytes", r->bytes);
    put_buckets(r, out);
    buf_putc(out, '}');
}

static void put_losses(const struct operation_rows *o, struct buf *out)
{
    const struct operation_losses *l = &o->losses;
    json_open(out, '{');
    json_text(out, "row", o->row);
    json_number(out, "count", o->all.count);
    json_number(out, "sampled", o->all.sampled);
    if (l->known) {
        json_number(out, "open", l->open);
        json_number(out, "gone", l->counts.gone);
        json_number(out, "unbegun", l->counts.unbegun);
        json_number(out, "replaced", l->counts.replaced);
        json_number(out, "lost", l->counts.lost);
        json_number(out, "refused", l->counts.refused);
    }
    if (l->known && o->of_programs) {
        json_number(out, "without_arguments", l->incomplete);
        json_text(out, "no_arguments", l->no_command);
    }
    json_number(out, "dropped", l->dropped);
    buf_putc(out, '}');
}

/* Rows of several events. */
struct parts {
    struct buf rows, groups, losses;
};

static bool add_groups(struct session *s, const struct view_query *q, enum operation_rows_by by,
                       const char *name, struct buf *out, struct error *e)
{
    struct operation_rows o = { 0 };
    bool ok = session_operation_rows(s, q, by, &o, e);
    for (size_t i = 0; ok && i < o.n; i++)
        put_row(&o, &o.rows[i], name, out);
    operation_rows_done(&o);
    return ok;
}

/* Adds the shown event. */
static bool add_event(struct session *s, const struct view_query *q, struct parts *to, struct error *e)
{
    struct operation_rows o = { 0 };
    bool ok = session_operation_rows(s, q, OPERATION_ROWS_NAME, &o, e);
    for (size_t i = 0; ok && i < o.n; i++)
        put_row(&o, &o.rows[i], NULL, &to->rows);
    if (ok && *o.row)
        put_losses(&o, &to->losses);
    ok = ok && (!o.of_programs || add_groups(s, q, OPERATION_ROWS_DEVICE, "program", &to->groups, e)) &&
         (!o.of_processes || add_groups(s, q, OPERATION_ROWS_PARENT, "parent", &to->groups, e));
    operation_rows_done(&o);
    return ok;
}

bool latency_json(struct session *s, const struct view_query *q, struct buf *out, struct error *e)
{
    struct session_chosen *list;
    struct parts to = { .rows.len = 0 };
    uint32_t n = session_chosen(s, &list), shown = 0;
    bool ok = true, any = false;
    json_open(&to.rows, '[');
    json_open(&to.groups, '[');
    json_open(&to.losses, '[');
    for (uint32_t i = 0; i < n; i++)
        shown = list[i].shown ? i : shown;
    for (uint32_t i = 0; i < n && ok; i++) {
        if (!list[i].latency || list[i].left_out || list[i].removed || (i != shown && !q->all_events))
            continue;
        any = true;
        ok = session_show_event(s, i, e) && add_event(s, q, &to, e);
    }
    if (any) {
        ok &= session_show_event(s, shown, e);
        json_key(out, "latency");
        buf_printf(out, "%s]", buf_str(&to.rows));
        json_key(out, "latency_groups");
        buf_printf(out, "%s]", buf_str(&to.groups));
        json_key(out, "latency_rows");
        buf_printf(out, "%s]", buf_str(&to.losses));
    }
    buf_done(&to.rows);
    buf_done(&to.groups);
    buf_done(&to.losses);
    mem_free(list);
    return ok;
}
