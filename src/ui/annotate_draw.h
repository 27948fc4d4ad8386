// SPDX-License-Identifier: GPL-2.0-or-later
/* Drawing of the annotate view. Private to the view. */
#ifndef FLAMETOP_UI_ANNOTATE_DRAW_H
#define FLAMETOP_UI_ANNOTATE_DRAW_H

#include "session/annotate.h"
#include "ui/app.h"
#include "ui/arrows.h"
#include "ui/list.h"

#define ANNOTATE_BACK_MAX 32
struct annotate_view {
    struct annotation an;
    /* the opened function; an inlined one has its code in another function */
    struct ui_selection asked;
    struct arrows arrows;
    struct list list;
    struct annotate_back { /* functions to go back to, after calls were followed */
        struct annotate_location location;
        uint64_t offset;
    } back[ANNOTATE_BACK_MAX];
    uint32_t n_back;
    uint32_t rank;                    /* of the instruction last jumped to by its samples */
    uint64_t wanted;                  /* offset to jump to */
    bool wants_offset, wants_hottest; /* jump as soon as the code is read */
    bool no_source, intel, of_all;
    int columns;  /* 0: offsets in the function; 1: addresses; 2: addresses and bytes */
    int body_row; /* first row of the code, in the area */
    char skid[200];
};
void annotate_draw(void *view, struct app *a, struct area area);
/* Writes a row's text without its numbers. */
void annotate_row_text(const struct annotate_view *v, struct app *a, const struct annotate_row *r, char *dst,
                       size_t cap);

#endif
