// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/text.h"
#include "ui/app.h"
#include "ui/bars.h"
#include "ui/range.h"

#define COLUMNS_MAX 1024
#define TICK_COLS   11

int strip_rows(const struct app *a, int screen_rows)
{
    if (!a->strip.open || screen_rows < 14)
        return 0;
    return 2 + (screen_rows >= 45 ? 3 : screen_rows >= 32 ? 2 : 1);
}

/* --- bars --- */

/* Draws bars of several rows, from the bottom up. */
static void draw_bars(struct area area, const uint32_t *counts, uint32_t n, uint32_t max)
{
    uint32_t rows = (uint32_t)area.rows, part[COLUMNS_MAX];
    char text[COLUMNS_MAX * 4 + 1];
    for (uint32_t row = 0; row < rows; row++) {
        for (uint32_t i = 0; i < n; i++) {
            uint64_t height = max ? ((uint64_t)counts[i] * rows * 8 + max / 2) / max : 0, below = row * 8;
            height = counts[i] && !height ? 1 : height;
            part[i] = height <= below ? 0 : height - below > 8 ? 8 : (uint32_t)(height - below);
        }
        bar_eighths(text, sizeof text, part, n, term_glyphs());
        draw_text(area, (int)(rows - 1 - row), 0, STYLE_SPARK, text);
    }
}

static void mark_columns(struct area area, uint32_t first, uint32_t last, enum style style)
{
    for (int row = 0; row < area.rows; row++)
        term_restyle(area.y + row, area.x + (int)first, (int)(last - first + 1), style);
}

static void mark_range(const struct app *a, struct area area)
{
    const struct time_axis *x = &a->strip.axis;
    uint64_t from, to, end = time_axis_ns(x, x->columns);
    if (range_shown(a, &from, &to) && to >= x->from_ns && from < end)
        mark_columns(area, time_axis_column(x, from), time_axis_column(x, to), STYLE_RANGE);
}

/* --- the axis --- */

void strip_draw_axis(struct area area, int row, int col, int width, const struct time_axis *x,
                     uint64_t base_ns, enum style style)
{
    uint64_t step = time_axis_step(x), begin = x->from_ns > base_ns ? x->from_ns - base_ns : 0;
    uint64_t tick = time_round(step * TICK_COLS / (uint64_t)width + 1), end = begin + x->columns * step;
    uint64_t at = (begin + tick - 1) / tick * tick;
    const char *bar = glyph_text(GLYPH_VERTICAL, term_glyphs());
    char text[32];
    for (uint32_t i = 0; i < x->columns && at < end; i++, at += tick) {
        int place = col + (int)((at - begin) / step) * width;
        if (place + 2 < area.cols)
            place += draw_text(area, row, place, style, bar);
        time_text(text, sizeof text, at, tick);
        if (place + text_width(text) <= area.cols)
            draw_text(area, row, place, style, text);
    }
}

/* --- the line below --- */

/* Writes the wall-clock time; only live, because a recording does not have it. */
static void wall_time(const struct app *a, uint64_t time_ns, char *dst, size_t cap)
{
    struct timespec now;
    struct tm tm;
    dst[0] = '\0';
    if (a->status.file || clock_gettime(CLOCK_REALTIME, &now) != 0)
        return;
    int64_t ns = (int64_t)time_ns - (int64_t)clock_now_ns() + (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
    time_t seconds = (time_t)(ns / 1000000000);
    char text[32];
    if (localtime_r(&seconds, &tm) && strftime(text, sizeof text, "%H:%M:%S", &tm))
        (void)snprintf(dst, cap, " (%s)", text);
}

static void draw_cursor_line(const struct app *a, struct area area, int row, uint32_t samples)
{
    const struct strip *s = &a->strip;
    uint64_t base = range_base(a), step = time_axis_step(&s->axis);
    char at[32], wall[48], length[32], number[32], range[96];
    int col = draw_text(area, row, 0, STYLE_LABEL, "cursor ");
    wall_time(a, s->cursor_ns, wall, sizeof wall);
    col += draw_printf(area, row, col, STYLE_NAME, "%s%s",
                       time_text(at, sizeof at, s->cursor_ns > base ? s->cursor_ns - base : 0, step), wall);
    col += draw_printf(area, row, col, STYLE_NORMAL, "  %s sample%s in %s",
                       text_thousands(number, sizeof number, samples), samples == 1 ? "" : "s",
                       time_length_text(length, sizeof length, step));
    range_text(a, range, sizeof range);
    if (!range[0])
        return;
    col += draw_text(area, row, col, STYLE_LABEL, "  range ");
    col += draw_text(area, row, col, STYLE_NAME, range);
    draw_printf(area, row, col, STYLE_NORMAL, " (%s)",
                time_length_text(length, sizeof length, a->query.to_ns - a->query.from_ns + 1));
}

static void draw_hint_line(const struct app *a, struct area area, int row)
{
    char key[16], back[16], next[16], all[16], text[200];
    (void)snprintf(
        text, sizeof text, "%s: select a range   %s %s: step by its length   %s: all time",
        keymap_first(a->keymap, ACTION_RANGE, key), keymap_first(a->keymap, ACTION_RANGE_BACK, back),
        keymap_first(a->keymap, ACTION_RANGE_NEXT, next), keymap_first(a->keymap, ACTION_RANGE_ALL, all));
    draw_elided(area, row, 0, area.cols, STYLE_DIM, text, false);
}

void strip_draw(struct app *a, struct area area)
{
    struct strip *s = &a->strip;
    uint32_t counts[COLUMNS_MAX], parts[COLUMNS_MAX],
        n = s->axis.columns < COLUMNS_MAX ? s->axis.columns : COLUMNS_MAX;
    if (area.rows < 3 || !s->counts.timeline.n_rows)
        return;
    struct area bars = area_sub(area, 0, 0, area.rows - 2, -1);
    (void)timeline_sums(&s->counts.timeline.rows[0], 0, s->axis.per, counts, n);
    uint32_t max = timeline_parts(&s->counts.timeline.rows[0], 0, s->axis.per, parts, n);
    uint32_t at = time_axis_column(&s->axis, s->cursor_ns);
    draw_bars(bars, parts, n, max);
    mark_range(a, bars);
    strip_draw_axis(area, area.rows - 2, 0, 1, &s->axis, range_base(a), STYLE_LABEL);
    if (!s->has_keys) {
        draw_hint_line(a, area, area.rows - 1);
        return;
    }
    mark_columns(area_sub(area, 0, 0, area.rows - 1, -1), at, at, STYLE_STRIP_CURSOR);
    draw_cursor_line(a, area, area.rows - 1, at < n ? counts[at] : 0);
}
