// SPDX-License-Identifier: GPL-2.0-or-later
/* The legend of the colours that classes of functions have. */
#ifndef FLAMETOP_UI_LEGEND_H
#define FLAMETOP_UI_LEGEND_H

#include "session/view.h"
#include "ui/draw.h"

/* Draws the name of each class that has functions in the result of v, in its style, right-aligned in the
 * line from column `col` on; nothing where not all of them have room, or without colours. */
void legend_draw(struct area area, int row, int col, const struct view *v,
                 enum style (*style_of)(enum symbol_class class));

#endif
