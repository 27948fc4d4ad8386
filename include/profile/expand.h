// SPDX-License-Identifier: GPL-2.0-or-later
/* Frames that stand for several functions: code into which others were inlined. Such a frame of a result becomes a
 * frame of the function that holds all and, below it, one of each that was inlined there. Weights stay. */
#ifndef FLAMETOP_PROFILE_EXPAND_H
#define FLAMETOP_PROFILE_EXPAND_H

#include "profile/query.h"

#define EXPAND_NODES_MAX (1u << 24) /* of the new trie: frames that would go beyond stay as they are */

struct expanded {         /* zero-initialised at first; its memory is reused */
    struct result result; /* for whatever takes a result, but result_done, result_filter and query_run */
    /* Frame f of it is the real[f] of the result that was expanded and, if inlined[f] is not 0, the inlined[f]th
     * function (1: the one called by the holder) inside that; module and offset are that frame's. */
    uint32_t *real, *inlined;
    uint32_t *last_node; /* of the original node: the node of its innermost function */
    bool any;            /* there is a frame with something inlined */
    /* Private: */
    uint64_t version;              /* of the original's trie that it was made of; 0: make it anew */
    uint64_t entries_version;      /* of the original whose entries it has; 0: none */
    uint32_t *first;               /* of the original frame: its number here */
    uint32_t n_real, n_real_nodes; /* of the original that are here */
    size_t real_cap, inlined_cap, first_cap, last_cap, parent_cap, frame_cap, module_cap, offset_cap,
        interrupted_cap, entries_cap, added_cap;
};

/* Makes the trie: of all of r, or of what r has gained since the call before if that was with the run before. inlined:
 * how many functions are inlined at one of r's frames; each is asked for once, in order. What is new in
 * x->result is from x->result.n_frames_before on. Entries and sums come with expand_entries. */
void expand_trie(struct expanded *x, const struct result *r, uint32_t (*inlined)(void *ctx, uint32_t frame),
                 void *ctx);
/* Takes over the entries and what was added to them, after result_filter. x->result.since is r's if x was made of that
 * run, too. */
void expand_entries(struct expanded *x, const struct result *r);
/* expand_trie would only add what is new in r: frames and nodes keep their numbers. */
bool expand_goes_on(const struct expanded *x, const struct result *r);
void expand_anew(
    struct expanded *x); /* more or other functions are inlined at frames that were there before */
void expanded_done(struct expanded *x);

#endif
