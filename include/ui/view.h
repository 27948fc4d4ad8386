// SPDX-License-Identifier: GPL-2.0-or-later
/* A view: one file that exports one const struct view_ops, and one row in views.c. An empty slot means: nothing
 * to do there. Views build what they show from app->answer in update, and only there. */
#ifndef FLAMETOP_UI_VIEW_H
#define FLAMETOP_UI_VIEW_H

#include <stddef.h>

#include "ui/app.h"

#define VIEW_WITHOUT 8

/* Went round: the match lies before the cursor when the next one was wanted, or behind it (or is the only one). */
enum search_found { SEARCH_NONE, SEARCH_FOUND, SEARCH_WENT_ROUND };

struct view_ops {
    const char *name;  /* --view NAME: "functions" */
    const char *title; /* on its tab: "Call graph" */
    const char *brief; /* on its tab where there is less room: "Calls"; NULL: the title */
    const char *intro; /* first paragraph of its help */
    uint32_t number;   /* the key that shows it */
    enum action_scope scope;
    enum action
        without[VIEW_WITHOUT]; /* of the bottom line's keys: those that do nothing here; or ACTION_NONE */
    bool no_query;             /* needs no answer (counters): app->answer is not refreshed for it */
    bool over_time;            /* it needs app->times */
    bool compares;             /* it shows app->difference */
    bool
        legend; /* names of functions have the colours of their classes: the line of tabs explains them where it has room */
    bool
        explains; /* what it describes is needed to read it (a scale): below 120 columns it has the room of the other tabs' titles */
    bool by_comm; /* where rows would be by symbol, it is asked by comm and symbol: trees start with a comm */

    void *(*create)(struct app *a);
    void (*destroy)(void *v);
    void (*hide)(void *v, struct app *a);   /* another view is shown now: let go of what costs */
    void (*update)(void *v, struct app *a); /* the answer is new, once per tick and after changes */
    void (*draw)(void *v, struct app *a, struct area area);
    unsigned (*act)(void *v, struct app *a, enum action action); /* app_flags; APP_IGNORED: the app's turn */
    unsigned (*click)(void *v, struct app *a, int row, int col, bool twice); /* within the area of draw */
    /* The mouse was pressed at one place and let go at another, both within that area. */
    unsigned (*drag)(void *v, struct app *a, int row, int col, int to_row, int to_col);
    void (*selection)(void *v, struct app *a, struct ui_selection *out);
    /* The position, and going back to it: after update, in an answer whose rows may be others by then. */
    void (*save)(void *v, struct app *a, struct view_position *out);
    void (*restore)(void *v, struct app *a, const struct view_position *position);
    unsigned (*select)(void *v, struct app *a, const struct ui_selection *sel, bool drill); /* after update */
    /* app->search changed (step 0: from the cursor on, while it is typed), or the next (1) or previous (-1) match
     * is wanted. */
    enum search_found (*search)(void *v, struct app *a, int step);
    /* For the line of tabs: "by symbol, sorted by self". Short. */
    void (*describe)(void *v, struct app *a, char *dst, size_t cap);
};

extern const struct view_ops view_functions_ops, view_callgraph_ops, view_flame_ops, view_counters_ops,
    view_doctor_ops, view_time_ops;
extern const struct view_ops view_annotate_ops;
extern const struct view_ops *const view_table[];
extern const uint32_t view_table_n;

/* Not one of those that the view is without. */
bool view_offers(const struct view_ops *ops, enum action action);
/* "no samples yet: …": why there is nothing to show, and what to do; draws it into the area. */
void view_draw_empty(struct app *a, struct area area);

#endif
