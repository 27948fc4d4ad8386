// SPDX-License-Identifier: GPL-2.0-or-later
/* Inlined functions as frames of a view. Private to src/session/view.c. */
#ifndef FLAMETOP_SESSION_INLINES_H
#define FLAMETOP_SESSION_INLINES_H

#include "profile/expand.h"
#include "session/state.h"

struct inlines { /* zero-initialised at first */
    struct expanded expanded;
    struct result original; /* while it is replaced in the view by what it was expanded to */
    bool replaced;
    uint8_t *counts; /* by frame of the original */
    size_t counts_cap;
    uint32_t n_frames; /* of which counts are known; 0: of none */
    bool any;          /* of them is not 0 */
};

typedef struct module *inlines_module_fn(const struct view *v, uint32_t frame);
/* Gives the frame, which stands for an inlined function inside the frame `real`, its function. */
typedef void inlines_number_fn(struct view *v, uint32_t frame, uint32_t real, const struct symbol *sym);

/* Puts the expanded answer in the view's place. False: nothing is inlined, nothing was changed. */
bool inlines_expand(struct inlines *in, struct session *s, struct view *v, inlines_module_fn *module_of,
                    inlines_number_fn *number_of);
/* The node of a stack of the history in the view's result as it is now. */
uint32_t inlines_node(const struct inlines *in, const struct view *v, uint32_t stack);
void inlines_restore(struct inlines *in, struct view *v); /* before the query runs again */
void inlines_filter(struct inlines *in, struct view *v, const uint8_t *drop); /* result_filter */
void inlines_forget(struct inlines *in); /* frames have other numbers, or more is known of them */
void inlines_done(struct inlines *in);

#endif
