// SPDX-License-Identifier: GPL-2.0-or-later
/* The model of the flame view: call tree, layout of frames, zoom and selection. Draws nothing.
 * Zoom and selection follow the path while numbers change. Frames keep their positions while the layout is
 * still true. */
#ifndef FLAMETOP_UI_FLAME_MODEL_H
#define FLAMETOP_UI_FLAME_MODEL_H

#include "base/mem.h"
#include "profile/flame.h"
#include "session/nametree.h"
#include "session/session.h"
#include "ui/difference.h"

struct flame_model {         /* zero-initialised: empty, zoomed out */
    const struct view *view; /* of the last update, borrowed */
    struct calltree tree;
    struct flame flame;
    uint64_t zoom_key, selected_key; /* path keys; 0: the root */
    uint32_t zoom, selected;         /* node numbers in the present tree */
    /* layout */
    uint32_t columns; /* times parts; 0: no layout */
    uint32_t parts;   /* per column */
    uint64_t laid_out_ns;
    struct view_query asked;
    BUFFER(uint64_t) box_key; /* path keys of its frames */
    /* search matches */
    uint32_t matched_frames;
    double matched_percent; /* share of all samples with a match */
    /* the baseline; NULL: none */
    const struct difference *difference;
    struct nametree baseline;       /* only its baseline side is filled in */
    uint64_t baseline_result;       /* number of the baseline result it was built from */
    uint32_t baseline_nodes;        /* number of its nodes */
    BUFFER(uint32_t) baseline_node; /* by node of the tree: the node in `baseline` */
    double largest;                 /* largest difference, in percentage points */
    /* scratch */
    BUFFER(uint64_t) func_key, group_key;
    BUFFER(uint32_t) func_rank, group_rank, order;
};
/* Updates the model with a new result of q. Keeps the layout if it is still true. */
void flame_model_update(struct flame_model *m, const struct view *v, const struct view_query *q,
                        const struct session_status *status);
/* Computes the layout, unless there is one of the same columns and parts. */
void flame_model_lay_out(struct flame_model *m, uint32_t columns, uint32_t parts, const struct view_query *q,
                         uint64_t now_ns);
void flame_model_zoom(struct flame_model *m, uint32_t node); /* Shows the subtree of this node. */
void flame_model_select(struct flame_model *m, uint32_t node);
/* Call after each update. NULL: no baseline. */
void flame_model_compare(struct flame_model *m, const struct difference *difference);
/* Computes a node's change from the baseline, in percentage points of all. Returns false without a
 * baseline. */
bool flame_model_change(const struct flame_model *m, uint32_t node, double *points);
void flame_model_done(struct flame_model *m);

const char *flame_model_name(const struct flame_model *m, uint32_t node); /* "all" for the root */
/* Returns the frame of a node: its own, or the rest of its siblings; -1: none. */
int flame_model_box_of(const struct flame_model *m, uint32_t node);

/* Matches names that contain `needle`, ignoring ASCII case; "" matches none. */
bool flame_model_matches(const struct flame_model *m, uint32_t node, const char *needle);
bool flame_model_box_matches(const struct flame_model *m, const struct flame_box *b, const char *needle);
void flame_model_count_matches(struct flame_model *m, const char *needle);

#endif
