// SPDX-License-Identifier: GPL-2.0-or-later
/* The flame chart of one thread (or CPU): time across, its stack downwards. */
#include <stdio.h>

#include "base/text.h"
#include "ui/app_screen.h"
#include "ui/flame_draw.h"
#include "ui/range.h"
#include "ui/view_time.h"

#define NAME_LEAST 4 /* columns; a shorter name is useless */
#define LINES_MORE 2 /* the axis, and the selected frame */

static void chart_update(struct time_view *v, struct app *a)
{
    struct time_flame *f = &v->flame;
    struct zoom z;
    time_rows_ops.update(v, a);
    time_rows_fit(a, &f->axis, app_screen_view(a).cols);
    /* these frames have function numbers of the previous result */
    f->chart.chart.n = f->chart.chart.rows = 0;
    if (!time_rows_chosen(v, &z))
        return;
    struct times_ask ask = { .kind = z.kind == ZOOM_CPU ? TIMES_CPUS : TIMES_THREADS,
                             .id = z.number,
                             .from_ns = f->axis.from_ns,
                             .to_ns = f->axis.grows ? 0 : f->axis.to_ns,
                             .bucket_ns = f->axis.bucket_ns };
    if (!session_times_chart(a->times, a->session, &ask, &f->chart)) {
        /* live, stacks may have been completed meanwhile */
        session_times_look(a->times, a->session, &a->query);
        if (!session_times_chart(a->times, a->session, &ask, &f->chart))
            return;
    }
    session_times_lay_out(a->times, &f->chart, f->axis.per, f->axis.columns);
}

/* Returns the frame under the cursor, or the deepest one above it; NULL: no samples there. */
static const struct chart_box *box_at(const struct time_flame *f, uint32_t x)
{
    for (uint32_t row = f->row + 1; row-- > 0;) {
        int box = chart_box_at(&f->chart.chart, row, x);
        if (box >= 0)
            return &f->chart.chart.boxes[box];
    }
    return NULL;
}

static uint32_t cursor(const struct time_flame *f)
{
    return time_axis_column(&f->axis, f->cursor_ns);
}

/* ---- drawing ---- */

static void draw_box_cells(const struct app *a, struct area area, int y, const struct chart_box *b,
                           bool selected)
{
    const struct view_function *fn = &session_times_view(a->times)->funcs[b->func];
    enum style style = selected                                              ? STYLE_FLAME_SELECTED
                       : *a->search && text_find_nocase(fn->name, a->search) ? STYLE_FLAME_MATCH
                                                                             : flame_class_style(fn->class);
    int x = (int)b->x, width = (int)b->width;
    draw_fill(area, y, x, width, style);
    if (width > 1 || !term_colors())
        draw_text(area, y, x, style, term_glyphs() ? "▏" : "|");
    if (width > NAME_LEAST)
        draw_function(area, y, x + 1, width - 1, style, fn->name, NULL);
}

static void keep_in_sight(struct time_flame *f, int rows)
{
    int last = (int)f->chart.chart.rows - rows;
    if ((int)f->row < f->first_row)
        f->first_row = (int)f->row;
    if ((int)f->row >= f->first_row + rows)
        f->first_row = (int)f->row - rows + 1;
    f->first_row = f->first_row > last ? last : f->first_row;
    f->first_row = f->first_row < 0 ? 0 : f->first_row;
}

static void draw_selected(const struct app *a, const struct time_flame *f, struct area area, int y,
                          const struct chart_box *b)
{
    uint64_t step = time_axis_step(&f->axis), base = range_base(a);
    uint64_t at = time_axis_ns(&f->axis, b ? b->x : cursor(f));
    char from[32], to[32], length[32], text[160];
    at = at > base ? at - base : 0;
    if (!b) {
        draw_printf(area, y, 0, STYLE_DIM, "%s: no samples", time_text(from, sizeof from, at, step));
        return;
    }
    const struct view_function *fn = &session_times_view(a->times)->funcs[b->func];
    (void)snprintf(text, sizeof text, "  %s%s%s (%s)  %.40s", time_text(from, sizeof from, at, step),
                   term_unicode() ? "–" : "-", time_text(to, sizeof to, at + b->width * step, step),
                   time_length_text(length, sizeof length, b->width * step), fn->module);
    int col = draw_text(area, y, 0, STYLE_LABEL, "selected: ");
    col += draw_function(area, y, col, area.cols - col - text_width(text), STYLE_NAME, fn->name, NULL);
    draw_text(area, y, col, STYLE_NORMAL, text);
}

/* Draws the thread's name over the end of the axis, because the line of tabs may have no room for it. */
static void draw_whose(const struct time_view *v, struct area area)
{
    struct zoom z;
    char text[80];
    if (!time_rows_chosen(v, &z))
        return;
    (void)snprintf(text, sizeof text, " %.40s: %u of %u ", z.text, v->rows.list.cursor + 1, v->rows.list.n);
    draw_text(area, 0, area.cols - text_width(text), STYLE_TABLE_SORT, text);
}

static void chart_draw(struct time_view *v, struct app *a, struct area area)
{
    struct time_flame *f = &v->flame;
    const struct chart *c = &f->chart.chart;
    const struct chart_box *selected = box_at(f, cursor(f));
    int rows = f->box_rows = area.rows > LINES_MORE ? area.rows - LINES_MORE : 1;
    draw_fill(area, 0, 0, -1, STYLE_TABLE_HEAD);
    strip_draw_axis(area, 0, 0, 1, &f->axis, range_base(a), STYLE_TABLE_HEAD);
    draw_whose(v, area);
    keep_in_sight(f, rows);
    for (uint32_t i = 0; i < c->n; i++) {
        int y = (int)c->boxes[i].row - f->first_row;
        if (y >= 0 && y < rows)
            draw_box_cells(a, area, y + 1, &c->boxes[i], &c->boxes[i] == selected);
    }
    if (!selected)
        draw_text(area, 1, (int)cursor(f), STYLE_FLAME_SELECTED, " ");
    draw_selected(a, f, area, area.rows - 1, selected);
}

/* ---- keys ---- */

static unsigned go(struct time_flame *f, uint32_t column)
{
    f->cursor_ns = time_axis_ns(&f->axis, column < f->axis.columns ? column : f->axis.columns - 1);
    return APP_REDRAW;
}

/* Moves to the next frame of the row, or by a column where there is none. */
static unsigned go_across(struct time_flame *f, int step)
{
    uint32_t x = cursor(f);
    const struct chart_box *b = box_at(f, x);
    if (step > 0)
        return go(f, b ? b->x + b->width : x + 1);
    return go(f, b && b->x ? b->x - 1 : !b && x ? x - 1 : 0);
}

static unsigned go_down(struct time_flame *f)
{
    const struct chart_box *b = box_at(f, cursor(f));
    uint32_t row = b ? b->row : 0;
    f->row = b && chart_box_at(&f->chart.chart, row + 1, cursor(f)) >= 0 ? row + 1 : row;
    return APP_REDRAW;
}

static unsigned go_up(struct time_flame *f)
{
    const struct chart_box *b = box_at(f, cursor(f));
    f->row = b && b->row ? b->row - 1 : 0;
    return APP_REDRAW;
}

/* Zooms to the frame's time, unless it already fills the screen. */
static unsigned zoom(struct time_flame *f, struct app *a)
{
    const struct chart_box *b = box_at(f, cursor(f));
    if (!b)
        return app_message(a, "select a frame with the arrows: Enter zooms to its time");
    if (b->width == f->axis.columns)
        return app_message(a, "this frame spans all visible time");
    return range_set_from_chart(a, time_axis_ns(&f->axis, b->x), time_axis_ns(&f->axis, b->x + b->width) - 1);
}

static unsigned chart_act(struct time_view *v, struct app *a, enum action action)
{
    struct time_flame *f = &v->flame;
    struct zoom z;
    switch (action) {
    case ACTION_LEFT:
        return go_across(f, -1);
    case ACTION_RIGHT:
        return go_across(f, 1);
    case ACTION_UP:
        return go_up(f);
    case ACTION_DOWN:
        return go_down(f);
    case ACTION_TOP:
        return go(f, 0);
    case ACTION_END:
        return go(f, f->axis.columns - 1);
    case ACTION_PAGE_UP:
        f->row = f->row > (uint32_t)f->box_rows ? f->row - (uint32_t)f->box_rows : 0;
        return APP_REDRAW;
    case ACTION_PAGE_DOWN:
        f->row = f->row + (uint32_t)f->box_rows < f->chart.chart.rows ? f->row + (uint32_t)f->box_rows
                 : f->chart.chart.rows                                ? f->chart.chart.rows - 1
                                                                      : 0;
        return APP_REDRAW;
    case ACTION_DRILL:
        return zoom(f, a);
    case ACTION_ZOOM_THREAD:
        return time_rows_chosen(v, &z) ? app_zoom(a, &z) : (unsigned)APP_HANDLED;
    case ACTION_TIME_PREVIOUS:
    case ACTION_TIME_NEXT:
        time_rows_step(v, action == ACTION_TIME_NEXT ? 1 : -1);
        return APP_QUERY;
    default:
        return APP_IGNORED;
    }
}

static unsigned chart_click(struct time_view *v, struct app *a, int row, int col, bool twice)
{
    struct time_flame *f = &v->flame;
    if (row < 1 || row > f->box_rows)
        return APP_HANDLED;
    f->row = (uint32_t)(row - 1 + f->first_row);
    go(f, (uint32_t)col);
    return twice ? zoom(f, a) : (unsigned)APP_REDRAW;
}

static unsigned chart_drag(struct time_view *v, struct app *a, int row, int col, int to_row, int to_col)
{
    const struct time_axis *x = &v->flame.axis;
    uint32_t from = (uint32_t)(col < to_col ? col : to_col), to = (uint32_t)(col < to_col ? to_col : col);
    (void)row, (void)to_row;
    if (from >= x->columns || from == to)
        return APP_HANDLED;
    to = to < x->columns ? to : x->columns - 1;
    return range_set_from_chart(a, time_axis_ns(x, from), time_axis_ns(x, to + 1) - 1);
}

static void chart_describe(struct time_view *v, struct app *a, char *dst, size_t cap)
{
    char previous[16], next[16];
    snprintf(dst, cap, "flame chart (%s %s: other %s)",
             keymap_first(a->keymap, ACTION_TIME_PREVIOUS, previous),
             keymap_first(a->keymap, ACTION_TIME_NEXT, next), v->rows.kind == TIMES_CPUS ? "CPU" : "thread");
}

const struct time_picture_ops time_chart_ops = {
    .update = chart_update,
    .draw = chart_draw,
    .act = chart_act,
    .click = chart_click,
    .drag = chart_drag,
    .describe = chart_describe,
};
