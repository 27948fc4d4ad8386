// SPDX-License-Identifier: GPL-2.0-or-later
/* The callers of one function beside the functions table, on wide screens. */
#ifndef FLAMETOP_UI_CALLERS_PANE_H
#define FLAMETOP_UI_CALLERS_PANE_H

#include "ui/app.h"
#include "ui/callgraph.h"
#include "ui/draw.h"

struct callers_pane { /* zero-initialised: of no function */
    struct callgraph graph;
    struct tree tree;
    uint64_t func_key; /* of the function that the tree is of */
    bool stale;        /* the answer is new since */
};
void callers_pane_update(struct callers_pane *p); /* the answer is new */
/* Draws who calls the function (0: of no function: only the title), and who calls those, down to a
 * twentieth of its samples. */
void callers_pane_draw(struct callers_pane *p, const struct app *a, uint32_t func, struct area area);
void callers_pane_done(struct callers_pane *p);

#endif
