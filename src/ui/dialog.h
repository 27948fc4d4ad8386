// SPDX-License-Identifier: GPL-2.0-or-later
/* Dialogs over a view, which get the keys: prompts, menus, pickers, help, setup, confirmations.
 * Dialogs stack; Esc closes the topmost. They are created here and in picker.h; the app frees them. */
#ifndef FLAMETOP_UI_DIALOG_H
#define FLAMETOP_UI_DIALOG_H

#include "ui/app.h"

struct dialog;
struct dialog_ops {
    /* Returns app_flags; may call dialog_close(a, d). */
    unsigned (*key)(struct dialog *d, struct app *a, uint32_t key);
    /* area: from the header to the bottom bar */
    void (*draw)(struct dialog *d, struct app *a, struct area area);
    /* Refreshes, once per redraw; may be NULL. Returns true if there is something new to draw. */
    bool (*tick)(struct dialog *d, struct app *a);
    bool (*waits)(const struct dialog *d); /* Data is on its way: tick is called often; may be NULL. */
    /* Row and column in the area of draw; may be NULL. */
    unsigned (*click)(struct dialog *d, struct app *a, int row, int col, bool twice);
    void (*draw_bar)(struct dialog *d, struct app *a, struct area bar); /* draws the bottom line */
    void (*destroy)(struct dialog *d); /* Frees what the dialog owns; may be NULL. */
    bool takes_text;                   /* pasted text is typed into it */
};
struct dialog { /* first member of each dialog */
    const struct dialog_ops *ops;
    struct dialog *below;
};
void dialog_push(struct app *a, struct dialog *d);
/* Closes d and all dialogs above it; they are freed after the key was handled. */
void dialog_close(struct app *a, struct dialog *d);

/* A line of input at the bottom. done gets NULL on cancel; if it reports an error (app_error), the line
 * stays open. changed may be NULL. ctx is not owned. */
struct dialog_prompt {
    const char *label; /* "search: " */
    const char *initial;
    unsigned (*changed)(void *ctx, struct app *a, const char *text);
    unsigned (*done)(void *ctx, struct app *a, const char *text);
    void *ctx;
};
unsigned dialog_ask(struct app *a, const struct dialog_prompt *p);
/* Asks a yes/no question. `yes` runs with ctx (not owned). */
unsigned dialog_confirm(struct app *a, const char *question, unsigned (*yes)(void *ctx, struct app *a),
                        void *ctx);
/* Shows text (copied) with a question; Enter means yes. `done` runs when the dialog closes, after either
 * choice. The question is not copied. */
unsigned dialog_review(struct app *a, const char *title, const char *text, const char *question,
                       unsigned (*yes)(void *ctx, struct app *a), void (*done)(void *ctx), void *ctx);
unsigned dialog_help(struct app *a);
unsigned dialog_setup(struct app *a);
/* Threads now: asks, then shows the threads of the selected row's process; of the process that is zoomed into
 * or sampled; else of one that the user picks. */
unsigned threads_now(struct app *a);

#endif
