// SPDX-License-Identifier: GPL-2.0-or-later
/* A flame chart: what one thread (or CPU) did over time. Columns of time stand next to each other, each with the stack
 * that most of its time went to, and equal frames of neighbours become one box. */
#ifndef FLAMETOP_PROFILE_CHART_H
#define FLAMETOP_PROFILE_CHART_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CHART_DEPTH_MAX 512 /* rows; what is deeper is left out */

struct chart_piece { /* time that a stack had in a bucket */
    uint32_t bucket, node;
    uint64_t ns;
};
struct chart_box {
    uint32_t x, width; /* columns */
    uint32_t row;      /* the thread's root has row 0 */
    uint32_t func;
};
struct chart {               /* zero-initialised at first; its memory is reused */
    uint64_t from_ns, to_ns; /* as in struct timeline */
    uint64_t bucket_ns;
    uint64_t hold_ns; /* a sample stands for the time since the one before, at most for so much */
    uint64_t last_ns, samples;
    struct chart_piece *pieces;
    size_t n_pieces, pieces_cap;
    bool unsorted;
    struct chart_box *boxes; /* by row, then x; of the last chart_lay_out */
    uint32_t n, rows;
    size_t cap;
    struct chart_scratch *scratch;
};
void chart_begin(struct chart *c, uint64_t from_ns, uint64_t to_ns, uint64_t bucket_ns, uint64_t hold_ns);
void chart_add(struct chart *c, uint64_t time_ns, uint32_t node); /* in order of time, nearly */

struct chart_trie { /* parents come first; node 0 is the empty stack */
    const uint32_t *parent, *frame;
    const uint32_t *frame_func; /* 0: the frame is left out */
    const uint32_t *node_of;    /* the nodes that were added are other ones here; NULL: the same */
    uint32_t n_nodes;           /* of the trie that they were added as */
};
/* Columns of `per` buckets each. Within a column, at each frame the function with the most time goes on, unless more of
 * it ended in the frame itself. Boxes of functions that call each other in one column stay within their callers'. */
void chart_lay_out(struct chart *c, const struct chart_trie *trie, uint32_t per, uint32_t columns);
int chart_box_at(const struct chart *c, uint32_t row, uint32_t x); /* -1: none */
void chart_done(struct chart *c);

#endif
