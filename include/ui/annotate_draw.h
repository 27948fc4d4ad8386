// SPDX-License-Identifier: GPL-2.0-or-later
/* The annotate view, drawn. Private to the view. */
#ifndef FLAMETOP_UI_ANNOTATE_DRAW_H
#define FLAMETOP_UI_ANNOTATE_DRAW_H

#include "session/annotate.h"
#include "ui/app.h"
#include "ui/arrows.h"
#include "ui/list.h"

#define ANNOTATE_BACK_MAX 32
struct annotate_view {
    struct annotation an;
    struct ui_selection
        asked; /* what was opened: with what was inlined, which lies in the code of another function */
    struct arrows arrows;
    struct list list;
    struct annotate_back { /* functions whose calls were followed */
        struct annotate_place place;
        uint64_t offset;
    } back[ANNOTATE_BACK_MAX];
    uint32_t n_back;
    uint32_t rank;                    /* of the last that was gone to by its samples */
    uint64_t wanted;                  /* offset … */
    bool wants_offset, wants_hottest; /* … to go to as soon as it is there */
    bool no_source, intel, of_all;
    int columns;  /* 0: offsets in the function; 1: addresses; 2: and bytes */
    int body_row; /* of the area, of the first row */
    char skid[200];
};
void annotate_draw(void *view, struct app *a, struct area area);
/* What a row says, without its numbers. */
void annotate_row_text(const struct annotate_view *v, struct app *a, const struct annotate_row *r, char *dst,
                       size_t cap);

#endif
