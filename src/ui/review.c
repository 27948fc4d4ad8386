// SPDX-License-Identifier: GPL-2.0-or-later
/* The dialog that shows the contents of a file before it is written, with a question. */
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "ui/dialog.h"
#include "ui/draw.h"

struct review {
    struct dialog dialog;
    char title[160];
    char *text;
    const char *question;
    int top, page, lines;
    unsigned (*yes)(void *ctx, struct app *a);
    void (*done)(void *ctx);
    void *ctx;
};

static void scroll(struct review *r, int by)
{
    int last = r->lines > r->page ? r->lines - r->page : 0;
    r->top = r->top + by > last ? last : r->top + by;
    r->top = r->top < 0 ? 0 : r->top;
}

static unsigned review_key(struct dialog *d, struct app *a, uint32_t key)
{
    struct review *r = (struct review *)d;
    unsigned flags = APP_REDRAW;
    if (key == 'y' || key == 'Y' || key == TK_ENTER) {
        flags |= r->yes(r->ctx, a);
        dialog_close(a, d);
    } else if (key == 'n' || key == 'N' || key == 'q' || key == TK_ESC) {
        dialog_close(a, d);
        flags |= app_message(a, "nothing was written");
    } else if (key == TK_UP || key == TK_DOWN) {
        scroll(r, key == TK_UP ? -1 : 1);
    } else if (key == TK_PGUP || key == TK_PGDN) {
        scroll(r, key == TK_PGUP ? -r->page : r->page);
    }
    return flags;
}

static void review_draw(struct dialog *d, struct app *a, struct area area)
{
    struct review *r = (struct review *)d;
    (void)a;
    struct area in = draw_box(area, r->title);
    const char *line = r->text;
    r->page = in.rows > 0 ? in.rows : 1;
    scroll(r, 0);
    for (int n = 0; line && *line && n < r->top + in.rows; n++) {
        const char *end = strchr(line, '\n');
        size_t len = end ? (size_t)(end - line) : strlen(line);
        char text[256];
        text_clean(text, sizeof text, line, len);
        if (n >= r->top)
            draw_elided(in, n - r->top, 1, in.cols - 2, STYLE_NORMAL, text, false);
        line = end ? end + 1 : NULL;
    }
}

static void review_draw_bar(struct dialog *d, struct app *a, struct area bar)
{
    const struct review *r = (const struct review *)d;
    (void)a;
    draw_fill(bar, 0, 0, -1, STYLE_MESSAGE);
    int used = draw_elided(bar, 0, 0, bar.cols - 8, STYLE_MESSAGE, r->question, true);
    draw_text(bar, 0, used + 1, STYLE_MESSAGE, "(Y/n)");
}

static void review_destroy(struct dialog *d)
{
    struct review *r = (struct review *)d;
    r->done(r->ctx);
    mem_free(r->text);
}

unsigned dialog_review(struct app *a, const char *title, const char *text, const char *question,
                       unsigned (*yes)(void *ctx, struct app *a), void (*done)(void *ctx), void *ctx)
{
    static const struct dialog_ops ops = {
        .key = review_key, .draw = review_draw, .draw_bar = review_draw_bar, .destroy = review_destroy
    };
    struct review *r = mem_zalloc(sizeof *r);
    r->dialog.ops = &ops;
    text_clean(r->title, sizeof r->title, title, strlen(title));
    r->text = mem_strdup(text);
    for (const char *p = text; *p; p++)
        r->lines += *p == '\n';
    r->question = question;
    r->yes = yes;
    r->done = done;
    r->ctx = ctx;
    dialog_push(a, &r->dialog);
    return APP_REDRAW;
}
