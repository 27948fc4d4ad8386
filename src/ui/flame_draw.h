// SPDX-License-Identifier: GPL-2.0-or-later
/* Drawing of the flame graph: its frames, and the selected one below them. */
#ifndef FLAMETOP_UI_FLAME_DRAW_H
#define FLAMETOP_UI_FLAME_DRAW_H

#include "ui/app.h"
#include "ui/flame_color.h"
#include "ui/flame_model.h"

struct flame_look {
    bool upward; /* flame: root at the bottom; else icicle */
    enum flame_colour colour;
    /* parts per column in the layout: 2 if a cell can have two colours (term_halves), else 1 */
    int parts;
    int first_row; /* scroll position in rows of the tree; follows the selected frame */
};
/* Draws the graph. The model's layout is look->parts times the area's columns wide. */
void flame_draw(const struct flame_model *m, struct flame_look *look, const struct app *a, struct area area);
/* Returns the tree row at a row of the last drawn area; -1: none. */
int flame_draw_row_at(const struct flame_model *m, const struct flame_look *look, struct area area, int row);

#endif
