// SPDX-License-Identifier: GPL-2.0-or-later
/* A frame in memory, next to the one on the screen: only cells that differ are sent.
 * ncurses is expensive, and most of a screen is the same from one second to the next. */
#ifndef FLAMETOP_UI_TERM_GRID_H
#define FLAMETOP_UI_TERM_GRID_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A cell is a character and, from this bit on, its style or paint (term_paint.h). The right half of a wide
 * character is 0. */
#define TERM_GRID_STYLE 21

struct term_grid { /* zero-initialise before use */
    int rows, cols;
    uint32_t *now, *shown; /* rows * cols cells each */
    bool whole;            /* the contents of the screen are unknown */
};

static inline uint32_t term_grid_character(uint32_t cell)
{
    return cell & ((UINT32_C(1) << TERM_GRID_STYLE) - 1);
}

/* Starts a frame of that size, filled with spaces in that style. */
void term_grid_begin(struct term_grid *g, int rows, int cols, unsigned style);
/* As term_text, term_fill and term_restyle. The remaining half of a wide character that is half
 * overwritten becomes a space. */
int term_grid_text(struct term_grid *g, int y, int x, int cols, unsigned style, const char *text,
                   bool unicode);
void term_grid_fill(struct term_grid *g, int y, int x, int cols, unsigned style, char ch);
void term_grid_restyle(struct term_grid *g, int y, int x, int cols, unsigned style);
/* Returns the *n cells of a row from *x on that differ from the screen, and counts them as shown; NULL:
 * none differ. Wide characters are whole in the new and in the replaced cells. */
const uint32_t *term_grid_changed(struct term_grid *g, int y, int *x, int *n);
void term_grid_done(struct term_grid *g);

#endif
