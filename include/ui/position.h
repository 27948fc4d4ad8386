// SPDX-License-Identifier: GPL-2.0-or-later
/* What is under the cursor of a view, and where in the view the user is. */
#ifndef FLAMETOP_UI_POSITION_H
#define FLAMETOP_UI_POSITION_H

#include <stdbool.h>
#include <stdint.h>

/* What is under the cursor, so that Tab keeps it and zooms know what "this" is. Unknown: 0 or "". */
struct ui_selection {
    uint64_t func_key;
    char function[256];
    char module[128];
    uint32_t group;    /* group number in the answer; 0: none */
    bool is_group;     /* it is the group itself, no function in it */
    bool chosen;       /* a person put the cursor there */
    uint64_t path_key; /* call tree identity of the path (top-down), when it is a path */
};

/* Cursor, scroll and subject of a view. Each view fills in what it has; the rest is 0. */
struct view_position {
    uint64_t row_key;            /* of the row under the cursor */
    uint32_t cursor, top;        /* row numbers */
    bool moved;                  /* a person moved the cursor */
    uint32_t order, depth;       /* call graph: callees or callers; annotate: functions to go back to */
    uint64_t zoom_key;           /* flame: the box that has the whole width */
    struct ui_selection subject; /* function that the view shows */
};

#endif
