// SPDX-License-Identifier: GPL-2.0-or-later
/* Flame layout: boxes of a (sorted) call tree on a grid of character cells. */
#ifndef FLAMETOP_PROFILE_FLAME_H
#define FLAMETOP_PROFILE_FLAME_H

#include "profile/calltree.h"

struct flame_box {
    uint32_t node;
    uint32_t x, width; /* cells */
    uint32_t row;      /* the node's depth: the root has row 0 */
    uint8_t ancestor;  /* above the zoom: full width, drawn dimmed */
};

struct flame {
    struct flame_box *boxes; /* by row, then x */
    uint32_t n;
    size_t cap;
    uint32_t rows;
    uint64_t hidden_weight; /* of boxes too small for a cell, without what is below them */
    struct flame_scratch *scratch;
};

/* Lays out the subtree of `zoom` (0: all) over `columns` cells, with zoom's ancestors above it at full
 * width. A box's cells are dealt out to its children and its self weight in proportion: whole cells first,
 * then the cells that are left by largest remainder (Hamilton's method). So boxes of a row never overlap,
 * children stay within their parent from its left edge on, in the order of the tree, and who gets no cell is
 * left out with all below. f is zero-initialised at first; its memory is reused. */
void flame_layout(struct flame *f, const struct calltree *t, uint32_t zoom, uint32_t columns);
/* The box at a cell, or of a node; -1: none. */
int flame_box_at(const struct flame *f, uint32_t row, uint32_t x);
int flame_box_of(const struct flame *f, uint32_t node);
void flame_done(struct flame *f);

#endif
