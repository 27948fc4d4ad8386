// SPDX-License-Identifier: GPL-2.0-or-later
/* What the flame view shows: the call tree of an answer, the boxes it is laid out in, the zoom and the selected box.
 * Zoom and selection hold by path while the numbers move, and boxes stay where they are as long as they tell the
 * truth. Draws nothing. */
#ifndef FLAMETOP_UI_FLAME_MODEL_H
#define FLAMETOP_UI_FLAME_MODEL_H

#include "profile/flame.h"
#include "session/nametree.h"
#include "session/session.h"
#include "ui/difference.h"

struct flame_model {         /* zero-initialised: nothing, zoomed out */
    const struct view *view; /* of the last update, borrowed */
    struct calltree tree;
    struct flame flame;
    uint64_t zoom_key, selected_key; /* 0: the root */
    uint32_t zoom, selected;         /* nodes of the tree as it is now */
    /* the layout */
    uint32_t columns; /* times parts; 0: to be made */
    uint32_t parts;   /* of a column */
    uint64_t laid_out_ns;
    struct view_query asked;
    uint64_t *box_key; /* path keys of its boxes */
    size_t box_key_cap;
    /* what matches the search */
    uint32_t matched_frames;
    double matched_percent; /* of all: the share that passes a match */
    /* what it is compared with; NULL: nothing */
    const struct difference *difference;
    struct nametree before; /* only that side is filled */
    uint64_t before_answer; /* the number of what it was made of … */
    uint32_t before_nodes;  /* … and how many nodes it had */
    uint32_t *before_node;  /* by node of the tree: where it is there */
    size_t before_node_cap;
    double largest; /* difference, in percentage points */
    /* scratch */
    uint64_t *func_key, *group_key;
    uint32_t *func_rank, *group_rank, *order;
    size_t func_key_cap, group_key_cap, func_rank_cap, group_rank_cap, order_cap;
};
/* The answer is new; q is what was asked. Keeps the layout if it still holds. */
void flame_model_update(struct flame_model *m, const struct view *v, const struct view_query *q,
                        const struct session_status *status);
/* Makes the layout, in parts of a column, if there is none of so many columns and parts. */
void flame_model_lay_out(struct flame_model *m, uint32_t columns, uint32_t parts, const struct view_query *q,
                         uint64_t now_ns);
void flame_model_zoom(struct flame_model *m, uint32_t node); /* shows the tree from this node on */
void flame_model_select(struct flame_model *m, uint32_t node);
/* After each update. NULL: with nothing. */
void flame_model_compare(struct flame_model *m, const struct difference *difference);
/* How many percentage points of all a node is more than before; false: there is nothing to compare with. */
bool flame_model_change(const struct flame_model *m, uint32_t node, double *points);
void flame_model_done(struct flame_model *m);

const char *flame_model_name(const struct flame_model *m, uint32_t node); /* "all" for the root */
/* The box that a node is in, its own or the rest of its siblings'; -1: none. */
int flame_model_box_of(const struct flame_model *m, uint32_t node);

/* A search for names with `needle`, ASCII case folded; "": none match. */
bool flame_model_matches(const struct flame_model *m, uint32_t node, const char *needle);
bool flame_model_box_matches(const struct flame_model *m, const struct flame_box *b, const char *needle);
void flame_model_count_matches(struct flame_model *m, const char *needle);

#endif
