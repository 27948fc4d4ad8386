// SPDX-License-Identifier: GPL-2.0-or-later
/* Exports latencies of operations as text: a histogram by powers of two, as biolatency has, and a table by
 * name, as perf trace -s has. */
#include <string.h>

#include "base/clock.h"
#include "base/text.h"
#include "export/export.h"
#include "export/text_table.h"
#include "session/operation_rows.h"

static void put_length(struct buf *out, uint64_t ns)
{
    char text[24];
    buf_printf(out, " %9s", text_length(text, sizeof text, ns));
}

static void put_histogram(const struct operation_row *all, struct buf *out)
{
    uint32_t first = OPERATION_BUCKETS, last = 0;
    uint64_t most = 0;
    for (uint32_t i = 0; i < OPERATION_BUCKETS; i++) {
        uint64_t n = operation_row_bucket(all, i);
        most = n > most ? n : most;
        first = n && first == OPERATION_BUCKETS ? i : first;
        last = n ? i : last;
    }
    buf_puts(out, "\n      FROM        TO        COUNT\n");
    for (uint32_t i = first; i <= last; i++) {
        char count[32];
        uint64_t n = operation_row_bucket(all, i);
        put_length(out, i ? UINT64_C(1) << i : 0);
        put_length(out, UINT64_C(2) << i);
        buf_printf(out, " %12s  ", text_thousands(count, sizeof count, n));
        text_table_bar(out, n, most);
    }
}

static void put_row(const struct operation_row *r, bool sizes, const char *name, struct buf *out)
{
    char text[32];
    buf_printf(out, "%12s", text_thousands(text, sizeof text, r->count));
    put_length(out, r->sum_ns);
    put_length(out, operation_row_average_ns(r));
    put_length(out, operation_row_percentile_ns(r, 0.5));
    put_length(out, operation_row_percentile_ns(r, 0.9));
    put_length(out, operation_row_percentile_ns(r, 0.99));
    put_length(out, r->max_ns);
    if (sizes)
        buf_printf(out, " %8s", text_bytes(text, sizeof text, r->bytes));
    buf_printf(out, "  %s\n", name);
}

static void put_table(const struct operation_rows *o, const char *by, struct buf *out)
{
    bool sizes = o->all.bytes;
    buf_printf(out, "\n       COUNT       SUM   AVERAGE       P50       P90       P99   MAXIMUM%s  %s\n",
               sizes ? "    BYTES" : "", by);
    for (size_t i = 0; i < o->n; i++)
        put_row(&o->rows[i], sizes, o->rows[i].name, out);
    if (o->n > 1)
        put_row(&o->all, sizes, "(all)", out);
}

static void put_estimate(const struct operation_rows *o, struct buf *out)
{
    char count[32];
    if (o->all.sampled < o->all.count)
        buf_printf(out, "\nestimated from %s sampled operations; MAXIMUM is theirs\n",
                   text_thousands(count, sizeof count, o->all.sampled));
}

static void put_losses(const struct operation_losses *l, struct buf *out)
{
    struct buf text = { 0 };
    if (operation_losses_put(l, ";\n             ", &text))
        buf_printf(out, "\nnot counted: %s\n", buf_str(&text));
    buf_clear(&text);
    if (operation_arguments_put(l, &text))
        buf_printf(out, "\n%s\n", buf_str(&text));
    buf_done(&text);
}

static void latency_text(struct session *s, const struct view_query *q, const struct view *v,
                         const struct export_options *o, struct buf *out)
{
    struct operation_rows rows = { 0 };
    struct error e = { 0 };
    (void)o;
    report_header(s, q, v, out);
    if (!session_operation_rows(s, q, OPERATION_ROWS_NAME, &rows, &e)) {
        buf_printf(out, "\n%s\n", e.text);
    } else if (!*rows.row) {
        buf_puts(out, "\nthis event does not measure latencies: -e latency:ROW does (--list-latency)\n");
    } else {
        if (rows.n) {
            put_histogram(&rows.all, out);
            put_table(&rows, "NAME", out);
            put_estimate(&rows, out);
        } else {
            buf_printf(out, "\nno operations of %s\n", rows.row);
        }
        if (rows.of_programs && rows.n && session_operation_rows(s, q, OPERATION_ROWS_DEVICE, &rows, &e))
            put_table(&rows, "PROGRAM", out);
        if (rows.of_processes && rows.n && session_operation_rows(s, q, OPERATION_ROWS_PARENT, &rows, &e))
            put_table(&rows, "PARENT", out);
        put_losses(&rows.losses, out);
    }
    operation_rows_done(&rows);
}

static bool shows(const struct session_chosen *event)
{
    return event->latency;
}

const struct exporter export_latency = {
    .name = "latency",
    .suffix = ".latency.txt",
    .sections = true,
    .shows = shows,
    .help = "durations of operations: histogram, percentiles by name",
    .text = latency_text,
};
