// SPDX-License-Identifier: GPL-2.0-or-later
/* The dialog "threads now": the threads of one process at this moment, with their stacks. */
#include <stdio.h>
#include <string.h>

#include "base/procfile.h"
#include "base/text.h"
#include "ui/bar.h"
#include "ui/dialog.h"
#include "ui/picker.h"
#include "ui/threads_tree.h"
#include "ui/view_ops.h"

#define WIDE_COLS 100
#define MARK_COLS 4
#define NAME_COLS 40 /* of a function, before its module */

/* Before the first result, the dialog has only its bottom line: the view remains visible. */
struct threads_list {
    struct dialog dialog;
    uint32_t pid;
    struct threads_job *job, *shown; /* in progress; with the rows below; each may be NULL */
    struct threads_tree model;
    struct tree tree;
    struct area rows; /* of the last drawn frame, relative to the dialog's area */
    char needle[64];
};

/* ---- the job ---- */

static void start(struct threads_list *t, struct app *a)
{
    if (!t->job)
        t->job = threads_job_start(a->session, t->pid);
}

static void show(struct threads_list *t, const struct threads_now *now)
{
    threads_job_leave(t->shown);
    t->shown = t->job;
    threads_tree_done(&t->model);
    threads_tree_build(&t->model, now);
    t->tree.open_depth = now->n == 1; /* a single row has room for its stack */
    tree_update(&t->tree, &threads_model, &t->model);
}

static bool list_waits(const struct dialog *d)
{
    return ((const struct threads_list *)d)->job;
}

static bool list_tick(struct dialog *d, struct app *a)
{
    struct threads_list *t = (struct threads_list *)d;
    struct error e = { 0 };
    if (!t->job || !threads_job_ready(t->job))
        return false;
    const struct threads_now *now = threads_job_result(t->job, &e);
    if (now) {
        show(t, now);
    } else {
        (void)app_error(a, &e);
        threads_job_leave(t->job);
        if (!t->shown)
            dialog_close(a, d);
    }
    t->job = NULL;
    return true;
}

static void list_destroy(struct dialog *d)
{
    struct threads_list *t = (struct threads_list *)d;
    threads_job_leave(t->job);
    threads_job_leave(t->shown);
    threads_tree_done(&t->model);
    tree_done(&t->tree);
}

/* ---- search ---- */

static unsigned find(struct threads_list *t, struct app *a, int step)
{
    const struct tree_row *row = tree_cursor(&t->tree);
    char key[16];
    if (!t->needle[0])
        return app_message(a, "nothing to search for yet: %s starts a search",
                           keymap_first(a->keymap, ACTION_SEARCH, key));
    uint32_t node = row ? threads_next_match(&t->model, row->node, step, t->needle) : 0;
    if (!node)
        return app_message(a, "nothing matches \"%s\"", t->needle);
    tree_reveal(&t->tree, node, &threads_model, &t->model);
    return APP_REDRAW;
}

static unsigned needle_changed(void *ctx, struct app *a, const char *text)
{
    struct threads_list *t = ctx;
    text_clean(t->needle, sizeof t->needle, text, strlen(text));
    return APP_REDRAW | (t->needle[0] ? find(t, a, 0) : 0);
}

static unsigned needle_done(void *ctx, struct app *a, const char *text)
{
    return needle_changed(ctx, a, text ? text : "");
}

/* ---- keys ---- */

static unsigned act(struct threads_list *t, struct app *a, enum action action)
{
    switch (action) {
    case ACTION_SEARCH:
        return dialog_ask(
            a, &(struct dialog_prompt){
                   .label = "search: ", .changed = needle_changed, .done = needle_done, .ctx = t });
    case ACTION_SEARCH_NEXT:
        return find(t, a, 1);
    case ACTION_SEARCH_PREVIOUS:
        if (t->needle[0])
            return find(t, a, -1);
        start(t, a);
        return APP_REDRAW;
    case ACTION_THREADS_NOW:
        start(t, a);
        return APP_REDRAW;
    case ACTION_HELP:
        return dialog_help(a);
    default:
        return tree_act(&t->tree, action, &threads_model, &t->model) ? APP_REDRAW : APP_HANDLED;
    }
}

static unsigned list_key(struct dialog *d, struct app *a, uint32_t key)
{
    struct threads_list *t = (struct threads_list *)d;
    enum action action = keymap_find(a->keymap, SCOPE_KEYS_CALLGRAPH, key);
    if (action != ACTION_BACK && action != ACTION_QUIT)
        return t->shown ? act(t, a, action) : (unsigned)APP_HANDLED;
    bool cancels = t->job;
    threads_job_leave(t->job);
    t->job = NULL;
    if (t->shown && cancels)
        return APP_REDRAW;
    dialog_close(a, d);
    return cancels ? app_message(a, "cancelled: process %u runs on", t->pid) : (unsigned)APP_REDRAW;
}

static unsigned threads_click(struct dialog *d, struct app *a, int row, int col, bool twice)
{
    struct threads_list *t = (struct threads_list *)d;
    uint32_t at;
    (void)col;
    if (!t->shown || !list_row_at(&t->tree.list, row - t->rows.y, &at))
        return APP_HANDLED;
    tree_go(&t->tree, at, &threads_model, &t->model);
    return APP_REDRAW | (twice ? act(t, a, ACTION_TOGGLE) : 0);
}

/* ---- drawing ---- */

enum { COLUMN_COUNT, COLUMN_STATE, COLUMN_SINCE, COLUMN_REASON, COLUMN_NAME, COLUMN_CALL, COLUMNS };
static const char *const titles[COLUMNS] = { "THREADS", "STATE", "FOR", "WAITS FOR", "NAME", "CALL" };

/* Returns the width of a column; 0: the rest of the line. */
static int width_of(int column, int cols)
{
    static const int narrow[COLUMNS] = { 7, 8, 8, 13, 16, 0 }, wide[COLUMNS] = { 7, 19, 9, 15, 20, 0 };
    return (cols < WIDE_COLS ? narrow : wide)[column];
}

static void draw_columns(struct area area, int y, enum style style, const char *const texts[COLUMNS],
                         const char *needle)
{
    for (int i = 0, col = MARK_COLS; i < COLUMNS && col < area.cols; i++) {
        int width = width_of(i, area.cols);
        char text[256];
        text_elide(text, sizeof text, texts[i], width ? width : area.cols - col, i == COLUMN_CALL);
        if (i == COLUMN_COUNT || i == COLUMN_SINCE)
            draw_right(area, y, col, width, style, text);
        else
            (void)draw_match(area, y, col, width ? width : area.cols - col, style, text, needle);
        col += width + 1;
    }
}

static void draw_threads(const struct threads_node *n, bool open, struct area area, int y, const char *needle)
{
    char count[16], state[32];
    (void)snprintf(count, sizeof count, "%u", n->row->n);
    (void)snprintf(state, sizeof state, "%s", threads_text_state(n->row));
    if (area.cols < WIDE_COLS)
        state[strcspn(state, " ")] = '\0'; /* of "running or runnable" */
    const char *texts[COLUMNS] = {
        count, state, n->since, wait_reason_name(n->row->reason), n->name, n->call
    };
    draw_text(area, y, 0, STYLE_NORMAL, open ? "[-]" : "[+]");
    draw_columns(area, y, STYLE_NORMAL, texts, needle);
}

static void draw_line(const struct threads_line *line, struct area area, int y, const char *needle)
{
    int label = MARK_COLS + 2, col = label + 9, room = area.cols - col;
    char text[512];
    draw_text(area, y, label, STYLE_LABEL, line->label);
    if (line->kind == THREADS_LINE_TEXT) {
        text_elide(text, sizeof text, line->text, room, strcmp(line->label, "threads") != 0);
        (void)draw_match(area, y, col, room, STYLE_NORMAL, text, needle);
        return;
    }
    enum style style = line->kind == THREADS_LINE_KERNEL ? STYLE_KERNEL : STYLE_USER;
    int used = draw_function(area, y, col, room, style, line->text, needle);
    col += (used < NAME_COLS ? NAME_COLS : used) + 2;
    if (*line->module && area.cols - col > 6)
        draw_elided(area, y, col, area.cols - col, STYLE_DIM, line->module, true);
}

/* Draws the notes, in at most half of the area. Returns the next row. */
static int draw_notes(const struct threads_now *now, struct area area, int y)
{
    const char *notes = buf_str(&now->notes);
    struct area half = area_sub(area, 0, 0, area.rows / 2, -1);
    for (size_t n; *notes && y < half.rows; notes += n + (notes[n] == '\n')) {
        char line[512];
        n = strcspn(notes, "\n");
        text_clean(line, sizeof line, notes, n);
        y += draw_wrapped(half, y, STYLE_DEGRADED, line);
    }
    return y < half.rows ? y : half.rows;
}

static int draw_head(const struct threads_now *now, struct area area)
{
    struct buf text = { 0 };
    threads_text_process(&text, now);
    int y = draw_notes(now, area, draw_wrapped(area, 0, STYLE_NORMAL, buf_str(&text)));
    buf_done(&text);
    draw_fill(area, y, 0, -1, STYLE_TABLE_HEAD);
    draw_columns(area, y, STYLE_TABLE_HEAD, titles, "");
    return y + 1;
}

static void list_draw(struct dialog *d, struct app *a, struct area area)
{
    struct threads_list *t = (struct threads_list *)d;
    struct error e = { 0 };
    const struct threads_now *now = t->shown ? threads_job_result(t->shown, &e) : NULL;
    (void)a;
    if (!now)
        return;
    struct area in = draw_box(area, "Threads now");
    int head = draw_head(now, in);
    struct area rows = area_sub(in, head, 0, -1, -1);
    t->rows = (struct area){ rows.y - area.y, rows.x - area.x, rows.rows, rows.cols };
    list_fit(&t->tree.list, rows.rows);
    for (int y = 0; y < rows.rows && t->tree.list.top + (uint32_t)y < t->tree.n; y++) {
        uint32_t i = t->tree.list.top + (uint32_t)y;
        const struct threads_node *n = threads_node(&t->model, t->tree.rows[i].node);
        if (n->row)
            draw_threads(n, t->tree.rows[i].open, rows, y, t->needle);
        else
            draw_line(&n->line, rows, y, t->needle);
        if (i == t->tree.list.cursor)
            draw_restyle(rows, y, STYLE_CURSOR);
    }
}

static void list_draw_bar(struct dialog *d, struct app *a, struct area bar)
{
    const struct threads_list *t = (const struct threads_list *)d;
    char back[16], search[16], again[16];
    keymap_first(a->keymap, ACTION_BACK, back);
    if (a->message[0]) {
        footer_draw(a, bar);
    } else if (t->job) {
        draw_fill(bar, 0, 0, -1, STYLE_MESSAGE);
        draw_printf(bar, 0, 0, STYLE_MESSAGE, "reading the threads of process %u ...  (%s cancels)", t->pid,
                    back);
    } else {
        draw_fill(bar, 0, 0, -1, STYLE_KEY_LABEL);
        draw_printf(
            bar, 0, 0, STYLE_KEY_LABEL,
            "%s closes   Enter opens a stack   %s searches   %s reads the threads again", back,
            keymap_first(a->keymap, ACTION_SEARCH, search),
            keymap_first(a->keymap, t->needle[0] ? ACTION_THREADS_NOW : ACTION_SEARCH_PREVIOUS, again));
    }
}

/* ---- the process ---- */

static unsigned open_list(void *ctx, struct app *a)
{
    static const struct dialog_ops ops = { .key = list_key,
                                           .draw = list_draw,
                                           .tick = list_tick,
                                           .waits = list_waits,
                                           .click = threads_click,
                                           .draw_bar = list_draw_bar,
                                           .destroy = list_destroy };
    struct threads_list *t = mem_zalloc(sizeof *t);
    t->dialog.ops = &ops;
    t->pid = (uint32_t)(uintptr_t)ctx;
    start(t, a);
    dialog_push(a, &t->dialog);
    return APP_REDRAW;
}

static unsigned confirm(struct app *a, uint32_t pid)
{
    char question[128], comm[64];
    procfile_read_comm(pid, comm, sizeof comm);
    (void)snprintf(question, sizeof question, "Briefly stop each thread of %u %s to read its stack?", pid,
                   comm);
    return dialog_confirm(a, question, open_list, (void *)(uintptr_t)pid);
}

/* Returns the process of the row under the cursor; 0: the row is of no process. */
static uint32_t process_of_row(struct app *a)
{
    struct ui_selection sel = app_selection(a);
    if (sel.tid)
        return scope_process_of(sel.tid);
    if (!sel.group || sel.group >= a->data.n_groups)
        return 0;
    const struct view_group_info *g = &a->data.groups[sel.group];
    return a->query.group == VIEW_GROUP_PROCESS ? (uint32_t)g->number : g->pid;
}

/* Returns the process that is zoomed into, or the only one that is sampled; else 0. */
static uint32_t process_of_scope(const struct app *a)
{
    const struct scope *scope = session_scope(a->session);
    for (uint32_t i = a->query.n_zooms; i-- > 0;) {
        const struct zoom *z = &a->query.zooms[i];
        if (z->kind == ZOOM_PROCESS || z->kind == ZOOM_THREAD)
            return scope_process_of((uint32_t)z->number);
    }
    if ((scope->kind == SCOPE_PIDS || scope->kind == SCOPE_TIDS) && scope->n_ids == 1)
        return scope_process_of(scope->ids[0]);
    return 0;
}

unsigned threads_now(struct app *a)
{
    uint32_t pid;
    if (a->status.file)
        return app_message(a, "a recording has no running processes: threads are shown of live ones only");
    if ((pid = process_of_row(a)) || (pid = process_of_scope(a)))
        return confirm(a, pid);
    return pick_one_process(a, "Process whose threads to show", confirm);
}
