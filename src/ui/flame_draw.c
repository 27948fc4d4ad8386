// SPDX-License-Identifier: GPL-2.0-or-later
#include "ui/flame_draw.h"

#include <math.h>
#include <stdio.h>

#include "base/text.h"
#include "ui/bars.h"
#include "ui/legend.h"

#define NAME_LEAST  4 /* columns; a shorter name is useless */
#define LINES_BELOW 2

/* --- frames --- */

static void box_label(const struct flame_model *m, const struct flame_look *look, const struct app *a,
                      const struct flame_box *b, char *name, char *label, size_t cap)
{
    char change[24] = "";
    double points;
    if (look->colour == FLAME_BY_DIFFERENCE && flame_model_change(m, b->node, &points))
        (void)difference_text(points, change, sizeof change);
    if (b->rest) {
        struct flame_rest rest = flame_rest_of(&m->tree, b->node);
        double percent = app_percent(a, rest.weight);
        (void)snprintf(name, cap, "%s%.1f%%", glyph_text(GLYPH_ELLIPSIS, term_glyphs()), percent);
        (void)snprintf(label, cap, "%s %u more %.1f%%", glyph_text(GLYPH_ELLIPSIS, term_glyphs()), rest.nodes,
                       percent);
        return;
    }
    (void)snprintf(name, cap, "%.500s", flame_model_name(m, b->node));
    (void)snprintf(label, cap, "%.500s %.1f%%%s%s", name, app_percent(a, m->tree.nodes[b->node].total_weight),
                   *change ? " " : "", change);
}

/* Draws "|name 41%": a bar at the left edge separates a frame from its neighbour, also without colours. A
 * frame of one cell is only its colour or, without colours, the bar; the rest is an ellipsis. Cells shared
 * with a neighbour are not drawn here. */
static void draw_box_cells(const struct flame_model *m, const struct flame_look *look, const struct app *a,
                           struct area area, int row, const struct flame_box *b, enum style style)
{
    char name[560], label[560];
    int parts = look->parts, x = ((int)b->x + parts - 1) / parts, width = (int)(b->x + b->width) / parts - x;
    int bar = (int)b->x % parts == 0, room = width - bar;
    if (width <= 0)
        return;
    draw_fill(area, row, x, width, style);
    if (b->rest && width <= NAME_LEAST)
        draw_text(area, row, x + width / 2, style, glyph_text(GLYPH_ELLIPSIS, term_glyphs()));
    if (bar && (width > 1 || (!b->rest && !term_colors())))
        draw_text(area, row, x, style, term_glyphs() ? "▏" : "|");
    if (width <= NAME_LEAST)
        return;
    box_label(m, look, a, b, name, label, sizeof name);
    bool whole = text_width(label) <= room;
    if (whole || b->rest)
        draw_elided(area, row, x + bar, room, style, whole ? label : name, false);
    else
        draw_function(area, row, x + bar, room, style, name, NULL);
}

/* The frame drawn last: it may share a cell with the next one. */
struct drawn {
    uint32_t row, end;
    enum style style;
};

/* Draws half cells at both ends. The right one is drawn again if another frame begins in it. */
static void draw_halves(struct area area, int row, const struct flame_box *b, enum style style,
                        enum style left)
{
    uint32_t end = b->x + b->width;
    if (b->x % 2)
        draw_half(area, row, (int)b->x / 2, left, style);
    if (end % 2)
        draw_half(area, row, (int)end / 2, style, STYLE_NORMAL);
}

static void draw_one(const struct flame_model *m, const struct flame_look *look, const struct app *a,
                     struct area area, int row, int i, bool selected, struct drawn *last)
{
    const struct flame_box *b = &m->flame.boxes[i];
    bool joins = last->row == b->row && last->end == b->x;
    enum style left = joins ? last->style : STYLE_NORMAL, style = STYLE_FLAME_SELECTED;
    if (!selected)
        style = flame_box_style(m, look->colour, a->search, b, left);
    draw_box_cells(m, look, a, area, row, b, style);
    if (look->parts == 2)
        draw_halves(area, row, b, style, left);
    *last = (struct drawn){ b->row, b->x + b->width, style };
}

/* Scrolls so that the selected frame is visible. */
static void keep_in_sight(const struct flame_model *m, struct flame_look *look, int selected, int rows)
{
    int row = selected >= 0 ? (int)m->flame.boxes[selected].row : 0, last = (int)m->flame.rows - rows;
    if (row < look->first_row)
        look->first_row = row;
    if (row >= look->first_row + rows)
        look->first_row = row - rows + 1;
    if (look->first_row > last)
        look->first_row = last;
    if (look->first_row < 0)
        look->first_row = 0;
}

/* --- the lines below --- */

/* Returns the rows of frames in an area of `rows` rows: the others are below them. */
static int frame_rows(int rows)
{
    return rows > LINES_BELOW ? rows - LINES_BELOW : 1;
}

static void draw_selected_line(struct area area, int row, const char *name, const char *numbers)
{
    int col = draw_text(area, row, 0, STYLE_LABEL, "selected: ");
    col += draw_elided(area, row, col, area.cols - col - text_width(numbers), STYLE_NAME, name, true);
    draw_text(area, row, col, STYLE_NORMAL, numbers);
}

/* Writes ", IPC 0.83" for the node with its callees. */
static void rates_text(const struct flame_model *m, uint32_t node, char *dst, size_t cap)
{
    size_t used = 0;
    *dst = '\0';
    for (int k = 0; k < GROUP_COLUMN_KINDS && used < cap; k++) {
        const struct view_group_column *b = &m->view->group_sums[k];
        double value;
        bool partly = false;
        char text[24] = "-";
        if (!b->title[0])
            continue;
        if (flame_rate_of(m, b, node, &value, &partly))
            group_column_text(b, value, text, sizeof text);
        used += (size_t)snprintf(dst + used, cap - used, ", %s%s %s", partly ? "~" : "", b->title, text);
    }
}

/* Writes ", +3.20 (was 38.20%)": the change from the baseline. */
static void change_text(const struct flame_model *m, const struct app *a, char *dst, size_t cap)
{
    double points, percent = app_percent(a, m->tree.nodes[m->selected].total_weight);
    char change[24];
    *dst = '\0';
    if (flame_model_change(m, m->selected, &points))
        (void)snprintf(dst, cap, ", %s (was %.2f%%)", difference_text(points, change, sizeof change),
                       fabs(percent - (m->difference->negate ? -points : points)));
}

/* Draws the selected frame. Long names are complete only here. */
static void draw_node(const struct flame_model *m, const struct app *a, struct area area, int row)
{
    const struct calltree_node *n = &m->tree.nodes[m->selected];
    char count[32], rates[160], change[64], numbers[360], name[512];
    (void)snprintf(name, sizeof name, "%.500s", flame_model_name(m, m->selected));
    rates_text(m, m->selected, rates, sizeof rates);
    change_text(m, a, change, sizeof change);
    (void)snprintf(numbers, sizeof numbers, "  %.1f%% total%s, %.1f%% self, %s sample%s%s",
                   app_percent(a, n->total_weight), change, app_percent(a, n->self_weight),
                   text_thousands(count, sizeof count, n->total_count), n->total_count == 1 ? "" : "s",
                   rates);
    draw_selected_line(area, row, name, numbers);
}

static void draw_rest(const struct flame_model *m, const struct app *a, struct area area, int row)
{
    struct flame_rest rest = flame_rest_of(&m->tree, m->selected);
    char count[32], numbers[160], name[96];
    (void)snprintf(name, sizeof name, "%u frames too narrow to draw", rest.nodes);
    (void)snprintf(numbers, sizeof numbers, "  %.1f%% total, %s samples", app_percent(a, rest.weight),
                   text_thousands(count, sizeof count, rest.count));
    draw_selected_line(area, row, name, numbers);
}

/* Draws the module and group of the selected node, or the hottest node of a rest. */
static int draw_belonging(const struct flame_model *m, const struct app *a, struct area area, int row,
                          bool rest)
{
    const struct calltree_node *n = &m->tree.nodes[m->selected];
    char name[64], key[16];
    if (rest) {
        text_elide(name, sizeof name, flame_model_name(m, m->selected), 30, true);
        return draw_printf(area, row, 0, STYLE_DIM, "hottest %s %.1f%%: %s zooms in  ", name,
                           app_percent(a, n->total_weight), keymap_first(a->keymap, ACTION_DRILL, key));
    }
    if (!m->selected || n->is_group)
        return 0;
    return draw_printf(area, row, 0, STYLE_DIM, "module %s%s%s  ", m->view->funcs[n->func].module,
                       n->group ? ", under " : "", n->group ? m->view->groups[n->group].label : "");
}

/* Draws the text only if all of it fits: a part of it would mislead. */
static int draw_whole(struct area area, int row, int col, const char *text)
{
    return col + text_width(text) <= area.cols ? draw_text(area, row, col, STYLE_DIM, text) + 2 : 0;
}

/* Draws "rows 1-14 of 37" at the right edge. Returns the rest of the line. */
static struct area draw_rows(const struct flame_model *m, const struct flame_look *look, struct area line)
{
    char text[64];
    int shown = frame_rows(line.rows);
    if ((int)m->flame.rows <= shown)
        return line;
    (void)snprintf(text, sizeof text, "  rows %d-%d of %u", look->first_row + 1, look->first_row + shown,
                   m->flame.rows);
    draw_text(line, line.rows - 1, line.cols - text_width(text), STYLE_LABEL, text);
    return area_sub(line, 0, 0, -1, line.cols - text_width(text));
}

/* Draws the selected frame and its path, search matches, frames too narrow to draw, the legend, and which
 * rows are visible. */
static void draw_below(const struct flame_model *m, const struct flame_look *look, const struct app *a,
                       struct area area, int selected)
{
    int first = area.rows - LINES_BELOW, last = area.rows - 1;
    const struct flame_box *box = selected >= 0 ? &m->flame.boxes[selected] : NULL;
    bool rest = box && box->rest && box->node == m->selected;
    double alone = app_percent(a, m->flame.rest_weight), hidden = app_percent(a, m->flame.hidden_weight);
    if (rest)
        draw_rest(m, a, area, first);
    else
        draw_node(m, a, area, first);
    struct area line = draw_rows(m, look, area);
    int col = draw_belonging(m, a, line, last, rest);
    if (*a->search)
        col += draw_printf(line, last, col, STYLE_LABEL, "/%s: %u frame%s, %.1f%%  ", a->search,
                           m->matched_frames, m->matched_frames == 1 ? "" : "s", m->matched_percent);
    char text[64];
    (void)snprintf(text, sizeof text, "%s too narrow: %.1f%%", glyph_text(GLYPH_ELLIPSIS, term_glyphs()),
                   alone);
    if (m->flame.rest_weight)
        col += draw_whole(line, last, col, text);
    (void)snprintf(text, sizeof text, "not drawn: %.1f%%", hidden);
    if (hidden >= 0.05)
        col += draw_whole(line, last, col, text);
    if (look->colour == FLAME_BY_TYPE)
        legend_draw(line, last, col, m->view, flame_class_style);
}

/* --- the whole graph --- */

void flame_draw(const struct flame_model *m, struct flame_look *look, const struct app *a, struct area area)
{
    int rows = frame_rows(area.rows), selected = flame_model_box_of(m, m->selected);
    struct drawn last = { UINT32_MAX, 0, STYLE_NORMAL };
    keep_in_sight(m, look, selected, rows);
    for (int i = 0; i < (int)m->flame.n; i++) {
        int row = (int)m->flame.boxes[i].row - look->first_row;
        if (row >= 0 && row < rows)
            draw_one(m, look, a, area, look->upward ? rows - 1 - row : row, i, i == selected, &last);
    }
    draw_below(m, look, a, area, selected);
}

int flame_draw_row_at(const struct flame_model *m, const struct flame_look *look, struct area area, int row)
{
    int rows = frame_rows(area.rows), at = (look->upward ? rows - 1 - row : row) + look->first_row;
    return row >= 0 && row < rows && at >= 0 && at < (int)m->flame.rows ? at : -1;
}
