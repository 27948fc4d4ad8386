// SPDX-License-Identifier: GPL-2.0-or-later
/* What lies over a view and takes the keys: prompts, menus and pickers, help, setup, a question. Dialogs stack;
 * Esc closes the one on top. Made by the functions here and in picker.h, freed by the app. */
#ifndef FLAMETOP_UI_DIALOG_H
#define FLAMETOP_UI_DIALOG_H

#include "ui/app.h"

struct dialog;
struct dialog_ops {
    unsigned (*key)(struct dialog *d, struct app *a,
                    uint32_t key); /* app_flags; may call dialog_close(a, d) */
    void (*draw)(struct dialog *d, struct app *a,
                 struct area area); /* area: all between header and bottom bar */
    /* Once per redraw: refresh; may be NULL. True: there is something new to draw. */
    bool (*tick)(struct dialog *d, struct app *a);
    bool (*waits)(const struct dialog *d); /* something is on its way: tick comes often; may be NULL */
    /* Within the area of draw; may be NULL. */
    unsigned (*click)(struct dialog *d, struct app *a, int row, int col, bool twice);
    void (*draw_bar)(struct dialog *d, struct app *a, struct area bar); /* the bottom line */
    void (*destroy)(struct dialog *d);
    bool takes_text; /* what is pasted is typed into it */
};
struct dialog { /* first member of each kind */
    const struct dialog_ops *ops;
    struct dialog *below;
};
void dialog_push(struct app *a, struct dialog *d);
void dialog_close(struct app *a, struct dialog *d); /* and all above it; freed when the key is done */

/* A line to type at the bottom. done gets NULL when it was cancelled; where it leaves an error (app_error) the line stays.
 * changed may be NULL. ctx is not owned. */
struct dialog_prompt {
    const char *label; /* "search: " */
    const char *initial;
    unsigned (*changed)(void *ctx, struct app *a, const char *text);
    unsigned (*done)(void *ctx, struct app *a, const char *text);
    void *ctx;
};
unsigned dialog_ask(struct app *a, const struct dialog_prompt *p);
/* A question with yes and no. yes runs with ctx (not owned). */
unsigned dialog_confirm(struct app *a, const char *question, unsigned (*yes)(void *ctx, struct app *a),
                        void *ctx);
/* Lines in a box (copied), and a question whose first answer is yes. done runs when it closes, whatever was said; the
 * question is not copied. */
unsigned dialog_review(struct app *a, const char *title, const char *text, const char *question,
                       unsigned (*yes)(void *ctx, struct app *a), void (*done)(void *ctx), void *ctx);
unsigned dialog_help(struct app *a);
unsigned dialog_setup(struct app *a);

#endif
