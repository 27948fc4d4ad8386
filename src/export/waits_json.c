// SPDX-License-Identifier: GPL-2.0-or-later
#include "export/json.h"

#include "base/clock.h"
#include "session/wait_rows.h"

static void put_share(struct buf *out, const char *key, double number, double all)
{
    json_key(out, key);
    buf_printf(out, "%.3f", all > 0 ? number / all : 0);
}

static void put_row(const struct wait_rows *w, enum wait_rows_by by, const struct wait_row *r,
                    struct buf *out)
{
    const char state[] = { r->state, '\0' };
    double span_ns = (double)w->view.span_ns;
    json_open(out, '{');
    json_text(out, "by", wait_rows_by_names[by]);
    json_text(out, "name", r->name);
    if (*r->module)
        json_text(out, "module", r->module);
    json_text(out, "state", state);
    json_text(out, "reason", wait_reason_title(r->reason));
    put_share(out, "share", 100 * (double)r->time_ns, (double)w->time_ns);
    put_share(out, "threads", (double)r->time_ns, span_ns);
    json_number(out, "count", r->waits);
    put_share(out, "per_second", (double)r->waits * NS_PER_SEC, span_ns);
    json_number(out, "time_ns", r->time_ns);
    if (r->waits) {
        json_number(out, "average_ns", wait_row_average_ns(r));
        json_number(out, "p50_ns", wait_row_percentile_ns(r, 0.5));
        json_number(out, "p99_ns", wait_row_percentile_ns(r, 0.99));
    }
    json_number(out, "max_ns", r->max_ns);
    json_number(out, "sum_ns", r->sum_ns);
    buf_putc(out, '}');
}

bool waits_json(struct session *s, const struct view_query *q, struct buf *out, struct error *e)
{
    struct wait_rows w = { 0 };
    struct view_query shown = *q;
    bool ok = true, open = false;
    shown.all_events = false; /* times of different events do not add up */
    for (int by = 0; by < WAIT_ROWS_KINDS && ok; by++) {
        ok = session_wait_rows(s, &shown, (enum wait_rows_by)by, &w, e);
        if (!ok || !view_has_waits(&w.view))
            break;
        if (!open) {
            json_open_key(out, "waits", '[');
        }
        open = true;
        for (size_t i = 0; i < w.n; i++)
            put_row(&w, (enum wait_rows_by)by, &w.rows[i], out);
    }
    if (open)
        buf_putc(out, ']');
    wait_rows_done(&w);
    return ok;
}
