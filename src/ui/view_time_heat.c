// SPDX-License-Identifier: GPL-2.0-or-later
/* The heat map: columns are seconds (or another length), cells are fractions of them from the top down. */
#include <stdio.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/text.h"
#include "ui/app_screen.h"
#include "ui/heat_cell.h"
#include "ui/range.h"
#include "ui/view_time.h"

#define LEFT_COLS  7 /* for the times of the cells */
#define WIDTH_MAX  8
#define LINES_MORE 2  /* the axis, and the cell under the cursor */
#define HOT_PART   75 /* percent of the hottest cell */

static const uint64_t lengths[] = { 10 * NS_PER_MS,  100 * NS_PER_MS,  NS_PER_SEC,       10 * NS_PER_SEC,
                                    60 * NS_PER_SEC, 600 * NS_PER_SEC, 3600 * NS_PER_SEC };
#define LENGTHS (sizeof lengths / sizeof *lengths)

/* ---- cells ---- */

/* Returns the most rows that fit, such that cells have round lengths. */
static uint32_t choose_rows(uint64_t column_ns, int room)
{
    static const uint32_t tens[] = { 50, 40, 25, 20, 16, 10, 8, 5 },
                          sixties[] = { 60, 30, 20, 15, 12, 10, 6, 5 };
    const uint32_t *rows = column_ns < 60 * NS_PER_SEC ? tens : sixties;
    for (int i = 0; i < 8; i++)
        if ((int)rows[i] <= room)
            return rows[i];
    return room > 2 ? 2 : 1;
}

static uint64_t cells_in(const struct time_heat *h, uint64_t ns)
{
    return ns / h->cell_ns + 1;
}

/* Changes the column length. Cursor and mark keep their times. */
static void set_column(struct time_heat *h, uint64_t column_ns, uint64_t from_ns, int room)
{
    uint64_t cursor_ns = h->from_ns + h->cursor * h->cell_ns, mark_ns = h->from_ns + h->mark * h->cell_ns;
    h->column_ns = column_ns;
    h->rows = choose_rows(column_ns, room);
    h->cell_ns = column_ns / h->rows;
    h->from_ns = from_ns;
    h->cursor = cursor_ns > from_ns ? (cursor_ns - from_ns) / h->cell_ns : 0;
    h->mark = mark_ns > from_ns ? (mark_ns - from_ns) / h->cell_ns : 0;
}

static void heat_update(struct time_view *v, struct app *a)
{
    struct time_heat *h = &v->heat;
    uint64_t from, to, base = range_base(a), column = h->column_ns ? h->column_ns : NS_PER_SEC;
    int room = app_screen_view(a).rows - LINES_MORE;
    range_extent(a, &from, &to);
    /* columns start at whole seconds from the start */
    from = from > base ? from - (from - base) % column : base;
    to = to > from ? to : from;
    set_column(h, column, from, room);
    for (size_t i = 0; i < LENGTHS && cells_in(h, to - from) > TIMELINE_BUCKETS_MAX; i++)
        if (lengths[i] > h->column_ns)
            set_column(h, lengths[i], from, room);
    h->columns = (to - from) / h->column_ns + 1;
    session_times_count(a->times, a->session,
                        &(struct times_ask){ .kind = TIMES_ALL, .from_ns = from, .bucket_ns = h->cell_ns },
                        &h->counts);
    if (!h->placed)
        h->cursor = cells_in(h, to - from) - 1;
    if (h->cursor >= h->columns * h->rows)
        h->cursor = h->columns * h->rows - 1;
}

/* Scrolls so that the cursor is visible, or the newest column is the last one. */
static void scroll(struct time_heat *h, struct area area)
{
    int room = area.cols - LEFT_COLS;
    uint64_t at = h->cursor / h->rows;
    h->width = (uint64_t)room / h->columns < WIDTH_MAX ? (int)((uint64_t)room / h->columns) : WIDTH_MAX;
    h->width = h->width > 0 ? h->width : 1;
    h->visible = room / h->width > 0 ? room / h->width : 1;
    uint64_t last = h->columns > (uint64_t)h->visible ? h->columns - (uint64_t)h->visible : 0;
    if (!h->placed || h->first > last)
        h->first = last;
    if (at < h->first)
        h->first = at;
    if (at >= h->first + (uint64_t)h->visible)
        h->first = at - (uint64_t)h->visible + 1;
}

/* ---- drawing ---- */

static void chosen_cells(const struct time_heat *h, const struct app *a, uint64_t *first, uint64_t *last)
{
    *first = 1;
    *last = 0;
    if (h->marking) {
        *first = h->mark < h->cursor ? h->mark : h->cursor;
        *last = h->mark < h->cursor ? h->cursor : h->mark;
    } else if (a->query.to_ns > h->from_ns) {
        *first = a->query.from_ns > h->from_ns ? (a->query.from_ns - h->from_ns) / h->cell_ns : 0;
        *last = (a->query.to_ns - h->from_ns) / h->cell_ns;
    }
}

static void draw_labels(const struct time_heat *h, struct area area)
{
    uint32_t each = h->rows % 4 == 0 ? h->rows / 4 : h->rows % 5 == 0 ? h->rows / 5 : 1;
    char text[32];
    for (uint32_t row = 0; row < h->rows; row += each)
        draw_right(area, (int)row, 0, LEFT_COLS - 1, STYLE_LABEL,
                   time_length_text(text, sizeof text, row * h->cell_ns));
}

static void draw_cells(const struct time_heat *h, const struct app *a, struct area area,
                       const uint32_t *counts, uint32_t n, uint32_t max)
{
    uint64_t first, last, cell = h->first * h->rows;
    chosen_cells(h, a, &first, &last);
    for (uint32_t i = 0; i < n; i++, cell++) {
        int row = (int)(i % h->rows), col = LEFT_COLS + (int)(i / h->rows) * h->width;
        heat_cell_draw(a, area, row, col, h->width, counts[i], max, cell >= first && cell <= last);
        if (cell == h->cursor)
            for (int k = 0; k < h->width; k++)
                draw_text(area, row, col + k, STYLE_STRIP_CURSOR, "+");
    }
}

static void draw_cursor(const struct time_heat *h, const struct app *a, struct area area, int row,
                        uint32_t samples)
{
    uint64_t at = h->from_ns + h->cursor * h->cell_ns - range_base(a);
    char from[32], to[32], number[32], mark[16], take[16], length[32];
    int col = draw_text(area, row, 0, STYLE_LABEL, "cell ");
    col += draw_printf(area, row, col, STYLE_NAME, "%s%s%s", time_text(from, sizeof from, at, h->cell_ns),
                       term_unicode() ? "–" : "-", time_text(to, sizeof to, at + h->cell_ns, h->cell_ns));
    col += draw_printf(area, row, col, STYLE_NORMAL, "  %s sample%s",
                       text_thousands(number, sizeof number, samples), samples == 1 ? "" : "s");
    if (h->marking)
        draw_printf(area, row, col, STYLE_TAGGED, "  from the mark to here: %s",
                    time_length_text(length, sizeof length,
                                     ((h->mark < h->cursor ? h->cursor - h->mark : h->mark - h->cursor) + 1) *
                                         h->cell_ns));
    else
        draw_printf(area, row, col, STYLE_DIM, "  %s: start a range here, %s: this cell",
                    keymap_first(a->keymap, ACTION_TIME_MARK, mark),
                    keymap_first(a->keymap, ACTION_DRILL, take));
}

static void heat_draw(struct time_view *v, struct app *a, struct area area)
{
    struct time_heat *h = &v->heat;
    if (!h->counts.timeline.n_rows || area.cols <= LEFT_COLS)
        return;
    scroll(h, area);
    const struct timeline_row *all = &h->counts.timeline.rows[0];
    uint64_t columns =
        h->columns - h->first < (uint64_t)h->visible ? h->columns - h->first : (uint64_t)h->visible;
    uint32_t n = (uint32_t)columns * h->rows, here;
    uint32_t *counts = mem_array(n + 1, sizeof *counts);
    uint32_t max = timeline_parts(all, (uint32_t)(h->first * h->rows), 1, counts, n);
    timeline_sums(all, (uint32_t)h->cursor, 1, &here, 1);
    draw_labels(h, area);
    draw_cells(h, a, area, counts, n, max);
    struct time_axis axis = { .from_ns = h->from_ns + h->first * h->column_ns,
                              .bucket_ns = h->column_ns,
                              .per = 1,
                              .columns = (uint32_t)columns };
    strip_draw_axis(area, (int)h->rows, LEFT_COLS, h->width, &axis, range_base(a), STYLE_LABEL);
    draw_cursor(h, a, area, (int)h->rows + 1, here);
    mem_free(counts);
}

/* ---- keys ---- */

static unsigned heat_move(struct time_heat *h, int64_t cells)
{
    int64_t to = (int64_t)h->cursor + cells, n = (int64_t)(h->columns * h->rows);
    h->placed = true;
    h->cursor = to < 0 ? 0 : to >= n ? (uint64_t)n - 1 : (uint64_t)to;
    return APP_REDRAW;
}

static unsigned heat_across(struct time_heat *h, int64_t columns)
{
    int64_t row = (int64_t)(h->cursor % h->rows), to = (int64_t)(h->cursor / h->rows) + columns;
    to = to < 0 ? 0 : to >= (int64_t)h->columns ? (int64_t)h->columns - 1 : to;
    return heat_move(h, to * h->rows + row - (int64_t)h->cursor);
}

static unsigned take_cells(struct time_heat *h, struct app *a, uint64_t x, uint64_t y)
{
    uint64_t first = x < y ? x : y, last = x < y ? y : x;
    h->marking = false;
    return range_set_from_chart(a, h->from_ns + first * h->cell_ns, h->from_ns + (last + 1) * h->cell_ns - 1);
}

static unsigned heat_mark(struct time_heat *h, struct app *a)
{
    if (h->marking)
        return take_cells(h, a, h->mark, h->cursor);
    h->marking = h->placed = true;
    h->mark = h->cursor;
    return APP_REDRAW;
}

static unsigned heat_zoom(struct time_heat *h, struct app *a, int step)
{
    uint64_t cells = h->columns * h->rows;
    for (size_t i = 0; i < LENGTHS; i++) {
        if (lengths[i] != h->column_ns)
            continue;
        if (step > 0 ? i + 1 == LENGTHS : i == 0)
            break;
        if (step < 0 && cells * (lengths[i] / lengths[i - 1]) > TIMELINE_BUCKETS_MAX)
            return app_message(a, "too much time for shorter columns");
        h->column_ns = lengths[(int)i + step]; /* the update does the rest */
        return APP_QUERY;
    }
    return app_message(a, "columns cannot be %s", step > 0 ? "longer" : "shorter");
}

/* Goes to the next hot cell in order of time, wrapping around. */
static unsigned heat_hot(struct time_heat *h, struct app *a)
{
    const struct timeline_row *all = h->counts.timeline.n_rows ? &h->counts.timeline.rows[0] : NULL;
    uint32_t n = (uint32_t)(h->columns * h->rows), max = 0;
    uint32_t *parts = mem_array((size_t)n + 1, sizeof *parts);
    uint64_t found = h->cursor;
    if (all)
        max = timeline_parts(all, 0, 1, parts, n);
    for (uint64_t i = 1; max && i <= n && found == h->cursor; i++) {
        uint64_t cell = (h->cursor + i) % n;
        if (parts[cell] >= (uint64_t)max * HOT_PART / 100)
            found = cell;
    }
    mem_free(parts);
    if (found == h->cursor)
        return app_message(a, "no other cell is nearly as hot as the hottest");
    return heat_move(h, (int64_t)found - (int64_t)h->cursor);
}

static unsigned heat_act(struct time_view *v, struct app *a, enum action action)
{
    struct time_heat *h = &v->heat;
    switch (action) {
    case ACTION_UP:
        return heat_move(h, -1);
    case ACTION_DOWN:
        return heat_move(h, 1);
    case ACTION_LEFT:
        return heat_across(h, -1);
    case ACTION_RIGHT:
        return heat_across(h, 1);
    case ACTION_PAGE_UP:
        return heat_across(h, -(h->visible / 2 + 1));
    case ACTION_PAGE_DOWN:
        return heat_across(h, h->visible / 2 + 1);
    case ACTION_TOP:
        return heat_move(h, -(int64_t)h->cursor);
    case ACTION_END:
        return heat_move(h, (int64_t)(h->columns * h->rows));
    case ACTION_TIME_MARK:
        return heat_mark(h, a);
    case ACTION_TIME_HOT:
        return heat_hot(h, a);
    case ACTION_DRILL:
        return take_cells(h, a, h->marking ? h->mark : h->cursor, h->cursor);
    case ACTION_TIME_IN:
        return heat_zoom(h, a, -1);
    case ACTION_TIME_OUT:
        return heat_zoom(h, a, 1);
    case ACTION_BACK:
        if (!h->marking)
            return APP_IGNORED;
        h->marking = false;
        return APP_REDRAW;
    default:
        return APP_IGNORED;
    }
}

/* ---- the mouse ---- */

static bool cell_at(const struct time_heat *h, int row, int col, uint64_t *cell)
{
    if (row < 0 || row >= (int)h->rows || col < LEFT_COLS || !h->width)
        return false;
    *cell = (h->first + (uint64_t)((col - LEFT_COLS) / h->width)) * h->rows + (uint64_t)row;
    return *cell < h->columns * h->rows;
}

/* A click moves the cursor; after the mark it ends the range. A double click selects one cell. */
static unsigned heat_click(struct time_view *v, struct app *a, int row, int col, bool twice)
{
    struct time_heat *h = &v->heat;
    uint64_t cell;
    if (!cell_at(h, row, col, &cell))
        return APP_HANDLED;
    h->placed = true;
    h->cursor = cell;
    if (twice || h->marking)
        return take_cells(h, a, h->marking ? h->mark : cell, cell);
    return APP_REDRAW;
}

static unsigned heat_drag(struct time_view *v, struct app *a, int row, int col, int to_row, int to_col)
{
    struct time_heat *h = &v->heat;
    uint64_t from, to;
    if (!cell_at(h, row, col, &from) || !cell_at(h, to_row, to_col, &to))
        return APP_HANDLED;
    h->placed = true;
    h->cursor = to;
    return take_cells(h, a, from, to);
}

static void heat_describe(struct time_view *v, struct app *a, char *dst, size_t cap)
{
    char column[32], cell[32], key[16];
    snprintf(dst, cap, "heat map: %s by %s (%s: threads)",
             time_length_text(column, sizeof column, v->heat.column_ns),
             time_length_text(cell, sizeof cell, v->heat.cell_ns),
             keymap_first(a->keymap, ACTION_TIME_PICTURE, key));
}

const struct time_picture_ops time_heat_ops = {
    .update = heat_update,
    .draw = heat_draw,
    .act = heat_act,
    .click = heat_click,
    .drag = heat_drag,
    .describe = heat_describe,
};
