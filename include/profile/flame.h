// SPDX-License-Identifier: GPL-2.0-or-later
/* Lays out a flame graph: the boxes of a sorted call tree in a grid of character cells. */
#ifndef FLAMETOP_PROFILE_FLAME_H
#define FLAMETOP_PROFILE_FLAME_H

#include "profile/calltree.h"

struct flame_box {
    uint32_t node;     /* rest: the heaviest of the nodes that share the box */
    uint32_t x, width; /* cells */
    uint32_t row;      /* the node's depth: the root has row 0 */
    uint8_t ancestor;  /* above the zoom: full width, drawn dimmed */
    /* The box is shared by the node and its lighter siblings (and equal ones after it). */
    uint8_t rest;
};

struct flame {
    struct flame_box *boxes; /* by row, then x */
    uint32_t n;
    size_t cap;
    uint32_t rows;
    uint64_t rest_weight;   /* of all rest boxes; there are no boxes below them */
    uint64_t hidden_weight; /* of nodes with no cell and no share of a rest box */
    struct flame_scratch *scratch;
};

/* Lays out the subtree of `zoom` (0: all) over `columns` cells, with zoom's ancestors above it at full
 * width. f is zero-initialised at first; its memory is reused.
 *
 * A box's cells are divided among its children and its self weight in proportion: whole cells first,
 * then the remaining cells by largest remainder (Hamilton's method). Children without a cell are summed
 * up, and the sum competes for cells as one box, the rest, after the others. So boxes of a row never
 * overlap. Children are within their parent, from its left edge on, in the order of the tree. What is
 * left out below a box is less than about one cell. */
void flame_layout(struct flame *f, const struct calltree *t, uint32_t zoom, uint32_t columns);
/* Sums up the nodes that share the rest box of `node`: their weight, samples and number, from t. */
struct flame_rest {
    uint64_t weight;
    uint32_t count, nodes;
};
struct flame_rest flame_rest_of(const struct calltree *t, uint32_t node);
/* Return the box at a cell, or of a node; -1: none. */
int flame_box_at(const struct flame *f, uint32_t row, uint32_t x);
int flame_box_of(const struct flame *f, uint32_t node);
void flame_done(struct flame *f);

#endif
