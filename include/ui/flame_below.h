// SPDX-License-Identifier: GPL-2.0-or-later
#ifndef FLAMETOP_UI_FLAME_BELOW_H
#define FLAMETOP_UI_FLAME_BELOW_H

#include "ui/flame_draw.h"

#define FLAME_LINES_BELOW 2

/* Draws the lines below the flame of that area: the selected box, where it belongs, matches of the search,
 * what is too narrow to be drawn, the legend, which rows are shown. */
void flame_draw_below(const struct flame_model *m, const struct flame_look *look, const struct app *a,
                      struct area area, int selected);

#endif
