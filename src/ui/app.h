// SPDX-License-Identifier: GPL-2.0-or-later
/* The app: the state that all views share, and the calls that handlers may make.
 * Handlers never draw: they change state and return flags. Only the main loop (app.c) draws and queries. */
#ifndef FLAMETOP_UI_APP_H
#define FLAMETOP_UI_APP_H

#include <stdbool.h>
#include <stdint.h>

#include "session/session.h"
#include "ui/action.h"
#include "ui/difference.h"
#include "ui/draw.h"
#include "ui/progress_box.h"
#include "ui/range.h"
#include "ui/steps.h"
#include "ui/strip.h"
#include "ui/ui.h"

enum app_flags {
    APP_IGNORED = 0,
    APP_HANDLED = 1, /* nothing changed */
    APP_REDRAW = 2,  /* draw again */
    APP_QUERY = 4,   /* the query changed: run it, update the view, draw */
    APP_QUIT = 8,
};

enum app_view {
#define VIEW(number, id, ...) APP_VIEW_##id,
#include "ui/actions.def"
    APP_VIEWS
};
struct dialog;

/* Fills in a selection from a function of a result. */
void ui_selection_of(struct ui_selection *out, const struct view_function *f);

struct app {
    struct session *session;
    const struct ui_config *cfg;
    struct keymap *keymap;
    struct theme theme;

    struct view_query query;       /* the query of all views */
    struct view data;              /* its result; names are valid until the next result */
    struct view whole;             /* result without zooms and filter, if the query has any */
    struct session_status status;  /* as of the last tick */
    struct difference *difference; /* what the result is compared with; NULL: nothing */
    double delay_s;

    const struct view_ops *const *ops; /* of each view */
    void *states[APP_VIEWS];           /* likewise; created when first shown */
    uint32_t view;                     /* enum app_view */

    struct strip strip;
    struct session_times *times; /* samples over all time, for the same query; NULL: not shown */

    char search[128];        /* highlighted text; "": none */
    uint32_t columns_hidden; /* one bit per column of columns.def */

    struct dialog *dialog; /* topmost; dialogs stack */
    struct app_press {
        int what, row, col; /* enum of struct app_place; 0: none */
    } press;                /* mouse button that is down */
    char message[512];
    bool message_is_error;
    uint64_t message_until_ns;
    /* private to the main loop */
    struct dialog *closed;       /* freed after the key was handled */
    struct ui_selection pending; /* for the view just switched to, applied after its update */
    bool pending_select, pending_drill;
    struct steps steps;     /* undone by Esc */
    struct step typed_from; /* state when typing began */
    bool restores;          /* the next result moves the cursor to `restore` */
    struct view_position restore;
    /* changes with query, event and scope; a view that saw another number has a new query */
    uint32_t query_serial;
    bool view_goes_on; /* update left work: view_ops.go_on does it between two keys */
    struct {
        struct view_query query;
        uint32_t event_index;
    } asked;              /* at the last change */
    uint32_t ended_ticks; /* ticks since the sampled processes ended */
    uint32_t said_number; /* number of the last session result shown */
    bool stopped_reading;
    bool range_taken;       /* the configured range was applied */
    bool held;              /* frozen because the sampled processes ended */
    char typed_before[128]; /* restored when typing is cancelled with Esc */
    char output_path[256];
    struct {
        char events[512];
        struct session_sampling choices[3];
    } offer;                         /* offer.c: while its dialog is open */
    bool saves;                      /* the menu of w, not of E, chose the exporter */
    const struct exporter *exporter; /* format of output_path */
    struct job job;
    int exit_code;
};

/* Shows a message in the bottom line, for some seconds or until the next key. Cleans the text. */
unsigned app_message(struct app *a, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
unsigned app_error(struct app *a, const struct error *e);

/* Shows a view and keeps the selection if the user made one. drill: opened for this selection
 * (Enter). */
unsigned app_show_view(struct app *a, uint32_t view, bool drill);
/* Annotates the function under the cursor; if it has no code, shows the call graph of its callers. */
unsigned app_annotate(struct app *a);
/* Adds a zoom, or shows a message when there are too many. */
unsigned app_zoom(struct app *a, const struct zoom *z);
unsigned app_group_by(struct app *a, enum view_group group);
/* Moves to the next (1), previous (-1) or present-or-next (0) match of app->search in the view. */
unsigned app_search(struct app *a, int step);
/* Stops reading a recording and keeps what was read. Returns false if none is being read, or it was
 * stopped before. */
bool app_stop_reading(struct app *a);
/* Returns the row under the cursor of the present view; 0 and "" if there is none. */
struct ui_selection app_selection(struct app *a);
unsigned app_act(struct app *a, enum action action); /* Runs a global action. */
/* Switches to the present scope as changed by `set` and a text, and shows a message either way. CPUs, modes
 * and the like stay. */
unsigned app_change_scope(struct app *a, bool (*set)(struct scope *s, const char *text, struct error *e),
                          const char *text);
unsigned app_show_event(struct app *a, uint32_t event); /* event: its number in session_chosen */
/* Returns a weight in percent of the total. */
double app_percent(const struct app *a, uint64_t weight);
/* Style of a share (STYLE_HIGH …), and of a function name by its class. */
enum style app_share_style(double percent);
enum style app_class_style(enum symbol_class c);

#endif
