// SPDX-License-Identifier: GPL-2.0-or-later
/* Arrows of the jumps within a function, in lanes left of its instructions. Draws nothing. */
#ifndef FLAMETOP_UI_ARROWS_H
#define FLAMETOP_UI_ARROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/mem.h"
#include "symbols/codeformat.h"

#define ARROWS_LANES 5
#define ARROWS_COLS  (ARROWS_LANES + 1) /* lanes and an arrow head */

struct arrow {
    uint32_t from, to; /* rows of the code */
    /* 0: next to the instructions; ARROWS_LANES: no room, drawn only under the cursor */
    uint8_t lane;
};
struct arrows { /* zero-initialised: no arrows */
    VEC(struct arrow);
    uint32_t lanes; /* in use */
};
/* Computes the arrows. Short jumps get the inner lanes. */
void arrows_make(struct arrows *a, const struct code_view *v);
void arrows_done(struct arrows *a);

/* Bits of one cell. */
enum { ARROW_UP = 1, ARROW_DOWN = 2, ARROW_LEFT = 4, ARROW_RIGHT = 8, ARROW_HEAD = 16, ARROW_HERE = 32 };
/* Fills in the cells left of a row. before: the row is a source line above instruction `row`. here: the
 * row under the cursor; its arrows get ARROW_HERE. Returns the number of cells: a->lanes + 1, or 0 without
 * arrows. */
int arrows_cells(const struct arrows *a, uint32_t row, bool before, uint32_t here,
                 uint8_t cells[ARROWS_COLS]);
const char *arrow_text(uint8_t cell, bool glyphs); /* Returns a cell's character (one column). */

#endif
