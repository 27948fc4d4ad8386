// SPDX-License-Identifier: GPL-2.0-or-later
#include "ui/flame_draw.h"

#include <stdio.h>

#include "base/text.h"
#include "ui/bars.h"
#include "ui/flame_below.h"

#define NAME_LEAST 4 /* columns; a shorter name is useless */

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

/* --- the whole graph --- */

void flame_draw(const struct flame_model *m, struct flame_look *look, const struct app *a, struct area area)
{
    int rows = flame_frame_rows(area.rows), selected = flame_model_box_of(m, m->selected);
    struct drawn last = { UINT32_MAX, 0, STYLE_NORMAL };
    keep_in_sight(m, look, selected, rows);
    for (int i = 0; i < (int)m->flame.n; i++) {
        int row = (int)m->flame.boxes[i].row - look->first_row;
        if (row >= 0 && row < rows)
            draw_one(m, look, a, area, look->upward ? rows - 1 - row : row, i, i == selected, &last);
    }
    flame_draw_below(m, look, a, area, selected);
}

int flame_draw_row_at(const struct flame_model *m, const struct flame_look *look, struct area area, int row)
{
    int rows = flame_frame_rows(area.rows), at = (look->upward ? rows - 1 - row : row) + look->first_row;
    return row >= 0 && row < rows && at >= 0 && at < (int)m->flame.rows ? at : -1;
}
