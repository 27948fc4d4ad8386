// SPDX-License-Identifier: GPL-2.0-or-later
/* Drawing into a rectangle of the screen, clipped to it. */
#ifndef FLAMETOP_UI_DRAW_H
#define FLAMETOP_UI_DRAW_H

#include <stdbool.h>

#include "ui/term.h"

struct area {
    int y, x, rows, cols;
};

struct area area_screen(void);
/* clipped to a; negative rows/cols: to the edge */
struct area area_sub(struct area a, int row, int col, int rows, int cols);
struct area area_center(struct area a, int rows, int cols); /* for dialogs; clipped */
/* Draws text at a row and column of the area. Returns the columns drawn. */
int draw_text(struct area a, int row, int col, enum style style, const char *text);
int draw_printf(struct area a, int row, int col, enum style style, const char *fmt, ...)
    __attribute__((format(printf, 5, 6)));
/* Draws at most cols columns. Longer text is shortened with "..", in the middle or at the end; shorter
 * text is not padded. */
int draw_elided(struct area a, int row, int col, int cols, enum style style, const char *text, bool middle);
/* right-aligned */
int draw_right(struct area a, int row, int col, int cols, enum style style, const char *text);
/* A line of right-aligned columns, from left to right: each is drawn at x, and moves it behind a blank. */
struct draw_line {
    struct area area;
    int y, x;
    enum style style;
};
void draw_column(struct draw_line *line, int cols, const char *text);
/* Draws text with each match of `needle` (ignoring ASCII case) in STYLE_MATCH. needle "" or NULL: none. */
int draw_match(struct area a, int row, int col, int cols, enum style style, const char *text,
               const char *needle);
/* The same for a function name: if room is short, its arguments and scopes are dropped first. */
int draw_function(struct area a, int row, int col, int cols, enum style style, const char *name,
                  const char *needle);
/* Draws a cell whose left and right half have the backgrounds of two styles (term_halves). */
void draw_half(struct area a, int row, int col, enum style left, enum style right);
/* Fills with blanks; cols < 0: to the edge. */
void draw_fill(struct area a, int row, int col, int cols, enum style style);
void draw_restyle(struct area a, int row, enum style style); /* Restyles the whole row: the cursor. */
void draw_clear(struct area a, enum style style);
/* Draws a border with a title. Returns the area inside. */
struct area draw_box(struct area a, const char *title);
/* Draws text with wrapped words from `row` on. Returns the rows needed, even those beyond the area. */
int draw_wrapped(struct area a, int row, enum style style, const char *text);

#endif
