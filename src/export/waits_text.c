// SPDX-License-Identifier: GPL-2.0-or-later
/* Exports the waits view as text: what threads wait for, and how long. */
#include "base/clock.h"
#include "base/text.h"
#include "export/export.h"
#include "session/wait_rows.h"

static void put_length(struct buf *out, uint64_t ns, bool known)
{
    char text[24];
    buf_printf(out, " %9s", known ? text_length(text, sizeof text, ns) : "-");
}

static void put_row(const struct wait_rows *w, enum wait_rows_by by, const struct wait_row *r,
                    struct buf *out)
{
    double all = w->time_ns ? (double)w->time_ns : 1;
    double span_ns = w->view.span_ns ? (double)w->view.span_ns : 1;
    char rate[24];
    buf_printf(out, "%6.1f %8.1f %8s", 100 * (double)r->time_ns / all, 100 * (double)r->time_ns / span_ns,
               text_si(rate, sizeof rate, (double)r->waits * NS_PER_SEC / span_ns));
    put_length(out, wait_row_average_ns(r), r->waits);
    put_length(out, wait_row_percentile_ns(r, 0.5), r->waits);
    put_length(out, wait_row_percentile_ns(r, 0.99), r->waits);
    put_length(out, r->max_ns, true);
    buf_printf(out, "  %c  ", r->state);
    if (by != WAIT_ROWS_REASON)
        buf_printf(out, "%-21s ", wait_reason_title(r->reason));
    if (by == WAIT_ROWS_FUNCTION)
        buf_printf(out, "%-15.15s ", r->module);
    buf_printf(out, "%s\n", r->name);
}

static void put_rows(const struct wait_rows *w, enum wait_rows_by by, struct buf *out)
{
    if (!w->n && by == WAIT_ROWS_WAKER) /* the event is off-cpu, not wakers */
        return;
    buf_printf(out, "\nSHARE%%    %%WAIT  WAITS/S   AVERAGE       P50       P99   MAXIMUM  S  ");
    if (by != WAIT_ROWS_REASON)
        buf_printf(out, "%-21s ", "REASON");
    if (by == WAIT_ROWS_FUNCTION)
        buf_printf(out, "%-15s ", "MODULE");
    for (const char *c = wait_rows_by_names[by]; *c; c++)
        buf_putc(out, *c >= 'a' && *c <= 'z' ? *c - 'a' + 'A' : *c);
    buf_putc(out, '\n');
    for (size_t i = 0; i < w->n; i++)
        put_row(w, by, &w->rows[i], out);
}

static void put_summary(const struct wait_rows *w, const struct view_query *q, struct buf *out)
{
    const struct view *v = &w->view;
    double span_ns = v->span_ns ? (double)v->span_ns : 1;
    buf_printf(out, "\nthreads that wait, on average: %.2f", (double)w->time_ns / span_ns);
    if (v->idle_weight && !q->show_idle)
        buf_printf(out, "; %.2f more wait for work (--idle includes them)", (double)v->idle_weight / span_ns);
    buf_putc(out, '\n');
}

static void waits_text(struct session *s, const struct view_query *q, const struct view *v,
                       const struct export_options *o, struct buf *out)
{
    struct wait_rows w = { 0 };
    struct error e = { 0 };
    (void)o;
    report_header(s, q, v, out);
    if (!view_has_waits(v)) {
        buf_puts(out, "\nthis event does not measure time off the CPU: --off-cpu does\n");
        return;
    }
    for (int by = 0; by < WAIT_ROWS_KINDS; by++) {
        if (!session_wait_rows(s, q, (enum wait_rows_by)by, &w, &e)) {
            buf_printf(out, "\n%s\n", e.text);
            break;
        }
        if (by == WAIT_ROWS_REASON)
            put_summary(&w, q, out);
        put_rows(&w, (enum wait_rows_by)by, out);
    }
    wait_rows_done(&w);
}

static bool shows(const struct session_chosen *event)
{
    return event->off_cpu || event->wall;
}

const struct exporter export_waits = {
    .name = "waits",
    .suffix = ".waits.txt",
    .sections = true,
    .shows = shows,
    .help = "how long threads wait, by reason, process, thread and function",
    .text = waits_text,
};
