// SPDX-License-Identifier: GPL-2.0-or-later
/* Threads, or CPUs, over time: one row each, the busiest first. With off-CPU or wall-clock time the busiest
 * threads are those with the least time of waiting for work. */
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/text.h"
#include "ui/app_screen.h"
#include "ui/heat_cell.h"
#include "ui/range.h"
#include "ui/view_time.h"

#define SHARE_COLS   6
#define NAME_COLS    18
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

static int by_activity(const void *x, const void *y, void *ctx)
{
    const struct time_rows *r = ctx;
    uint32_t row_a = *(const uint32_t *)x, row_b = *(const uint32_t *)y;
    const struct time_row_sums *a = &r->sums.items[row_a], *b = &r->sums.items[row_b];
    uint64_t busy_a = a->ran_ns + a->waited_ns, busy_b = b->ran_ns + b->waited_ns;
    if (busy_a != busy_b)
        return busy_a > busy_b ? -1 : 1;
    uint64_t key_a = r->counts.timeline.rows[row_a].key, key_b = r->counts.timeline.rows[row_b].key;
    return key_a < key_b ? -1 : key_a > key_b;
}

/* Returns the width of the columns left of the time. With states there are two shares. */
static int left_cols(const struct app *a, enum times_kind kind, int cols)
{
    bool states = kind == TIMES_THREADS && view_has_waits(&a->data);
    return SHARE_COLS + 1 +
           (cols >= WIDE ? SAMPLES_COLS + NAME_COLS + 5 : NAME_COLS + (states ? SHARE_COLS : 0));
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

static uint32_t order_by_samples(struct time_rows *r)
{
    struct timeline *t = &r->counts.timeline;
    uint32_t n = 0;
    for (uint32_t i = 0; i < t->n_rows; i++)
        if (t->rows[i].samples)
            r->order[n++] = i;
    qsort_r(r->order, n, sizeof *r->order, by_samples, t->rows);
    return n;
}

static uint32_t order_by_activity(struct time_rows *r)
{
    uint32_t n = 0;
    time_states_sum(r);
    for (uint32_t i = 0; i < r->counts.timeline.n_rows; i++) {
        const struct time_row_sums *sums = &r->sums.items[i];
        if (sums->ran_ns + sums->waited_ns + sums->for_work_ns)
            r->order[n++] = i;
    }
    qsort_r(r->order, n, sizeof *r->order, by_activity, r);
    return n;
}

static void rows_update(struct time_view *v, struct app *a)
{
    struct time_rows *r = &v->rows;
    int cols = app_screen_view(a).cols;
    enum times_kind kind = v->picture < TIME_CPUS ? TIMES_THREADS : TIMES_CPUS;
    if (kind != r->kind)
        r->list = (struct list){ 0 };
    r->kind = kind;
    time_rows_fit(a, &r->axis, cols - left_cols(a, kind, cols));
    session_times_count(a->times, a->session,
                        &(struct times_ask){ .kind = kind,
                                             .from_ns = r->axis.from_ns,
                                             .to_ns = r->axis.grows ? 0 : r->axis.to_ns,
                                             .bucket_ns = r->axis.bucket_ns },
                        &r->counts);
    struct timeline *t = &r->counts.timeline;
    MEM_GROW(r->order, r->order_cap, (size_t)t->n_rows + 1);
    uint32_t n = r->counts.has_activity ? order_by_activity(r) : order_by_samples(r);
    if (r->query_serial != a->query_serial)
        list_restart(&r->list);
    r->query_serial = a->query_serial;
    list_update(&r->list, n, row_key, r);
}

void time_rows_restore(struct time_view *v, const struct view_position *position)
{
    list_restore(&v->rows.list, position, row_key, &v->rows);
}

/* ---- the cursor in a row ---- */

static uint32_t cursor(const struct time_rows *r)
{
    return time_axis_column(&r->axis, r->cursor_ns);
}

/* The columns from the mark to the cursor; else that of the cursor, or all. */
static void chosen_columns(const struct time_rows *r, uint32_t *first, uint32_t *last)
{
    uint32_t at = cursor(r), mark = r->marking ? time_axis_column(&r->axis, r->mark_ns) : at;
    *first = !r->placed ? 0 : at < mark ? at : mark;
    *last = !r->placed ? r->axis.columns - 1 : at < mark ? mark : at;
}

/* ---- drawing ---- */

/* Returns the column of the screen after the shares. */
static int draw_numbers(const struct time_rows *r, struct area area, int y, uint32_t row)
{
    const struct timeline *t = &r->counts.timeline;
    uint64_t shown = r->axis.to_ns > r->axis.from_ns ? r->axis.to_ns - r->axis.from_ns : 1;
    int col = SHARE_COLS + 1;
    char number[32];
    if (r->counts.has_activity) {
        const struct time_row_sums *sums = &r->sums.items[row];
        int cols = area.cols >= WIDE ? SAMPLES_COLS : SHARE_COLS;
        draw_printf(area, y, 0, STYLE_NORMAL, "%*.1f %*.1f", SHARE_COLS,
                    100.0 * (double)sums->ran_ns / (double)shown, cols - 1,
                    100.0 * (double)sums->waited_ns / (double)shown);
        return col + cols;
    }
    draw_printf(area, y, 0, STYLE_NORMAL, "%*.1f", SHARE_COLS,
                t->samples ? 100.0 * (double)t->rows[row].samples / (double)t->samples : 0);
    if (area.cols < WIDE)
        return col;
    draw_right(area, y, col, SAMPLES_COLS - 1, STYLE_NORMAL,
               text_thousands(number, sizeof number, t->rows[row].samples));
    return col + SAMPLES_COLS;
}

/* Marks the columns of the range, and that of the cursor. */
static void draw_cursor(const struct time_rows *r, struct area area, int y, int left)
{
    uint32_t first, last;
    if (!r->placed)
        return;
    chosen_columns(r, &first, &last);
    if (first < last)
        term_restyle(area.y + y, area.x + left + (int)first, (int)(last - first + 1), STYLE_RANGE);
    draw_text(area, y, left + (int)cursor(r), STYLE_STRIP_CURSOR, "+");
}

static void draw_row(const struct time_rows *r, const struct app *a, struct area area, int y, uint32_t row,
                     const uint32_t *counts, uint32_t max)
{
    int col = draw_numbers(r, area, y, r->order[row]), left = left_cols(a, r->kind, area.cols);
    draw_elided(area, y, col, left - col - 1, STYLE_NAME, r->counts.labels.items[r->order[row]].text, true);
    if (row == r->list.cursor)
        term_restyle(area.y + y, area.x, left - 1, STYLE_CURSOR);
    if (r->counts.has_activity)
        time_states_draw(a, area, y, left, r, r->order[row]);
    for (uint32_t i = 0; i < r->axis.columns && !r->counts.has_activity; i++)
        heat_cell_draw(a, area, y, left + (int)i, 1, counts[i], max, false);
    if (row == r->list.cursor)
        draw_cursor(r, area, y, left);
}

static void draw_head(const struct time_rows *r, const struct app *a, struct area area)
{
    const char *numbers = r->counts.has_activity ? (area.cols >= WIDE ? "  RUN%     WAIT%" : "  RUN% WAIT%")
                          : area.cols >= WIDE    ? "SHARE%   SAMPLES"
                                                 : "SHARE%";
    draw_fill(area, 0, 0, -1, STYLE_TABLE_HEAD);
    draw_printf(area, 0, 0, STYLE_TABLE_HEAD, "%s %s", numbers, r->kind == TIMES_CPUS ? "CPU" : "THREAD");
    strip_draw_axis(area, 0, left_cols(a, r->kind, area.cols), 1, &r->axis, range_base(a), STYLE_TABLE_HEAD);
}

/* Draws the lines below the rows, if there is room. Returns the rows left. */
static int draw_states_lines(const struct time_rows *r, const struct app *a, struct area area)
{
    uint32_t first, last;
    if (!r->counts.has_activity || area.rows < 2 + TIME_STATES_LINES)
        return area.rows;
    chosen_columns(r, &first, &last);
    time_states_legend(a, area, area.rows - 2);
    time_states_detail(a, area, area.rows - 1, r, first, last);
    return area.rows - TIME_STATES_LINES;
}

static void rows_draw(struct time_view *v, struct app *a, struct area area)
{
    struct time_rows *r = &v->rows;
    draw_head(r, a, area);
    area.rows = draw_states_lines(r, a, area);
    list_fit(&r->list, area.rows - 1);
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

static bool is_zoomed(const struct app *a, const struct zoom *z)
{
    for (uint32_t i = 0; i < a->query.n_zooms; i++)
        if (a->query.zooms[i].kind == z->kind && a->query.zooms[i].number == z->number)
            return true;
    return false;
}

/* Extends a range so that it has the end of a wait, which may still be open. */
static uint64_t reach_end(struct app *a, uint32_t tid, uint64_t from, uint64_t to)
{
    if (session_times_reach(a->times, a->session, tid, from, &to))
        return to;
    uint64_t until = session_report_waits(a->session);
    return until > to ? until : to;
}

/* Narrows all views to the chosen columns and to the thread (or CPU) under the cursor. */
static unsigned narrow(struct time_view *v, struct app *a)
{
    struct time_rows *r = &v->rows;
    struct zoom z;
    uint32_t first, last;
    unsigned flags = APP_REDRAW;
    if (!time_rows_chosen(v, &z))
        return APP_HANDLED;
    chosen_columns(r, &first, &last);
    uint64_t from = time_axis_ns(&r->axis, first), to = time_axis_ns(&r->axis, last + 1) - 1;
    if (r->counts.has_activity)
        to = reach_end(a, (uint32_t)z.number, from, to);
    if (r->placed)
        flags = range_set_from_chart(a, from, to);
    r->placed = r->marking = false;
    return is_zoomed(a, &z) ? flags : flags | app_zoom(a, &z);
}

static unsigned mark(struct time_view *v, struct app *a)
{
    struct time_rows *r = &v->rows;
    char key[16], drill[16];
    if (r->marking)
        return narrow(v, a);
    if (!r->placed)
        r->cursor_ns = time_axis_ns(&r->axis, r->axis.columns - 1);
    r->placed = r->marking = true;
    r->mark_ns = r->cursor_ns;
    return app_message(a, "the range starts here: move to its end; %s or %s sets the end",
                       keymap_first(a->keymap, ACTION_TIME_MARK, key),
                       keymap_first(a->keymap, ACTION_DRILL, drill));
}

/* The first step goes to the nearest end of the row. */
static unsigned go_across(struct time_rows *r, int step)
{
    uint32_t at = cursor(r), last = r->axis.columns - 1;
    if (!r->placed)
        at = step < 0 ? last : 0;
    else
        at = step < 0 ? at - (at > 0) : at + (at < last);
    r->placed = true;
    r->cursor_ns = time_axis_ns(&r->axis, at);
    return APP_REDRAW;
}

/* Removes the mark, then the cursor in the row. */
static unsigned leave(struct time_rows *r)
{
    if (!r->placed)
        return APP_IGNORED;
    r->placed = r->marking;
    r->marking = false;
    return APP_REDRAW;
}

/* With states: shows the stacks in which the thread waited. */
static unsigned drill(struct time_view *v, struct app *a)
{
    unsigned flags = narrow(v, a);
    if (!v->rows.counts.has_activity || flags == APP_HANDLED)
        return flags;
    return flags | app_show_view(a, APP_VIEW_CALLGRAPH, false);
}

static unsigned rows_act(struct time_view *v, struct app *a, enum action action)
{
    struct zoom z;
    switch (action) {
    case ACTION_DRILL:
        return drill(v, a);
    case ACTION_ZOOM_THREAD:
        return time_rows_chosen(v, &z) ? app_zoom(a, &z) : (unsigned)APP_HANDLED;
    case ACTION_TIME_MARK:
        return mark(v, a);
    case ACTION_LEFT:
        return go_across(&v->rows, -1);
    case ACTION_RIGHT:
        return go_across(&v->rows, 1);
    case ACTION_BACK:
        return leave(&v->rows);
    case ACTION_TIME_PREVIOUS:
    case ACTION_TIME_NEXT:
        time_rows_step(v, action == ACTION_TIME_NEXT ? 1 : -1);
        return APP_REDRAW;
    default:
        return list_act(&v->rows.list, action, row_key, &v->rows) ? APP_REDRAW : APP_IGNORED;
    }
}

static bool column_at(const struct time_rows *r, const struct app *a, int col, uint32_t *column)
{
    int left = left_cols(a, r->kind, area_screen().cols);
    *column = (uint32_t)(col - left);
    return col >= left && *column < r->axis.columns;
}

static unsigned rows_click(struct time_view *v, struct app *a, int row, int col, bool twice)
{
    struct time_rows *r = &v->rows;
    uint32_t column;
    if (!list_click(&r->list, row - 1, row_key, r))
        return APP_HANDLED;
    r->placed = column_at(r, a, col, &column);
    if (r->placed)
        r->cursor_ns = time_axis_ns(&r->axis, column);
    return twice ? rows_act(v, a, ACTION_DRILL) : (unsigned)APP_REDRAW;
}

static unsigned rows_drag(struct time_view *v, struct app *a, int row, int col, int to_row, int to_col)
{
    struct time_rows *r = &v->rows;
    uint32_t x, y;
    (void)to_row;
    if (!column_at(r, a, col, &x) || !column_at(r, a, to_col, &y) ||
        !list_click(&r->list, row - 1, row_key, r))
        return APP_HANDLED;
    r->placed = r->marking = true;
    r->mark_ns = time_axis_ns(&r->axis, x);
    r->cursor_ns = time_axis_ns(&r->axis, y);
    return narrow(v, a);
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
