// SPDX-License-Identifier: GPL-2.0-or-later
#include "ui/log_table.h"

#include <stdio.h>

#include "base/clock.h"
#include "base/text.h"
#include "ui/bars.h"
#include "ui/durations_draw.h"
#include "ui/order.h"
#include "ui/view_ops.h"

#define HISTOGRAM_LEAST 12 /* rows of the view from which on there is a histogram */
#define WIDE_COLS       110
#define BUCKET_COLS     24 /* of the histogram in a row */
#define VALUE_TEXT      (LOG_VALUE_MAX + 16)

enum order { BY_COUNT, BY_SUM, BY_AVERAGE, BY_P50, BY_MAXIMUM, BY_VALUE };
const char *const log_table_orders[LOG_TABLE_ORDERS] = {
    [BY_COUNT] = "count", [BY_SUM] = "sum",         [BY_AVERAGE] = "average",
    [BY_P50] = "p50",     [BY_MAXIMUM] = "maximum", [BY_VALUE] = "value",
};

/* ---- rows ---- */

static const struct value_group *row_at(const struct log_table *t, uint32_t row)
{
    return row ? t->groups.rows[row - 1] : t->groups.all;
}

uint64_t log_table_key(const void *ctx, uint32_t row)
{
    const struct log_table *t = ctx;
    return row ? row_at(t, row)->hash : 0;
}

static double number_of(const struct value_number *n)
{
    return n->is_negative ? (double)(int64_t)n->bits : (double)n->bits;
}

static double average_of(const struct value_group *g)
{
    return g->numbers ? value_group_sum(g) / (double)g->numbers : 0;
}

static double middle_of(const struct value_group *g)
{
    uint64_t number = 0;
    return g->numbers && !value_group_percentile(g, 0.5, &number) ? -1 : (double)number;
}

static double value_of(const struct value_group *g, enum order order)
{
    switch (order) {
    case BY_SUM:
        return value_group_sum(g);
    case BY_AVERAGE:
        return average_of(g);
    case BY_P50:
        return middle_of(g);
    case BY_MAXIMUM:
        return number_of(&g->max);
    default:
        return (double)g->count;
    }
}

/* The rows come largest count first: equal ones stay so. */
static bool belongs_before(const void *x, const void *y, int order)
{
    const struct value_group *a = *(struct value_group *const *)x, *b = *(struct value_group *const *)y;
    if (order == BY_VALUE)
        return strcmp(a->key, b->key) < 0;
    if (!a->numbers != !b->numbers && order != BY_COUNT) /* those without numbers are last */
        return a->numbers;
    return value_of(a, (enum order)order) > value_of(b, (enum order)order);
}

void log_table_update(struct log_table *t, struct app *a, const struct view_query *q,
                      const struct log_filter *filter)
{
    t->error = (struct error){ 0 };
    if (!session_log_groups(a->session, q, filter, &t->by, &t->groups, &t->error))
        t->groups.n = 0;
    if (t->order != BY_COUNT && t->groups.n)
        order_rows(t->groups.rows, t->groups.n, sizeof *t->groups.rows, belongs_before, t->order);
    list_update(&t->list, t->groups.n ? (uint32_t)t->groups.n + 1 : 0, log_table_key, t);
}

void log_table_hide(struct log_table *t)
{
    log_groups_done(&t->groups);
    list_update(&t->list, 0, NULL, NULL);
}

const struct value_group *log_table_group(const struct log_table *t)
{
    return t->list.cursor && t->list.cursor <= t->groups.n ? row_at(t, t->list.cursor) : NULL;
}

/* ---- drawing ---- */

static void put_number(struct draw_line *l, const struct log_table *t, const struct value_group *g,
                       double number)
{
    char text[32];
    bool negative = number < 0;
    if (!g->numbers)
        (void)snprintf(text, sizeof text, "-");
    else if (t->groups.is_time)
        text_length(text, sizeof text, (uint64_t)number);
    else {
        text[0] = '-';
        text_si(text + negative, sizeof text - 1, negative ? -number : number);
    }
    draw_column(l, 8, text);
}

static bool has_numbers(const struct log_table *t)
{
    return *t->by.value;
}

static bool is_wide(struct area area)
{
    return area.cols >= WIDE_COLS;
}

/* Width of the columns of one value. */
static int value_cols(const struct log_table *t, const struct draw_line *l)
{
    int left = l->area.cols - l->x;
    return t->by.n > 1 ? left / 2 : left;
}

static void draw_head(const struct log_table *t, struct area area)
{
    struct draw_line l = { area, 1, 0, STYLE_TABLE_HEAD };
    draw_fill(area, 1, 0, -1, STYLE_TABLE_HEAD);
    draw_column(&l, 11, "COUNT");
    draw_column(&l, 5, "%");
    if (is_wide(area) || !has_numbers(t))
        draw_column(&l, 7, "/S");
    if (has_numbers(t)) {
        static const char *const titles[] = { "SUM", "AVERAGE", "P50", "MAX" };
        for (size_t i = 0; i < sizeof titles / sizeof *titles; i++)
            draw_column(&l, 8, titles[i]);
    }
    if (has_numbers(t) && is_wide(area)) {
        draw_text(area, 1, l.x, STYLE_TABLE_HEAD, "HISTOGRAM");
        l.x += BUCKET_COLS + 1;
    }
    int cols = value_cols(t, &l);
    for (uint32_t i = 0; i < t->by.n; i++)
        draw_elided(area, 1, l.x + (int)i * cols, cols - 1, STYLE_TABLE_HEAD, t->by.fields[i], false);
}

/* Draws the powers of two that all groups have, as a sparkline: one column each, or the last ones. */
static void draw_buckets(const struct log_table *t, const struct value_group *g, const struct draw_line *l)
{
    const struct durations *all = t->groups.all->sizes;
    uint32_t first = 0, last = DURATION_POWERS, values[DURATION_POWERS], n = 0;
    char text[DURATION_POWERS * 4 + 1];
    if (!all || !g->sizes)
        return;
    while (!durations_power(all, first))
        first++;
    while (!durations_power(all, last - 1))
        last--;
    first = last - first > BUCKET_COLS ? last - BUCKET_COLS : first;
    for (uint32_t i = first; i < last; i++)
        values[n++] = (uint32_t)durations_power(g->sizes, i);
    bar_spark(text, sizeof text, values, n, 0, term_glyphs());
    draw_text(l->area, l->y, l->x, STYLE_SPARK, text);
}

static void draw_row(const struct log_table *t, const struct app *a, const struct value_group *g,
                     struct area area, int y)
{
    struct draw_line l = { area, y, 0, STYLE_NORMAL };
    double seconds = t->groups.span_ns ? (double)t->groups.span_ns / NS_PER_SEC : 1;
    double percent = t->groups.all->count ? 100 * (double)g->count / (double)t->groups.all->count : 0;
    char text[VALUE_TEXT];
    bool all = g == t->groups.all;
    draw_column(&l, 11, text_thousands(text, sizeof text, g->count));
    l.style = app_share_style(percent);
    (void)snprintf(text, sizeof text, "%.1f", percent);
    draw_column(&l, 5, text);
    l.style = STYLE_NORMAL;
    if (is_wide(area) || !has_numbers(t))
        draw_column(&l, 7, text_si(text, sizeof text, (double)g->count / seconds));
    if (has_numbers(t)) {
        put_number(&l, t, g, value_group_sum(g));
        put_number(&l, t, g, average_of(g));
        if (middle_of(g) < 0)
            draw_column(&l, 8, "<0");
        else
            put_number(&l, t, g, middle_of(g));
        put_number(&l, t, g, number_of(&g->max));
    }
    if (has_numbers(t) && is_wide(area)) {
        draw_buckets(t, g, &l);
        l.x += BUCKET_COLS + 1;
    }
    int cols = value_cols(t, &l);
    for (uint32_t i = 0; i < t->by.n; i++) {
        const char *value = log_group_value(&t->groups, g, i, text, sizeof text), *colon = strchr(value, ':');
        if (!is_wide(area) && colon && colon[1] && !strcmp(t->by.fields[i], "event"))
            value = colon + 1; /* "sched_switch": there is little room for its system */
        (void)draw_match(area, y, l.x + (int)i * cols, cols - (i + 1 < t->by.n),
                         all ? STYLE_LABEL : STYLE_NAME, value, a->search);
    }
}

static void draw_summary(const struct log_table *t, const char *only, struct area area)
{
    char samples[32], groups[32], dropped[32], by[LOG_BY_TEXT];
    struct buf text = { 0 };
    text_thousands(samples, sizeof samples, t->groups.all->count);
    text_thousands(groups, sizeof groups, t->groups.n);
    buf_printf(&text, "%s sample%s in %s group%s by %s", samples, t->groups.all->count == 1 ? "" : "s",
               groups, t->groups.n == 1 ? "" : "s", log_by_text(&t->by, by, sizeof by));
    if (*only)
        buf_printf(&text, ", only %s", only);
    if (t->groups.dropped)
        buf_printf(&text, "; not counted: %s dropped to keep memory within --history",
                   text_thousands(dropped, sizeof dropped, t->groups.dropped));
    draw_elided(area, 0, 0, area.cols, STYLE_NORMAL, buf_str(&text), false);
    buf_done(&text);
}

/* The title of the histogram of the selected row. */
static void draw_title(const struct log_table *t, const struct value_group *g, struct area area)
{
    char value[VALUE_TEXT], other[VALUE_TEXT], count[32];
    log_group_value(&t->groups, g, 0, value, sizeof value);
    log_group_value(&t->groups, g, 1, other, sizeof other);
    draw_fill(area, 0, 0, -1, STYLE_TABLE_HEAD);
    draw_printf(area, 0, 1, STYLE_TABLE_HEAD, "%s of %s%s%s: %s number%s", t->by.value, value,
                t->by.n > 1 && g != t->groups.all ? ", " : "", t->by.n > 1 ? other : "",
                text_thousands(count, sizeof count, g->numbers), g->numbers == 1 ? "" : "s");
}

void log_table_draw(struct log_table *t, const struct app *a, const char *only, struct area area)
{
    bool has_room = has_numbers(t) && area.rows >= HISTOGRAM_LEAST;
    int lines = has_room ? (area.rows - 2) / 2 : 0, rows = area.rows - 2 - lines;
    if (has_room && (int)t->list.n < rows) { /* few rows: more room for the histogram */
        lines += rows - (int)t->list.n;
        rows = (int)t->list.n;
    }
    draw_summary(t, only, area);
    draw_head(t, area);
    list_fit(&t->list, rows);
    for (int y = 0; y < rows && t->list.top + (uint32_t)y < t->list.n; y++) {
        uint32_t i = t->list.top + (uint32_t)y;
        draw_row(t, a, row_at(t, i), area, 2 + y);
        if (i == t->list.cursor)
            draw_restyle(area, 2 + y, STYLE_CURSOR);
    }
    if (!has_room)
        return;
    const struct value_group *g = row_at(t, t->list.cursor);
    area = area_sub(area, area.rows - lines, 0, lines, -1);
    draw_title(t, g, area);
    durations_draw_numbers(g, t->groups.is_time, area_sub(area, 1, 0, -1, -1), term_glyphs());
}

void log_table_describe(const struct log_table *t, char *dst, size_t cap)
{
    (void)snprintf(dst, cap, "groups, sorted by %s", log_table_orders[t->order]);
}

/* ---- keys ---- */

unsigned log_table_sort(struct log_table *t, struct app *a, int order)
{
    if (order > BY_COUNT && order < BY_VALUE && !has_numbers(t))
        return app_message(a, "there are no numbers to sort by: choose a field with numbers first");
    t->order = order;
    return APP_QUERY;
}

/* The next order that there is. */
static int order_beside(const struct log_table *t, int step)
{
    int order = t->order;
    do
        order = (order + step + LOG_TABLE_ORDERS) % LOG_TABLE_ORDERS;
    while (order > BY_COUNT && order < BY_VALUE && !has_numbers(t));
    return order;
}

unsigned log_table_act(struct log_table *t, struct app *a, enum action action)
{
    switch (action) {
    case ACTION_SORT_LEFT:
        return log_table_sort(t, a, order_beside(t, -1));
    case ACTION_SORT_RIGHT:
        return log_table_sort(t, a, order_beside(t, 1));
    default:
        return list_act(&t->list, action, log_table_key, t) ? APP_REDRAW : APP_IGNORED;
    }
}

bool log_table_click(struct log_table *t, int row)
{
    return list_click(&t->list, row - 2, log_table_key, t);
}

static bool row_matches(const void *ctx, uint32_t row, const char *needle)
{
    const struct log_table *t = ctx;
    char text[VALUE_TEXT];
    bool found = false;
    for (uint32_t i = 0; i < t->by.n && row; i++)
        found |= text_find_nocase(log_group_value(&t->groups, row_at(t, row), i, text, sizeof text), needle);
    return found;
}

enum search_found log_table_search(struct log_table *t, struct app *a, int step)
{
    return list_find(&t->list, step, a->search, row_matches, log_table_key, t);
}
