// SPDX-License-Identifier: GPL-2.0-or-later
#include "ui/app.h"

#include <signal.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "perf/probe.h"
#include "ui/app_screen.h"
#include "ui/columns.h"
#include "ui/dialog.h"
#include "ui/view_ops.h"
#include "ui/window.h"

#define START_NS       (2 * NS_PER_SEC) /* after the start the screen is drawn more often */
#define START_TICK_NS  (250 * NS_PER_MS)
#define FIRST_TICK_NS  (120 * NS_PER_MS) /* most often until the first samples appear */
#define KEYS_PER_FRAME 64
#define WHEEL_ROWS     3  /* per notch */
#define WAITING_MS     20 /* interval of polling for data that a dialog waits for */

/* Only the main loop knows all views: the files that it and the views use get them from struct app. */
const struct view_ops *const app_view_ops[APP_VIEWS] = {
#define VIEW(number, id, name, ...) &view_##name##_ops,
#include "ui/actions.def"
};

static const struct view_ops *current_view(const struct app *a)
{
    return a->ops[a->view];
}

/* Increments app->query_serial if the query or the event changed. */
static void note_query(struct app *a)
{
    if (memcmp(&a->asked.query, &a->query, sizeof a->query) == 0 &&
        a->asked.event_index == a->status.event_index)
        return;
    a->asked.query = a->query;
    a->asked.event_index = a->status.event_index;
    a->query_serial++;
}

/* Queries samples over time, only if they are shown: it is an extra query. */
static void look_at_time(struct app *a)
{
    if (!a->strip.open && !current_view(a)->over_time) {
        session_times_free(a->times);
        a->times = NULL;
        return;
    }
    if (!a->times)
        a->times = session_times_new();
    session_times_look(a->times, a->session, &a->query);
    if (a->strip.open)
        strip_update(a);
}

/* Applies the configured range once the start of the recording is known. */
static void take_range(struct app *a)
{
    if (a->range_taken || a->cfg->to_s <= 0 || (!a->status.elapsed_ns && a->status.reading))
        return;
    a->range_taken = true;
    session_set_range(a->session, a->cfg->from_s, a->cfg->to_s, &a->query);
}

/* Queries the total weight without zooms and filter. */
static void ask_whole(struct app *a, const struct view_query *q)
{
    struct view_query whole = *q;
    if (!q->n_zooms && !q->filter[0]) {
        view_done(&a->whole);
        memset(&a->whole, 0, sizeof a->whole);
        return;
    }
    whole.n_zooms = 0;
    memset(whole.zooms, 0, sizeof whole.zooms);
    memset(whole.filter, 0, sizeof whole.filter);
    whole.group = VIEW_GROUP_SYMBOL;
    whole.group_sums = false;
    session_query(a->session, &whole, &a->whole);
}

static void ask_session(struct app *a)
{
    const struct view_ops *ops = current_view(a);
    if (!a->states[a->view]) {
        a->states[a->view] = mem_zalloc(ops->size);
        if (ops->init)
            ops->init(a->states[a->view], a);
    }
    if (!ops->no_query) {
        take_range(a);
        struct view_query q = a->query;
        if (ops->by_comm && q.group == VIEW_GROUP_SYMBOL)
            q.group = VIEW_GROUP_COMM_SYMBOL;
        window_align(&q, &a->status);
        session_query(a->session, &q, &a->data);
        ask_whole(a, &q);
        if (a->difference && ops->compares)
            difference_ask(a->difference, a->session, &q);
    }
    look_at_time(a);
    note_query(a);
    a->view_goes_on = false;
    if (ops->update)
        ops->update(a->states[a->view], a);
    if (a->restores && ops->row_key)
        list_restore(view_list(ops, a->states[a->view]), &a->restore, ops->row_key, a->states[a->view]);
    else if (a->restores && ops->restore)
        ops->restore(a->states[a->view], a, &a->restore);
    a->restores = false;
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
        if (d->ops->destroy)
            d->ops->destroy(d);
        mem_free(d);
    }
}

/* Actions that change which samples are shown, and how. */
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
    case ACTION_RANGE_BACK:
    case ACTION_RANGE_NEXT:
    case ACTION_RANGE_ALL:
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
    bool strip = a->strip.has_keys;
    enum action action = keymap_find(a->keymap, strip ? SCOPE_KEYS_STRIP : view_table[a->view].scope, key);
    if (action == ACTION_NONE)
        return no_such_key(a, key);
    unsigned flags = strip ? strip_act(a, action) : (unsigned)APP_IGNORED;
    if (flags != APP_IGNORED)
        return flags;
    flags = ops->act && a->states[a->view] ? ops->act(a->states[a->view], a, action) : APP_IGNORED;
    if (flags == APP_IGNORED && ops->no_query && asks_samples(action))
        return app_message(a, "%s cover the whole scope: this key works in views of samples only",
                           view_table[a->view].title);
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

/* Types pasted text into a prompt. Elsewhere it is dropped: as keys it would trigger unwanted actions. */
static unsigned handle_paste(struct app *a, uint32_t key)
{
    char help[16];
    if (a->dialog && a->dialog->ops->takes_text)
        return key >= ' ' && key < TK_BASE ? handle_key(a, key) : (unsigned)APP_HANDLED;
    return app_message(a, "pasted text was dropped: it is not a key (%s lists the keys)",
                       keymap_first(a->keymap, ACTION_HELP, help));
}

/* --- the mouse --- */

static unsigned handle_wheel(struct app *a, uint32_t key)
{
    unsigned flags = APP_HANDLED;
    for (int i = 0; i < WHEEL_ROWS; i++)
        flags |= handle_key(a, key);
    return flags;
}

static unsigned click_view(struct app *a, int row, int col, bool twice)
{
    const struct view_ops *ops = current_view(a);
    return ops->click && a->states[a->view] ? ops->click(a->states[a->view], a, row, col, twice)
                                            : APP_HANDLED;
}

static unsigned click_dialog(struct app *a, int row, int col, bool twice)
{
    const struct dialog_ops *ops = a->dialog->ops;
    unsigned flags = ops->click ? ops->click(a->dialog, a, row, col, twice) : APP_HANDLED;
    free_closed(a);
    return flags;
}

/* Handles a mouse release: it is a drag if the button was pressed elsewhere. */
static unsigned let_go(struct app *a, const struct app_place *at)
{
    struct app_press press = a->press;
    const struct view_ops *ops = current_view(a);
    a->press.what = APP_PLACE_NOTHING;
    if ((int)at->what != press.what || (at->row == press.row && at->col == press.col))
        return APP_HANDLED;
    if (at->what == APP_PLACE_STRIP)
        return at->col == press.col ? (unsigned)APP_HANDLED : strip_drag(a, press.col, at->col);
    if (at->what == APP_PLACE_VIEW && ops->drag && a->states[a->view])
        return ops->drag(a->states[a->view], a, press.row, press.col, at->row, at->col);
    return APP_HANDLED;
}

static unsigned handle_mouse(struct app *a, const struct term_mouse *m)
{
    struct app_place at;
    bool twice = m->what == TERM_MOUSE_DOUBLE;
    if (m->what == TERM_MOUSE_WHEEL_UP || m->what == TERM_MOUSE_WHEEL_DOWN)
        return handle_wheel(a, m->what == TERM_MOUSE_WHEEL_UP ? TK_UP : TK_DOWN);
    app_screen_find(a, m->y, m->x, &at);
    if (m->what == TERM_MOUSE_RELEASE)
        return let_go(a, &at);
    a->press = (struct app_press){ (int)at.what, at.row, at.col };
    switch (at.what) {
    case APP_PLACE_STRIP:
        return strip_click(a, at.col);
    case APP_PLACE_KEY:
        return handle_key(a, at.key);
    case APP_PLACE_TAB:
        return app_show_view(a, at.view, false);
    case APP_PLACE_VIEW:
        return click_view(a, at.row, at.col, twice);
    case APP_PLACE_DIALOG:
        return click_dialog(a, at.row, at.col, twice);
    default:
        return APP_HANDLED;
    }
}

/* --- the loop --- */

/* Freezes when the sampled processes ended: their last samples would leave the window. Waits one more tick
 * for samples that are still in transit. */
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

static unsigned tick_dialog(struct app *a)
{
    struct dialog *top = a->dialog;
    if (!top || !top->ops->tick || !top->ops->tick(top, a))
        return APP_HANDLED;
    return a->dialog == top ? APP_REDRAW : APP_REDRAW | APP_QUERY; /* the data may have changed the query */
}

static bool dialog_waits(const struct app *a)
{
    const struct dialog_ops *ops = a->dialog ? a->dialog->ops : NULL;
    return ops && ops->waits && ops->waits(a->dialog);
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
    (void)tick_dialog(a);
    bool stale = session_generation(a->session) != a->data.generation || current_view(a)->no_query ||
                 (current_view(a)->compares && difference_is_stale(a->difference));
    return APP_REDRAW | (stale ? APP_QUERY : 0);
}

static uint64_t interval_ns(const struct app *a, uint64_t since_start_ns)
{
    uint64_t delay = (uint64_t)(a->delay_s * (double)NS_PER_SEC);
    uint64_t early = a->data.result.samples ? START_TICK_NS : FIRST_TICK_NS;
    return since_start_ns < START_NS && early < delay ? early : delay;
}

static unsigned quit_by_signal(struct app *a)
{
    int sig = term_quit_signal();
    if (sig == SIGINT && app_stop_reading(a)) {
        term_quit_forgive();
        return APP_REDRAW;
    }
    /* ^C is a normal way to quit, as in top. */
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
        if (key == TK_MOUSE)
            return handle_mouse(a, &mouse);
        return term_pasted() ? handle_paste(a, key) : handle_key(a, key);
    case TERM_RESIZED:
        return a->times ? APP_QUERY : APP_REDRAW; /* the time strip has as many columns as the screen */
    case TERM_QUIT:
        return quit_by_signal(a);
    default:
        return APP_HANDLED;
    }
}

/* Handles keys that came together in one frame. After a key that changed the query, the next one waits for
 * its result. */
static unsigned take_events(struct app *a, int timeout_ms)
{
    bool more = true;
    unsigned flags = take_event(a, timeout_ms, &more);
    for (int i = 0; i < KEYS_PER_FRAME && more && !(flags & (APP_QUERY | APP_QUIT)); i++)
        flags |= take_event(a, 0, &more);
    return flags;
}

static int time_left_ms(const struct app *a, uint64_t next_ns)
{
    if (a->view_goes_on)
        return 0;
    uint64_t now = clock_now_ns(), left = now < next_ns ? (next_ns - now + NS_PER_MS - 1) / NS_PER_MS : 0;
    int pause = job_pause_ms(a);
    if (left > WAITING_MS && dialog_waits(a))
        left = WAITING_MS;
    return pause >= 0 && left > (uint64_t)pause ? pause : (int)left;
}

/* The view goes on with what update left, unless a query is to be made anyway. */
static unsigned go_on(struct app *a, unsigned flags)
{
    const struct view_ops *ops = current_view(a);
    if (!a->view_goes_on || flags & (APP_QUERY | APP_QUIT))
        return APP_HANDLED;
    a->view_goes_on = false;
    if (ops->go_on)
        ops->go_on(a->states[a->view], a);
    return APP_REDRAW;
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
        /* the header shows a switch at once */
        else if (flags & APP_QUERY)
            session_get_status(a->session, &a->status);
        if (flags & APP_QUERY)
            ask_session(a);
        if (ticked) {
            uint64_t interval = interval_ns(a, now - start);
            next = now + interval;
            session_looks(a->session, next, interval);
        }
        if (flags & (APP_QUERY | APP_REDRAW))
            app_screen_draw(a);
        flags = take_events(a, time_left_ms(a, next));
        flags |= go_on(a, flags);
        if (dialog_waits(a))
            flags |= tick_dialog(a);
        if (!(flags & APP_QUIT))
            flags |= job_tick(a);
    }
}

static void app_done(struct app *a)
{
    while (a->dialog)
        dialog_close(a, a->dialog);
    free_closed(a);
    for (uint32_t i = 0; i < APP_VIEWS; i++) {
        if (a->states[i])
            a->ops[i]->destroy(a->states[i]);
        mem_free(a->states[i]);
    }
    session_times_free(a->times);
    strip_done(&a->strip);
    view_done(&a->data);
    view_done(&a->whole);
    difference_free(a->difference);
    keymap_free(a->keymap);
    mem_free(a);
}

static struct app *app_new(struct session *s, const struct ui_config *cfg, struct error *e)
{
    struct app *a = mem_zalloc(sizeof *a);
    a->session = s;
    a->cfg = cfg;
    a->ops = app_view_ops;
    a->difference = difference_new(&cfg->baseline, cfg->negate);
    a->delay_s = cfg->delay_s > 0 ? cfg->delay_s : 1;
    a->query = cfg->query;
    a->query.hot_inlines = true;
    a->columns_hidden = cfg->columns ? columns_hidden_but(cfg->columns) : 0;
    a->view = view_named(cfg->view);
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
    probe_release_signals();
    run(a);
    job_end(a, !a->exit_code);
    term_stop();
    int code = a->exit_code;
    app_done(a);
    return code;
}
