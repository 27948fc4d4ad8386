// SPDX-License-Identifier: GPL-2.0-or-later
/* A cell of a heat map. */
#ifndef FLAMETOP_UI_HEAT_CELL_H
#define FLAMETOP_UI_HEAT_CELL_H

#include "ui/app.h"

/* Draws a cell for a number of samples: as a colour, or as a mark if the theme has no colours or `marked`
 * is set. width: in screen cells. */
void heat_cell_draw(const struct app *a, struct area area, int row, int col, int width, uint32_t samples,
                    uint32_t max, bool marked);

#endif
