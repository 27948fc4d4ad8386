// SPDX-License-Identifier: GPL-2.0-or-later
/* The steps that Esc takes back: one stack of views, zooms, groupings, ranges, filters and searches, newest last. */
#ifndef FLAMETOP_UI_STEPS_H
#define FLAMETOP_UI_STEPS_H

#include "session/view.h"
#include "ui/position.h"

#define STEPS_MAX 32 /* the oldest step is dropped for the next one */

struct app;
enum step_kind {
    STEP_VIEW,   /* another view was chosen */
    STEP_OPEN,   /* another view was opened for the row under the cursor */
    STEP_ZOOM,   /* the samples were narrowed to a process, a module, ... */
    STEP_GROUP,  /* the grouping was changed */
    STEP_RANGE,  /* the range of time was changed */
    STEP_FILTER, /* the filter was changed */
    STEP_SEARCH, /* a search was typed */
    STEP_STRIP,  /* the time strip was opened */
    STEP_INSIDE, /* a view's own zoom: the box of a flame graph, the callee in an annotation */
};
struct step { /* the state before the step */
    enum step_kind kind;
    uint32_t view;
    struct view_query query;
    struct view_position position; /* in that view */
};
struct steps { /* zero-initialised: none */
    struct step list[STEPS_MAX];
    uint32_t n;
};

/* Notes the present state, before a step of this kind is made. Groupings one after the other count as one step, as
 * do views that were chosen one after the other. */
void steps_push(struct app *a, enum step_kind kind);
/* The same in two parts, for a step that may be called off. */
void steps_note(struct app *a, enum step_kind kind, struct step *out);
void steps_push_noted(struct app *a, const struct step *step);
/* Takes the newest step back: view, query, cursor and scroll are as before it. APP_IGNORED: there is none. */
unsigned steps_undo(struct app *a);
/* Takes the newest zoom or range back, and stays in this view. APP_IGNORED: there is none. */
unsigned steps_unzoom(struct app *a);
bool steps_newest_is(const struct app *a, enum step_kind kind);
void steps_forget_ranges(struct app *a);
/* Puts the cursor of the view that is shown back, once the next answer is there. */
unsigned steps_restore(struct app *a, const struct view_position *position);

#endif
