// SPDX-License-Identifier: GPL-2.0-or-later
/* The annotate view: its state and keys. annotate_draw.c draws it. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/text.h"
#include "ui/annotate_draw.h"
#include "ui/view_ops.h"

/* Waits before the first frame for the code, its lines and their texts, which usually arrive by then. */
#define OPEN_WAIT_NS (60 * NS_PER_MS)
#define OPEN_WAITS   3

static uint64_t row_key(const void *ctx, uint32_t row)
{
    const struct annotate_row *r = &((const struct annotate_view *)ctx)->an.rows[row];
    return r->offset * 2 + (r->kind != ANNOTATE_SOURCE);
}

static void forget_back(struct annotate_view *v)
{
    while (v->n_back)
        annotate_location_done(&v->back[--v->n_back].location);
}

static void destroy(void *view)
{
    struct annotate_view *v = view;
    forget_back(v);
    annotate_done(&v->an);
    arrows_done(&v->arrows);
}

/* ---- contents ---- */

/* Puts the row in the middle of the screen. */
static void go(struct annotate_view *v, int64_t row)
{
    uint32_t half = v->list.page > 1 ? (uint32_t)v->list.page / 2 : 8;
    if (row < 0)
        return;
    list_choose(&v->list, (uint32_t)row, row_key, v);
    v->list.top = v->list.cursor > half ? v->list.cursor - half : 0;
}

static void go_where_wanted(struct annotate_view *v)
{
    int64_t row = v->wants_offset ? annotate_row_at(&v->an, v->wanted) : annotate_hottest(&v->an, 0);
    if ((!v->wants_hottest && !v->wants_offset) || v->an.state == SYMBOL_PENDING || row < 0)
        return;
    go(v, row);
    v->wants_hottest = v->wants_offset = false;
}

static void set_asked(struct annotate_view *v)
{
    const struct annotate_location *p = &v->an.location;
    v->asked.func_key = p->key;
    (void)snprintf(v->asked.function, sizeof v->asked.function, "%s", p->name);
    text_clean(v->asked.module, sizeof v->asked.module, p->module->name, strlen(p->module->name));
}

/* Updates the rows. Source lines add rows in between: the row under the cursor stays where it is on the
 * screen. */
static void refresh_annotation(struct annotate_view *v, struct app *a)
{
    uint32_t above = v->list.cursor - (v->list.top < v->list.cursor ? v->list.top : v->list.cursor);
    const struct code *before = v->an.code;
    uint64_t key = v->an.location.key, start = v->an.location.start, size = v->an.location.size;
    if (v->list.cursor < v->an.n_rows && !v->wants_offset)
        v->wanted = v->an.rows[v->list.cursor].offset;
    annotate_update(&v->an, a->session, &a->data, !v->no_source);
    if (v->an.code != before)
        v->arrows.n = v->arrows.lanes = 0;
    if (v->an.code != before && v->an.code)
        arrows_make(&v->arrows, &v->an.code->view);
    if (key && v->asked.func_key == key)
        set_asked(v);
    /* its symbol arrived, and with it the start of the function */
    if (v->an.location.start != start || v->an.location.size != size)
        v->wants_offset = !v->wants_hottest;
    list_update(&v->list, v->an.n_rows, row_key, v);
    v->list.top = v->list.cursor > above ? v->list.cursor - above : 0;
    go_where_wanted(v);
}

static void open_target(struct annotate_view *v, struct app *a, struct annotate_location *location)
{
    annotate_open(&v->an, location, v->intel);
    set_asked(v);
    v->arrows.n = v->arrows.lanes = 0;
    v->list = (struct list){ .page = v->list.page };
    v->rank = 0;
    v->wants_hottest = true;
    v->wants_offset = false;
    refresh_annotation(v, a);
    for (int i = 0; i < OPEN_WAITS && annotate_is_pending(&v->an); i++) {
        annotate_wait(a->session, OPEN_WAIT_NS);
        refresh_annotation(v, a);
    }
}

static void update(void *view, struct app *a)
{
    struct annotate_view *v = view;
    struct annotate_location location;
    annotate_skid(a->session, v->skid, sizeof v->skid);
    if (v->an.location.module || a->pending_select)
        refresh_annotation(v, a);
    else if (annotate_find_hottest(a->session, &a->data, 0, &location))
        open_target(v, a, &location);
}

static unsigned select_function(void *view, struct app *a, const struct ui_selection *sel, bool drill)
{
    struct annotate_view *v = view;
    struct annotate_location location;
    (void)drill;
    if (v->an.location.module && sel->func_key == v->asked.func_key)
        return APP_HANDLED;
    if (sel->func_key && annotate_find(a->session, &a->data, sel->func_key, &location)) {
        forget_back(v);
        open_target(v, a, &location);
        v->asked.func_key = sel->func_key;
        (void)snprintf(v->asked.function, sizeof v->asked.function, "%s", sel->function);
        return APP_REDRAW;
    }
    if (!v->an.location.module)
        update(v, a);
    if (!sel->func_key)
        return APP_REDRAW;
    return app_message(a, "no samples of %s are left to annotate", sel->function);
}

static void selection(void *view, struct app *a, struct ui_selection *out)
{
    const struct annotate_view *v = view;
    (void)a;
    if (!v->an.location.module)
        return;
    *out = v->asked;
    out->chosen = true;
}

/* ---- keys ---- */

static const struct annotate_row *cursor_row(const struct annotate_view *v)
{
    return v->list.cursor < v->an.n_rows ? &v->an.rows[v->list.cursor] : NULL;
}

static void push(struct annotate_view *v)
{
    const struct annotate_row *r = cursor_row(v);
    if (v->n_back == ANNOTATE_BACK_MAX) {
        annotate_location_done(&v->back[0].location);
        memmove(v->back, v->back + 1, (ANNOTATE_BACK_MAX - 1) * sizeof *v->back);
        v->n_back--;
    }
    struct annotate_back *b = &v->back[v->n_back++];
    b->location = v->an.location;
    module_get(b->location.module);
    b->offset = r ? r->offset : 0;
}

static void save(void *view, struct app *a, struct view_position *out)
{
    const struct annotate_view *v = view;
    const struct annotate_row *r = cursor_row(v);
    (void)a;
    list_save(&v->list, out);
    out->row_key = r ? r->offset : 0;
    out->depth = v->n_back;
    out->subject = v->asked;
}

/* The function may have changed meanwhile: a call was followed, or another view opened it. */
static void restore(void *view, struct app *a, const struct view_position *position)
{
    struct annotate_view *v = view;
    struct annotate_location location;
    uint32_t above = position->cursor > position->top ? position->cursor - position->top : 0;
    while (v->n_back > position->depth)
        open_target(v, a, &v->back[--v->n_back].location);
    if (position->subject.func_key && position->subject.func_key != v->asked.func_key &&
        annotate_find(a->session, &a->data, position->subject.func_key, &location)) {
        forget_back(v);
        open_target(v, a, &location);
    }
    v->wanted = position->row_key;
    v->wants_offset = true;
    v->wants_hottest = false;
    go_where_wanted(v);
    if (!v->wants_offset)
        v->list.top = v->list.cursor > above ? v->list.cursor - above : 0;
}

static unsigned follow_call(struct annotate_view *v, struct app *a, uint32_t slot)
{
    struct annotate_location location;
    if (!annotate_callee(&v->an, a->session, &a->data, slot, &location))
        return app_message(a, "callee unknown: an indirect call without samples in the callee");
    steps_push(a, STEP_INSIDE);
    push(v);
    open_target(v, a, &location);
    return APP_REDRAW;
}

static unsigned follow(struct annotate_view *v, struct app *a)
{
    const struct annotate_row *r = cursor_row(v);
    if (!r || r->kind != ANNOTATE_INSN)
        return app_message(a, "Enter follows calls and jumps: this is neither");
    const struct code_row *row = &v->an.code->view.rows[r->slot];
    int64_t to = row->target == CODE_NO_TARGET ? -1 : annotate_row_at(&v->an, row->target);
    if (row->kind == CODE_JUMP && to >= 0) {
        go(v, to);
        return APP_REDRAW;
    }
    if (row->kind == CODE_CALL || (row->kind == CODE_JUMP && row->target != CODE_NO_TARGET))
        return follow_call(v, a, r->slot);
    return app_message(a, "Enter follows calls and jumps: this is neither");
}

static unsigned hottest(struct annotate_view *v, struct app *a, int step)
{
    uint32_t rank = step < 0 ? (v->rank ? v->rank - 1 : 0) : step ? v->rank + 1 : 0;
    int64_t row = annotate_hottest(&v->an, rank);
    if (row < 0)
        return app_message(a, v->an.n_sampled ? "this is the last sampled instruction"
                                              : "no instruction of this function was sampled");
    v->rank = rank;
    go(v, row);
    return app_message(a, "number %u of %u sampled instructions", rank + 1, v->an.n_sampled);
}

static unsigned set_syntax(struct annotate_view *v, struct app *a)
{
    struct annotate_location location = v->an.location;
    const struct annotate_row *r = cursor_row(v);
    uint64_t offset = r ? r->offset : 0;
    if (!location.module)
        return APP_HANDLED;
    v->intel = !v->intel;
    module_get(location.module);
    open_target(v, a, &location);
    v->wanted = offset;
    v->wants_offset = true;
    go_where_wanted(v);
    return app_message(a, v->intel ? "instructions in Intel's syntax" : "instructions in AT&T's syntax");
}

static unsigned set_source(struct annotate_view *v, struct app *a)
{
    v->no_source = !v->no_source;
    refresh_annotation(v, a);
    return app_message(a, v->no_source ? "without source lines" : "with source lines, where they are known");
}

static unsigned act(void *view, struct app *a, enum action action)
{
    struct annotate_view *v = view;
    if (list_act(&v->list, action, row_key, v)) {
        v->wants_hottest = v->wants_offset = false;
        v->list.moved = true;
        return APP_REDRAW;
    }
    switch (action) {
    case ACTION_DRILL:
        return follow(v, a);
    case ACTION_ANNOTATE_HOTTEST:
        return hottest(v, a, 0);
    case ACTION_ANNOTATE_COOLER:
        return hottest(v, a, 1);
    case ACTION_ANNOTATE_HOTTER:
        return hottest(v, a, -1);
    case ACTION_ANNOTATE_SOURCE:
        return set_source(v, a);
    case ACTION_ANNOTATE_SYNTAX:
        return set_syntax(v, a);
    case ACTION_ANNOTATE_COLUMNS:
        v->columns = (v->columns + 1) % 3;
        return APP_REDRAW;
    case ACTION_ANNOTATE_SHARES:
        v->of_all = !v->of_all;
        return app_message(a, v->of_all ? "percent of all samples" : "percent of the function's samples");
    default:
        return APP_IGNORED;
    }
}

static unsigned click(void *view, struct app *a, int row, int col, bool twice)
{
    struct annotate_view *v = view;
    uint32_t i;
    (void)col;
    if (!list_row_at(&v->list, row - v->body_row, &i))
        return APP_HANDLED;
    list_choose(&v->list, i, row_key, v);
    return APP_REDRAW | (twice ? follow(v, a) : 0);
}

/* ---- search ---- */

struct searching {
    const struct annotate_view *v;
    struct app *a;
};

static bool row_matches(const void *ctx, uint32_t row, const char *needle)
{
    const struct searching *s = ctx;
    char text[512];
    annotate_row_text(s->v, s->a, &s->v->an.rows[row], text, sizeof text);
    return text_find_nocase(text, needle);
}

static enum search_found search(void *view, struct app *a, int step)
{
    struct annotate_view *v = view;
    int64_t row = list_search(&v->list, step, a->search, row_matches, &(struct searching){ v, a });
    bool round = list_went_round(&v->list, step, row);
    if (row < 0)
        return SEARCH_NONE;
    list_choose(&v->list, (uint32_t)row, row_key, v);
    return round ? SEARCH_WENT_ROUND : SEARCH_FOUND;
}

static void describe(void *view, struct app *a, char *dst, size_t cap)
{
    const struct annotate_view *v = view;
    (void)a;
    (void)snprintf(dst, cap, "percent of %s", v->of_all ? "all" : "the function");
}

const struct view_ops view_annotate_ops = {
    .intro =
        "The instructions of a function, with its samples at each. SELF% is the share of the function's "
        "own samples at the instruction, as in perf annotate. TOTAL% is the share of its samples and "
        "those of its callees with the instruction on their stack (for a call: all samples below it). The "
        "two columns have different bases; a key shows both as shares of all samples. Enter on a call "
        "opens the callee, on a jump goes to its target; Esc goes back. Skid: a sample is where the "
        "interrupt of the counter or timer arrived, which is after the instruction that caused it. Look "
        "one or a few instructions above, for something slow (a division, a load that misses the cache). "
        "Code with interrupts off is sampled where it enables them again. The second line says whether "
        "the event has skid.",
    .manual =
        "The instructions of a function with the samples at each, its source lines, and its jumps as "
        "arrows; calls can be entered and left again. SELF% is the share of the function's own samples, as "
        "in perf annotate; TOTAL% is the share of the samples in the function and its callees. A key "
        "switches both to shares of all samples.\n",
    .without = { ACTION_SORT, ACTION_GROUP_MENU },
    .size = sizeof(struct annotate_view),
    .destroy = destroy,
    .update = update,
    .draw = annotate_draw,
    .act = act,
    .click = click,
    .selection = selection,
    .save = save,
    .restore = restore,
    .select = select_function,
    .search = search,
    .describe = describe,
};
