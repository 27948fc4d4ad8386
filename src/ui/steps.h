// SPDX-License-Identifier: GPL-2.0-or-later
/* The undo stack of Esc: views, zooms, groupings, ranges, filters and searches, newest last. */
#ifndef FLAMETOP_UI_STEPS_H
#define FLAMETOP_UI_STEPS_H

#include "session/view.h"
#include "ui/position.h"

#define STEPS_MAX 32 /* one more drops the oldest */

struct app;
enum step_kind {
    STEP_VIEW,   /* another view was shown */
    STEP_OPEN,   /* another view was opened for the row under the cursor */
    STEP_ZOOM,   /* the samples were narrowed to a process, a module, ... */
    STEP_GROUP,  /* the grouping was changed */
    STEP_RANGE,  /* the range of time, or of durations, was changed */
    STEP_FILTER, /* the filter was changed */
    STEP_SEARCH, /* a search was typed */
    STEP_STRIP,  /* the time strip was opened */
    STEP_INSIDE, /* a view's own zoom: a frame of the flame graph, a callee in an annotation */
};
struct step { /* the state before the step */
    enum step_kind kind;
    uint32_t view;
    struct view_query query;
    struct view_position position; /* in that view */
};
struct steps { /* zero-initialised: empty */
    struct step list[STEPS_MAX];
    uint32_t n;
};

/* Saves the present state before a step of this kind. Consecutive groupings count as one step, and so do
 * consecutive views. */
void steps_push(struct app *a, enum step_kind kind);
/* The same in two parts, for a step that may be cancelled. */
void steps_note(struct app *a, enum step_kind kind, struct step *out);
void steps_push_noted(struct app *a, const struct step *step);
/* Undoes the newest step: view, query, cursor and scroll position. APP_IGNORED: there is none. */
unsigned steps_undo(struct app *a);
/* Undoes the newest zoom or range, but stays in this view. APP_IGNORED: there is none. */
unsigned steps_unzoom(struct app *a);
bool steps_newest_is(const struct app *a, enum step_kind kind);
void steps_forget_ranges(struct app *a);
/* Restores the cursor of the present view after the next result. */
unsigned steps_restore(struct app *a, const struct view_position *position);

#endif
