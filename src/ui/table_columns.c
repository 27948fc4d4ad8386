// SPDX-License-Identifier: GPL-2.0-or-later
#include "ui/table_columns.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "process/world.h"
#include "ui/menus.h"

#define NARROW_COLS 100 /* narrower screens have fewer columns, for the function */
#define PART_LEAST  6   /* width of a cgroup's column */
#define PART_MOST   24
#define NAME_LEAST  24 /* minimum width of names next to cgroups */

_Static_assert(COLUMN_OTHER_4 - COLUMN_IPC == GROUP_COLUMN_OTHER_4 - GROUP_COLUMN_IPC,
               "a column for each kind");

static const struct view_group_column *group_column_of(const struct app *a, enum column c)
{
    return &a->data.group_sums[column_group_kind(c)];
}

bool table_columns_has(const struct app *a, const struct table_rows *t, enum column c)
{
    bool groups = view_group_is_whole(a->query.group);
    if (column_is_cgroup(c))
        return (uint32_t)(c - COLUMN_CGROUP_1) < t->n_parts;
    if (column_is_of_group(c))
        return group_column_of(a, c)->title[0];
    if (c == COLUMN_SELF_CHANGE || c == COLUMN_TOTAL_CHANGE)
        return a->difference && (c == COLUMN_SELF_CHANGE || !groups);
    if (c == COLUMN_RATE)
        return groups || !a->data.weight_is_time;
    if (c == COLUMN_PID)
        return a->query.group == VIEW_GROUP_PROCESS || a->query.group == VIEW_GROUP_THREAD;
    if (c == COLUMN_COMM)
        return a->query.group == VIEW_GROUP_COMM_SYMBOL;
    if (c == COLUMN_MODULE && (groups || a->query.group == VIEW_GROUP_MODULE))
        return false;
    return c != COLUMN_TOTAL || !groups; /* the same as self */
}

static bool column_shows(const struct app *a, const struct table_rows *t, enum column c, int screen_cols)
{
    if (c < COLUMN_FUNCTION && a->columns_hidden & 1u << c)
        return false;
    /* on narrow screens, the group's events and the cgroups have priority */
    if (screen_cols < NARROW_COLS &&
        (c == COLUMN_TREND ? a->data.result.group_events || t->n_parts : c == COLUMN_SAMPLES && t->n_parts))
        return false;
    if (c == COLUMN_RATE && screen_cols < NARROW_COLS && !view_group_is_whole(a->query.group))
        return false;
    return table_columns_has(a, t, c) && screen_cols >= column_table[c].min_cols;
}

/* Returns a cgroup's last path component, or its whole label if another one has the same. */
static const char *part_name(const struct table_rows *t, uint32_t part)
{
    const char *label = t->data->groups[t->parts[part].group].label, *slash = strrchr(label, '/');
    if (!slash || !slash[1])
        return label;
    for (uint32_t i = 0; i < t->n_parts; i++) {
        const char *other = t->data->groups[t->parts[i].group].label, *end = strrchr(other, '/');
        if (i != part && !strcmp(end ? end : other, slash))
            return label;
    }
    return slash + 1;
}

static int part_width(const struct table_rows *t, uint32_t part, int most)
{
    int width = text_width(part_name(t, part));
    return width < PART_LEAST ? PART_LEAST : width > most ? most : width;
}

/* Returns the largest width limit with which all of them fit. */
static int widest_part(const struct table_rows *t, int room)
{
    int most = PART_MOST, all = 0;
    for (; most > PART_LEAST; most--) {
        all = 0;
        for (uint32_t i = 0; i < t->n_parts; i++)
            all += part_width(t, i, most) + 1;
        if (all <= room)
            break;
    }
    return most;
}

static int column_width(const struct app *a, enum column c, int screen_cols, int left)
{
    if (column_is_of_group(c) && !column_table[c].width) {
        int title = (int)strlen(group_column_of(a, c)->title);
        return title < 7 ? 7 : title;
    }
    if (c == COLUMN_MODULE && screen_cols < NARROW_COLS)
        return 15;
    if (c == COLUMN_COMM && screen_cols < NARROW_COLS)
        return 12;
    return column_table[c].width ? column_table[c].width : left;
}

static int add_column(struct table_columns *l, enum column c, int col, int width)
{
    l->columns[l->n] = c;
    l->at[l->n] = col;
    l->width[l->n++] = width;
    return col + width + 1;
}

static int lay_out_parts(struct table_columns *l, const struct table_rows *t, int col, int end)
{
    int most = widest_part(t, end - col);
    for (uint32_t i = 0; i < t->n_parts && col + part_width(t, i, most) < end; i++)
        col = add_column(l, (enum column)(COLUMN_CGROUP_1 + i), col, part_width(t, i, most));
    return col;
}

/* Cgroups are between the numbers and the names, as many as leave room for the latter. */
void table_columns_lay_out(struct table_columns *l, const struct app *a, const struct table_rows *t, int cols)
{
    int col = 0, behind = NAME_LEAST;
    l->n = 0;
    for (enum column c = COLUMN_COMM; c < COLUMN_FUNCTION; c++)
        behind += column_shows(a, t, c, cols) ? column_width(a, c, cols, 0) + 1 : 0;
    for (enum column c = 0; c <= COLUMN_FUNCTION; c++) {
        if (c == COLUMN_COMM)
            col = lay_out_parts(l, t, col, cols - behind);
        if (column_shows(a, t, c, cols))
            col = add_column(l, c, col, column_width(a, c, cols, cols - col));
    }
}

bool table_columns_at(const struct table_columns *l, int col, enum column *c)
{
    for (int i = l->n - 1; i >= 0; i--) {
        if (col >= l->at[i]) {
            *c = l->columns[i];
            return true;
        }
    }
    return false;
}

static bool is_number(enum column c)
{
    return c <= COLUMN_SAMPLES || c == COLUMN_PID || column_is_of_group(c) || column_is_cgroup(c);
}

const char *table_columns_title(const struct app *a, const struct table_rows *t, enum column c, char dst[32])
{
    if (column_is_cgroup(c))
        return table_columns_has(a, t, c) ? part_name(t, c - COLUMN_CGROUP_1) : column_table[c].title;
    if (column_is_of_group(c) && group_column_of(a, c)->title[0])
        return group_column_of(a, c)->title;
    if (c == COLUMN_RATE)
        return a->data.wall             ? "%WALL"
               : a->data.off_cpu        ? "%WAIT"
               : a->data.latency        ? "%TIME"
               : a->data.weight_is_time ? "%CPU"
                                        : "PER SEC";
    if (c == COLUMN_PID)
        return a->query.group == VIEW_GROUP_THREAD ? "TID" : "PID";
    if (c != COLUMN_FUNCTION || a->query.group == VIEW_GROUP_SYMBOL || view_group_splits(a->query.group))
        return column_table[c].title;
    const char *title = group_title(a->query.group);
    size_t i = 0;
    for (; title[i] && i < 31; i++)
        dst[i] = title[i] >= 'a' && title[i] <= 'z' ? (char)(title[i] - 32) : title[i];
    dst[i] = '\0';
    return dst;
}

void table_columns_draw_head(const struct table_columns *l, const struct app *a, const struct table_rows *t,
                             struct area area)
{
    draw_fill(area, 0, 0, -1, STYLE_TABLE_HEAD);
    for (int i = 0; i < l->n; i++) {
        enum column c = l->columns[i];
        enum style style = c == t->sort[0] ? STYLE_TABLE_SORT : STYLE_TABLE_HEAD;
        char upper[32];
        const char *title = table_columns_title(a, t, c, upper);
        if (is_number(c) && text_width(title) <= l->width[i])
            draw_right(area, 0, l->at[i], l->width[i], style, title);
        else
            draw_elided(area, 0, l->at[i], l->width[i], style, title, column_is_cgroup(c));
    }
}

static void draw_tenths(struct area area, int row, int at, int width, uint32_t tenths, enum style style)
{
    char text[24];
    (void)snprintf(text, sizeof text, "%u.%u", tenths / 10, tenths % 10);
    draw_right(area, row, at, width, style, text);
}

bool table_row_is_few(const struct table_row *r)
{
    return r->count < TABLE_FEW_SAMPLES && !r->gone;
}

/* Shares from few samples are unreliable, so they are dim. */
static void draw_share(const struct table_row *r, struct area area, int row, int at, int width,
                       uint32_t tenths)
{
    draw_tenths(area, row, at, width, tenths,
                table_row_is_few(r) ? STYLE_DIM : app_share_style(tenths / 10.0));
}

/* A cgroup's zero is dim: often other cgroups have all of a function. */
static void draw_part(struct area area, int row, int at, int width, uint32_t tenths)
{
    draw_tenths(area, row, at, width, tenths, tenths ? app_share_style(tenths / 10.0) : STYLE_DIM);
}

static void draw_rate(const struct table_rows *t, const struct table_row *r, struct area area, int row,
                      int at, int width)
{
    double rate = table_row_rate(t, r);
    char text[32] = "-";
    if (!isnan(rate) && t->data->weight_is_time)
        (void)snprintf(text, sizeof text, "%.1f", 100 * rate);
    else if (!isnan(rate))
        text_si(text, sizeof text, rate);
    draw_right(area, row, at, width, isnan(rate) || table_row_is_few(r) ? STYLE_DIM : STYLE_NORMAL, text);
}

static void draw_change(const struct table_row *r, int32_t hundredths, struct area area, int row, int at,
                        int width)
{
    char text[24];
    if (!r->compared)
        draw_right(area, row, at, width, STYLE_DIM, "-");
    else
        draw_right(area, row, at, width, difference_style(hundredths / 100.0),
                   difference_text(hundredths / 100.0, text, sizeof text));
}

/* An estimate, because the counters were multiplexed, is dim and has a ~ if it fits. */
static void draw_group_columns(const struct app *a, const struct table_rows *t, const struct table_row *r,
                               enum column c, struct area area, int row, int at, int width)
{
    double value = table_row_group_sums(t, r, column_group_kind(c));
    char text[24] = "~";
    bool partly = table_row_is_partly(t, r);
    if (isnan(value)) {
        draw_right(area, row, at, width, STYLE_DIM, "-");
        return;
    }
    group_column_text(group_column_of(a, c), value, text + 1, sizeof text - 1);
    enum style style = c != COLUMN_LATENCY   ? STYLE_NORMAL
                       : table_row_is_few(r) ? STYLE_DIM
                                             : app_share_style(value);
    draw_right(area, row, at, width, partly ? STYLE_DIM : style,
               partly && text_width(text) <= width ? text : text + 1);
}

static void draw_name(const struct app *a, const struct table_rows *t, const struct table_row *r, int shift,
                      struct area area, int row, int at, int width)
{
    const char *name = table_row_name(t, r);
    enum style style = r->gone   ? STYLE_DIM
                       : r->func ? app_class_style(t->data->funcs[r->func].class)
                                 : STYLE_NORMAL;
    if (shift)
        draw_text(area, row, at, style, name + text_prefix(name, shift, NULL));
    else if (r->func)
        (void)draw_function(area, row, at, width, style, name, a->search);
    else
        (void)draw_match(area, row, at, width, style, name, a->search);
}

void table_columns_draw_row(const struct table_columns *l, const struct app *a, struct table_rows *t,
                            const struct table_row *r, int shift, struct area area, int row)
{
    char text[64];
    uint64_t trend[QUERY_TREND];
    for (int i = 0; i < l->n; i++) {
        int at = l->at[i], width = l->width[i];
        switch (l->columns[i]) {
        case COLUMN_SELF:
            draw_share(r, area, row, at, width, r->self_tenths);
            break;
        case COLUMN_TOTAL:
            draw_share(r, area, row, at, width, r->total_tenths);
            break;
        case COLUMN_SELF_CHANGE:
            draw_change(r, r->self_change, area, row, at, width);
            break;
        case COLUMN_TOTAL_CHANGE:
            draw_change(r, r->total_change, area, row, at, width);
            break;
        case COLUMN_RATE:
            draw_rate(t, r, area, row, at, width);
            break;
        case COLUMN_PID:
            (void)world_id_text(table_row_pid(t, r), text, sizeof text);
            draw_right(area, row, at, width, STYLE_NORMAL, r->gone ? "" : text);
            break;
        case COLUMN_SAMPLES:
            draw_right(area, row, at, width, table_row_is_few(r) ? STYLE_DIM : STYLE_NORMAL,
                       text_thousands(text, sizeof text, r->count));
            break;
        case COLUMN_TREND:
            table_row_trend(t, r, trend);
            trend_spark(text, sizeof text, trend, term_glyphs());
            draw_text(area, row, at, STYLE_NORMAL, text);
            break;
        case COLUMN_COMM:
            (void)draw_match(area, row, at, width, STYLE_NORMAL, table_row_group(t, r), a->search);
            break;
        case COLUMN_MODULE:
            (void)draw_match(area, row, at, width, STYLE_NORMAL, table_row_module(t, r), a->search);
            break;
        default:
            if (column_is_cgroup(l->columns[i]))
                draw_part(area, row, at, width, table_row_part(t, r, l->columns[i] - COLUMN_CGROUP_1));
            else if (column_is_of_group(l->columns[i]))
                draw_group_columns(a, t, r, l->columns[i], area, row, at, width);
            else
                draw_name(a, t, r, shift, area, row, at, width);
        }
    }
}
