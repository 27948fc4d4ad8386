// SPDX-License-Identifier: GPL-2.0-or-later
/* The rows of the table of latencies, which the charts share: the cursor among them is that of all charts. */
#include "base/text.h"
#include "ui/view_latency.h"

uint64_t latency_row_key(const void *ctx, uint32_t row)
{
    const struct latency_view *w = ctx;
    return row ? w->rows.rows[row - 1].key : 0;
}

const struct operation_row *latency_row(const struct latency_view *w)
{
    uint32_t i = w->list.cursor;
    return !w->rows.n ? NULL : i && i <= w->rows.n ? &w->rows.rows[i - 1] : &w->rows.all;
}

static bool is_all(const struct latency_view *w)
{
    return latency_row(w) == &w->rows.all;
}

struct view_query latency_query(const struct latency_view *w, const struct app *a)
{
    const struct operation_row *r = latency_row(w);
    struct view_query q = a->query;
    q.all_events = false;
    if (r && !is_all(w) && q.n_zooms < VIEW_ZOOMS_MAX)
        q.zooms[q.n_zooms++] = r->zoom;
    return q;
}

unsigned latency_zoom(struct latency_view *w, struct app *a, bool *ok)
{
    const struct operation_row *r = latency_row(w);
    *ok = r && (is_all(w) || a->query.n_zooms < VIEW_ZOOMS_MAX);
    if (!r)
        return app_message(a, "there is no row to open");
    return is_all(w) ? (unsigned)APP_HANDLED : app_zoom(a, &r->zoom);
}

void latency_draw_title(const struct operation_row *r, struct area area, int y)
{
    char number[24], p50[24], p90[24], p99[24], most[24];
    draw_fill(area, y, 0, -1, STYLE_TABLE_HEAD);
    draw_printf(area, y, 1, STYLE_TABLE_HEAD, "%s: %s operation%s; p50 %s, p90 %s, p99 %s, maximum %s",
                r->name, text_thousands(number, sizeof number, r->count), r->count == 1 ? "" : "s",
                text_length(p50, sizeof p50, operation_row_percentile_ns(r, 0.5)),
                text_length(p90, sizeof p90, operation_row_percentile_ns(r, 0.9)),
                text_length(p99, sizeof p99, operation_row_percentile_ns(r, 0.99)),
                text_length(most, sizeof most, r->max_ns));
}

unsigned latency_table_step(struct latency_view *w, int rows)
{
    list_scroll(&w->list, rows, latency_row_key, w);
    return APP_QUERY;
}

void latency_table_save(const struct latency_view *w, struct view_position *out)
{
    list_save(&w->list, out);
}

void latency_table_restore(struct latency_view *w, const struct view_position *position)
{
    list_restore(&w->list, position, latency_row_key, w);
}
