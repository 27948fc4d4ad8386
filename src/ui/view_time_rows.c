// SPDX-License-Identifier: GPL-2.0-or-later
/* Threads, or CPUs, over time: one row each, the busiest first. */
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/text.h"
#include "ui/app_screen.h"
#include "ui/range.h"
#include "ui/view_time.h"

#define SHARE_COLS   6
#define SAMPLES_COLS 10
#define WIDE         100 /* minimum screen width for the number of samples */

static uint64_t row_key(const void *ctx, uint32_t row)
{
    const struct time_rows *r = ctx;
    return r->counts.timeline.rows[r->order[row]].key + 1;
}

static int by_samples(const void *x, const void *y, void *ctx)
{
    const struct timeline_row *rows = ctx, *a = &rows[*(const uint32_t *)x], *b = &rows[*(const uint32_t *)y];
    if (a->samples != b->samples)
        return a->samples > b->samples ? -1 : 1;
    return a->key < b->key ? -1 : a->key > b->key;
}

/* Returns the width of the columns left of the time. */
static int left_cols(int cols)
{
    return SHARE_COLS + (cols >= WIDE ? SAMPLES_COLS + 24 : 19);
}

void time_rows_fit(const struct app *a, struct time_axis *x, int columns)
{
    uint64_t from, to;
    bool part = range_shown(a, &from, &to);
    if (!part)
        range_extent(a, &from, &to);
    time_axis_fit(x, from, to, columns > 0 ? (uint32_t)columns : 1,
                  !part && !a->status.file && !a->status.frozen);
}

static void rows_update(struct time_view *v, struct app *a)
{
    struct time_rows *r = &v->rows;
    int cols = app_screen_view(a).cols;
    enum times_kind kind = v->picture < TIME_CPUS ? TIMES_THREADS : TIMES_CPUS;
    if (kind != r->kind)
        r->list = (struct list){ 0 };
    r->kind = kind;
    time_rows_fit(a, &r->axis, cols - left_cols(cols));
    session_times_count(a->times, a->session,
                        &(struct times_ask){ .kind = kind,
                                             .from_ns = r->axis.from_ns,
                                             .to_ns = r->axis.grows ? 0 : r->axis.to_ns,
                                             .bucket_ns = r->axis.bucket_ns },
                        &r->counts);
    struct timeline *t = &r->counts.timeline;
    MEM_GROW(r->order, r->order_cap, (size_t)t->n_rows + 1);
    uint32_t n = 0;
    for (uint32_t i = 0; i < t->n_rows; i++)
        if (t->rows[i].samples)
            r->order[n++] = i;
    qsort_r(r->order, n, sizeof *r->order, by_samples, t->rows);
    if (r->query_serial != a->query_serial)
        list_restart(&r->list);
    r->query_serial = a->query_serial;
    list_update(&r->list, n, row_key, r);
}

void time_rows_restore(struct time_view *v, const struct view_position *position)
{
    list_restore(&v->rows.list, position, row_key, &v->rows);
}

/* ---- drawing ---- */

static void draw_row(const struct time_rows *r, const struct app *a, struct area area, int y, uint32_t row,
                     const uint32_t *counts, uint32_t max)
{
    const struct timeline *t = &r->counts.timeline;
    const struct timeline_row *line = &t->rows[r->order[row]];
    int col = SHARE_COLS + 1, left = left_cols(area.cols);
    char number[32];
    draw_printf(area, y, 0, STYLE_NORMAL, "%*.1f", SHARE_COLS,
                t->samples ? 100.0 * (double)line->samples / (double)t->samples : 0);
    if (area.cols >= WIDE) {
        draw_right(area, y, col, SAMPLES_COLS - 1, STYLE_NORMAL,
                   text_thousands(number, sizeof number, line->samples));
        col += SAMPLES_COLS;
    }
    draw_elided(area, y, col, left - col - 1, STYLE_NAME, r->counts.labels.items[r->order[row]].text, true);
    if (row == r->list.cursor)
        term_restyle(area.y + y, area.x, left - 1, STYLE_CURSOR);
    for (uint32_t i = 0; i < r->axis.columns; i++)
        time_heat_cell(a, area, y, left + (int)i, 1, counts[i], max, false);
}

static void rows_draw(struct time_view *v, struct app *a, struct area area)
{
    struct time_rows *r = &v->rows;
    int left = left_cols(area.cols);
    list_fit(&r->list, area.rows - 1);
    draw_fill(area, 0, 0, -1, STYLE_TABLE_HEAD);
    draw_printf(area, 0, 0, STYLE_TABLE_HEAD, "SHARE%%%s %s", area.cols >= WIDE ? "   SAMPLES" : "",
                r->kind == TIMES_CPUS ? "CPU" : "THREAD");
    strip_draw_axis(area, 0, left, 1, &r->axis, range_base(a), STYLE_TABLE_HEAD);
    uint32_t columns = r->axis.columns, shown = 0, max = 0;
    for (uint32_t row = r->list.top; row < r->list.n && shown + 1 < (uint32_t)area.rows; row++)
        shown++;
    uint32_t *counts = mem_array((size_t)shown * columns + 1, sizeof *counts);
    for (uint32_t i = 0; i < shown; i++) {
        uint32_t most = timeline_parts(&r->counts.timeline.rows[r->order[r->list.top + i]], 0, r->axis.per,
                                       counts + (size_t)i * columns, columns);
        max = most > max ? most : max;
    }
    for (uint32_t i = 0; i < shown; i++)
        draw_row(r, a, area, (int)i + 1, r->list.top + i, counts + (size_t)i * columns, max);
    mem_free(counts);
}

/* ---- keys ---- */

bool time_rows_chosen(const struct time_view *v, struct zoom *out)
{
    const struct time_rows *r = &v->rows;
    if (r->list.cursor >= r->list.n)
        return false;
    uint32_t row = r->order[r->list.cursor];
    *out = (struct zoom){ .kind = r->kind == TIMES_CPUS ? ZOOM_CPU : ZOOM_THREAD,
                          .number = r->counts.timeline.rows[row].key };
    snprintf(out->text, sizeof out->text, "%s", r->counts.labels.items[row].text);
    return true;
}

void time_rows_step(struct time_view *v, int step)
{
    list_scroll(&v->rows.list, step, row_key, &v->rows);
    /* on the first row the cursor keeps that thread, not the busiest one */
    v->rows.list.moved = true;
}

static unsigned rows_act(struct time_view *v, struct app *a, enum action action)
{
    struct zoom z;
    if (action == ACTION_DRILL || action == ACTION_ZOOM_THREAD)
        return time_rows_chosen(v, &z) ? app_zoom(a, &z) : (unsigned)APP_HANDLED;
    if (action == ACTION_TIME_PREVIOUS || action == ACTION_TIME_NEXT) {
        time_rows_step(v, action == ACTION_TIME_NEXT ? 1 : -1);
        return APP_REDRAW;
    }
    return list_act(&v->rows.list, action, row_key, &v->rows) ? APP_REDRAW : APP_IGNORED;
}

static unsigned rows_click(struct time_view *v, struct app *a, int row, int col, bool twice)
{
    struct time_rows *r = &v->rows;
    uint32_t at;
    (void)col;
    if (!list_row_at(&r->list, row - 1, &at))
        return APP_HANDLED;
    list_go(&r->list, at, row_key, r);
    return twice ? rows_act(v, a, ACTION_DRILL) : (unsigned)APP_REDRAW;
}

static bool column_at(const struct time_rows *r, int col, uint32_t *column)
{
    int left = left_cols(area_screen().cols);
    *column = (uint32_t)(col - left);
    return col >= left && *column < r->axis.columns;
}

static unsigned rows_drag(struct time_view *v, struct app *a, int row, int col, int to_row, int to_col)
{
    const struct time_rows *r = &v->rows;
    uint32_t x, y;
    (void)row, (void)to_row;
    if (!column_at(r, col, &x) || !column_at(r, to_col, &y))
        return APP_HANDLED;
    return range_set_from_chart(a, time_axis_ns(&r->axis, x < y ? x : y),
                                time_axis_ns(&r->axis, (x < y ? y : x) + 1) - 1);
}

static void rows_describe(struct time_view *v, struct app *a, char *dst, size_t cap)
{
    char column[32], key[16];
    bool cpus = v->rows.kind == TIMES_CPUS;
    snprintf(dst, cap, "%u %s%s by %s (%s: flame chart)", v->rows.list.n, cpus ? "CPU" : "thread",
             v->rows.list.n == 1 ? "" : "s",
             time_length_text(column, sizeof column, time_axis_step(&v->rows.axis)),
             keymap_first(a->keymap, ACTION_TIME_PICTURE, key));
}

const struct time_picture_ops time_rows_ops = {
    .update = rows_update,
    .draw = rows_draw,
    .act = rows_act,
    .click = rows_click,
    .drag = rows_drag,
    .describe = rows_describe,
};
