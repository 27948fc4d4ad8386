// SPDX-License-Identifier: GPL-2.0-or-later
/* Rows of a call graph as text: tree lines, marks, chains of functions. */
#ifndef FLAMETOP_UI_CALLGRAPH_DRAW_H
#define FLAMETOP_UI_CALLGRAPH_DRAW_H

#include "ui/callgraph.h"
#include "ui/draw.h"

/* Draws one row on a line of the area. module: with the module behind the name, where it fits. */
void callgraph_draw_row(const struct callgraph *g, const struct tree_row *row, const char *search,
                        struct area area, int line, bool module);

#endif
