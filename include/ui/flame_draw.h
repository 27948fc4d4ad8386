// SPDX-License-Identifier: GPL-2.0-or-later
/* The picture of a flame: boxes, and below them what is selected. */
#ifndef FLAMETOP_UI_FLAME_DRAW_H
#define FLAMETOP_UI_FLAME_DRAW_H

#include "ui/app.h"
#include "ui/flame_color.h"
#include "ui/flame_model.h"

struct flame_look {
    bool upward; /* flame: the root at the bottom; else an icicle */
    enum flame_colour colour;
    int parts; /* of a column that the layout counts in: 2 where halves of a cell have their own colours (term_halves), else 1 */
    int first_row; /* scrolled by so many rows of the tree: kept so that the selected box is seen */
};
/* The model has a layout of look->parts times the area's columns. */
void flame_draw(const struct flame_model *m, struct flame_look *look, const struct app *a, struct area area);
/* The row of the tree at a row of the area that was drawn last; -1: none. */
int flame_draw_row_at(const struct flame_model *m, const struct flame_look *look, struct area area, int row);

/* Rows of boxes in an area of so many rows. */
int flame_draw_rows(int rows);

#endif
