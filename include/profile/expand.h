// SPDX-License-Identifier: GPL-2.0-or-later
/* Frames that stand for several functions: code into which others were inlined. Such a frame of a result becomes a
 * frame of the function that holds all and, below it, one of each that was inlined there. Weights stay. */
#ifndef FLAMETOP_PROFILE_EXPAND_H
#define FLAMETOP_PROFILE_EXPAND_H

#include "profile/query.h"

#define EXPAND_NODES_MAX (1u << 24) /* of the new trie: frames that would go beyond stay as they are */

struct expanded {         /* zero-initialised at first; its memory is reused */
    struct result result; /* for whatever takes a result, but result_done and query_run */
    /* Frames below `n_real` are those of the result that was expanded, with their numbers. Of the others, frame f is
     * the inlined[f - n_real]th function (1: the one called by the holder) inside the frame real[f - n_real]; module
     * and offset are that frame's. */
    uint32_t n_real;
    uint32_t *real, *inlined;
    uint32_t *first;     /* private: frame → number of its outermost inlined one */
    uint32_t *last_node; /* of the original node: the node of its innermost function */
    size_t real_cap, inlined_cap, first_cap, last_cap, parent_cap, frame_cap, module_cap, offset_cap,
        entries_cap;
};

/* inlined: how many functions are inlined at one of r's frames (1 … r->n_frames - 1). It is asked once for each, in
 * order. False: none at any; x is an equal copy then. */
bool expand_result(struct expanded *x, const struct result *r, uint32_t (*inlined)(void *ctx, uint32_t frame),
                   void *ctx);
void expanded_done(struct expanded *x);

#endif
