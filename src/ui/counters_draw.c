// SPDX-License-Identifier: GPL-2.0-or-later
#include "ui/counters_draw.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/text.h"
#include "ui/app.h"
#include "ui/bars.h"
#include "ui/load_draw.h"

#define COUNT_COLS  COUNTERS_COUNT_COLS
#define METRIC_AT   COUNTERS_METRIC_AT
#define NARROW_COLS COUNTERS_NARROW_COLS
#define TREND_AT    COUNTERS_TREND_AT
#define TREND_MIN   COUNTERS_TREND_MIN
#define METRIC_COLS (TREND_AT - METRIC_AT)
#define BAR_COLS    10
#define LOW_ROWS    15    /* with fewer rows the tables need them all */
#define LOAD_ROWS   14    /* with fewer rows there are no two lines for the load */
#define FULL        10000 /* trend value of a fully used CPU */

static bool is_core(const struct counters *c, uint32_t row)
{
    enum count_event event = count_event_of(c->set, row);
    return event >= COUNT_CYCLES && event <= COUNT_PREFETCH_MISSES;
}

static uint32_t core_rows(const struct counters *c)
{
    uint32_t n = 0;
    for (uint32_t row = 0; row < count_rows(c->set); row++)
        n += is_core(c, row);
    return n;
}

uint32_t counters_lines(const struct counters *c)
{
    if (!c->set)
        return 0;
    uint32_t many = c->without_pmu ? core_rows(c) : 0;
    return count_rows(c->set) - (many ? many - 1 : 0);
}

static bool line_is_many(const struct counters *c, uint32_t line)
{
    return c->without_pmu && is_core(c, counters_line_row(c, line));
}

uint32_t counters_line_row(const struct counters *c, uint32_t line)
{
    bool many = c->without_pmu, met = false;
    for (uint32_t row = 0; row < count_rows(c->set); row++) {
        bool more = many && met && is_core(c, row);
        met |= is_core(c, row);
        if (!more && line-- == 0)
            return row;
    }
    return 0;
}

/* ---- events ---- */

/* Returns the column of a row's remark, which replaces its metric. */
static int remark_at(struct area area)
{
    return area.cols < NARROW_COLS ? area.cols : METRIC_AT;
}

static void draw_many(const struct counters *c, struct area area, int y)
{
    char names[256] = "";
    size_t n = 0;
    for (uint32_t row = 0; row < count_rows(c->set) && n < sizeof names; row++)
        if (is_core(c, row))
            n +=
                (size_t)snprintf(names + n, sizeof names - n, "%s%s", n ? ", " : "", count_name(c->set, row));
    counters_draw_count(area, y, STYLE_DIM, names, STYLE_DIM, "<not supported>");
    draw_printf(area, y, remark_at(area), STYLE_DIM, "%u hardware events", core_rows(c));
}

/* perf's "/sec" is per second of the CPUs' (or tasks') enabled time, not of wall-clock time. */
static void draw_metric(const struct counters *c, struct area area, int y, uint32_t row)
{
    struct count_metric metric;
    if (!count_metric(c->set, row, &metric))
        return;
    char *per = strstr(metric.unit, "/sec");
    if (per)
        (void)snprintf(per, sizeof metric.unit - (size_t)(per - metric.unit), "%sper CPU second",
                       per > metric.unit ? " " : "");
    char text[128];
    (void)snprintf(text, sizeof text, "%s %s", metric.value, metric.unit);
    draw_elided(area, y, METRIC_AT, METRIC_COLS - 1, STYLE_NORMAL, text, false);
}

/* Sparklines need integers: each rate in thousandths of the row's largest. */
static void trend_of(const struct counters *c, enum count_event event, uint32_t trend[COUNTERS_TREND])
{
    double peak = 0;
    for (uint32_t i = 0; i < c->n_rates; i++)
        peak = c->rates[event][i] > peak ? c->rates[event][i] : peak;
    for (uint32_t i = 0; i < c->n_rates; i++)
        trend[i] = peak > 0 ? (uint32_t)(1000 * c->rates[event][i] / peak) : 0;
}

static void draw_event(const struct counters *c, struct area area, int y, uint32_t row)
{
    char text[40];
    uint32_t trend[COUNTERS_TREND];
    struct count_value v = count_total(c->set, row);
    enum count_event event = count_event_of(c->set, row);
    bool counted = v.state == COUNT_OK;
    double seconds = (double)count_interval_ns(c->set) / NS_PER_SEC;
    bool waits = !c->counted && counted;
    counters_draw_count(area, y, counted ? STYLE_NORMAL : STYLE_DIM, count_name(c->set, row),
                        counted && !waits ? STYLE_NAME : STYLE_DIM,
                        waits ? "..." : count_text(text, sizeof text, event, &v, seconds));
    if (waits)
        return;
    if (!counted) {
        const char *why = v.state == COUNT_NOT_COUNTED ? "never had a counter" : count_why_not(c->set, row);
        draw_elided(area, y, remark_at(area), area.cols - remark_at(area), STYLE_DIM, why ? why : "", false);
        return;
    }
    if (area.cols < NARROW_COLS)
        return;
    draw_printf(area, y, 41, v.running < 0.9995 ? STYLE_DEGRADED : STYLE_NORMAL, "%6.0f%s", 100 * v.running,
                count_in_group(c->set, row) ? "" : "~");
    draw_metric(c, area, y, row);
    trend_of(c, event, trend);
    counters_draw_trend(trend, c->n_rates, 0, area, y, TREND_AT);
}

static void draw_event_titles(struct area area)
{
    draw_fill(area, 0, 0, -1, STYLE_TABLE_HEAD);
    if (area.cols < NARROW_COLS)
        draw_printf(area, 0, 0, STYLE_TABLE_HEAD, "%*s EVENT", COUNT_COLS - 1, "COUNT/s");
    else
        draw_printf(area, 0, 0, STYLE_TABLE_HEAD, "%-25s%16s%6s  %-26s %s", "EVENT", "COUNT/s", "RUN%",
                    "METRIC", area.cols >= TREND_AT + TREND_MIN ? "TREND" : "");
}

/* Draws the titles of the upper table, or of the group whose heading was scrolled away. */
static void draw_titles(const struct counters *c, const struct machine_load *l, struct area area,
                        uint32_t top)
{
    uint32_t events = counters_lines(c);
    if (top <= events) {
        draw_event_titles(area);
        return;
    }
    size_t row = top - events - 1;
    while (row && l->rows.items[row].kind != LOAD_HEADING)
        row--;
    load_draw_row(&l->rows.items[row], area, 0);
}

/* Draws lines of the upper table: the events, then load and pressure. */
static void draw_upper(const struct counters *c, const struct machine_load *l, struct area area, uint32_t top)
{
    uint32_t events = counters_lines(c);
    for (int y = 0; y < area.rows && top + (uint32_t)y < events + l->rows.n; y++) {
        uint32_t line = top + (uint32_t)y;
        if (line >= events)
            load_draw_row(&l->rows.items[line - events], area, y);
        else if (line_is_many(c, line))
            draw_many(c, area, y);
        else
            draw_event(c, area, y, counters_line_row(c, line));
    }
}

/* Draws a sentence; on low screens only one line of it. */
static int draw_note(struct area area, int y, enum style style, const char *text, bool low)
{
    if (!low)
        return draw_wrapped(area, y, style, text);
    if (y < area.rows)
        draw_elided(area, y, 0, area.cols, style, text, false);
    return 1;
}

/* Writes the note on a line of the upper table; "": there is none. */
static void note_of(const struct counters *c, const struct machine_load *l, uint32_t line, char *dst,
                    size_t cap)
{
    uint32_t events = counters_lines(c);
    *dst = '\0';
    if (line < events && c->counted && !line_is_many(c, line))
        counters_explain(c, counters_line_row(c, line), dst, cap);
    else if (line >= events && line - events < l->rows.n)
        (void)snprintf(dst, cap, "%s", l->rows.items[line - events].help);
}

/* Draws notes on the scope, the row under the cursor and the system. Returns the number of lines. */
static int draw_notes(const struct counters *c, const struct machine_load *l, const struct list *list,
                      struct area area, bool low)
{
    char text[sizeof l->rows.items->help];
    const char *note = c->set ? count_scope_note(c->set) : NULL;
    int y = 0;
    note_of(c, l, list->cursor, text, sizeof text);
    if (note)
        y += draw_note(area, y, STYLE_DEGRADED, note, low);
    if (*text)
        y += draw_note(area, y, STYLE_DIM, text, low);
    if (c->set && c->without_pmu)
        y += draw_note(area, y, STYLE_DIM, counters_pmu_hint, low);
    return y;
}

/* ---- parts ---- */

static int name_cols(const struct counters *c)
{
    bool numbered = c->by == COUNT_BY_CPU || c->by == COUNT_BY_SOCKET;
    return numbered ? 7 : 24;
}

static void draw_part_name(const struct counters *c, struct area area, int y, const struct counters_part *p)
{
    char text[128];
    bool task = c->by == COUNT_BY_PROCESS || c->by == COUNT_BY_THREAD;
    if (task)
        (void)snprintf(text, sizeof text, "%7u %s", p->part.number, p->part.name);
    else
        (void)snprintf(text, sizeof text, "%s", p->part.name);
    if (name_cols(c) < 10)
        draw_right(area, y, 0, 6, STYLE_LABEL, text);
    else
        draw_elided(area, y, 0, name_cols(c) - 1, STYLE_LABEL, text, c->by == COUNT_BY_CGROUP);
}

static void draw_busy(struct area area, int y, int col, const struct counters_part *p)
{
    char bar[64];
    if (p->busy.now < 0) {
        draw_text(area, y, col, STYLE_DIM, "...");
        return;
    }
    bar_horizontal(bar, sizeof bar, p->busy.now / 100, BAR_COLS, term_glyphs());
    draw_text(area, y, col, app_share_style(p->busy.now), bar);
    draw_printf(area, y, col + BAR_COLS, STYLE_NORMAL, "%5.0f%%", p->busy.now);
}

/* Draws the columns that fit and that any part has; p NULL: their titles. Returns the end column. */
static int draw_columns(const struct counters *c, struct area area, int y, int col,
                        const struct counters_part *p)
{
    for (uint32_t i = 0; i < count_columns_n; i++) {
        char text[32];
        int width = count_columns[i].width + 1;
        if (col + width > area.cols || !counters_has_column(c, i))
            continue;
        if (!p)
            draw_right(area, y, col, width, STYLE_TABLE_HEAD, count_columns[i].title);
        else if (count_column_text(i, p->part.values, count_interval_ns(c->set), text, sizeof text))
            draw_right(area, y, col, width, STYLE_NORMAL, text);
        col += width;
    }
    return col;
}

static void draw_parts(const struct counters *c, struct area area, uint32_t top, const char *split_key)
{
    char title[64];
    int busy = name_cols(c), columns = busy + BAR_COLS + 6;
    (void)snprintf(title, sizeof title, "%s", count_by_names[c->by]);
    for (char *s = title; *s; s++)
        *s = (char)(*s >= 'a' && *s <= 'z' ? *s - 'a' + 'A' : *s);
    draw_fill(area, 0, 0, -1, STYLE_TABLE_HEAD);
    if (name_cols(c) < 10)
        draw_right(area, 0, 0, 6, STYLE_TABLE_HEAD, title);
    else
        draw_text(area, 0, 0, STYLE_TABLE_HEAD, title);
    draw_text(area, 0, busy, STYLE_TABLE_HEAD, "BUSY");
    int end = draw_columns(c, area, 0, columns, NULL);
    char hint[48];
    (void)snprintf(hint, sizeof hint, "%s: next kind", split_key);
    if (end + 3 + text_width(hint) <= area.cols)
        draw_right(area, 0, end, area.cols - end, STYLE_TABLE_HEAD, hint);
    for (int y = 1; y < area.rows && top + (uint32_t)y <= c->n_parts; y++) {
        const struct counters_part *p = &c->parts[top + (uint32_t)y - 1];
        draw_part_name(c, area, y, p);
        draw_busy(area, y, busy, p);
        (void)draw_columns(c, area, y, columns, p);
        counters_draw_trend(p->busy.trend, p->busy.n_trend, FULL, area, y, end + 2);
    }
}

/* ---- both ---- */

/* Returns the first of n lines to draw on `rows` rows so that the cursor is visible. cursor 0 or less: the
 * first line. */
static uint32_t top_of(uint32_t n, int rows, int64_t cursor)
{
    uint32_t page = rows > 0 ? (uint32_t)rows : 1;
    uint32_t last = n > page ? n - page : 0;
    uint32_t top = cursor >= (int64_t)page ? (uint32_t)cursor - page + 1 : 0;
    return top < last ? top : last;
}

void counters_draw(const struct counters *c, const struct machine_load *l, struct list *list, bool parts,
                   const char *split_key, struct area area)
{
    uint32_t lines = counters_lines(c) + (uint32_t)l->rows.n;
    bool low = area.rows < LOW_ROWS, above = list->cursor < lines;
    /* in an area without rows, to count the lines */
    int notes = draw_notes(c, l, list, area_sub(area, 0, 0, 0, -1), low);
    int least = parts && c->n_parts ? (c->n_parts < 3 ? (int)c->n_parts : 3) + 1 : 0;
    int titles = c->set != NULL;
    if (area.rows >= LOAD_ROWS && l->rows.n && (int)lines > area.rows - titles - notes - least)
        area = area_sub(area, load_draw_summary(l, area), 0, -1, -1);
    int room = area.rows - titles - notes - least;
    int rows = (int)lines < room ? (int)lines : room > 1 ? room : 1;
    list->page = rows;
    uint32_t top = top_of(lines, rows, above ? (int64_t)list->cursor : 0);
    if (titles)
        draw_titles(c, l, area, top);
    area = area_sub(area, titles, 0, -1, -1);
    draw_upper(c, l, area_sub(area, 0, 0, rows, -1), top);
    if (above)
        draw_restyle(area_sub(area, 0, 0, rows, -1), (int)(list->cursor - top), STYLE_CURSOR);
    (void)draw_notes(c, l, list, area_sub(area, rows, 0, notes, -1), low);
    struct area below = area_sub(area, rows + notes, 0, -1, -1);
    if (!least || below.rows < 2)
        return;
    uint32_t first = top_of(c->n_parts, below.rows - 1, above ? 0 : (int64_t)(list->cursor - lines));
    draw_parts(c, below, first, split_key);
    if (!above && list->cursor - lines < c->n_parts)
        draw_restyle(below, 1 + (int)(list->cursor - lines - first), STYLE_CURSOR);
}
