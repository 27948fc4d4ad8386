// SPDX-License-Identifier: GPL-2.0-or-later
/* The heat map of durations: time across, powers of two of the duration upwards, colour by the number of
 * operations that ended. It has all time, or the window, so that a selected rectangle appears within the
 * rest. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "ui/app_screen.h"
#include "ui/heat_cell.h"
#include "ui/range.h"
#include "ui/view_latency.h"
#include "ui/view_ops.h"

#define LEFT_COLS  9
#define WIDTH_MAX  8
#define LINES_MORE 4 /* a line of losses, the title, the axis, and the cell under the cursor */
#define LEVELS     1000
#define WINDOW_STEP                                                                                          \
    8 /* the window moves by this part of it, so that cells are not counted anew all the time */

/* --- counting --- */

static void heat_hide(struct latency_view *w)
{
    session_times_free(w->heat.times);
    times_counts_done(&w->heat.counts);
    w->heat.times = NULL;
    w->heat.marking = false;
}

/* The shown time. Returns whether it grows. */
static bool extent(const struct latency_heat *h, const struct app *a, uint64_t *from_ns, uint64_t *to_ns)
{
    const struct view_query *q = &a->query;
    range_extent_of(a, h->times, from_ns, to_ns);
    if (h->zoomed && q->to_ns) {
        *from_ns = q->from_ns;
        *to_ns = q->to_ns;
        return false;
    }
    uint64_t step = q->window_ns / WINDOW_STEP;
    if (step && *to_ns - *from_ns > q->window_ns)
        *from_ns += (*to_ns - q->window_ns - *from_ns) / step * step;
    return !a->status.file && !a->status.frozen;
}

/* The exponents that have operations. False: none. */
static bool find_exponents(const struct timeline *t, uint32_t *low, uint32_t *high)
{
    *low = 64;
    *high = 0;
    for (uint32_t i = 0; i < t->n_rows; i++)
        if (t->rows[i].samples) {
            uint32_t exponent = (uint32_t)t->rows[i].key;
            *low = exponent < *low ? exponent : *low;
            *high = exponent > *high ? exponent : *high;
        }
    return *low <= *high;
}

static void heat_update(struct latency_view *w, struct app *a)
{
    struct latency_heat *h = &w->heat;
    struct area area = app_screen_view(a);
    struct view_query q = latency_query(w, a);
    uint64_t from, to;
    uint32_t low, high;
    int room = area.cols - LEFT_COLS, lines = area.rows - LINES_MORE;
    q.min_ns = q.max_ns = 0;
    if (!h->times)
        h->times = session_times_new();
    session_times_look(h->times, a->session, &q);
    bool grows = extent(h, a, &from, &to);
    time_axis_fit(&h->axis, from, to, room > 0 ? (uint32_t)room : 1, grows);
    session_times_count(h->times, a->session,
                        &(struct times_ask){ .kind = TIMES_DURATIONS,
                                             .from_ns = h->axis.from_ns,
                                             .to_ns = grows ? 0 : h->axis.to_ns,
                                             .bucket_ns = h->axis.bucket_ns },
                        &h->counts);
    h->rows = 0;
    if (!find_exponents(&h->counts.timeline, &low, &high) || lines < 1)
        return;
    h->low = low;
    h->per = (high - low) / (uint32_t)lines + 1;
    h->rows = (high - low) / h->per + 1;
    h->width = room / (int)h->axis.columns;
    h->width = h->width < 1 ? 1 : h->width > WIDTH_MAX ? WIDTH_MAX : h->width;
    if (!h->placed)
        h->cursor = (struct latency_cell){ to, high };
}

/* --- cells: columns from the left, rows from the top --- */

struct box {
    uint32_t left, right, top, bottom; /* inclusive */
};

static uint32_t row_of(const struct latency_heat *h, uint32_t exponent)
{
    uint32_t up = exponent > h->low ? (exponent - h->low) / h->per : 0;
    return up < h->rows ? h->rows - 1 - up : 0;
}

static uint32_t column_of(const struct latency_heat *h, uint64_t time_ns)
{
    return time_axis_column(&h->axis, time_ns);
}

static uint32_t exponent_of(const struct latency_heat *h, uint32_t row)
{
    return h->low + (h->rows - 1 - row) * h->per;
}

static struct box box_of(const struct latency_heat *h, const struct latency_cell *a,
                         const struct latency_cell *b)
{
    uint32_t x = column_of(h, a->time_ns), y = row_of(h, a->exponent), x2 = column_of(h, b->time_ns),
             y2 = row_of(h, b->exponent);
    return (struct box){ x < x2 ? x : x2, x < x2 ? x2 : x, y < y2 ? y : y2, y < y2 ? y2 : y };
}

/* The rectangle from the mark to the cursor, or the selected ranges. False: neither. */
static bool chosen_box(const struct latency_heat *h, const struct app *a, struct box *out)
{
    const struct view_query *q = &a->query;
    if (h->marking)
        *out = box_of(h, &h->mark, &h->cursor);
    else
        *out = (struct box){ 0, h->axis.columns - 1, 0, h->rows - 1 };
    if (h->marking)
        return true;
    if (q->to_ns) {
        if (q->to_ns < h->axis.from_ns)
            return false;
        out->left = column_of(h, q->from_ns);
        out->right = column_of(h, q->to_ns);
    }
    if (q->max_ns) {
        out->top = row_of(h, times_exponent(q->max_ns));
        out->bottom = row_of(h, times_exponent(q->min_ns));
    }
    return q->to_ns || q->max_ns;
}

static bool is_in(const struct box *b, uint32_t column, uint32_t row)
{
    return column >= b->left && column <= b->right && row >= b->top && row <= b->bottom;
}

/* The first and last time and duration of a box. */
static void limits_of(const struct latency_heat *h, const struct box *b, struct view_query *out)
{
    uint32_t high = exponent_of(h, b->top) + h->per - 1, low = exponent_of(h, b->bottom);
    out->from_ns = time_axis_ns(&h->axis, b->left);
    out->to_ns = time_axis_ns(&h->axis, b->right) + time_axis_step(&h->axis) - 1;
    out->min_ns = low ? UINT64_C(1) << low : 0;
    out->max_ns = high < 63 ? (UINT64_C(2) << high) - 1 : UINT64_MAX;
}

/* Number of operations by cell, rows from the top. The caller frees it. */
static uint32_t *count_cells(const struct latency_heat *h)
{
    const struct timeline *t = &h->counts.timeline;
    uint32_t columns = h->axis.columns;
    uint32_t *cells = mem_array((size_t)columns * h->rows + 1, sizeof *cells);
    uint32_t *one = mem_array(columns + 1, sizeof *one);
    memset(cells, 0, (size_t)columns * h->rows * sizeof *cells);
    for (uint32_t i = 0; i < t->n_rows; i++) {
        uint32_t *row = cells + (size_t)row_of(h, (uint32_t)t->rows[i].key) * columns;
        timeline_sums(&t->rows[i], 0, h->axis.per, one, columns);
        for (uint32_t x = 0; x < columns; x++)
            row[x] += one[x];
    }
    mem_free(one);
    return cells;
}

static uint64_t count_box(const struct latency_heat *h, const struct box *b, const uint32_t *cells)
{
    uint64_t count = 0;
    for (uint32_t row = b->top; row <= b->bottom; row++)
        for (uint32_t x = b->left; x <= b->right; x++)
            count += cells[(size_t)row * h->axis.columns + x];
    return count;
}

static bool is_empty(const struct latency_heat *h, const struct box *b)
{
    uint32_t *cells = count_cells(h);
    uint64_t count = count_box(h, b, cells);
    mem_free(cells);
    return !count;
}

/* --- drawing --- */

static void draw_labels(const struct latency_heat *h, struct area area)
{
    char text[32];
    for (uint32_t y = 0; y < h->rows; y++)
        draw_right(area, (int)y, 0, LEFT_COLS - 1, STYLE_LABEL,
                   text_length(text, sizeof text, UINT64_C(1) << exponent_of(h, y)));
}

/* Colours go by the logarithm: rare slow operations are visible among many fast ones. */
static uint32_t level_of(uint32_t count)
{
    return (uint32_t)(LEVELS * log2((double)count + 1));
}

static void draw_cells(const struct latency_heat *h, const struct app *a, struct area area,
                       const uint32_t *cells)
{
    struct box chosen;
    uint32_t columns = h->axis.columns, most = 0, x = column_of(h, h->cursor.time_ns),
             y = row_of(h, h->cursor.exponent);
    bool any = chosen_box(h, a, &chosen);
    for (uint32_t i = 0; i < columns * h->rows; i++)
        most = cells[i] > most ? cells[i] : most;
    for (uint32_t i = 0; i < columns * h->rows; i++)
        heat_cell_draw(a, area, (int)(i / columns), LEFT_COLS + (int)(i % columns) * h->width, h->width,
                       level_of(cells[i]), level_of(most), any && is_in(&chosen, i % columns, i / columns));
    for (int k = 0; k < h->width; k++)
        draw_text(area, (int)y, LEFT_COLS + (int)x * h->width + k, STYLE_STRIP_CURSOR, "+");
}

static void draw_cursor(const struct latency_heat *h, const struct app *a, struct area area, int y,
                        const uint32_t *cells)
{
    struct box b = box_of(h, h->marking ? &h->mark : &h->cursor, &h->cursor);
    struct view_query q;
    uint64_t count = count_box(h, &b, cells), base = range_base(a), step = time_axis_step(&h->axis);
    char low[24], high[24], from[32], to[32], number[32], mark[16], take[16];
    const char *dash = term_unicode() ? "–" : "-";
    limits_of(h, &b, &q);
    int col = draw_text(area, y, 0, STYLE_LABEL, h->marking ? "rectangle " : "cell ");
    col += draw_printf(area, y, col, STYLE_NAME, "%s%s%s, %s%s%s", text_length(low, sizeof low, q.min_ns),
                       dash, text_length(high, sizeof high, q.max_ns + (q.max_ns < UINT64_MAX)),
                       time_text(from, sizeof from, q.from_ns > base ? q.from_ns - base : 0, step), dash,
                       time_text(to, sizeof to, q.to_ns > base ? q.to_ns - base + 1 : 0, step));
    col += draw_printf(area, y, col, STYLE_NORMAL, "  %s operation%s",
                       text_thousands(number, sizeof number, count), count == 1 ? "" : "s");
    keymap_first(a->keymap, ACTION_LATENCY_MARK, mark);
    keymap_first(a->keymap, ACTION_DRILL, take);
    if (h->marking)
        draw_printf(area, y, col, STYLE_TAGGED, "  %s: select", mark);
    else
        draw_printf(area, y, col, STYLE_DIM, "  %s: mark, %s: select", mark, take);
}

static void heat_draw(struct latency_view *w, struct app *a, struct area area)
{
    struct latency_heat *h = &w->heat;
    if (!h->rows || area.cols <= LEFT_COLS || area.rows < LINES_MORE)
        return;
    latency_draw_title(latency_row(w), area, 0);
    area = area_sub(area, 1, 0, -1, -1);
    uint32_t *cells = count_cells(h);
    draw_labels(h, area);
    draw_cells(h, a, area, cells);
    strip_draw_axis(area, (int)h->rows, LEFT_COLS, h->width, &h->axis, range_base(a), STYLE_LABEL);
    draw_cursor(h, a, area, (int)h->rows + 1, cells);
    mem_free(cells);
}

static void heat_describe(struct latency_view *w, struct app *a, char *dst, size_t cap)
{
    char column[32];
    (void)a;
    (void)snprintf(
        dst, cap, "heat map: columns of %s",
        time_length_text(column, sizeof column, w->heat.axis.bucket_ns ? time_axis_step(&w->heat.axis) : 0));
}

/* --- keys --- */

static unsigned move(struct latency_heat *h, int64_t columns, int64_t rows)
{
    int64_t x = (int64_t)column_of(h, h->cursor.time_ns) + columns,
            y = (int64_t)row_of(h, h->cursor.exponent) + rows;
    int64_t last_x = (int64_t)h->axis.columns - 1, last_y = (int64_t)h->rows - 1;
    x = x < 0 ? 0 : x > last_x ? last_x : x;
    y = y < 0 ? 0 : y > last_y ? last_y : y;
    h->placed = true;
    h->cursor = (struct latency_cell){ time_axis_ns(&h->axis, (uint32_t)x), exponent_of(h, (uint32_t)y) };
    return APP_REDRAW;
}

/* Limits all views to the operations of the rectangle between two cells, of the row under the table's
 * cursor. */
static unsigned take_box(struct latency_view *w, struct app *a, const struct latency_cell *from,
                         const struct latency_cell *to)
{
    struct box b = box_of(&w->heat, from, to);
    struct view_query q;
    char durations[64], range[96], flame[16], all[16];
    bool ok;
    if (is_empty(&w->heat, &b))
        return app_message(a, "no operation ended there");
    limits_of(&w->heat, &b, &q);
    w->heat.marking = false;
    unsigned flags = latency_zoom(w, a, &ok);
    if (!ok)
        return flags;
    flags |= range_set_operations(a, q.from_ns, q.to_ns, q.min_ns, q.max_ns);
    range_durations_text(a, durations, sizeof durations);
    range_text(a, range, sizeof range);
    return flags |
           app_message(
               a, "only operations of %s in %s are shown, in all views (%s: their flame graph, %s: drop it)",
               durations, range, keymap_first(a->keymap, ACTION_VIEW_FLAME, flame),
               keymap_first(a->keymap, ACTION_RANGE_ALL, all));
}

static unsigned set_mark(struct latency_view *w, struct app *a)
{
    struct latency_heat *h = &w->heat;
    if (h->marking)
        return take_box(w, a, &h->mark, &h->cursor);
    h->marking = h->placed = true;
    h->mark = h->cursor;
    return APP_REDRAW;
}

static unsigned zoom_time(struct latency_heat *h, struct app *a, bool in)
{
    if (in && !a->query.to_ns)
        return app_message(a, "no range of time is selected to zoom into");
    h->zoomed = in;
    return APP_QUERY;
}

static unsigned heat_act(struct latency_view *w, struct app *a, enum action action)
{
    struct latency_heat *h = &w->heat;
    int64_t half = h->axis.columns / 2 + 1;
    if (!h->rows)
        return APP_IGNORED;
    switch (action) {
    case ACTION_UP:
        return move(h, 0, -1);
    case ACTION_DOWN:
        return move(h, 0, 1);
    case ACTION_LEFT:
        return move(h, -1, 0);
    case ACTION_RIGHT:
        return move(h, 1, 0);
    case ACTION_PAGE_UP:
        return move(h, -half, 0);
    case ACTION_PAGE_DOWN:
        return move(h, half, 0);
    case ACTION_TOP:
        return move(h, -(int64_t)h->axis.columns, -(int64_t)h->rows);
    case ACTION_END:
        return move(h, h->axis.columns, h->rows);
    case ACTION_LATENCY_MARK:
        return set_mark(w, a);
    case ACTION_DRILL:
        return take_box(w, a, h->marking ? &h->mark : &h->cursor, &h->cursor);
    case ACTION_LATENCY_IN:
    case ACTION_LATENCY_OUT:
        return zoom_time(h, a, action == ACTION_LATENCY_IN);
    case ACTION_LATENCY_PREVIOUS:
        return latency_table_step(w, -1);
    case ACTION_LATENCY_NEXT:
        return latency_table_step(w, 1);
    case ACTION_BACK:
        if (!h->marking)
            return APP_IGNORED;
        h->marking = false;
        return APP_REDRAW;
    default:
        return APP_IGNORED;
    }
}

/* --- the mouse --- */

static bool cell_at(const struct latency_heat *h, int row, int col, struct latency_cell *out)
{
    int x = h->width ? (col - LEFT_COLS) / h->width : 0;
    if (row < 1 || row > (int)h->rows || col < LEFT_COLS || x >= (int)h->axis.columns)
        return false;
    *out = (struct latency_cell){ time_axis_ns(&h->axis, (uint32_t)x), exponent_of(h, (uint32_t)row - 1) };
    return true;
}

/* A click moves the cursor; after the mark it ends the rectangle. A double click selects one cell. */
static unsigned heat_click(struct latency_view *w, struct app *a, int row, int col, bool twice)
{
    struct latency_heat *h = &w->heat;
    struct latency_cell cell;
    if (!cell_at(h, row, col, &cell))
        return APP_HANDLED;
    h->placed = true;
    h->cursor = cell;
    return twice || h->marking ? take_box(w, a, h->marking ? &h->mark : &cell, &cell) : (unsigned)APP_REDRAW;
}

static unsigned heat_drag(struct latency_view *w, struct app *a, int row, int col, int to_row, int to_col)
{
    struct latency_heat *h = &w->heat;
    struct latency_cell from, to;
    if (!cell_at(h, row, col, &from) || !cell_at(h, to_row, to_col, &to))
        return APP_HANDLED;
    h->placed = true;
    h->cursor = to;
    return take_box(w, a, &from, &to);
}

const struct latency_chart_ops latency_heat_ops = {
    .update = heat_update,
    .draw = heat_draw,
    .act = heat_act,
    .click = heat_click,
    .drag = heat_drag,
    .describe = heat_describe,
    .hide = heat_hide,
    .save = latency_table_save,
    .restore = latency_table_restore,
};
