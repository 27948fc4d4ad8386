// SPDX-License-Identifier: GPL-2.0-or-later
/* The doctor: what is missing in the other views, how much, why, and how to fix it. */
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "session/doctor.h"
#include "ui/app.h"
#include "ui/list.h"
#include "ui/view_ops.h"

#define FIRST_ROW   3 /* of the list, below the summary */
#define DETAIL_ROWS 5 /* at the bottom, for the row under the cursor */
#define MODULE_COLS 20
#define BOTH_COLS   90 /* from this width on, module and process have a column each */
#define FIXED_COLS  (7 + 10 + 8)

struct doctor_view {
    struct doctor doctor;
    struct list list;
    uint32_t query_serial; /* app->query_serial of the rows */
};

static void doctor_destroy(void *v)
{
    struct doctor_view *d = v;
    doctor_done(&d->doctor);
}

static uint64_t row_key(const void *ctx, uint32_t row)
{
    const struct doctor_view *d = ctx;
    return d->doctor.rows.items[row].key;
}

static void doctor_update(void *v, struct app *a)
{
    struct doctor_view *d = v;
    session_examine(a->session, &a->query, &d->doctor);
    if (d->query_serial != a->query_serial)
        list_restart(&d->list);
    d->query_serial = a->query_serial;
    list_update(&d->list, d->doctor.rows.n, row_key, d);
}

static const char *const subject_words[] = {
    [DOCTOR_SYSTEM] = "system",
    [DOCTOR_STACKS] = "stacks",
    [DOCTOR_NAMES] = "names",
    [DOCTOR_LINES] = "lines",
};

static void draw_row(const struct doctor_row *row, const struct area area, int y, const char *search)
{
    char number[32];
    int col = FIXED_COLS, wide = area.cols >= 110 ? MODULE_COLS + 6 : MODULE_COLS;
    if (row->subject != DOCTOR_SYSTEM) {
        draw_printf(area, y, 0, app_share_style(row->percent), "%6.1f", row->percent);
        draw_right(area, y, 7, 9, STYLE_NORMAL, text_thousands(number, sizeof number, row->samples));
    }
    draw_text(area, y, 17, STYLE_LABEL, subject_words[row->subject]);
    /* for JIT code, the process says more */
    bool by_process = area.cols < BOTH_COLS && *row->module == '[' && *row->process;
    if (row->subject != DOCTOR_SYSTEM) {
        draw_elided(area, y, col, wide - 1, STYLE_NAME, by_process ? row->process : row->module, true);
        col += wide;
        if (area.cols >= BOTH_COLS) {
            draw_elided(area, y, col, wide - 1, STYLE_NORMAL, row->process, true);
            col += wide;
        }
    }
    if (*search)
        (void)draw_match(area, y, col, area.cols - col, STYLE_NORMAL, row->cause, search);
    else /* its start says what it is about */
        draw_elided(area, y, col, area.cols - col, STYLE_NORMAL, row->cause, false);
}

static void draw_summary(const struct doctor *d, struct area area)
{
    static const char *const texts[] = {
        "%s samples: %.1f%% of their stacks reach the root, %.1f%% are truncated; all frames named in %.1f%%",
        "%s samples: stacks %.1f%% whole, %.1f%% truncated; frames named in %.1f%%",
    };
    char all[32], text[200];
    double n = d->samples ? (double)d->samples : 1;
    for (int narrow = 0; narrow < 2; narrow++) {
        (void)snprintf(text, sizeof text, texts[narrow], text_thousands(all, sizeof all, d->samples),
                       100 * (double)d->whole / n, 100 * (double)d->cut / n,
                       100 - 100 * (double)d->unnamed / n);
        if (text_width(text) <= area.cols)
            break;
    }
    if (d->waiting) /* only for a moment */
        (void)snprintf(text, sizeof text,
                       "%s samples: stacks %.1f%% whole, %.1f%% truncated, %.1f%% waiting for tables", all,
                       100 * (double)d->whole / n, 100 * (double)d->cut / n, 100 * (double)d->waiting / n);
    if (!d->samples)
        (void)snprintf(text, sizeof text, "no samples yet");
    draw_elided(area, 0, 0, area.cols, d->cut || d->unnamed ? STYLE_NORMAL : STYLE_LIVE, text, false);
}

static void draw_coverage(const struct session_coverage *c, struct area area)
{
    char text[200];
    session_coverage_text(c, text, sizeof text);
    draw_elided(area, 1, 0, area.cols, STYLE_NORMAL, text, false);
}

static void draw_detail(const struct doctor_row *row, struct area area)
{
    int y = 0;
    draw_fill(area, y++, 0, -1, STYLE_TABLE_HEAD);
    draw_printf(area, 0, 1, STYLE_TABLE_HEAD, "%s%s%s", row->module,
                *row->module && *row->process ? " in " : "", row->process);
    y += draw_wrapped(area_sub(area, 0, 1, -1, area.cols - 2), y, STYLE_NORMAL, row->cause);
    if (*row->fix)
        draw_wrapped(area_sub(area, 0, 1, -1, area.cols - 2), y, STYLE_NAME, row->fix);
}

static void doctor_draw(void *v, struct app *a, struct area area)
{
    struct doctor_view *d = v;
    int detail = area.rows >= 12 ? DETAIL_ROWS : 0, rows = area.rows - FIRST_ROW - detail;
    draw_summary(&d->doctor, area);
    draw_coverage(&d->doctor.coverage, area);
    draw_fill(area, 2, 0, -1, STYLE_TABLE_HEAD);
    draw_text(area, 2, 0, STYLE_TABLE_HEAD, "SHARE%  SAMPLES WHAT    WHERE, AND WHY");
    if (!d->doctor.rows.n) {
        draw_wrapped(area_sub(area, 4, 2, -1, area.cols - 4), 0, STYLE_LIVE,
                     d->doctor.samples ? "Nothing is missing: all stacks are whole, all frames have names."
                                       : "No samples yet.");
        return;
    }
    list_fit(&d->list, rows);
    for (int y = 0; y < rows && d->list.top + (uint32_t)y < d->doctor.rows.n; y++) {
        uint32_t row = d->list.top + (uint32_t)y;
        draw_row(&d->doctor.rows.items[row], area, FIRST_ROW + y, a->search);
        if (row == d->list.cursor)
            draw_restyle(area, FIRST_ROW + y, STYLE_CURSOR);
    }
    if (detail && d->list.cursor < d->doctor.rows.n)
        draw_detail(&d->doctor.rows.items[d->list.cursor], area_sub(area, area.rows - detail, 0, detail, -1));
}

/* Applies the fix of a row, if flametop can. */
static unsigned fix(struct app *a, const struct doctor_row *row)
{
    struct error e = { 0 };
    switch (row->action) {
    case DOCTOR_AUTO:
    case DOCTOR_DEEPER:
        if (!session_set_callchain(a->session, row->action == DOCTOR_AUTO ? CALLCHAIN_AUTO : CALLCHAIN_DWARF,
                                   row->stack_bytes, &e))
            return app_error(a, &e);
        return APP_QUERY | app_message(a, "applied to new samples; x discards the older ones");
    case DOCTOR_JVM_MAP:
        if (!session_ask_jvm(a->session, row->pid, &e))
            return app_error(a, &e);
        return app_message(a, "requesting the symbol map of Java VM %u ...", row->pid);
    case DOCTOR_NOTHING:
        break;
    }
    return app_message(a, "flametop cannot fix this itself: the fix is below the list");
}

static unsigned nothing_to_fix(struct app *a)
{
    return app_message(a, "there is nothing to fix");
}

static unsigned doctor_act(void *v, struct app *a, enum action action)
{
    struct doctor_view *d = v;
    if (action == ACTION_DOCTOR_FIX || action == ACTION_DRILL)
        return d->list.cursor < d->doctor.rows.n ? fix(a, &d->doctor.rows.items[d->list.cursor])
                                                 : nothing_to_fix(a);
    if (action == ACTION_GROUP || action == ACTION_GROUP_MENU)
        return app_message(a, "the doctor's rows are by module and reason: grouping works in other views");
    return list_act(&d->list, action, row_key, d) ? APP_REDRAW : APP_IGNORED;
}

/* Selects the row's module, to zoom into. */
static void doctor_selection(void *v, struct app *a, struct ui_selection *out)
{
    const struct doctor_view *d = v;
    (void)a;
    if (d->list.cursor < d->doctor.rows.n)
        snprintf(out->module, sizeof out->module, "%s", d->doctor.rows.items[d->list.cursor].module);
}

static unsigned doctor_click(void *v, struct app *a, int row, int col, bool twice)
{
    struct doctor_view *d = v;
    (void)a, (void)col, (void)twice;
    return list_click(&d->list, row - FIRST_ROW, row_key, d) ? APP_REDRAW : APP_IGNORED;
}

static bool row_matches(const void *ctx, uint32_t i, const char *needle)
{
    const struct doctor_view *d = ctx;
    const struct doctor_row *row = &d->doctor.rows.items[i];
    return text_find_nocase(row->module, needle) || text_find_nocase(row->process, needle) ||
           text_find_nocase(row->cause, needle) || text_find_nocase(row->fix, needle);
}

static void doctor_describe(void *v, struct app *a, char *dst, size_t cap)
{
    const struct doctor_view *d = v;
    (void)a;
    snprintf(dst, cap, "%zu %s", d->doctor.rows.n, d->doctor.rows.n == 1 ? "finding" : "findings");
}

const struct view_ops view_doctor_ops = {
    .intro =
        "What the other views cannot show: truncated stacks, frames without a name, and unreadable debug "
        "information. Rows are by module and reason, with the most affected process and the fix. Shares "
        "are of the samples shown. Where flametop can apply the fix itself, a key does.",
    .manual =
        "What is missing from the profile, why, and how to fix it: truncated stacks and frames without a "
        "name, by module and reason, and what the whole profile lacks. If\n.Nm\n"
        "can apply the fix, a key does so. In text output\n.Fl \\&-view Cm doctor\n"
        "prints the same, and reports begin with the largest problem.\n",
    .without = { ACTION_SORT, ACTION_GROUP_MENU, ACTION_CALLERS },
    .size = sizeof(struct doctor_view),
    .destroy = doctor_destroy,
    .update = doctor_update,
    .draw = doctor_draw,
    .act = doctor_act,
    .click = doctor_click,
    .selection = doctor_selection,
    .list = offsetof(struct doctor_view, list),
    .row_key = row_key,
    .row_matches = row_matches,
    .describe = doctor_describe,
};
