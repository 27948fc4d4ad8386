// SPDX-License-Identifier: GPL-2.0-or-later
#include "ui/load_draw.h"

#include <stdio.h>

#include "ui/bars.h"

#define DETAIL_AT  42 /* on screens that have no room for the events' trends */
#define TREND_AT   66
#define FULL_TREND 10000 /* 100 % in hundredths */

void counters_draw_count(struct area area, int y, enum style name_style, const char *name, enum style style,
                         const char *count)
{
    bool narrow = area.cols < COUNTERS_NARROW_COLS;
    draw_elided(area, y, narrow ? COUNTERS_COUNT_COLS : 0,
                narrow ? area.cols - COUNTERS_COUNT_COLS : COUNTERS_NAME_COLS, name_style, name, false);
    draw_right(area, y, narrow ? 0 : COUNTERS_NAME_COLS,
               narrow ? COUNTERS_COUNT_COLS - 1 : COUNTERS_COUNT_COLS, style, count);
}

void counters_draw_trend(const uint32_t *trend, uint32_t n, uint32_t full, struct area area, int y, int col)
{
    char spark[MEASURED_TREND * 4 + 1];
    int cols = area.cols - col;
    if (cols < COUNTERS_TREND_MIN)
        return;
    uint32_t shown = n < (uint32_t)cols ? n : (uint32_t)cols;
    bar_spark(spark, sizeof spark, trend + (n - shown), shown, full, term_glyphs());
    draw_text(area, y, col, STYLE_SPARK, spark);
}

static bool has_event_trends(struct area area)
{
    return area.cols >= COUNTERS_TREND_AT + COUNTERS_TREND_MIN;
}

static int detail_at(struct area area)
{
    if (area.cols < COUNTERS_NARROW_COLS)
        return area.cols;
    return has_event_trends(area) ? COUNTERS_METRIC_AT : DETAIL_AT;
}

static int trend_at(struct area area)
{
    return has_event_trends(area) ? COUNTERS_TREND_AT : TREND_AT;
}

static void draw_detail(const struct load_row *row, struct area area, int y, enum style style)
{
    int at = detail_at(area);
    draw_elided(area, y, at, trend_at(area) - at - 1, style, row->detail, false);
}

static void draw_heading(const struct load_row *row, struct area area, int y)
{
    bool narrow = area.cols < COUNTERS_NARROW_COLS;
    int value_at = COUNTERS_NAME_COLS + COUNTERS_COUNT_COLS - 3;
    draw_fill(area, y, 0, -1, STYLE_TABLE_HEAD);
    draw_elided(area, y, 0, narrow ? area.cols : value_at - 1, STYLE_TABLE_HEAD, row->name, true);
    if (narrow)
        return;
    draw_text(area, y, value_at, STYLE_TABLE_HEAD, row->value);
    draw_detail(row, area, y, STYLE_TABLE_HEAD);
    if (area.cols >= trend_at(area) + COUNTERS_TREND_MIN)
        draw_text(area, y, trend_at(area), STYLE_TABLE_HEAD, "TREND");
}

static void draw_reason(const struct load_row *row, struct area area, int y)
{
    char text[sizeof row->name + sizeof row->detail + 2];
    (void)snprintf(text, sizeof text, "%s: %s", row->name, row->detail);
    draw_elided(area, y, 0, area.cols, STYLE_DIM, text, false);
}

void load_draw_row(const struct load_row *row, struct area area, int y)
{
    if (row->kind == LOAD_HEADING)
        draw_heading(row, area, y);
    else if (row->kind == LOAD_REASON)
        draw_reason(row, area, y);
    if (row->kind != LOAD_VALUE)
        return;
    counters_draw_count(area, y, STYLE_NORMAL, row->name, row->measured->now < 0 ? STYLE_DIM : STYLE_NAME,
                        row->value);
    draw_detail(row, area, y, STYLE_NORMAL);
    if (area.cols >= COUNTERS_NARROW_COLS)
        counters_draw_trend(row->measured->trend, row->measured->n_trend, row->percent ? FULL_TREND : 0, area,
                            y, trend_at(area));
}

int load_draw_summary(const struct machine_load *l, struct area area)
{
    char text[sizeof l->rows.items->detail];
    for (int i = 0; i < MACHINE_LOAD_LINES; i++) {
        machine_load_text(l, (unsigned)i, text, sizeof text);
        draw_elided(area, i, 0, area.cols, STYLE_NORMAL, text, false);
    }
    return MACHINE_LOAD_LINES;
}
