// SPDX-License-Identifier: GPL-2.0-or-later
/* Lays out a flame chart: the stacks of a thread (or CPU) over time.
 *
 * Each column of time shows the stack with most of its time. Equal frames of neighbouring columns are
 * merged into one box. */
#ifndef FLAMETOP_PROFILE_CHART_H
#define FLAMETOP_PROFILE_CHART_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/mem.h"

#define CHART_DEPTH_MAX 512 /* rows; deeper frames are left out */

/* The time of a stack in a bucket. */
struct chart_piece {
    uint32_t bucket, node;
    uint64_t ns;
};
struct chart_box {
    uint32_t x, width; /* columns */
    uint32_t row;      /* the thread's root has row 0 */
    uint32_t func;
};
/* Zero-initialised at first; its memory is reused. */
struct chart {
    uint64_t from_ns, to_ns; /* as in struct timeline */
    uint64_t bucket_ns;
    uint64_t hold_ns; /* a sample covers the time since the previous one, at most this long */
    uint64_t last_ns, samples;
    VEC(struct chart_piece) pieces;
    bool unsorted;
    struct chart_box *boxes; /* by row, then x; from the last chart_lay_out */
    uint32_t n, rows;
    size_t cap;
    struct chart_scratch *scratch;
};
void chart_begin(struct chart *c, uint64_t from_ns, uint64_t to_ns, uint64_t bucket_ns, uint64_t hold_ns);
void chart_add(struct chart *c, uint64_t time_ns, uint32_t node); /* by time, nearly */

struct chart_trie { /* parents come first; node 0 is the empty stack */
    const uint32_t *parent, *frame;
    const uint32_t *frame_func; /* 0: the frame is left out */
    const uint32_t *node_of;    /* maps added node numbers to the nodes here; NULL: the same */
    uint32_t n_nodes;           /* of the trie with the added node numbers */
};
/* Lays out columns of `per` buckets each. In a column, the path continues at each frame with the callee
 * that has the most time, unless more time ended in the frame itself. Boxes of callees stay within their
 * caller's box. */
void chart_lay_out(struct chart *c, const struct chart_trie *trie, uint32_t per, uint32_t columns);
int chart_box_at(const struct chart *c, uint32_t row, uint32_t x); /* returns -1 if none */
void chart_done(struct chart *c);

#endif
