// SPDX-License-Identifier: GPL-2.0-or-later
/* A view's selection (the row under the cursor) and its position (cursor and scroll). */
#ifndef FLAMETOP_UI_POSITION_H
#define FLAMETOP_UI_POSITION_H

#include <stdbool.h>
#include <stdint.h>

/* The row under the cursor: Tab keeps it, and zooms use it. Unknown: 0 or "". */
struct ui_selection {
    uint64_t func_key;
    char function[256];
    char module[128];
    uint32_t group;    /* group number in the result; 0: none */
    bool is_group;     /* the group itself, without a function */
    uint32_t tid;      /* thread of a row of the time view; 0: none */
    bool chosen;       /* the user moved the cursor there */
    uint64_t path_key; /* path key in the call tree (top-down), if it is a path */
};

/* Cursor, scroll position and subject of a view. Each view sets what it has; the rest is 0. */
struct view_position {
    uint64_t row_key;            /* of the row under the cursor */
    uint32_t cursor, top;        /* row numbers */
    bool moved;                  /* the user moved the cursor */
    uint32_t order, depth;       /* call graph: callees or callers; annotate: functions to go back to */
    uint64_t zoom_key;           /* flame: the frame with the full width */
    struct ui_selection subject; /* function shown by the view */
};

#endif
