// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "ui/view_ops.h"

const struct view_row view_table[APP_VIEWS] = {
#define VIEW(number, id, name, title, brief, ...) { title, brief, number, ACTION_VIEW_##id, SCOPE_KEYS_##id },
#define PAGE(number, id, name, title, brief, of)  { title, brief, number, ACTION_VIEW_##of, SCOPE_KEYS_##id },
#include "ui/actions.def"
};

const char *const view_names[APP_VIEWS] = {
#define VIEW(number, id, name, ...) #name,
#include "ui/actions.def"
};

enum app_view view_named(const char *name)
{
    for (int i = 0; name && i < APP_VIEWS; i++)
        if (strcmp(view_names[i], name) == 0)
            return (enum app_view)i;
    return (enum app_view)0;
}

uint32_t view_page(const struct app *a, uint32_t view)
{
    if (view_table[view].number == view_table[a->view].number)
        return a->view;
    if (view != APP_VIEW_LATENCY && view != APP_VIEW_LOG)
        return view;
    return text_begins_with(a->status.event, "latency:") ? APP_VIEW_LATENCY : APP_VIEW_LOG;
}

static void why_nothing(const struct app *a, char *dst, size_t cap)
{
    const struct view *v = &a->data;
    const struct view_query *q = &a->query;
    char number[32], key[16], key2[16];
    text_thousands(number, sizeof number, v->all_samples);
    bool file = a->status.file,
         narrowed = a->status.history_samples && (q->n_zooms || q->to_ns || range_has_durations(a) ||
                                                  q->filter[0] || q->mode != VIEW_MODE_ALL);
    bool others = a->status.n_events > 1 && a->status.history_samples && !v->all_samples && !q->to_ns &&
                  !range_has_durations(a);
    if (a->status.fatal[0])
        (void)snprintf(dst, cap, "sampling has stopped: %s", a->status.fatal);
    else if (others && !file && !a->status.frozen)
        (void)snprintf(
            dst, cap,
            "no samples of %.100s in this window so far; the other events have some: %s shows the next one",
            a->status.event, keymap_first(a->keymap, ACTION_EVENT_NEXT, key));
    else if (narrowed)
        (void)snprintf(dst, cap,
                       "no samples match the range, zoom, filter or \"only\" above: %s undoes one step, %s "
                       "changes \"only\"",
                       keymap_first(a->keymap, ACTION_BACK, key), keymap_first(a->keymap, ACTION_MODE, key2));
    else if (v->all_samples && v->idle_samples == v->all_samples)
        (void)snprintf(
            dst, cap,
            "all %s samples in this window are of idle CPUs: %s shows idle time, %s changes the window",
            number, keymap_first(a->keymap, ACTION_IDLE, key), keymap_first(a->keymap, ACTION_WINDOW, key2));
    else if (a->status.reading)
        (void)snprintf(dst, cap,
                       "reading the recording: samples appear as they are read, %s stops and keeps them",
                       keymap_first(a->keymap, ACTION_BACK, key));
    else if (file && a->status.n_events > 1)
        (void)snprintf(dst, cap, "no samples of %.100s in the recording: %s shows its other events",
                       a->status.event, keymap_first(a->keymap, ACTION_EVENT_NEXT, key));
    else if (file)
        (void)snprintf(dst, cap, "no samples of %.100s in the recording", a->status.event);
    else if (a->status.frozen)
        (void)snprintf(dst, cap, "no frozen samples of %.100s: %s thaws", a->status.event,
                       keymap_first(a->keymap, ACTION_FREEZE, key));
    else if (a->status.targets_gone)
        (void)snprintf(dst, cap, "%.100s has ended without samples: %s picks another process",
                       a->status.scope, keymap_first(a->keymap, ACTION_PROCESSES, key));
    else if (a->status.idle_percent >= 50)
        (void)snprintf(dst, cap,
                       "no samples yet: they appear when the scope (%s) runs; the system is %.0f%% idle",
                       a->status.scope, a->status.idle_percent);
    else
        (void)snprintf(dst, cap, "no samples in this window yet: they appear when the scope (%s) runs",
                       a->status.scope);
}

bool view_offers(const struct view_ops *ops, enum action action)
{
    for (int i = 0; i < VIEW_WITHOUT && ops->without[i]; i++)
        if (ops->without[i] == action)
            return false;
    return true;
}

void view_draw_empty(struct app *a, struct area area)
{
    char text[400];
    why_nothing(a, text, sizeof text);
    (void)draw_wrapped(area_sub(area, 1, 2, -1, area.cols - 4), 0, STYLE_DIM, text);
}
