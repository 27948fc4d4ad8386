// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "session/annotate.h"
#include "ui/dialog.h"
#include "ui/menus.h"
#include "ui/picker.h"
#include "ui/view_ops.h"

/* --- search --- */

static unsigned search_next(struct app *a)
{
    return app_search(a, 1);
}

static unsigned search_previous(struct app *a)
{
    return a->search[0] ? app_search(a, -1) : threads_now(a);
}

/* --- undo --- */

static unsigned unzoom(struct app *a)
{
    unsigned flags = steps_unzoom(a);
    return flags != APP_IGNORED ? flags : app_message(a, "there is no zoom to undo");
}

bool app_stop_reading(struct app *a)
{
    if (!a->status.reading || a->stopped_reading)
        return false;
    session_stop_reading(a->session);
    a->stopped_reading = true;
    (void)app_message(a, "reading stopped: showing what was read");
    return true;
}

static unsigned back(struct app *a)
{
    char key[16];
    if (app_stop_reading(a))
        return APP_QUERY;
    if (job_cancel(a))
        return app_message(a, "cancelled: nothing was written");
    unsigned flags = steps_undo(a);
    return flags != APP_IGNORED
               ? flags
               : app_message(a, "nothing to go back to: %s quits", keymap_first(a->keymap, ACTION_QUIT, key));
}

/* --- views --- */

static unsigned step_view(struct app *a, uint32_t step)
{
    uint32_t view = a->view;
    while (view_table[view].number == view_table[a->view].number)
        view = (view + step) % APP_VIEWS;
    return app_show_view(a, view_page(a, view), false);
}

static unsigned next_view(struct app *a)
{
    return step_view(a, 1);
}

static unsigned previous_view(struct app *a)
{
    return step_view(a, APP_VIEWS - 1);
}

unsigned app_annotate(struct app *a)
{
    struct ui_selection sel = app_selection(a);
    char key[16];
    if (!sel.func_key || annotate_has_code(&a->data, sel.func_key))
        return app_show_view(a, APP_VIEW_ANNOTATE, true);
    return app_message(a, "%s has no code to show, so here are its callers: %s says why, and what to do",
                       sel.function, keymap_first(a->keymap, ACTION_VIEW_DOCTOR, key)) |
           app_show_view(a, APP_VIEW_CALLGRAPH, true);
}

static unsigned callers(struct app *a)
{
    if (!app_selection(a).func_key)
        return app_message(a, "no function selected: no callers to show");
    return app_show_view(a, APP_VIEW_CALLGRAPH, true);
}

static unsigned tree(struct app *a)
{
    return app_show_view(a, a->view == APP_VIEW_CALLGRAPH ? APP_VIEW_FUNCTIONS : APP_VIEW_CALLGRAPH, false);
}

/* --- the query --- */

static unsigned group(struct app *a)
{
    (void)app_group_by(a, (enum view_group)((a->query.group + 1) % VIEW_GROUP_COUNT));
    bool here = view_offers(a->ops[a->view], ACTION_GROUP_MENU);
    return APP_QUERY |
           app_message(a, "%sgrouped by %s", here ? "" : "functions, call graph and flame are now ",
                       group_title(a->query.group));
}

static unsigned range_back(struct app *a)
{
    return range_step(a, -1);
}

static unsigned range_next(struct app *a)
{
    return range_step(a, 1);
}

static unsigned mode(struct app *a)
{
    static const char *const names[] = { "kernel and user", "kernel only", "user only" };
    if (a->query.mode == VIEW_MODE_ALL && (a->status.no_kernel || a->status.no_user))
        return app_message(a, "only %s is sampled: there is nothing else to show",
                           a->status.no_kernel ? "user space" : "the kernel");
    a->query.mode = (enum view_mode)((a->query.mode + 1) % 3);
    return APP_QUERY | app_message(a, "showing %s", names[a->query.mode]);
}

static unsigned idle(struct app *a)
{
    a->query.show_idle = !a->query.show_idle;
    return APP_QUERY | app_message(a, a->query.show_idle ? "idle time included" : "idle time excluded");
}

static unsigned zoom_module(struct app *a)
{
    struct ui_selection sel = app_selection(a);
    struct zoom z = { .kind = ZOOM_MODULE };
    if (!sel.module[0])
        return app_message(a, "no function selected: no module to zoom into");
    (void)snprintf(z.text, sizeof z.text, "%s", sel.module);
    return app_zoom(a, &z);
}

static unsigned zoom_thread(struct app *a)
{
    static const int kinds[VIEW_GROUP_COUNT] = {
        [VIEW_GROUP_SYMBOL] = -1,    [VIEW_GROUP_COMM_SYMBOL] = ZOOM_COMM, [VIEW_GROUP_COMM] = ZOOM_COMM,
        [VIEW_GROUP_MODULE] = -1,    [VIEW_GROUP_PROCESS] = ZOOM_PROCESS,  [VIEW_GROUP_THREAD] = ZOOM_THREAD,
        [VIEW_GROUP_CPU] = ZOOM_CPU, [VIEW_GROUP_CGROUP] = ZOOM_CGROUP,    [VIEW_GROUP_CGROUP_SYMBOL] = -1,
    };
    struct ui_selection sel = app_selection(a);
    bool comm = a->ops[a->view]->by_comm && a->query.group == VIEW_GROUP_SYMBOL && sel.is_group;
    int kind = comm ? ZOOM_COMM : kinds[a->query.group];
    if (kind < 0 || !sel.group || sel.group >= a->data.n_groups)
        return menu_zoom_thread(a);
    const struct view_group_info *g = &a->data.groups[sel.group];
    struct zoom z = { .kind = (enum zoom_kind)kind, .number = g->number };
    text_clean(z.text, sizeof z.text, g->label, strlen(g->label));
    return app_zoom(a, &z);
}

/* --- the session --- */

static unsigned freeze(struct app *a)
{
    char thaw[16], write[16];
    if (a->status.file)
        return app_message(a, "a recording is already frozen");
    bool on = !a->status.frozen;
    session_freeze(a->session, on);
    if (!on)
        return APP_QUERY | app_message(a, "live again");
    return APP_QUERY | app_message(a, "frozen: sampling goes on in the background; %s thaws, %s writes it",
                                   keymap_first(a->keymap, ACTION_FREEZE, thaw),
                                   keymap_first(a->keymap, ACTION_WRITE, write));
}

static unsigned clear(struct app *a)
{
    char number[32];
    if (a->status.file)
        return app_message(a, "a recording's samples cannot be discarded");
    uint64_t samples = a->status.history_samples;
    range_forget(a);
    a->strip.from_ns = a->strip.to_ns = 0;
    session_clear(a->session);
    a->query_serial++;
    return APP_QUERY | app_message(a, "%s samples discarded", text_thousands(number, sizeof number, samples));
}

static unsigned step_event(struct app *a, int step)
{
    struct error e = { 0 };
    char key[16];
    if (a->status.n_events < 2 && a->status.file)
        return app_message(a, "the recording has only one event");
    if (a->status.n_events < 2)
        return app_message(a, "only one event is chosen: %s picks another",
                           keymap_first(a->keymap, ACTION_EVENT, key));
    if (!session_select_event(a->session, step, &e))
        return app_error(a, &e);
    session_get_status(a->session, &a->status);
    return APP_QUERY | app_message(a, "event %s", a->status.event);
}

static unsigned event_next(struct app *a)
{
    return step_event(a, 1);
}

static unsigned event_previous(struct app *a)
{
    return step_event(a, -1);
}

static bool refuses_file(struct app *a)
{
    if (a->status.file)
        (void)app_message(a, "a recording cannot be changed: use zooms and filters");
    return a->status.file;
}

static unsigned event(struct app *a)
{
    return a->status.file ? pick_recorded(a) : pick_event(a);
}

/* What O shows, one after the other. */
enum times { TIMES_CPU, TIMES_OFF_CPU, TIMES_WALL, TIMES };
static const char *const times_events[TIMES] = { "cycles", "off-cpu", "wall" };

static enum times times_of(const struct session_chosen *ev)
{
    return ev->wall ? TIMES_WALL : ev->off_cpu ? TIMES_OFF_CPU : TIMES_CPU;
}

static bool is_with_wall(const struct session_chosen *list, uint32_t n, uint32_t event)
{
    for (uint32_t i = 0; i < n; i++)
        if (list[i].wall && list[i].first == list[event].first)
            return true;
    return false;
}

/* True if O rather shows event b than a: of a file, one that samples CPU time, or has more samples; live, a
 * later one, except that sampling it together with wall costs more. */
static bool is_better(const struct session_chosen *list, uint32_t n, bool file, uint32_t a, uint32_t b)
{
    if (file)
        return list[a].cpu_time == list[b].cpu_time ? list[b].samples > list[a].samples : list[b].cpu_time;
    return !is_with_wall(list, n, b) || is_with_wall(list, n, a);
}

/* Number of the event that shows these times. UINT32_MAX: none. */
static uint32_t find_event(struct app *a, enum times times)
{
    struct session_chosen *list;
    uint32_t n = session_chosen(a->session, &list), found = UINT32_MAX;
    for (uint32_t i = 0; i < n; i++)
        if (times_of(&list[i]) == times && !list[i].wakers && !list[i].left_out && !list[i].removed &&
            (list[i].samples || !a->status.file || a->status.reading) &&
            (found == UINT32_MAX || is_better(list, n, a->status.file, found, i)))
            found = i;
    mem_free(list);
    return found;
}

static unsigned off_cpu(struct app *a)
{
    struct error e = { 0 };
    enum times now = a->data.wall ? TIMES_WALL : a->data.off_cpu ? TIMES_OFF_CPU : TIMES_CPU;
    enum times next = (now + 1) % TIMES;
    uint32_t event = find_event(a, next);
    while (a->status.file && event == UINT32_MAX && next != now) {
        next = (next + 1) % TIMES;
        event = find_event(a, next);
    }
    if (a->status.file && next == now)
        return app_message(a, now == TIMES_CPU ? "the recording has no time off the CPU"
                                               : "the recording has only time off the CPU");
    if (event == UINT32_MAX ? !session_set_event(a->session, times_events[next], &e)
                            : !session_show_event(a->session, event, &e))
        return app_error(a, &e);
    session_get_status(a->session, &a->status);
    return APP_QUERY | app_message(a, "event %s", a->status.event);
}

static unsigned processes(struct app *a)
{
    return refuses_file(a) ? (unsigned)APP_REDRAW : pick_process(a);
}

static unsigned cgroup(struct app *a)
{
    return refuses_file(a) ? (unsigned)APP_REDRAW : pick_cgroup(a);
}

static unsigned scope(struct app *a)
{
    return refuses_file(a) ? (unsigned)APP_REDRAW : pick_scope(a);
}

static unsigned inherit(struct app *a)
{
    return refuses_file(a) ? (unsigned)APP_REDRAW : scope_toggle_inherit(a);
}

static unsigned redraw(struct app *a)
{
    (void)a;
    term_redraw_all();
    return APP_REDRAW;
}

static unsigned quit(struct app *a)
{
    a->exit_code = 0;
    return APP_QUIT;
}

static unsigned undrilled(struct app *a)
{
    return app_message(a, "there is nothing to open here");
}

static unsigned unsorted(struct app *a)
{
    return app_message(a, "this view has one order only");
}

static unsigned (*const handlers[ACTION_COUNT])(struct app *a) = {
    [ACTION_HELP] = dialog_help,
    [ACTION_SETUP] = dialog_setup,
    [ACTION_SEARCH] = ask_search,
    [ACTION_FILTER] = ask_filter,
    [ACTION_TREE] = tree,
    [ACTION_DRILL] = undrilled,
    [ACTION_SORT] = unsorted,
    [ACTION_SORT_LEFT] = unsorted,
    [ACTION_SORT_RIGHT] = unsorted,
    [ACTION_FREEZE] = freeze,
    [ACTION_WRITE] = ask_write,
    [ACTION_GROUP_MENU] = menu_group,
    [ACTION_GROUP] = group,
    [ACTION_QUIT] = quit,
    [ACTION_NEXT_VIEW] = next_view,
    [ACTION_PREVIOUS_VIEW] = previous_view,
    [ACTION_VIEW_ANNOTATE] = app_annotate,
    [ACTION_CALLERS] = callers,
    [ACTION_RANGE] = strip_open,
    [ACTION_RANGE_BACK] = range_back,
    [ACTION_RANGE_NEXT] = range_next,
    [ACTION_RANGE_ALL] = range_all,
    [ACTION_BACK] = back,
    [ACTION_SEARCH_NEXT] = search_next,
    [ACTION_SEARCH_PREVIOUS] = search_previous,
    [ACTION_EVENT] = event,
    [ACTION_EVENT_NEXT] = event_next,
    [ACTION_EVENT_PREVIOUS] = event_previous,
    [ACTION_PROCESSES] = processes,
    [ACTION_THREADS_NOW] = threads_now,
    [ACTION_CGROUP] = cgroup,
    [ACTION_SCOPE] = scope,
    [ACTION_OFF_CPU] = off_cpu,
    [ACTION_LATENCY] = menu_latency,
    [ACTION_INHERIT] = inherit,
    [ACTION_MODE] = mode,
    [ACTION_ZOOM_MODULE] = zoom_module,
    [ACTION_ZOOM_THREAD] = zoom_thread,
    [ACTION_UNZOOM] = unzoom,
    [ACTION_IDLE] = idle,
    [ACTION_WINDOW] = menu_window,
    [ACTION_STACKS] = menu_stacks,
    [ACTION_FREQUENCY] = ask_frequency,
    [ACTION_CLEAR] = clear,
    [ACTION_EXPORT] = menu_export,
    [ACTION_REDRAW] = redraw,
};

unsigned app_act(struct app *a, enum action action)
{
    if (handlers[action])
        return handlers[action](a);
    for (uint32_t i = 0; i < APP_VIEWS; i++)
        if (view_table[i].shows == action)
            return app_show_view(a, view_page(a, i), false);
    /* at the end of a list nothing moves: no message needed */
    if (action_row(action)->scope == SCOPE_KEYS_MOVE)
        return APP_HANDLED;
    return app_message(a, "this key has nothing to act on here");
}
