// SPDX-License-Identifier: GPL-2.0-or-later
/* Exports the log as text: a line per sample. */
#include "base/clock.h"
#include "base/text.h"
#include "process/world.h"
#include "export/export.h"
#include "export/text_table.h"

#define THREAD_COLS 22
#define EVENT_COLS  22

uint64_t log_text_base(struct session *s)
{
    struct session_status st;
    session_get_status(s, &st);
    return st.now_ns > st.elapsed_ns ? st.now_ns - st.elapsed_ns : 0;
}

void log_text_head(struct buf *out)
{
    buf_printf(out, "%13s %4s  %-*s %-*s TEXT\n", "SECONDS", "CPU", THREAD_COLS, "THREAD", EVENT_COLS,
               "EVENT");
}

void log_text_row(struct log_rows *r, size_t row, uint64_t base_ns, struct buf *out)
{
    const struct log_row *l = &r->rows[row];
    char label[WORLD_COMM_MAX + 16];
    uint64_t us = (l->time_ns > base_ns ? l->time_ns - base_ns : 0) / NS_PER_US;
    buf_printf(out, "%6llu.%06llu %4u  ", (unsigned long long)(us / 1000000),
               (unsigned long long)(us % 1000000), l->cpu);
    size_t at = out->len;
    buf_puts(out, world_task_label(l->comm, l->tid, label, sizeof label));
    text_table_pad(out, at, THREAD_COLS);
    at = out->len + 1;
    buf_printf(out, " %s", l->event);
    text_table_pad(out, at, EVENT_COLS);
    buf_putc(out, ' ');
    log_row_text(r, row, out);
    buf_putc(out, '\n');
}

static bool log_stream(struct session *s, const struct view_query *q, const struct export_options *o,
                       struct export_sink *to, struct error *e)
{
    struct log_rows rows = { 0 };
    struct view v = { 0 };
    struct view_query all = *q;
    all.all_events = true;
    export_query(s, &all, &v); /* waits for names */
    if (o->log_by.n) {
        view_done(&v);
        return log_groups_text(s, q, &o->log_by, &to->text, e);
    }
    bool ok = session_log_rows(s, &all, &(struct log_ask){ .most = SIZE_MAX }, &rows, e);
    report_header(s, q, &v, &to->text);
    buf_putc(&to->text, '\n');
    log_text_head(&to->text);
    uint64_t base_ns = log_text_base(s);
    for (size_t i = 0; i < rows.n && ok && export_flush(to); i++)
        log_text_row(&rows, i, base_ns, &to->text);
    log_rows_done(&rows);
    view_done(&v);
    return ok;
}

const struct exporter export_log = {
    .name = "log",
    .suffix = ".log.txt",
    .all_events = true,
    .help = "samples in lines: time, thread, event, fields; or their groups",
    .stream = log_stream,
};
