// SPDX-License-Identifier: GPL-2.0-or-later
#include "ui/strip.h"

#include <string.h>

#include "ui/app.h"
#include "ui/range.h"

#define LEAST_NS 1000 /* minimum length of a column; samples are not closer together */

void strip_done(struct strip *s)
{
    times_counts_done(&s->counts);
}

void strip_update(struct app *a)
{
    struct strip *s = &a->strip;
    uint64_t from, to;
    range_extent(a, &from, &to);
    bool zoomed = s->to_ns && s->to_ns > from;
    bool grows = !zoomed && !a->status.file && !a->status.frozen;
    time_axis_fit(&s->axis, zoomed ? s->from_ns : from, zoomed ? s->to_ns : to, (uint32_t)area_screen().cols,
                  grows);
    session_times_count(
        a->times, a->session,
        &(struct times_ask){ TIMES_ALL, 0, s->axis.from_ns, grows ? 0 : s->axis.to_ns, s->axis.bucket_ns },
        &s->counts);
    if (!s->placed)
        s->cursor_ns = time_axis_ns(&s->axis, s->axis.columns - 1);
}

/* ---- the cursor and the range ---- */

static uint32_t cursor(const struct strip *s)
{
    return time_axis_column(&s->axis, s->cursor_ns);
}

static uint64_t end_of(const struct strip *s, uint32_t column)
{
    return time_axis_ns(&s->axis, column + 1) - 1;
}

/* Sets the range between mark and cursor, in either order. */
static unsigned stretch(struct app *a, bool goes_on)
{
    struct strip *s = &a->strip;
    uint32_t x = time_axis_column(&s->axis, s->mark_ns), y = cursor(s);
    return range_set(a, time_axis_ns(&s->axis, x < y ? x : y), end_of(s, x < y ? y : x), goes_on);
}

static unsigned pan(struct app *a, int64_t columns)
{
    struct strip *s = &a->strip;
    uint64_t from, to, step = time_axis_step(&s->axis);
    uint64_t by = (uint64_t)(columns < 0 ? -columns : columns) * step;
    range_extent(a, &from, &to);
    if (!s->to_ns)
        return APP_HANDLED;
    if (columns < 0)
        by = s->from_ns - from < by ? s->from_ns - from : by;
    else
        by = s->to_ns >= to ? 0 : to - s->to_ns < by ? to - s->to_ns : by;
    s->from_ns += columns < 0 ? -by : by;
    s->to_ns += columns < 0 ? -by : by;
    s->cursor_ns += columns < 0 ? -by : by;
    return by ? APP_QUERY : APP_HANDLED;
}

static unsigned move(struct app *a, int64_t columns)
{
    struct strip *s = &a->strip;
    int64_t to = (int64_t)cursor(s) + columns, last = (int64_t)s->axis.columns - 1;
    int64_t beyond = to < 0 ? to : to > last ? to - last : 0;
    unsigned flags = APP_REDRAW;
    s->placed = true;
    s->cursor_ns = time_axis_ns(&s->axis, (uint32_t)(to - beyond));
    if (beyond)
        flags |= pan(a, beyond);
    /* the range consists of the present columns */
    if (flags & APP_QUERY && s->marking)
        strip_update(a);
    return flags | (s->marking ? stretch(a, true) : 0);
}

static unsigned mark(struct app *a)
{
    struct strip *s = &a->strip;
    char key[16];
    s->placed = true;
    if (s->marking) {
        s->marking = false;
        return APP_REDRAW;
    }
    s->marking = true;
    s->mark_ns = s->cursor_ns;
    (void)app_message(a, "the range starts here: move to its end; %s sets the end",
                      keymap_first(a->keymap, ACTION_STRIP_MARK, key));
    return stretch(a, false);
}

/* Sets one end of the range to the cursor. The other end stays, or is the start or end of all time. */
static unsigned set_end(struct app *a, bool later)
{
    struct strip *s = &a->strip;
    uint64_t from, to, here = time_axis_ns(&s->axis, cursor(s)), there = end_of(s, cursor(s));
    if (!range_shown(a, &from, &to))
        range_extent(a, &from, &to);
    s->placed = true;
    s->marking = false;
    if (later)
        return range_set(a, from <= there ? from : here, there, false);
    return range_set(a, here, to >= here ? to : there, false);
}

static unsigned apply_range(struct app *a)
{
    struct strip *s = &a->strip;
    unsigned flags = APP_REDRAW;
    if (!s->marking && !a->query.to_ns) {
        s->mark_ns = s->cursor_ns;
        flags |= stretch(a, false);
    }
    s->marking = s->has_keys = false;
    return flags;
}

static unsigned leave(struct app *a)
{
    struct strip *s = &a->strip;
    if (s->marking) {
        s->marking = false;
        return steps_newest_is(a, STEP_RANGE) ? steps_undo(a) : (unsigned)APP_REDRAW;
    }
    s->has_keys = false;
    return APP_REDRAW;
}

/* ---- zooming the strip ---- */

/* Zooms to the range if it is well inside the visible time; else to half, or twice, of it around the
 * cursor. */
static unsigned zoom(struct app *a, bool in)
{
    struct strip *s = &a->strip;
    uint64_t first, last, from, to, seen = s->axis.to_ns - s->axis.from_ns;
    range_extent(a, &first, &last);
    if (in && seen / s->axis.columns < LEAST_NS)
        return app_message(a, "cannot zoom in further: samples are not closer together");
    if (in && range_shown(a, &from, &to) && from >= s->axis.from_ns && to <= s->axis.to_ns &&
        to - from < seen / 2) {
        uint64_t margin = (to - from) / 8;
        from = from - first > margin ? from - margin : first;
        to += margin;
    } else {
        uint64_t span = in ? seen / 2 : seen * 2, before = s->cursor_ns - s->axis.from_ns;
        before = in ? before / 2 : before * 2;
        from = s->cursor_ns - first > before ? s->cursor_ns - before : first;
        to = from + span;
    }
    to = to < last ? to : last;
    bool all = from <= first && to >= last;
    s->from_ns = all ? 0 : from;
    s->to_ns = all ? 0 : to;
    s->placed = true;
    return APP_QUERY;
}

static unsigned zoom_out(struct app *a)
{
    if (!a->strip.to_ns)
        return app_message(a, "cannot zoom out further: all time is shown");
    return zoom(a, false);
}

static unsigned zoom_all(struct app *a)
{
    a->strip.from_ns = a->strip.to_ns = 0;
    return APP_QUERY;
}

/* ---- actions and mouse ---- */

unsigned strip_open(struct app *a)
{
    struct strip *s = &a->strip;
    bool close = s->open && s->has_keys;
    if (!s->open)
        steps_push(a, STEP_STRIP);
    s->open = s->has_keys = !close;
    s->marking = false;
    return APP_QUERY;
}

unsigned strip_act(struct app *a, enum action action)
{
    struct strip *s = &a->strip;
    int64_t page = s->axis.columns / 8 + 1;
    switch (action) {
    case ACTION_LEFT:
        return move(a, -1);
    case ACTION_RIGHT:
        return move(a, 1);
    case ACTION_PAGE_UP:
        return move(a, -page);
    case ACTION_PAGE_DOWN:
        return move(a, page);
    case ACTION_TOP:
        return move(a, -(int64_t)cursor(s));
    case ACTION_END:
        return move(a, (int64_t)s->axis.columns - 1 - cursor(s));
    case ACTION_STRIP_MARK:
        return mark(a);
    case ACTION_STRIP_FROM:
        return set_end(a, false);
    case ACTION_STRIP_TO:
        return set_end(a, true);
    case ACTION_STRIP_IN:
        return zoom(a, true);
    case ACTION_STRIP_OUT:
        return zoom_out(a);
    case ACTION_STRIP_ALL:
        return zoom_all(a);
    case ACTION_STRIP_TAKE:
        return apply_range(a);
    case ACTION_STRIP_LEAVE:
        return leave(a);
    default:
        return APP_IGNORED;
    }
}

static uint32_t column_at(const struct strip *s, int col)
{
    return col < 0 ? 0 : (uint32_t)col < s->axis.columns ? (uint32_t)col : s->axis.columns - 1;
}

unsigned strip_click(struct app *a, int col)
{
    struct strip *s = &a->strip;
    s->placed = s->has_keys = true;
    s->cursor_ns = time_axis_ns(&s->axis, column_at(s, col));
    return APP_REDRAW | (s->marking ? stretch(a, true) : 0);
}

unsigned strip_drag(struct app *a, int from_col, int to_col)
{
    struct strip *s = &a->strip;
    s->placed = true;
    s->marking = false;
    s->mark_ns = time_axis_ns(&s->axis, column_at(s, from_col));
    s->cursor_ns = time_axis_ns(&s->axis, column_at(s, to_col));
    return stretch(a, false);
}
