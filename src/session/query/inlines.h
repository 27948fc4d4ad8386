// SPDX-License-Identifier: GPL-2.0-or-later
/* Inlined functions as frames of a view. Private to src/session/query. */
#ifndef FLAMETOP_SESSION_QUERY_INLINES_H
#define FLAMETOP_SESSION_QUERY_INLINES_H

#include "profile/expand_inlines.h"
#include "session/session_state.h"

struct inlines { /* zero-initialised at first */
    struct expanded expanded;
    struct result original;  /* the view's result, while the expanded one replaces it */
    uint32_t *original_func; /* its frame_func */
    bool replaced, was_replaced;
    BUFFER(uint32_t) frame_func; /* function per expanded frame, for the first n_numbered frames */
    uint32_t n_numbered;
    bool renamed; /* some numbered frames may have other functions now */
    /* Frames to try again: too few samples for a lookup so far, or nothing known yet. */
    VEC(uint32_t) later;
    uint32_t generation; /* the symbolizer's, at the last attempt */
    /* by function: samples with it on their stacks; scratch */
    BUFFER(uint64_t) samples, node_samples;
    uint32_t n_samples, results; /* results since samples was counted */
    uint64_t all, looked_at;     /* samples of the result, at the last count and at the last look */
    uint64_t reply;              /* version of the last result; 0: none to continue */
};

typedef struct module *inlines_module_fn(const struct view *v, uint32_t frame);
/* Number of the inlined function `sym` inside the real frame `real`. */
typedef uint32_t inlines_number_fn(struct view *v, uint32_t real, const struct symbol *sym);

/* Replaces the view's trie with the expanded one and its functions; inlines_filter then adds the entries.
 * Looks up only frames of the result, in the background; hot_only: only those that can be seen. False:
 * nothing is inlined, and nothing was changed. */
bool inlines_expand(struct inlines *in, struct session *s, struct view *v, bool hot_only,
                    inlines_module_fn *module_of, inlines_number_fn *number_of);
/* Node in the view's current result of a stack of the history. */
uint32_t inlines_node(const struct inlines *in, const struct view *v, uint32_t stack);
void inlines_restore(struct inlines *in, struct view *v); /* before the query runs again */
/* result_filter for the expanded result. drop: by entry of the original. Call once after each query,
 * expanded or not. */
void inlines_filter(struct inlines *in, struct view *v, const uint8_t *drop);
/* function numbers changed, or more frames are known */
void inlines_forget(struct inlines *in);
/* frames have other functions; existing functions keep their numbers */
void inlines_renamed(struct inlines *in);
void inlines_done(struct inlines *in);

#endif
