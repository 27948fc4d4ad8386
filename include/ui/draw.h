// SPDX-License-Identifier: GPL-2.0-or-later
/* Drawing into a rectangle of the screen: whatever is asked, nothing leaves it. */
#ifndef FLAMETOP_UI_DRAW_H
#define FLAMETOP_UI_DRAW_H

#include <stdbool.h>

#include "ui/term.h"

struct area {
    int y, x, rows, cols;
};

struct area area_screen(void);
struct area area_sub(struct area a, int row, int col, int rows,
                     int cols); /* clipped to a; negative rows/cols: to the edge */
struct area area_center(struct area a, int rows, int cols); /* for dialogs; clipped */
/* Column, row within the area; returns the columns drawn. */
int draw_text(struct area a, int row, int col, enum style style, const char *text);
int draw_printf(struct area a, int row, int col, enum style style, const char *fmt, ...)
    __attribute__((format(printf, 5, 6)));
/* At most cols columns: longer text is shortened with "..", in the middle or at the end; shorter is not padded. */
int draw_elided(struct area a, int row, int col, int cols, enum style style, const char *text, bool middle);
int draw_right(struct area a, int row, int col, int cols, enum style style,
               const char *text); /* right-aligned */
/* The text with every match of `needle` (ASCII case folded) in STYLE_MATCH; needle "" or NULL: plain. */
int draw_match(struct area a, int row, int col, int cols, enum style style, const char *text,
               const char *needle);
/* The same of a function's name, of which the function itself stays where there is no room for arguments and scopes. */
int draw_function(struct area a, int row, int col, int cols, enum style style, const char *name,
                  const char *needle);
/* A cell whose left half has the background of one style, its right half that of another (term_halves). */
void draw_half(struct area a, int row, int col, enum style left, enum style right);
void draw_fill(struct area a, int row, int col, int cols,
               enum style style);                            /* blanks; cols < 0: to the edge */
void draw_restyle(struct area a, int row, enum style style); /* the whole row: the cursor */
void draw_clear(struct area a, enum style style);
/* Frame with a title; returns the area inside it. */
struct area draw_box(struct area a, const char *title);
/* Wraps words into the area from `row` on; returns the rows used (also beyond the area: then not drawn). */
int draw_wrapped(struct area a, int row, enum style style, const char *text);

#endif
