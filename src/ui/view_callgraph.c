// SPDX-License-Identifier: GPL-2.0-or-later
/* The call graph: a tree of functions by share, from callers to callees or inverted.
 * Each order has its own expansion and cursor. Opened from another view, it shows only the callers of the
 * selected function. */
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/text.h"
#include "ui/app.h"
#include "ui/callgraph.h"
#include "ui/callgraph_draw.h"
#include "ui/view_ops.h"

#define FIRST_SAMPLES 20               /* minimum to open the hot path at start */
#define FIRST_WAIT_NS (3 * NS_PER_SEC) /* maximum wait for names, because they change the keys */
#define OPEN_LEVELS   32
#define OPEN_CHILDREN 15

struct callgraph_view {
    struct callgraph graph; /* in the present order */
    struct tree trees[CALLGRAPH_ORDERS];
    bool opened[CALLGRAPH_ORDERS];          /* opened by itself when first shown */
    enum callgraph_order order_by_baseline; /* restored when the focus ends */
    char focus_name[256];
    uint32_t query_serial; /* app->query_serial of the rows */
};

static void destroy(void *view)
{
    struct callgraph_view *c = view;
    callgraph_done(&c->graph);
    for (int i = 0; i < CALLGRAPH_ORDERS; i++)
        tree_done(&c->trees[i]);
}

static struct tree *tree_of(struct callgraph_view *c)
{
    return &c->trees[c->graph.order];
}

static void list_rows(struct callgraph_view *c)
{
    tree_update(tree_of(c), &callgraph_model, &c->graph);
}

static void reveal(struct callgraph_view *c, uint32_t node)
{
    tree_reveal(tree_of(c), node, &callgraph_model, &c->graph);
}

/* --- a new result --- */

/* Groups callers by command only if the user chose a grouping. */
static void build(struct callgraph_view *c, const struct app *a)
{
    bool asked = a->query.group != VIEW_GROUP_SYMBOL || c->graph.order == CALLGRAPH_CALLEES;
    c->graph.by_group = asked && a->data.n_groups > 1;
    callgraph_build(&c->graph, &a->data);
}

static uint32_t count_children(const struct callgraph *g, uint32_t node)
{
    uint32_t n = 0;
    for (uint32_t at = callgraph_node(g, node)->first_child; at; at = callgraph_node(g, at)->next_sibling)
        n++;
    return n;
}

/* Opens a node, and on along the heaviest child, until no child has half of its parent. Nodes that scatter
 * (many children, or none with a tenth) stay closed. */
static void open_to_fork(struct callgraph_view *c, uint32_t node)
{
    const struct calltree_node *nodes = c->graph.tree.nodes;
    for (int level = 0; level < OPEN_LEVELS; level++) {
        uint32_t child = nodes[node].first_child;
        uint64_t weight = nodes[node].total_weight;
        if (!child || nodes[child].total_weight * 10 < weight ||
            count_children(&c->graph, node) > OPEN_CHILDREN)
            return;
        tree_set_open(tree_of(c), nodes[node].key, true);
        if (nodes[child].total_weight * 2 < weight)
            return;
        node = child;
    }
}

static void open_at_first(struct callgraph_view *c, const struct app *a)
{
    const struct session_status *s = &a->status;
    bool *opened = &c->opened[c->graph.order], named = !s->pending_modules || s->elapsed_ns > FIRST_WAIT_NS;
    bool few = a->data.result.samples < FIRST_SAMPLES;
    if (view_has_durations(&a->data) && a->query.to_ns) /* a chosen range may have a single long wait */
        few = !a->data.result.samples;
    if (*opened || c->graph.focus || !named || few)
        return;
    *opened = true;
    uint32_t hottest = callgraph_model.first_child(&c->graph, 0);
    if (!tree_of(c)->state.n && hottest)
        open_to_fork(c, hottest);
}

/* Opens a single stack, as of one row of the log, each time that it is another one. */
static void open_single(struct callgraph_view *c, const struct app *a)
{
    uint32_t only = callgraph_model.first_child(&c->graph, 0);
    if (c->query_serial != a->query_serial && a->data.result.n_entries == 1 && !c->graph.focus && only)
        open_to_fork(c, only);
}

static void update(void *view, struct app *a)
{
    struct callgraph_view *c = view;
    build(c, a);
    open_at_first(c, a);
    open_single(c, a);
    if (c->query_serial != a->query_serial)
        for (int i = 0; i < CALLGRAPH_ORDERS; i++)
            list_restart(&c->trees[i].list);
    c->query_serial = a->query_serial;
    list_rows(c);
}

/* --- drawing --- */

#define SELF_AT      0
#define TOTAL_AT     7
#define SHARE_COLS   6
#define SAMPLES_AT   14
#define SAMPLES_COLS 10
#define WIDE_COLS    100 /* from this width on with samples and modules */

static int tree_column(struct area area)
{
    return area.cols >= WIDE_COLS ? SAMPLES_AT + SAMPLES_COLS + 1 : SAMPLES_AT;
}

static void draw_head(const struct callgraph_view *c, struct area area)
{
    int col = tree_column(area);
    draw_fill(area, 0, 0, -1, STYLE_TABLE_HEAD);
    draw_right(area, 0, SELF_AT, SHARE_COLS, STYLE_TABLE_HEAD, "SELF%");
    draw_right(area, 0, TOTAL_AT, SHARE_COLS, STYLE_TABLE_SORT, "TOTAL%");
    if (col > SAMPLES_AT)
        draw_right(area, 0, SAMPLES_AT, SAMPLES_COLS, STYLE_TABLE_HEAD, "SAMPLES");
    if (c->graph.focus)
        draw_printf(area, 0, col, STYLE_TABLE_HEAD, "CALLERS of %s", c->focus_name);
    else
        draw_text(area, 0, col, STYLE_TABLE_HEAD,
                  c->graph.order == CALLGRAPH_CALLERS ? "CALLERS: callers below each function"
                                                      : "CALLEES: callees below each function");
}

static void draw_share(const struct app *a, struct area area, int row, int col, uint64_t weight)
{
    char text[32];
    double percent = app_percent(a, weight);
    (void)snprintf(text, sizeof text, "%.1f", percent);
    draw_right(area, row, col, SHARE_COLS, app_share_style(percent), text);
}

static void draw_numbers(const struct callgraph *g, const struct app *a, struct area area, int line,
                         const struct tree_row *row)
{
    char text[32];
    const struct calltree_node *n = callgraph_node(g, row->node);
    struct callgraph_rest one = { n->total_weight, callgraph_self_weight(g, row->node), n->total_count, 1 };
    if (row->rest)
        one = callgraph_rest_of(g, row->node);
    draw_share(a, area, line, TOTAL_AT, one.total);
    draw_share(a, area, line, SELF_AT, one.self);
    if (tree_column(area) > SAMPLES_AT)
        draw_right(area, line, SAMPLES_AT, SAMPLES_COLS, STYLE_NORMAL,
                   text_thousands(text, sizeof text, one.samples));
}

static void draw_nothing(const struct callgraph_view *c, struct app *a, struct area area)
{
    char text[400], key[16];
    if (!a->data.result.samples) {
        view_draw_empty(a, area);
        return;
    }
    if (c->graph.focus)
        (void)snprintf(text, sizeof text,
                       "no samples in this window pass through %.200s: %s shows all callees", c->focus_name,
                       keymap_first(a->keymap, ACTION_INVERT, key));
    else
        (void)snprintf(text, sizeof text, "these samples have no stacks: %s chooses how stacks are unwound",
                       keymap_first(a->keymap, ACTION_STACKS, key));
    (void)draw_wrapped(area_sub(area, 1, 2, -1, area.cols - 4), 0, STYLE_DIM, text);
}

static void draw(void *view, struct app *a, struct area area)
{
    struct callgraph_view *c = view;
    struct tree *t = tree_of(c);
    struct area body = area_sub(area, 1, 0, area.rows - 1, -1);
    struct area names = area_sub(body, 0, tree_column(area), -1, -1);
    draw_head(c, area);
    if (!t->n) {
        draw_nothing(c, a, body);
        return;
    }
    list_fit(&t->list, body.rows);
    for (int row = 0; row < body.rows && t->list.top + (uint32_t)row < t->n; row++) {
        const struct tree_row *at = &t->rows[t->list.top + (uint32_t)row];
        draw_numbers(&c->graph, a, body, row, at);
        callgraph_draw_row(&c->graph, at, a->search, names, row, area.cols >= WIDE_COLS);
        if (at == tree_cursor(t))
            draw_restyle(body, row, STYLE_CURSOR);
    }
}

static void describe(void *view, struct app *a, char *dst, size_t cap)
{
    struct callgraph_view *c = view;
    (void)a;
    (void)snprintf(dst, cap, "%s%s%s", c->graph.order == CALLGRAPH_CALLERS ? "callers" : "callees",
                   c->graph.focus ? " of one function" : "", tree_of(c)->cut ? ", first 20,000 rows" : "");
}

/* --- the function under the cursor, here and in other views --- */

static const struct view_function *cursor_function(struct callgraph_view *c)
{
    const struct tree_row *row = tree_cursor(tree_of(c));
    return row && !row->rest ? callgraph_function(&c->graph, row->node) : NULL;
}

static void selection(void *view, struct app *a, struct ui_selection *out)
{
    struct callgraph_view *c = view;
    const struct tree_row *row = tree_cursor(tree_of(c));
    const struct view_function *f = cursor_function(c);
    (void)a;
    if (!row || row->rest)
        return;
    out->group = callgraph_node(&c->graph, row->node)->group;
    out->is_group = callgraph_node(&c->graph, row->node)->is_group;
    out->chosen = tree_of(c)->list.moved;
    out->path_key = c->graph.order == CALLGRAPH_CALLEES ? callgraph_node(&c->graph, row->node)->key : 0;
    if (f)
        ui_selection_of(out, f);
}

/* Moves the cursor to the selected function, unless the user already put it on that function. */
static void follow(struct callgraph_view *c, const struct ui_selection *sel)
{
    const struct view_function *f = cursor_function(c);
    uint32_t node = 0;
    if (sel->path_key && c->graph.order == CALLGRAPH_CALLEES)
        node = calltree_find(&c->graph.tree, sel->path_key);
    if (!node && f && tree_of(c)->list.moved && f->key == sel->func_key)
        return;
    if (!node && sel->func_key)
        node = callgraph_find(&c->graph, sel->func_key, sel->group);
    if (node)
        reveal(c, node);
}

static void set_focus(struct callgraph_view *c, struct app *a, const struct ui_selection *sel)
{
    if (!c->graph.focus)
        c->order_by_baseline = c->graph.order;
    c->graph.order = CALLGRAPH_CALLERS;
    c->graph.focus = sel->func_key;
    (void)snprintf(c->focus_name, sizeof c->focus_name, "%s", sel->function);
    update(c, a);
    uint32_t node = callgraph_find(&c->graph, sel->func_key, sel->group);
    if (!node)
        return;
    open_to_fork(c, node);
    reveal(c, node);
}

static void leave_focus(struct callgraph_view *c, struct app *a, enum callgraph_order order)
{
    c->graph.focus = 0;
    c->graph.order = order;
    update(c, a);
}

static unsigned select_function(void *view, struct app *a, const struct ui_selection *sel, bool drill)
{
    struct callgraph_view *c = view;
    if (drill && sel->func_key) {
        set_focus(c, a, sel);
        return APP_REDRAW;
    }
    if (c->graph.focus)
        leave_focus(c, a, c->order_by_baseline);
    follow(c, sel);
    return APP_REDRAW;
}

static void save(void *view, struct app *a, struct view_position *out)
{
    struct callgraph_view *c = view;
    (void)a;
    list_save(&tree_of(c)->list, out);
    out->order = c->graph.order;
    out->subject.func_key = c->graph.focus;
    (void)snprintf(out->subject.function, sizeof out->subject.function, "%s", c->focus_name);
}

static void restore(void *view, struct app *a, const struct view_position *position)
{
    struct callgraph_view *c = view;
    c->graph.order = (enum callgraph_order)position->order;
    c->graph.focus = position->subject.func_key;
    (void)snprintf(c->focus_name, sizeof c->focus_name, "%s", position->subject.function);
    update(c, a);
    tree_restore(tree_of(c), position, &callgraph_model, &c->graph);
}

/* --- search --- */

/* Returns the first matching node of a row; 0: none. */
static uint32_t match_in(const struct callgraph_view *c, uint32_t at, const char *needle)
{
    const struct callgraph *g = &c->graph;
    const struct tree_row *row = &c->trees[g->order].rows[at];
    uint32_t node = row->rest ? 0 : row->first;
    while (node && !callgraph_matches(g, node, needle))
        node = node == row->node ? 0 : callgraph_node(g, node)->first_child;
    return node;
}

static bool row_matches(const void *ctx, uint32_t row, const char *needle)
{
    return match_in(ctx, row, needle);
}

/* While the text is typed, visible rows come first: half a word should not expand branches everywhere. */
static enum search_found search(void *view, struct app *a, int step)
{
    struct callgraph_view *c = view;
    struct tree *t = tree_of(c);
    const struct tree_row *row = tree_cursor(t);
    bool round = false;
    if (!row)
        return SEARCH_NONE;
    callgraph_match(&c->graph, a->search);
    int64_t visible = step == 0 ? list_search(&t->list, 0, a->search, row_matches, c) : -1;
    uint32_t node = visible >= 0 ? match_in(c, (uint32_t)visible, a->search)
                                 : callgraph_next_match(&c->graph, row->node, step, a->search, &round);
    if (!node)
        return SEARCH_NONE;
    reveal(c, node);
    return round && step ? SEARCH_WENT_ROUND : SEARCH_FOUND;
}

/* --- keys --- */

static unsigned invert(struct callgraph_view *c, struct app *a)
{
    struct ui_selection sel = { 0 };
    selection(c, a, &sel);
    leave_focus(c, a, c->graph.order == CALLGRAPH_CALLEES ? CALLGRAPH_CALLERS : CALLGRAPH_CALLEES);
    follow(c, &sel);
    return APP_REDRAW;
}

static unsigned expand_hot(struct callgraph_view *c, struct app *a)
{
    const struct tree_row *row = tree_cursor(tree_of(c));
    if (row && !row->rest && !callgraph_hot_child(&c->graph, row->node, row->node))
        return app_message(a,
                           row->leaf ? "the hot path ends in %.200s"
                                     : "the hot path ends in %.200s: no child has half of its samples",
                           callgraph_name(&c->graph, row->node));
    (void)tree_act(tree_of(c), ACTION_EXPAND_HOT, &callgraph_model, &c->graph);
    return APP_REDRAW;
}

static unsigned act(void *view, struct app *a, enum action action)
{
    struct callgraph_view *c = view;
    if (action == ACTION_INVERT)
        return invert(c, a);
    if (action == ACTION_EXPAND_HOT)
        return expand_hot(c, a);
    return tree_act(tree_of(c), action, &callgraph_model, &c->graph) ? APP_REDRAW : APP_IGNORED;
}

static unsigned click(void *view, struct app *a, int row, int col, bool twice)
{
    struct callgraph_view *c = view;
    struct tree *t = tree_of(c);
    uint32_t i;
    (void)a;
    (void)col;
    if (!list_row_at(&t->list, row - 1, &i))
        return APP_HANDLED;
    tree_go(t, i, &callgraph_model, &c->graph);
    if (twice)
        (void)tree_act(t, ACTION_TOGGLE, &callgraph_model, &c->graph);
    return APP_REDRAW;
}

const struct view_ops view_callgraph_ops = {
    .intro = "The tree of calls. Callees: below each function are the functions that it calls; TOTAL% is the "
             "share of samples on this path, SELF% the share of samples in the function itself. Callers "
             "(inverted): below each function are its callers; SELF% is the share of samples in the top "
             "function, called along this path. A function whose only callee has all of its samples shares a "
             "row with it: a → b. Functions below 0.1% are behind one row: Enter lists them.",
    .manual =
        "Time per call path: a tree from the process down to the functions that ran (callees) or, inverted, "
        "from a function up to its callers.\n",
    .legend = true,
    .without = { ACTION_SORT },
    .by_comm = true,
    .size = sizeof(struct callgraph_view),
    .destroy = destroy,
    .update = update,
    .draw = draw,
    .act = act,
    .click = click,
    .selection = selection,
    .save = save,
    .restore = restore,
    .select = select_function,
    .search = search,
    .describe = describe,
};
