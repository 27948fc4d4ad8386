// SPDX-License-Identifier: GPL-2.0-or-later
/* The interface of a view: its row in ui/actions.def, and the const struct view_ops that its file exports.
 * NULL functions do nothing. Views build what they show from app->data in update, and only there. */
#ifndef FLAMETOP_UI_VIEW_OPS_H
#define FLAMETOP_UI_VIEW_OPS_H

#include <stddef.h>

#include "ui/app.h"
#include "ui/list.h"

#define VIEW_WITHOUT 8

struct view_ops {
    const char *intro;                 /* first paragraph of its help */
    const char *manual;                /* its paragraph in the manual: mdoc */
    enum action without[VIEW_WITHOUT]; /* bottom-line keys that do nothing in this view; or ACTION_NONE */
    bool no_query;                     /* needs no result (counters): app->data is not refreshed for it */
    bool over_time;                    /* needs app->times */
    bool compares;                     /* shows app->difference */
    bool legend; /* colours function names by class: the line of tabs has a legend, if it fits */
    /* its description is essential (a scale): below 120 columns it replaces the titles of other tabs */
    bool explains;
    bool by_comm; /* group by comm and symbol instead of by symbol: trees start with a comm */

    size_t size;                            /* of its state: the v of all functions below, zeroed at first */
    void (*init)(void *v, struct app *a);   /* before it is first shown */
    void (*destroy)(void *v);               /* frees what the state owns */
    void (*hide)(void *v, struct app *a);   /* Another view is shown now: free what is expensive. */
    void (*update)(void *v, struct app *a); /* There is a new result: once per tick and after changes. */
    /* One step of the work that update left, if it set app->view_goes_on; sets it again if more is left. */
    void (*go_on)(void *v, struct app *a);
    void (*draw)(void *v, struct app *a, struct area area);
    /* Returns app_flags; APP_IGNORED: the app handles the action. */
    unsigned (*act)(void *v, struct app *a, enum action action);
    /* row, col: in the area of draw */
    unsigned (*click)(void *v, struct app *a, int row, int col, bool twice);
    /* The mouse was pressed at one cell and released at another, both in that area. */
    unsigned (*drag)(void *v, struct app *a, int row, int col, int to_row, int to_col);
    void (*selection)(void *v, struct app *a, struct ui_selection *out);
    /* A view that is one list: the app saves, restores and searches it. The three functions for that are then
     * NULL. */
    size_t list; /* offset of the list in the state */
    list_key_fn *row_key;
    list_match_fn *row_matches;
    /* Save and restore the position; restore is called after update, and the result's rows may have
     * changed. */
    void (*save)(void *v, struct app *a, struct view_position *out);
    void (*restore)(void *v, struct app *a, const struct view_position *position);
    /* called after update */
    unsigned (*select)(void *v, struct app *a, const struct ui_selection *sel, bool drill);
    /* step 0: app->search changed (search from the cursor on); 1 or -1: the next or previous match. */
    enum search_found (*search)(void *v, struct app *a, int step);
    /* Describes the view for the line of tabs: "by symbol, sorted by self". Short. */
    void (*describe)(void *v, struct app *a, char *dst, size_t cap);
};

static inline struct list *view_list(const struct view_ops *ops, void *v)
{
    return (struct list *)((char *)v + ops->list);
}

#define VIEW(number, id, name, ...) extern const struct view_ops view_##name##_ops;
#include "ui/actions.def"

struct view_row {
    const char *title;       /* on its tab: "Call graph" */
    const char *brief;       /* on its tab on narrow screens: "Calls" */
    uint32_t number;         /* on its tab */
    enum action shows;       /* the action that shows it */
    enum action_scope scope; /* of its own keys */
};
extern const struct view_row view_table[APP_VIEWS];
extern const char *const view_names[APP_VIEWS];              /* for --view: "functions" */
extern const struct view_ops *const app_view_ops[APP_VIEWS]; /* of app.c, which gives them to struct app */

/* The page that a view's tab and key show: of several, the present one; else latencies if the shown event has
 * them, else the log. */
uint32_t view_page(const struct app *a, uint32_t view);
/* Returns the view of a name, or the first one. */
enum app_view view_named(const char *name);

/* Returns whether the action is not in ops->without. */
bool view_offers(const struct view_ops *ops, enum action action);
/* Draws why there is nothing to show, and what to do: "no samples yet: …". */
void view_draw_empty(struct app *a, struct area area);

#endif
