// SPDX-License-Identifier: GPL-2.0-or-later
/* Expands frames with inlined code into one frame per function.
 *
 * A frame becomes a frame of the containing function, with one frame per inlined function below it.
 * Weights stay the same. */
#ifndef FLAMETOP_PROFILE_EXPAND_INLINES_H
#define FLAMETOP_PROFILE_EXPAND_INLINES_H

#include "base/mem.h"
#include "profile/query.h"

#define EXPAND_NODES_MAX (1u << 24) /* of the new trie; frames beyond the limit are not expanded */

/* Zero-initialised at first; its memory is reused. */
struct expanded {
    /* Works as any result, except for result_done, result_filter and query_run. */
    struct result result;
    /* Frame f of the new result is frame real[f] of the original. If inlined[f] is not 0, it is the
     * inlined[f]th function inside it (1: called by the containing function). It has the same module and
     * offset. */
    BUFFER(uint32_t) real, inlined;
    BUFFER(uint32_t) last_node; /* per original node: the node of its innermost function */
    bool any;                   /* some frame has inlined functions */
    /* Private: */
    uint64_t version;              /* of the original's trie; 0: rebuild */
    uint64_t entries_version;      /* of the original that the entries are from; 0: none */
    BUFFER(uint32_t) first;        /* per original frame: its first frame number here */
    uint32_t n_real, n_real_nodes; /* expanded frames and nodes of the original */
    size_t parent_cap, frame_cap, module_cap, offset_cap, interrupted_cap, entries_cap, added_cap;
};

/* Builds the trie from r. If r continues the result of the previous call, only its new frames and nodes
 * are added. inlined: returns the number of functions inlined at a frame of r; called once per frame, in
 * order. New frames in x->result start at x->result.n_frames_before. Entries and sums need
 * expand_entries. */
void expand_trie(struct expanded *x, const struct result *r, uint32_t (*inlined)(void *ctx, uint32_t frame),
                 void *ctx);
/* Copies the entries and their deltas. Call it after result_filter. x->result.since is r's if x has the
 * entries of that version. */
void expand_entries(struct expanded *x, const struct result *r);
/* Returns true if expand_trie would only add what is new in r: frames and nodes keep their numbers. */
bool expand_goes_on(const struct expanded *x, const struct result *r);
/* Rebuilds at the next expand_trie: other functions are inlined at frames that exist already. */
void expand_anew(struct expanded *x);
void expanded_done(struct expanded *x);

#endif
