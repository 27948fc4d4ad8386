// SPDX-License-Identifier: GPL-2.0-or-later
/* The picture of a frame in memory, beside the one that was shown before: so that what is looked at once a second, and is
 * mostly the same, costs ncurses only what has changed. */
#ifndef FLAMETOP_UI_TERM_GRID_H
#define FLAMETOP_UI_TERM_GRID_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A cell is a character and, from this bit on, its style or paint (term_paint.h); the right half of a wide
 * one is 0. */
#define TERM_GRID_STYLE 21

struct term_grid { /* zero-initialised at first */
    int rows, cols;
    uint32_t *now, *shown; /* rows * cols cells each */
    bool whole;            /* nothing is known of what is shown */
};

static inline uint32_t term_grid_character(uint32_t cell)
{
    return cell & ((UINT32_C(1) << TERM_GRID_STYLE) - 1);
}

/* A frame of that size begins, of spaces in that style. */
void term_grid_begin(struct term_grid *g, int rows, int cols, unsigned style);
/* As term_text, term_fill and term_restyle. What is left of a wide character that is half drawn over is a space. */
int term_grid_text(struct term_grid *g, int y, int x, int cols, unsigned style, const char *text,
                   bool unicode);
void term_grid_fill(struct term_grid *g, int y, int x, int cols, unsigned style, char ch);
void term_grid_restyle(struct term_grid *g, int y, int x, int cols, unsigned style);
/* The cells of a row from *x on, *n of them, that differ from what is shown, which they are from now on; NULL: none do.
 * Wide characters are whole in it and in what it takes the place of. */
const uint32_t *term_grid_changed(struct term_grid *g, int y, int *x, int *n);
void term_grid_done(struct term_grid *g);

#endif
