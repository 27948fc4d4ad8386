// SPDX-License-Identifier: GPL-2.0-or-later
/* The pane with the callers of one function, right of the functions table on wide screens. */
#ifndef FLAMETOP_UI_CALLERS_PANE_H
#define FLAMETOP_UI_CALLERS_PANE_H

#include "ui/app.h"
#include "ui/callgraph.h"
#include "ui/draw.h"

struct callers_pane { /* zero-initialised: no function */
    struct callgraph graph;
    struct tree tree;
    uint64_t func_key; /* of the function shown */
    bool stale;        /* the result is newer than the tree */
};
void callers_pane_update(struct callers_pane *p); /* Marks the pane as stale. */
/* Draws the callers of a function, and theirs, down to 1/20 of its samples. func 0: only the title. */
void callers_pane_draw(struct callers_pane *p, const struct app *a, uint32_t func, struct area area);
void callers_pane_done(struct callers_pane *p);

#endif
