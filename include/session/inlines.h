// SPDX-License-Identifier: GPL-2.0-or-later
/* Inlined functions as frames of a view. Private to src/session/view.c. */
#ifndef FLAMETOP_SESSION_INLINES_H
#define FLAMETOP_SESSION_INLINES_H

#include "profile/expand.h"
#include "session/state.h"

struct inlines { /* zero-initialised at first */
    struct expanded expanded;
    struct result original;  /* while it is replaced in the view by what it was expanded to */
    uint32_t *original_func; /* its frame_func */
    bool replaced, was_replaced;
    uint32_t *frame_func; /* of the expanded: of the first n_numbered frames */
    uint32_t n_numbered;
    bool renamed; /* … some of which may have other functions now */
    uint32_t *
        later; /* frames whose functions have too few samples to ask for them, or of which nothing is known yet */
    uint32_t n_later, generation;     /* the symbolizer's, when they were looked at last */
    uint64_t *samples, *node_samples; /* by function, of those that it is on the stack of; scratch */
    uint32_t n_samples, answers;      /* … since that was counted */
    uint64_t all, looked_at;          /* samples, then */
    uint64_t answer;                  /* version of the last; 0: none that goes on */
    size_t frame_func_cap, later_cap, samples_cap, node_samples_cap;
};

typedef struct module *inlines_module_fn(const struct view *v, uint32_t frame);
/* The function of what is called like that inside the real frame `real`. */
typedef uint32_t inlines_number_fn(struct view *v, uint32_t real, const struct symbol *sym);

/* Puts the expanded trie and its functions in the view's place, for inlines_filter to add the entries. False: nothing
 * is inlined, nothing was changed. Only what is in the answer is asked for, in the background; hot_only: and of that
 * only what can be seen. */
bool inlines_expand(struct inlines *in, struct session *s, struct view *v, bool hot_only,
                    inlines_module_fn *module_of, inlines_number_fn *number_of);
/* The node of a stack of the history in the view's result as it is now. */
uint32_t inlines_node(const struct inlines *in, const struct view *v, uint32_t stack);
void inlines_restore(struct inlines *in, struct view *v); /* before the query runs again */
/* result_filter: drop is by entry of the original. Once after each query, expanded or not. */
void inlines_filter(struct inlines *in, struct view *v, const uint8_t *drop);
void inlines_forget(struct inlines *in); /* functions have other numbers, or more is known of frames */
void inlines_renamed(
    struct inlines *in); /* frames have other functions; those that there were keep their numbers */
void inlines_done(struct inlines *in);

#endif
