// SPDX-License-Identifier: GPL-2.0-or-later
/* The time view: a heat map of all time, threads and CPUs over the visible range, and the flame chart of
 * one of them. */
#include <stdio.h>

#include "base/mem.h"
#include "base/text.h"
#include "ui/app.h"
#include "ui/range.h"
#include "ui/view_ops.h"
#include "ui/view_time.h"

static const struct time_picture_ops *const pictures[TIME_PICTURES] = {
    [TIME_HEAT] = &time_heat_ops, [TIME_THREADS] = &time_rows_ops,    [TIME_THREAD_CHART] = &time_chart_ops,
    [TIME_CPUS] = &time_rows_ops, [TIME_CPU_CHART] = &time_chart_ops,
};

static void time_destroy(void *view)
{
    struct time_view *v = view;
    times_counts_done(&v->heat.counts);
    times_counts_done(&v->rows.counts);
    times_chart_done(&v->flame.chart);
    mem_free(v->rows.order);
    mem_free(v->rows.sums.items);
}

/* ---- the view ---- */

static void time_update(void *view, struct app *a)
{
    struct time_view *v = view;
    pictures[v->picture]->update(v, a);
}

static bool has_samples(const struct app *a)
{
    return a->times && session_times_view(a->times)->result.samples;
}

static void time_draw(void *view, struct app *a, struct area area)
{
    struct time_view *v = view;
    if (has_samples(a))
        pictures[v->picture]->draw(v, a, area);
    else
        view_draw_empty(a, area);
}

static unsigned time_act(void *view, struct app *a, enum action action)
{
    struct time_view *v = view;
    if (action != ACTION_TIME_PICTURE && action != ACTION_TIME_PICTURE_BACK) {
        char next[16];
        unsigned flags = has_samples(a) ? pictures[v->picture]->act(v, a, action) : (unsigned)APP_IGNORED;
        if (flags != APP_IGNORED || action_row(action)->scope != SCOPE_KEYS_TIME || !has_samples(a))
            return flags;
        return app_message(a, "this chart has no use for that key: %s shows the next chart",
                           keymap_first(a->keymap, ACTION_TIME_PICTURE, next));
    }
    uint32_t step = action == ACTION_TIME_PICTURE ? 1 : TIME_PICTURES - 1;
    v->picture = (enum time_picture)((v->picture + step) % TIME_PICTURES);
    return APP_QUERY;
}

static void time_selection(void *view, struct app *a, struct ui_selection *out)
{
    const struct time_view *v = view;
    struct zoom z;
    bool threads = v->picture == TIME_THREADS || v->picture == TIME_THREAD_CHART;
    if (threads && has_samples(a) && time_rows_chosen(v, &z))
        out->tid = (uint32_t)z.number;
}

static void time_save(void *view, struct app *a, struct view_position *out)
{
    const struct time_view *v = view;
    (void)a;
    list_save(&v->rows.list, out);
    out->order = v->picture;
}

static void time_restore(void *view, struct app *a, const struct view_position *position)
{
    struct time_view *v = view;
    v->picture = (enum time_picture)position->order;
    time_update(v, a);
    time_rows_restore(v, position);
}

static unsigned time_click(void *view, struct app *a, int row, int col, bool twice)
{
    struct time_view *v = view;
    return has_samples(a) ? pictures[v->picture]->click(v, a, row, col, twice) : (unsigned)APP_IGNORED;
}

static unsigned time_drag(void *view, struct app *a, int row, int col, int to_row, int to_col)
{
    struct time_view *v = view;
    return has_samples(a) ? pictures[v->picture]->drag(v, a, row, col, to_row, to_col)
                          : (unsigned)APP_IGNORED;
}

static void time_describe(void *view, struct app *a, char *dst, size_t cap)
{
    struct time_view *v = view;
    pictures[v->picture]->describe(v, a, dst, cap);
}

const struct view_ops view_time_ops = {
    .intro =
        "Four charts. Heat map: seconds across, fractions of a second down, colour by samples; a range is "
        "from one cell to another. Threads and CPUs over the visible range: one row each, the busiest "
        "first. With off-CPU or wall-clock time (O), a row of a thread shows its states; the line below says "
        "what it did, and Enter what it waited for, in the column or range under the cursor (Left, Right, "
        "Space). Two states share a column if each has at least a quarter of it. Flame chart of one thread "
        "(or CPU): time across, the stack downwards; a column shows the stack with most of its time.",
    .manual =
        "Samples over time: a heat map with seconds across and fractions of a second down, threads and CPUs "
        "over time, and the flame chart of one of them. With off-CPU or wall-clock time, the rows of threads "
        "show what each thread did in each column: R running, Q runnable (waits for a CPU), S waiting, D "
        "waiting for a disk, T stopped, . waiting for work. A selected range of time applies to all views.\n",
    .explains = true,
    .without = { ACTION_SEARCH, ACTION_SORT, ACTION_GROUP_MENU, ACTION_CALLERS },
    .over_time = true,
    .size = sizeof(struct time_view),
    .destroy = time_destroy,
    .update = time_update,
    .draw = time_draw,
    .act = time_act,
    .click = time_click,
    .drag = time_drag,
    .selection = time_selection,
    .save = time_save,
    .restore = time_restore,
    .describe = time_describe,
};
