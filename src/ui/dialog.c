// SPDX-License-Identifier: GPL-2.0-or-later
#include "ui/dialog.h"

#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "ui/bar.h"
#include "ui/prompt.h"

void dialog_push(struct app *a, struct dialog *d)
{
    d->below = a->dialog;
    a->dialog = d;
}

void dialog_close(struct app *a, struct dialog *d)
{
    while (a->dialog) {
        struct dialog *top = a->dialog;
        a->dialog = top->below;
        top->below = a->closed;
        a->closed = top;
        if (top == d)
            return;
    }
}

/* --- input line --- */

struct ask {
    struct dialog dialog;
    struct dialog_prompt how;
    char label[64];
    struct prompt prompt;
};

/* Calls done. If it reports an error, opens the line again with the typed text, below the error. */
static unsigned accept(struct ask *ask, struct app *a)
{
    const struct dialog *below = ask->dialog.below;
    dialog_close(a, &ask->dialog);
    unsigned flags = ask->how.done(ask->how.ctx, a, ask->prompt.text);
    if (a->message[0] && a->message_is_error && a->dialog == below) {
        struct dialog_prompt again = ask->how;
        again.label = ask->label;
        again.initial = "";
        (void)dialog_ask(a, &again);
        prompt_set(&((struct ask *)a->dialog)->prompt, ask->prompt.text);
    }
    return APP_REDRAW | flags;
}

static unsigned ask_key(struct dialog *d, struct app *a, uint32_t key)
{
    struct ask *ask = (struct ask *)d;
    switch (prompt_key(&ask->prompt, key)) {
    case PROMPT_ACCEPT:
        return accept(ask, a);
    case PROMPT_CANCEL:
        dialog_close(a, d);
        return APP_REDRAW | ask->how.done(ask->how.ctx, a, NULL);
    case PROMPT_CHANGED:
        return APP_REDRAW | (ask->how.changed ? ask->how.changed(ask->how.ctx, a, ask->prompt.text) : 0);
    case PROMPT_MOVED:
        return APP_REDRAW;
    default:
        return APP_HANDLED;
    }
}

/* Scrolls so that the cursor is visible when the text is longer than the line. */
static void ask_draw_bar(struct dialog *d, struct app *a, struct area bar)
{
    const struct ask *ask = (struct ask *)d;
    char before[sizeof ask->prompt.text];
    memcpy(before, ask->prompt.text, ask->prompt.at);
    before[ask->prompt.at] = '\0';
    draw_fill(bar, 0, 0, -1, STYLE_PROMPT);
    int label = draw_text(bar, 0, 0, STYLE_LABEL, ask->label), room = bar.cols - label - 1;
    const char *text = ask->prompt.text;
    int skip = text_width(before) - room;
    for (; skip > 0 && *text;
         skip = text_width(before) - room - text_width(ask->prompt.text) + text_width(text)) {
        uint32_t c;
        text += text_decode(text, strlen(text), &c);
    }
    draw_text(bar, 0, label, ask->prompt.selected ? STYLE_CURSOR : STYLE_PROMPT, text);
    int hidden = text_width(ask->prompt.text) - text_width(text);
    int end = label + text_width(text);
    if (a->message[0] && a->message_is_error && bar.y > 0)
        footer_draw(a, (struct area){ bar.y - 1, bar.x, bar.rows, bar.cols });
    else if (a->message[0])
        draw_elided(bar, 0, end + 2, bar.cols - end - 2, STYLE_DEGRADED, a->message, false);
    term_cursor(bar.y, bar.x + label + text_width(before) - hidden);
}

unsigned dialog_ask(struct app *a, const struct dialog_prompt *p)
{
    static const struct dialog_ops ops = { .key = ask_key, .takes_text = true, .draw_bar = ask_draw_bar };
    struct ask *ask = mem_zalloc(sizeof *ask);
    ask->dialog.ops = &ops;
    ask->how = *p;
    text_clean(ask->label, sizeof ask->label, p->label, strlen(p->label));
    prompt_propose(&ask->prompt, p->initial ? p->initial : "");
    dialog_push(a, &ask->dialog);
    return APP_REDRAW;
}

/* --- yes or no --- */

struct confirm {
    struct dialog dialog;
    char question[400];
    unsigned (*yes)(void *ctx, struct app *a);
    void *ctx;
};

static unsigned confirm_key(struct dialog *d, struct app *a, uint32_t key)
{
    struct confirm *c = (struct confirm *)d;
    bool yes = key == 'y' || key == 'Y',
         no = key == 'n' || key == 'N' || key == 'q' || key == TK_ESC || key == TK_ENTER;
    if (!yes && !no)
        return APP_HANDLED;
    dialog_close(a, d);
    return APP_REDRAW | (yes ? c->yes(c->ctx, a) : 0);
}

static void confirm_draw_bar(struct dialog *d, struct app *a, struct area bar)
{
    const struct confirm *c = (struct confirm *)d;
    (void)a;
    draw_fill(bar, 0, 0, -1, STYLE_MESSAGE);
    int used = draw_elided(bar, 0, 0, bar.cols - 8, STYLE_MESSAGE, c->question, true);
    draw_text(bar, 0, used + 1, STYLE_MESSAGE, "(y/N)");
}

unsigned dialog_confirm(struct app *a, const char *question, unsigned (*yes)(void *ctx, struct app *a),
                        void *ctx)
{
    static const struct dialog_ops ops = { .key = confirm_key, .draw_bar = confirm_draw_bar };
    struct confirm *c = mem_zalloc(sizeof *c);
    c->dialog.ops = &ops;
    text_clean(c->question, sizeof c->question, question, strlen(question));
    c->yes = yes;
    c->ctx = ctx;
    dialog_push(a, &c->dialog);
    return APP_REDRAW;
}
