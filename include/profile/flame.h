// SPDX-License-Identifier: GPL-2.0-or-later
/* Flame layout: boxes of a (sorted) call tree on a grid of character cells. */
#ifndef FLAMETOP_PROFILE_FLAME_H
#define FLAMETOP_PROFILE_FLAME_H

#include "profile/calltree.h"

struct flame_box {
    uint32_t node;     /* rest: the heaviest of those that share the box */
    uint32_t x, width; /* cells */
    uint32_t row;      /* the node's depth: the root has row 0 */
    uint8_t ancestor;  /* above the zoom: full width, drawn dimmed */
    uint8_t rest;      /* stands for the node and its lighter siblings (and equal ones behind it), as one */
};

struct flame {
    struct flame_box *boxes; /* by row, then x */
    uint32_t n;
    size_t cap;
    uint32_t rows;
    uint64_t rest_weight;   /* of all rest boxes; nothing stands below them */
    uint64_t hidden_weight; /* of those who got no cell and share none */
    struct flame_scratch *scratch;
};

/* Lays out the subtree of `zoom` (0: all) over `columns` cells, with zoom's ancestors above it at full
 * width. A box's cells are dealt out to its children and its self weight in proportion: whole cells first,
 * then the cells that are left by largest remainder (Hamilton's method). Children that get
 * no cell are added up, and their sum claims cells as one box, the rest, behind the others. So boxes of a row never
 * overlap, children stay within their parent from its left edge on, in the order of the tree, and what is left out,
 * with all below, is less than about a cell of each box. f is zero-initialised at first; its memory is reused. */
void flame_layout(struct flame *f, const struct calltree *t, uint32_t zoom, uint32_t columns);
/* What a rest box of this node stands for, by the numbers of t: its weight and samples, and how many they are. */
struct flame_rest {
    uint64_t weight;
    uint32_t count, nodes;
};
struct flame_rest flame_rest_of(const struct calltree *t, uint32_t node);
/* The box at a cell, or of a node; -1: none. */
int flame_box_at(const struct flame *f, uint32_t row, uint32_t x);
int flame_box_of(const struct flame *f, uint32_t node);
void flame_done(struct flame *f);

#endif
