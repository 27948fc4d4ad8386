// SPDX-License-Identifier: GPL-2.0-or-later
#ifndef FLAMETOP_UI_FLAME_BELOW_H
#define FLAMETOP_UI_FLAME_BELOW_H

#include "ui/flame_draw.h"

/* Returns the rows of frames in an area of `rows` rows: the others are below them. */
int flame_frame_rows(int rows);
/* Draws the lines below the flame graph: the selected frame and its path, search matches, frames too
 * narrow to draw, the legend, and which rows are visible. */
void flame_draw_below(const struct flame_model *m, const struct flame_look *look, const struct app *a,
                      struct area area, int selected);

#endif
