// SPDX-License-Identifier: GPL-2.0-or-later
/* The app: what all views share, and what handlers may ask of the loop. Handlers never draw: they change state
 * and return flags. Only the loop (app.c) draws and queries. */
#ifndef FLAMETOP_UI_APP_H
#define FLAMETOP_UI_APP_H

#include <stdbool.h>
#include <stdint.h>

#include "session/session.h"
#include "ui/action.h"
#include "ui/difference.h"
#include "ui/draw.h"
#include "ui/job.h"
#include "ui/range.h"
#include "ui/steps.h"
#include "ui/strip.h"
#include "ui/ui.h"

enum app_flags {
    APP_IGNORED = 0,
    APP_HANDLED = 1, /* nothing changed */
    APP_REDRAW = 2,  /* draw again */
    APP_QUERY = 4,   /* the question changed: ask the session, update the view, draw */
    APP_QUIT = 8,
};

#define APP_VIEWS_MAX 12
struct view_ops;
struct dialog;

/* Sets what is known of a function. */
void ui_selection_of(struct ui_selection *out, const struct view_function *f);

struct app {
    struct session *session;
    const struct ui_config *cfg;
    struct keymap *keymap;
    struct theme theme;

    struct view_query query;       /* what is asked, for all views */
    struct view answer;            /* what came back; names are valid until the next one */
    struct view whole;             /* of the same question without zooms and filter, where there are any */
    struct session_status status;  /* of the last tick */
    struct difference *difference; /* what the answer is compared with; NULL: nothing */
    double delay_s;

    const struct view_ops *const *views; /* in the order of their numbers */
    void *states[APP_VIEWS_MAX];         /* made when first shown */
    uint32_t n_views, view;

    struct strip strip;
    struct session_times *times; /* of the answer's question over all of the time; NULL: nobody shows it */

    char search[128];        /* what is lit up; "" : nothing */
    uint32_t columns_hidden; /* bit per column of columns.def */

    struct dialog *dialog; /* on top; they stack */
    struct app_press {
        int what, row, col; /* enum of struct app_place; 0: none */
    } press;                /* of the mouse, until it is let go */
    char message[512];
    bool message_is_error;
    uint64_t message_until_ns;
    /* the loop's own */
    struct dialog *closed;       /* to be freed when the key is done */
    struct ui_selection pending; /* for the view that was just switched to, after its update */
    bool pending_select, pending_drill;
    struct steps steps;     /* that Esc takes back */
    struct step typed_from; /* the state when a line was begun to be typed */
    bool restores;          /* after the next answer the cursor goes to ... */
    struct view_position restore;
    uint32_t
        question; /* changes with the query, the event and the scope; views that note it see a new question */
    struct {
        struct view_query query;
        uint32_t event_index;
    } asked;              /* when it changed last */
    uint32_t ended_ticks; /* since what is sampled was gone */
    uint32_t said_number; /* of the last answer of the session that was shown */
    bool stopped_reading;
    bool range_taken;       /* that of the configuration */
    bool held;              /* frozen for that, not by a key */
    char typed_before[128]; /* what Esc goes back to, from a line that is typed */
    char output_path[256];
    struct {
        char events[512];
        struct session_sampling choices[3];
    } offer;                            /* of offer.c: while a person is asked */
    const struct ui_exporter *exporter; /* what goes there; NULL: perf.data */
    struct job job;
    int exit_code;
};

/* The line at the bottom, for some seconds or until the next key. Cleaned here. */
unsigned app_message(struct app *a, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
unsigned app_error(struct app *a, const struct error *e);

/* Shows view `index`, with the selection of the present one if a person chose it; drill: it was opened for this selection (Enter). */
unsigned app_show_view(struct app *a, uint32_t index, bool drill);
/* Opens the annotation of the function under the cursor or, where that has no code, the call graph of its callers. */
unsigned app_annotate(struct app *a);
unsigned app_show_view_named(struct app *a, const char *name, bool drill);
unsigned app_zoom(struct app *a, const struct zoom *z); /* adds one; a message when there are too many */
unsigned app_group_by(struct app *a, enum view_group group);
/* Looks for the next (1), previous (-1) or present-or-next (0) match of app->search in the view. */
unsigned app_search(struct app *a, int step);
/* Of a file that is still being read: what has come is enough. False: none is, or that was said before. */
bool app_stop_reading(struct app *a);
unsigned app_act(struct app *a, enum action action); /* what a global action does */
/* Switches scope; says so, or why not. The scope is copied. */
unsigned app_set_scope(struct app *a, const struct scope *scope);
unsigned app_show_event(struct app *a, uint32_t event); /* by its number in session_chosen */
/* Share of all in percent. */
double app_percent(const struct app *a, uint64_t weight);
/* Style of a share (STYLE_HIGH …) and of a function's name by its class. */
enum style app_share_style(double percent);
enum style app_class_style(enum symbol_class c);

#endif
