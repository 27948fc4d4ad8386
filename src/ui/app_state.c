// SPDX-License-Identifier: GPL-2.0-or-later
/* App calls for handlers: messages, zooms, scope, views. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/text.h"
#include "ui/view_ops.h"

#define MESSAGE_NS (6 * NS_PER_SEC)

/* --- messages and the query --- */

static unsigned set_message(struct app *a, bool is_error, const char *text)
{
    text_clean(a->message, sizeof a->message, text, strlen(text));
    a->message_is_error = is_error;
    a->message_until_ns = clock_now_ns() + MESSAGE_NS * (is_error ? 2 : 1);
    return APP_REDRAW;
}

unsigned app_message(struct app *a, const char *fmt, ...)
{
    char text[sizeof a->message];
    va_list ap;
    va_start(ap, fmt);
    (void)vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    return set_message(a, false, text);
}

unsigned app_error(struct app *a, const struct error *e)
{
    return set_message(a, true, e->text);
}

unsigned app_zoom(struct app *a, const struct zoom *z)
{
    struct view_query *q = &a->query;
    if (q->n_zooms == VIEW_ZOOMS_MAX)
        return app_message(a, "no more than %d zooms: undo one first", VIEW_ZOOMS_MAX);
    for (uint32_t i = 0; i < q->n_zooms; i++)
        if (q->zooms[i].kind == z->kind && q->zooms[i].number == z->number &&
            strcmp(q->zooms[i].text, z->text) == 0)
            return app_message(a, "already zoomed into %s", z->text);
    steps_push(a, STEP_ZOOM);
    q->zooms[q->n_zooms++] = *z;
    return APP_QUERY;
}

unsigned app_group_by(struct app *a, enum view_group group)
{
    if (group == a->query.group)
        return APP_HANDLED;
    steps_push(a, STEP_GROUP);
    a->query.group = group;
    return APP_QUERY;
}

unsigned app_change_scope(struct app *a, bool (*set)(struct scope *s, const char *text, struct error *e),
                          const char *text)
{
    struct scope scope;
    struct error e = { 0 };
    char described[96];
    scope_init(&scope);
    (void)scope_copy(&scope, session_scope(a->session));
    bool ok = set(&scope, text, &e) && session_set_scope(a->session, &scope, &e);
    scope_describe(&scope, described, sizeof described);
    scope_done(&scope);
    if (!ok)
        return app_error(a, &e);
    a->query_serial++;
    return APP_QUERY | app_message(a, "sampling %s", described);
}

unsigned app_show_event(struct app *a, uint32_t event)
{
    struct error e = { 0 };
    if (!session_show_event(a->session, event, &e))
        return app_error(a, &e);
    session_get_status(a->session, &a->status);
    return APP_QUERY | app_message(a, "event %s", a->status.event);
}

double app_percent(const struct app *a, uint64_t weight)
{
    uint64_t all = a->data.result.weight;
    return all ? 100.0 * (double)weight / (double)all : 0;
}

enum style app_share_style(double percent)
{
    return percent >= 5 ? STYLE_HIGH : percent >= 0.5 ? STYLE_MIDDLE : STYLE_NORMAL;
}

enum style app_class_style(enum symbol_class c)
{
    static const enum style styles[] = {
        [SYMBOL_CLASS_USER] = STYLE_USER,
        [SYMBOL_CLASS_CXX] = STYLE_CXX,
        [SYMBOL_CLASS_RUST] = STYLE_RUST,
        [SYMBOL_CLASS_KERNEL] = STYLE_KERNEL,
        [SYMBOL_CLASS_JIT] = STYLE_JIT,
        [SYMBOL_CLASS_INLINED] = STYLE_INLINED,
        [SYMBOL_CLASS_UNKNOWN] = STYLE_UNKNOWN,
        [SYMBOL_CLASS_WAIT_LOCK] = STYLE_WAIT_LOCK,
        [SYMBOL_CLASS_WAIT_DISK] = STYLE_WAIT_DISK,
        [SYMBOL_CLASS_WAIT_IO] = STYLE_WAIT_IO,
        [SYMBOL_CLASS_WAIT_IDLE] = STYLE_WAIT_IDLE,
        [SYMBOL_CLASS_WAIT_OTHER] = STYLE_WAIT_OTHER,
        [SYMBOL_CLASS_RUNNABLE] = STYLE_RUNNABLE,
    };
    return styles[c];
}

/* --- search --- */

unsigned app_search(struct app *a, int step)
{
    const struct view_ops *ops = a->ops[a->view];
    void *v = a->states[a->view];
    char key[16];
    if (!v || (!ops->search && !ops->row_matches))
        return app_message(a, "this view has no search");
    if (!a->search[0])
        return app_message(a, "nothing to search for yet: %s starts a search",
                           keymap_first(a->keymap, ACTION_SEARCH, key));
    enum search_found found =
        ops->search ? ops->search(v, a, step)
                    : list_find(view_list(ops, v), step, a->search, ops->row_matches, ops->row_key, v);
    if (found == SEARCH_NONE)
        return app_message(a, "nothing matches \"%s\"", a->search);
    if (found == SEARCH_WENT_ROUND)
        return app_message(a, "no more \"%s\" %s: continuing from the %s", a->search,
                           step > 0 ? "below" : "above", step > 0 ? "top" : "end");
    return APP_REDRAW;
}

/* --- views --- */

struct ui_selection app_selection(struct app *a)
{
    const struct view_ops *ops = a->ops[a->view];
    struct ui_selection sel = { 0 };
    if (ops->selection && a->states[a->view])
        ops->selection(a->states[a->view], a, &sel);
    return sel;
}

static void hide_view(struct app *a)
{
    const struct view_ops *ops = a->ops[a->view];
    if (ops->hide && a->states[a->view])
        ops->hide(a->states[a->view], a);
}

unsigned app_show_view(struct app *a, uint32_t view, bool drill)
{
    if (view == a->view)
        return APP_HANDLED;
    a->pending = app_selection(a);
    steps_push(a, drill ? STEP_OPEN : STEP_VIEW);
    hide_view(a);
    /* without a choice of the user, the view starts at its own default */
    if (!a->pending.chosen && !drill)
        memset(&a->pending, 0, sizeof a->pending);
    a->pending_select = true;
    a->pending_drill = drill;
    a->view = view;
    return APP_QUERY;
}

void ui_selection_of(struct ui_selection *out, const struct view_function *f)
{
    out->func_key = f->key;
    text_clean(out->function, sizeof out->function, f->name, strlen(f->name));
    text_clean(out->module, sizeof out->module, f->module, strlen(f->module));
}
