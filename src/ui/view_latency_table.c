// SPDX-License-Identifier: GPL-2.0-or-later
/* The table of latencies, with the histogram of the selected row below it. */
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/text.h"
#include "ui/durations_draw.h"
#include "ui/order.h"
#include "ui/picker.h"
#include "ui/term.h"
#include "ui/view_latency.h"
#include "ui/view_ops.h"

#define LENGTHS_LEAST 12 /* rows of the chart from which on there is a histogram */

enum order { BY_SUM, BY_COUNT, BY_P50, BY_P90, BY_P99, BY_MAXIMUM, BY_BYTES, BY_NAME, ORDERS };
static const char *const order_names[ORDERS] = {
    [BY_SUM] = "sum", [BY_COUNT] = "count",     [BY_P50] = "p50",     [BY_P90] = "p90",
    [BY_P99] = "p99", [BY_MAXIMUM] = "maximum", [BY_BYTES] = "bytes", [BY_NAME] = "name",
};

/* Rows of programs have no devices. */
static const char *by_name(const struct latency_view *w, enum operation_rows_by by)
{
    return by == OPERATION_ROWS_DEVICE && w->rows.of_programs ? "program" : operation_rows_by_names[by];
}

/* --- order --- */

static uint64_t value_of(const struct operation_row *r, enum order order)
{
    switch (order) {
    case BY_COUNT:
        return r->count;
    case BY_P50:
        return operation_row_percentile_ns(r, 0.5);
    case BY_P90:
        return operation_row_percentile_ns(r, 0.9);
    case BY_P99:
        return operation_row_percentile_ns(r, 0.99);
    case BY_MAXIMUM:
        return r->max_ns;
    case BY_BYTES:
        return r->bytes;
    default:
        return r->sum_ns;
    }
}

/* The rows come longest sum first: equal ones stay so. */
static bool belongs_before(const void *x, const void *y, int order)
{
    const struct operation_row *a = x, *b = y;
    if (order == BY_NAME)
        return strcmp(a->name, b->name) < 0;
    return value_of(a, (enum order)order) > value_of(b, (enum order)order);
}

static void table_update(struct latency_view *w, struct app *a)
{
    if (!session_operation_rows(a->session, &a->query, w->by, &w->rows, &w->error))
        w->rows.n = 0;
    if (w->order != BY_SUM)
        order_rows(w->rows.rows, w->rows.n, sizeof *w->rows.rows, belongs_before, w->order);
    if (w->query_serial != a->query_serial)
        list_restart(&w->list);
    w->query_serial = a->query_serial;
    list_update(&w->list, w->rows.n ? (uint32_t)w->rows.n + 1 : 0, latency_row_key, w);
}

/* --- drawing --- */

static void put_length(struct draw_line *l, uint64_t ns)
{
    char text[24];
    draw_column(l, 7, text_length_within(text, sizeof text, ns, 7));
}

static void draw_head(const struct latency_view *w, struct area area)
{
    static const char *const titles[] = { "P50", "P90", "P99", "MAX", "SUM" };
    struct draw_line l = { area, 0, 0, STYLE_TABLE_HEAD };
    char by[32];
    draw_fill(area, 0, 0, -1, STYLE_TABLE_HEAD);
    draw_column(&l, 9, "COUNT");
    draw_column(&l, 6, "/S");
    for (size_t i = 0; i < sizeof titles / sizeof *titles; i++)
        draw_column(&l, 7, titles[i]);
    if (w->rows.all.bytes)
        draw_column(&l, 7, "BYTES/S");
    snprintf(by, sizeof by, "%s", by_name(w, w->by));
    draw_text(area, 0, l.x, STYLE_TABLE_HEAD, by);
}

static void draw_row(const struct latency_view *w, const struct app *a, const struct operation_row *r,
                     struct area area, int y)
{
    struct draw_line l = { area, y, 0, STYLE_NORMAL };
    double seconds = w->rows.view.span_ns ? (double)w->rows.view.span_ns / NS_PER_SEC : 1;
    char text[32];
    draw_column(&l, 9, text_thousands(text, sizeof text, r->count));
    draw_column(&l, 6, text_si(text, sizeof text, (double)r->count / seconds));
    put_length(&l, operation_row_percentile_ns(r, 0.5));
    put_length(&l, operation_row_percentile_ns(r, 0.9));
    put_length(&l, operation_row_percentile_ns(r, 0.99));
    put_length(&l, r->max_ns);
    put_length(&l, r->sum_ns);
    if (w->rows.all.bytes)
        draw_column(&l, 7, text_bytes(text, sizeof text, (uint64_t)((double)r->bytes / seconds)));
    (void)draw_match(area, y, l.x, area.cols - l.x, r == &w->rows.all ? STYLE_LABEL : STYLE_NAME, r->name,
                     a->search);
}

static void table_draw(struct latency_view *w, struct app *a, struct area area)
{
    int lengths = area.rows >= LENGTHS_LEAST ? area.rows / 2 : 0, rows = area.rows - 1 - lengths;
    draw_head(w, area);
    if ((int)w->rows.n + 1 < rows) { /* few rows: more room for the histogram */
        lengths += lengths ? rows - (int)w->rows.n - 1 : 0;
        rows = area.rows - 1 - lengths;
    }
    list_fit(&w->list, rows);
    for (int y = 0; y < rows && w->list.top + (uint32_t)y < w->list.n; y++) {
        uint32_t i = w->list.top + (uint32_t)y;
        draw_row(w, a, i ? &w->rows.rows[i - 1] : &w->rows.all, area, 1 + y);
        if (i == w->list.cursor)
            draw_restyle(area, 1 + y, STYLE_CURSOR);
    }
    if (!lengths)
        return;
    area = area_sub(area, area.rows - lengths, 0, lengths, -1);
    latency_draw_title(latency_row(w), area, 0);
    durations_draw(latency_row(w)->lengths, area_sub(area, 1, 0, -1, -1), term_glyphs());
}

static void table_describe(struct latency_view *w, struct app *a, char *dst, size_t cap)
{
    (void)a;
    (void)snprintf(dst, cap, "by %s, sorted by %s", by_name(w, w->by), order_names[w->order]);
}

/* --- keys --- */

static unsigned group_by(struct latency_view *w, struct app *a, enum operation_rows_by by)
{
    w->by = by;
    w->list = (struct list){ .page = w->list.page }; /* the row of all operations again */
    return APP_QUERY | app_message(a, "operations are now by %s", by_name(w, by));
}

static unsigned take_group(struct app *a, uint32_t choice)
{
    return group_by(a->states[APP_VIEW_LATENCY], a, (enum operation_rows_by)choice);
}

static unsigned choose_group(struct latency_view *w, struct app *a)
{
    const char *names[OPERATION_ROWS_KINDS];
    for (int by = 0; by < OPERATION_ROWS_KINDS; by++)
        names[by] = by_name(w, (enum operation_rows_by)by);
    return picker_menu(a, "Operations by", names, OPERATION_ROWS_KINDS, w->by, take_group);
}

static unsigned sort_by(struct latency_view *w, int order)
{
    w->order = order;
    return APP_QUERY;
}

static unsigned take_order(struct app *a, uint32_t choice)
{
    return sort_by(a->states[APP_VIEW_LATENCY], (int)choice);
}

/* Shows the stacks of a row, as a call graph. */
static unsigned drill(struct latency_view *w, struct app *a)
{
    bool ok;
    unsigned flags = latency_zoom(w, a, &ok);
    if (!ok)
        return flags;
    w->list.moved = true; /* Esc returns to this row */
    return flags | app_show_view(a, APP_VIEW_CALLGRAPH, false);
}

static unsigned table_act(struct latency_view *w, struct app *a, enum action action)
{
    bool ok;
    switch (action) {
    case ACTION_DRILL:
        return drill(w, a);
    case ACTION_ZOOM_MODULE:
    case ACTION_ZOOM_THREAD:
        return latency_zoom(w, a, &ok);
    case ACTION_GROUP:
        return group_by(w, a, (enum operation_rows_by)((w->by + 1) % OPERATION_ROWS_KINDS));
    case ACTION_GROUP_MENU:
        return choose_group(w, a);
    case ACTION_SORT:
        return picker_menu(a, "Sort by", order_names, ORDERS, (uint32_t)w->order, take_order);
    case ACTION_SORT_LEFT:
        return sort_by(w, (w->order + ORDERS - 1) % ORDERS);
    case ACTION_SORT_RIGHT:
        return sort_by(w, (w->order + 1) % ORDERS);
    default:
        return list_act(&w->list, action, latency_row_key, w) ? APP_REDRAW : APP_IGNORED;
    }
}

static unsigned table_click(struct latency_view *w, struct app *a, int row, int col, bool twice)
{
    (void)col;
    if (!list_click(&w->list, row - 1, latency_row_key, w))
        return APP_HANDLED;
    return APP_REDRAW | (twice ? drill(w, a) : 0);
}

static bool row_matches(const void *ctx, uint32_t i, const char *needle)
{
    const struct latency_view *w = ctx;
    return i && text_find_nocase(w->rows.rows[i - 1].name, needle);
}

static enum search_found table_search(struct latency_view *w, struct app *a, int step)
{
    return list_find(&w->list, step, a->search, row_matches, latency_row_key, w);
}

const struct latency_chart_ops latency_table_ops = {
    .update = table_update,
    .draw = table_draw,
    .act = table_act,
    .click = table_click,
    .search = table_search,
    .describe = table_describe,
    .save = latency_table_save,
    .restore = latency_table_restore,
};
