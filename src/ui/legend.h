// SPDX-License-Identifier: GPL-2.0-or-later
/* The legend of the colours of function classes. */
#ifndef FLAMETOP_UI_LEGEND_H
#define FLAMETOP_UI_LEGEND_H

#include "session/view.h"
#include "ui/draw.h"

/* Draws the names of the classes that occur in v, right-aligned in the line from column `col` on. Draws
 * nothing if they do not all fit, or without colours. */
void legend_draw(struct area area, int row, int col, const struct view *v,
                 enum style (*style_of)(enum symbol_class class));

#endif
