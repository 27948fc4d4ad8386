// SPDX-License-Identifier: GPL-2.0-or-later
#include "ui/range.h"

#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "session/operation_rows.h"
#include "ui/app.h"
#include "ui/time_axis.h"

static unsigned set_both(struct app *a, const struct view_query *q, bool goes_on)
{
    struct view_query *now = &a->query;
    if (now->from_ns == q->from_ns && now->to_ns == q->to_ns && now->min_ns == q->min_ns &&
        now->max_ns == q->max_ns)
        return APP_REDRAW;
    if (!goes_on || !steps_newest_is(a, STEP_RANGE))
        steps_push(a, STEP_RANGE);
    now->from_ns = q->from_ns;
    now->to_ns = q->to_ns;
    now->min_ns = q->min_ns;
    now->max_ns = q->max_ns;
    return APP_QUERY;
}

unsigned range_set(struct app *a, uint64_t from_ns, uint64_t to_ns, bool goes_on)
{
    struct view_query q = a->query;
    q.from_ns = from_ns;
    q.to_ns = to_ns;
    return set_both(a, &q, goes_on);
}

unsigned range_set_operations(struct app *a, uint64_t from_ns, uint64_t to_ns, uint64_t min_ns,
                              uint64_t max_ns)
{
    return set_both(
        a, &(struct view_query){ .from_ns = from_ns, .to_ns = to_ns, .min_ns = min_ns, .max_ns = max_ns },
        false);
}

bool range_has_durations(const struct app *a)
{
    return a->query.max_ns && a->data.latency;
}

void range_durations_text(const struct app *a, char *dst, size_t cap)
{
    dst[0] = '\0';
    if (range_has_durations(a))
        operation_range_text(a->query.min_ns, a->query.max_ns, term_unicode(), dst, cap);
}

uint64_t range_base(const struct app *a)
{
    return a->status.now_ns > a->status.elapsed_ns ? a->status.now_ns - a->status.elapsed_ns : 0;
}

bool range_shown(const struct app *a, uint64_t *from_ns, uint64_t *to_ns)
{
    bool chosen = a->query.from_ns || a->query.to_ns;
    *from_ns = chosen ? a->query.from_ns : a->data.result.from_ns;
    *to_ns = chosen ? a->query.to_ns : a->data.result.to_ns;
    return *to_ns > *from_ns && (chosen || (a->query.window_ns && *from_ns > range_base(a)));
}

unsigned range_step(struct app *a, int step)
{
    uint64_t from, to, base = range_base(a), now = a->status.now_ns;
    char key[16];
    if (!range_shown(a, &from, &to))
        return app_message(a, "no range selected: %s opens the time strip to select one",
                           keymap_first(a->keymap, ACTION_RANGE, key));
    uint64_t length = to - from + 1;
    if (step > 0 ? to >= now : from <= base)
        return app_message(a, step > 0 ? "no samples after this range" : "no samples before this range");
    if (step < 0)
        from = from - base > length ? from - length : base;
    else
        from = to + 1;
    return range_set(a, from, from + length - 1, false);
}

unsigned range_all(struct app *a)
{
    if (!a->query.from_ns && !a->query.to_ns && !range_has_durations(a))
        return app_message(a, "no range selected");
    return range_set_operations(a, 0, 0, 0, 0);
}

void range_forget(struct app *a)
{
    steps_forget_ranges(a);
    a->query.from_ns = a->query.to_ns = a->query.min_ns = a->query.max_ns = 0;
}

void range_extent(const struct app *a, uint64_t *from_ns, uint64_t *to_ns)
{
    range_extent_of(a, a->times, from_ns, to_ns);
}

void range_extent_of(const struct app *a, const struct session_times *times, uint64_t *from_ns,
                     uint64_t *to_ns)
{
    const struct result *all = &session_times_view(times)->result;
    *from_ns = range_base(a);
    *to_ns = a->status.now_ns;
    if (a->status.history_dropped && all->samples && all->first_ns > *from_ns)
        *from_ns = all->first_ns;
}

void range_text(const struct app *a, char *dst, size_t cap)
{
    uint64_t base = range_base(a), from = a->query.from_ns, to = a->query.to_ns;
    char x[32], y[32], all[32];
    dst[0] = '\0';
    if (!to)
        return;
    from = from > base ? from - base : 0;
    to = to > base ? to - base + 1 : 0; /* shown as the end of the range, not as its last nanosecond */
    uint64_t step = to > from ? (to - from) / 20 : 1;
    (void)snprintf(dst, cap, "%s%s%s of %s", time_text(x, sizeof x, from, step), term_unicode() ? "–" : "-",
                   time_text(y, sizeof y, to, step),
                   time_text(all, sizeof all, a->status.elapsed_ns, a->status.elapsed_ns / 20));
}

unsigned range_set_from_chart(struct app *a, uint64_t from_ns, uint64_t to_ns)
{
    char text[96], flame[16], all[16];
    unsigned flags = range_set(a, from_ns, to_ns, false);
    range_text(a, text, sizeof text);
    return flags | app_message(a, "range %s set in all views (%s: its flame graph, %s: drop it)", text,
                               keymap_first(a->keymap, ACTION_VIEW_FLAME, flame),
                               keymap_first(a->keymap, ACTION_RANGE_ALL, all));
}
