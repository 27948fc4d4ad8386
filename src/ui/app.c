// SPDX-License-Identifier: GPL-2.0-or-later
#include "ui/app.h"

#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/text.h"
#include "ui/bar.h"
#include "ui/dialog.h"
#include "ui/view.h"
#include "ui/window.h"

#define MESSAGE_NS     (6 * NS_PER_SEC)
#define START_NS       (2 * NS_PER_SEC) /* while everything is new the screen is drawn more often … */
#define START_TICK_NS  (250 * NS_PER_MS)
#define FIRST_TICK_NS  (120 * NS_PER_MS) /* … and most often until there is something on it */
#define KEYS_PER_FRAME 64

/* --- what handlers ask for --- */

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
    q->zooms[q->n_zooms++] = *z;
    return APP_QUERY;
}

unsigned app_set_scope(struct app *a, const struct scope *scope)
{
    struct error e = { 0 };
    char text[96];
    if (!session_set_scope(a->session, scope, &e))
        return app_error(a, &e);
    scope_describe(scope, text, sizeof text);
    return APP_QUERY | app_message(a, "sampling %s", text);
}

double app_percent(const struct app *a, uint64_t weight)
{
    uint64_t all = a->answer.result.weight;
    return all ? 100.0 * (double)weight / (double)all : 0;
}

enum style app_share_style(double percent)
{
    return percent >= 5 ? STYLE_HIGH : percent >= 0.5 ? STYLE_MIDDLE : STYLE_NORMAL;
}

enum style app_class_style(enum symbol_class c)
{
    static const enum style styles[] = {
        [SYMBOL_CLASS_USER] = STYLE_USER,       [SYMBOL_CLASS_CXX] = STYLE_CXX,
        [SYMBOL_CLASS_RUST] = STYLE_RUST,       [SYMBOL_CLASS_KERNEL] = STYLE_KERNEL,
        [SYMBOL_CLASS_JIT] = STYLE_JIT,         [SYMBOL_CLASS_INLINED] = STYLE_INLINED,
        [SYMBOL_CLASS_UNKNOWN] = STYLE_UNKNOWN,
    };
    return styles[c];
}

/* --- views --- */

static const struct view_ops *current_view(const struct app *a)
{
    return a->views[a->view];
}

unsigned app_show_view(struct app *a, uint32_t index, bool drill)
{
    if (index >= a->n_views || index == a->view)
        return APP_HANDLED;
    const struct view_ops *from = current_view(a);
    memset(&a->pending, 0, sizeof a->pending);
    if (from->selection && a->states[a->view])
        from->selection(a->states[a->view], a, &a->pending);
    if (from->hide && a->states[a->view])
        from->hide(a->states[a->view], a);
    if (!a->pending.chosen && !drill)
        memset(&a->pending, 0, sizeof a->pending); /* who chose nothing starts where that view starts */
    a->pending_select = true;
    a->pending_drill = drill;
    a->previous_view = a->view;
    a->view = index;
    return APP_QUERY;
}

unsigned app_leave_view(struct app *a)
{
    unsigned flags = app_show_view(a, a->previous_view, false);
    a->previous_view = a->view;
    return flags;
}

unsigned app_show_view_named(struct app *a, const char *name, bool drill)
{
    for (uint32_t i = 0; i < a->n_views; i++)
        if (strcmp(a->views[i]->name, name) == 0)
            return app_show_view(a, i, drill);
    return app_message(a, "there is no view \"%s\"", name);
}

static void ask_session(struct app *a)
{
    const struct view_ops *ops = current_view(a);
    if (!a->states[a->view] && ops->create)
        a->states[a->view] = ops->create(a);
    if (!ops->no_query) {
        struct view_query q = a->query;
        if (ops->by_comm && q.group == VIEW_GROUP_SYMBOL)
            q.group = VIEW_GROUP_COMM_SYMBOL;
        window_align(&q, &a->status);
        session_query(a->session, &q, &a->answer);
    }
    if (ops->update)
        ops->update(a->states[a->view], a);
    if (!a->pending_select)
        return;
    a->pending_select = false;
    if (ops->select)
        (void)ops->select(a->states[a->view], a, &a->pending, a->pending_drill);
}

/* --- keys --- */

static void free_closed(struct app *a)
{
    while (a->closed) {
        struct dialog *d = a->closed;
        a->closed = d->below;
        d->ops->destroy(d);
    }
}

/* Actions that change which samples are looked at, and how. */
static bool asks_samples(enum action action)
{
    switch (action) {
    case ACTION_FILTER:
    case ACTION_GROUP:
    case ACTION_GROUP_MENU:
    case ACTION_MODE:
    case ACTION_IDLE:
    case ACTION_WINDOW:
    case ACTION_ZOOM_MODULE:
    case ACTION_ZOOM_THREAD:
    case ACTION_UNZOOM:
        return true;
    default:
        return false;
    }
}

static unsigned no_such_key(struct app *a, uint32_t key)
{
    char name[16], help[16];
    if (key == TK_NONE || key == TK_MOUSE)
        return APP_HANDLED;
    key_name(key, name);
    return app_message(a, "%s does nothing here: %s lists the keys", name,
                       keymap_first(a->keymap, ACTION_HELP, help));
}

static unsigned act(struct app *a, uint32_t key)
{
    const struct view_ops *ops = current_view(a);
    enum action action = keymap_find(a->keymap, ops->scope, key);
    if (action == ACTION_NONE)
        return no_such_key(a, key);
    unsigned flags = ops->act && a->states[a->view] ? ops->act(a->states[a->view], a, action) : APP_IGNORED;
    if (flags == APP_IGNORED && ops->no_query && asks_samples(action))
        return app_message(a, "%s are of all that is sampled: this key is for the views of samples",
                           ops->title);
    return flags != APP_IGNORED ? flags : app_act(a, action);
}

static unsigned handle_key(struct app *a, uint32_t key)
{
    bool had_message = a->message[0] != '\0';
    a->message[0] = '\0';
    unsigned flags = had_message ? APP_REDRAW : APP_HANDLED;
    if (keymap_find(a->keymap, SCOPE_KEYS_GLOBAL, key) == ACTION_REDRAW)
        flags |= app_act(a, ACTION_REDRAW);
    else if (a->dialog)
        flags |= a->dialog->ops->key(a->dialog, a, key);
    else if (!(had_message && key == TK_ESC))
        flags |= act(a, key);
    free_closed(a);
    return flags;
}

/* --- the picture --- */

struct layout {
    struct area header, tabs, view, bottom;
};

static struct layout layout_of(const struct app *a)
{
    struct area screen = area_screen();
    int header = header_rows(a, screen.rows);
    return (struct layout){
        .header = area_sub(screen, 0, 0, header, -1),
        .tabs = area_sub(screen, header, 0, 1, -1),
        .view = area_sub(screen, header + 1, 0, screen.rows - header - 2, -1),
        .bottom = area_sub(screen, screen.rows - 1, 0, 1, -1),
    };
}

static bool too_small(void)
{
    struct area s = area_screen();
    return s.rows < TERM_MIN_ROWS || s.cols < TERM_MIN_COLS;
}

static void draw_too_small(void)
{
    struct area s = area_screen();
    char text[96];
    (void)snprintf(text, sizeof text, "terminal too small: %dx%d (need %dx%d)", s.cols, s.rows, TERM_MIN_COLS,
                   TERM_MIN_ROWS);
    (void)draw_wrapped(s, 0, STYLE_NORMAL, text);
}

static struct area dialog_area(const struct layout *l)
{
    struct area all = area_screen();
    int top = l->view.rows >= 10 ? l->tabs.y : 0;
    return area_sub(all, top, 0, all.rows - 1 - top, -1);
}

static void draw_bottom(struct app *a, const struct layout *l)
{
    struct dialog *d = a->dialog;
    if (d)
        d->ops->draw_bar(d, a, l->bottom);
    else
        footer_draw(a, l->bottom);
}

static void draw_all(struct app *a)
{
    const struct view_ops *ops = current_view(a);
    struct layout l = layout_of(a);
    header_draw(a, l.header);
    tabs_draw(a, l.tabs);
    if (ops->draw && a->states[a->view])
        ops->draw(a->states[a->view], a, l.view);
    if (a->dialog && a->dialog->ops->draw)
        a->dialog->ops->draw(a->dialog, a, dialog_area(&l));
    draw_bottom(a, &l);
}

static void draw(struct app *a)
{
    term_frame_begin();
    if (too_small())
        draw_too_small();
    else
        draw_all(a);
    term_frame_end();
}

/* --- the mouse --- */

static unsigned handle_mouse(struct app *a, const struct term_mouse *m)
{
    const struct view_ops *ops = current_view(a);
    struct layout l = layout_of(a);
    if (m->what == TERM_MOUSE_WHEEL_UP || m->what == TERM_MOUSE_WHEEL_DOWN)
        return handle_key(a, m->what == TERM_MOUSE_WHEEL_UP ? TK_UP : TK_DOWN);
    if (a->dialog || !ops->click || m->y < l.view.y || m->y >= l.view.y + l.view.rows)
        return APP_HANDLED;
    return ops->click(a->states[a->view], a, m->y - l.view.y, m->x - l.view.x, m->what == TERM_MOUSE_DOUBLE);
}

/* --- the loop --- */

/* When what is sampled has ended its last moments are held: they would slide out of the window. One tick
 * later, so that what is still on its way is there. */
static void hold_what_ended(struct app *a)
{
    bool ended = a->status.targets_gone && !a->status.file;
    a->ended_ticks = ended ? a->ended_ticks + 1 : 0;
    a->held &= a->status.frozen;
    if (a->ended_ticks == 2 && !a->status.frozen)
        a->held = true;
    else if (ended || !a->held)
        return;
    else
        a->held = false;
    session_freeze(a->session, a->held);
    session_get_status(a->session, &a->status);
}

static unsigned tick(struct app *a, uint64_t now_ns)
{
    session_get_status(a->session, &a->status);
    hold_what_ended(a);
    if (a->message[0] && now_ns >= a->message_until_ns)
        a->message[0] = '\0';
    if (a->said_number != a->status.said_number)
        (void)app_message(a, "%s", a->status.said);
    a->said_number = a->status.said_number;
    if (a->dialog && a->dialog->ops->tick)
        a->dialog->ops->tick(a->dialog, a);
    bool stale = session_generation(a->session) != a->answer.generation || current_view(a)->no_query;
    return APP_REDRAW | (stale ? APP_QUERY : 0);
}

static uint64_t interval_ns(const struct app *a, uint64_t since_start_ns)
{
    uint64_t delay = (uint64_t)(a->delay_s * (double)NS_PER_SEC);
    uint64_t early = a->answer.result.samples ? START_TICK_NS : FIRST_TICK_NS;
    return since_start_ns < START_NS && early < delay ? early : delay;
}

static unsigned quit_by_signal(struct app *a)
{
    int sig = term_quit_signal();
    /* ^C is how people leave top, too: no failure. */
    a->exit_code = sig == SIGINT ? 0 : 128 + sig;
    return APP_QUIT;
}

static unsigned take_event(struct app *a, int timeout_ms, bool *more)
{
    uint32_t key = TK_NONE;
    struct term_mouse mouse;
    *more = false;
    switch (term_wait(timeout_ms, &key, &mouse)) {
    case TERM_KEY:
        *more = true;
        return key == TK_MOUSE ? handle_mouse(a, &mouse) : handle_key(a, key);
    case TERM_RESIZED:
        return APP_REDRAW;
    case TERM_QUIT:
        return quit_by_signal(a);
    default:
        return APP_HANDLED;
    }
}

/* One picture for keys that came together; but a key after one that changed the question sees its answer. */
static unsigned take_events(struct app *a, int timeout_ms)
{
    bool more = true;
    unsigned flags = take_event(a, timeout_ms, &more);
    for (int i = 0; i < KEYS_PER_FRAME && more && !(flags & (APP_QUERY | APP_QUIT)); i++)
        flags |= take_event(a, 0, &more);
    return flags;
}

static void run(struct app *a)
{
    uint64_t start = clock_now_ns(), next = start;
    unsigned flags = APP_QUERY;
    while (!(flags & APP_QUIT)) {
        uint64_t now = clock_now_ns();
        bool ticked = now >= next;
        if (ticked)
            flags |= tick(a, now);
        else if (flags & APP_QUERY)
            session_get_status(a->session, &a->status); /* a switch shows in the header at once */
        if (flags & APP_QUERY)
            ask_session(a);
        if (ticked)
            next = now + interval_ns(a, now - start);
        if (flags & (APP_QUERY | APP_REDRAW))
            draw(a);
        now = clock_now_ns();
        flags = take_events(a, now < next ? (int)((next - now + NS_PER_MS - 1) / NS_PER_MS) : 0);
    }
}

static void app_done(struct app *a)
{
    while (a->dialog)
        dialog_close(a, a->dialog);
    free_closed(a);
    for (uint32_t i = 0; i < a->n_views; i++)
        if (a->states[i] && a->views[i]->destroy)
            a->views[i]->destroy(a->states[i]);
    view_done(&a->answer);
    keymap_free(a->keymap);
    mem_free(a);
}

static uint32_t view_index(const char *name)
{
    for (uint32_t i = 0; name && i < view_table_n; i++)
        if (strcmp(view_table[i]->name, name) == 0)
            return i;
    return 0;
}

static struct app *app_new(struct session *s, const struct ui_config *cfg, struct error *e)
{
    struct app *a = mem_zalloc(sizeof *a);
    a->session = s;
    a->cfg = cfg;
    a->delay_s = cfg->delay_s > 0 ? cfg->delay_s : 1;
    a->query.window_ns = cfg->window_ns;
    a->query.group = cfg->group;
    a->views = view_table;
    a->n_views = view_table_n;
    a->view = a->previous_view = view_index(cfg->view);
    a->keymap = keymap_new(cfg->keys, cfg->n_keys, e);
    if (a->keymap && theme_load(&a->theme, cfg->theme, e))
        return a;
    app_done(a);
    return NULL;
}

int ui_run(struct session *s, const struct ui_config *cfg, struct error *e)
{
    struct app *a = app_new(s, cfg, e);
    struct term_config tc = { cfg->no_color, cfg->no_unicode, cfg->mouse };
    if (!a)
        return -1;
    if (!term_start(&tc, &a->theme, e)) {
        app_done(a);
        return -1;
    }
    run(a);
    term_stop();
    int code = a->exit_code;
    app_done(a);
    return code;
}
