// SPDX-License-Identifier: GPL-2.0-or-later
/* The flame view: the call tree as frames whose width is their share.
 * Frames are sorted by name, so that two moments can be compared. */
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "ui/app.h"
#include "ui/flame_draw.h"
#include "ui/flame_model.h"
#include "ui/view_ops.h"

struct flame_view {
    struct flame_model model;
    struct flame_look look;
    struct area area; /* as last drawn */
};

static void flame_init(void *v, struct app *a)
{
    struct flame_view *f = v;
    f->look.colour = a->difference ? FLAME_BY_DIFFERENCE : FLAME_BY_TYPE;
}

static void flame_destroy(void *v)
{
    struct flame_view *f = v;
    flame_model_done(&f->model);
}

static void flame_update(void *v, struct app *a)
{
    struct flame_view *f = v;
    flame_model_update(&f->model, &a->data, &a->query, &a->status);
    flame_model_compare(&f->model, a->difference);
    flame_model_count_matches(&f->model, a->search);
}

static void flame_draw_view(void *v, struct app *a, struct area area)
{
    struct flame_view *f = v;
    f->area = area;
    if (!a->data.result.samples || !f->model.tree.n) {
        view_draw_empty(a, area);
        return;
    }
    f->look.parts = term_halves() ? 2 : 1;
    flame_model_lay_out(&f->model, (uint32_t)area.cols, (uint32_t)f->look.parts, &a->query, a->status.now_ns);
    flame_draw(&f->model, &f->look, a, area);
}

/* ---- moving ---- */

static unsigned flame_go(struct flame_view *f, uint32_t node)
{
    flame_model_select(&f->model, node);
    return APP_REDRAW;
}

static unsigned flame_root(struct flame_view *f, uint32_t node)
{
    flame_model_zoom(&f->model, node);
    return APP_REDRAW;
}

static unsigned flame_zoom(struct flame_view *f, struct app *a, uint32_t node)
{
    if (node == f->model.zoom)
        return flame_go(f, node);
    steps_push(a, STEP_INSIDE);
    return flame_root(f, node);
}

static unsigned flame_reset(struct flame_view *f, struct app *a)
{
    if (!f->model.zoom_key)
        return app_message(a, "already zoomed all the way out");
    steps_push(a, STEP_INSIDE);
    return flame_root(f, 0);
}

/* Selects the neighbour in the same row; at the edge nothing moves. */
static unsigned flame_sideways(struct flame_view *f, int step)
{
    const struct flame *l = &f->model.flame;
    int at = flame_model_box_of(&f->model, f->model.selected), next = at + step;
    if (at < 0)
        return flame_go(f, f->model.zoom);
    if (next < 0 || next >= (int)l->n || l->boxes[next].row != l->boxes[at].row)
        return APP_HANDLED;
    return flame_go(f, l->boxes[next].node);
}

static unsigned flame_deeper(struct flame_view *f)
{
    const struct calltree_node *nodes = f->model.tree.nodes;
    uint32_t best = 0;
    for (uint32_t c = nodes[f->model.selected].first_child; c; c = nodes[c].next_sibling)
        if (flame_box_of(&f->model.flame, c) >= 0 &&
            (!best || nodes[c].total_weight > nodes[best].total_weight))
            best = c;
    return best ? flame_go(f, best) : APP_HANDLED;
}

static unsigned flame_shallower(struct flame_view *f)
{
    return f->model.selected ? flame_go(f, f->model.tree.nodes[f->model.selected].parent) : APP_HANDLED;
}

static unsigned flame_page(struct flame_view *f, int steps, unsigned (*step)(struct flame_view *))
{
    for (int i = 0; i < steps; i++)
        if (step(f) == APP_HANDLED)
            break;
    return APP_REDRAW;
}

static void flame_save(void *v, struct app *a, struct view_position *out)
{
    const struct flame_view *f = v;
    (void)a;
    out->zoom_key = f->model.zoom_key;
    out->row_key = f->model.selected_key;
}

static void flame_restore(void *v, struct app *a, const struct view_position *position)
{
    struct flame_view *f = v;
    const struct calltree *tree = &f->model.tree;
    (void)a;
    if (position->zoom_key != f->model.zoom_key)
        (void)flame_root(f, position->zoom_key ? calltree_find(tree, position->zoom_key) : 0);
    (void)flame_go(f, position->row_key ? calltree_find(tree, position->row_key) : f->model.zoom);
}

static bool has_colour(const struct app *a, enum flame_colour colour)
{
    return (colour != FLAME_BY_RATE || flame_rate(&a->data)) &&
           (colour != FLAME_BY_DIFFERENCE || a->difference);
}

static void colour_name(const struct flame_look *look, const struct app *a, char *dst, size_t cap)
{
    char name[96];
    if (look->colour == FLAME_BY_DIFFERENCE && a->difference)
        (void)snprintf(dst, cap, "against %s", difference_name(a->difference, name, sizeof name));
    else if (look->colour == FLAME_BY_RATE && flame_rate(&a->data))
        (void)snprintf(dst, cap, "%s", flame_rate(&a->data)->title);
    else
        (void)snprintf(dst, cap, "%s", look->colour == FLAME_BY_MODULE ? "module" : "type");
}

static const char *rate_meaning(const struct app *a)
{
    const struct view_group_column *rate = flame_rate(&a->data), *columns = a->data.group_sums;
    return rate == &columns[GROUP_COLUMN_LATENCY] ? "red runs more alone than the average, blue less"
           : rate == &columns[GROUP_COLUMN_IPC]   ? "red has high IPC, blue low"
                                                  : "red above average, blue below";
}

static unsigned next_colour(struct flame_view *f, struct app *a)
{
    char name[160];
    do
        f->look.colour = (f->look.colour + 1) % FLAME_COLOURS;
    while (!has_colour(a, f->look.colour));
    colour_name(&f->look, a, name, sizeof name);
    if (f->look.colour == FLAME_BY_TYPE)
        return app_message(a, "colours: by type: kernel, user, C++, Rust, JIT");
    if (f->look.colour == FLAME_BY_DIFFERENCE)
        return app_message(a, "colours: %s: red has a larger share now, blue a smaller one", name);
    if (f->look.colour == FLAME_BY_RATE)
        return app_message(a, "colours: by %s: %s; grey: too few samples, or multiplexed counters", name,
                           rate_meaning(a));
    return app_message(a, "colours: by %s", name);
}

static unsigned flame_act(void *v, struct app *a, enum action action)
{
    struct flame_view *f = v;
    if (!f->model.tree.n)
        return APP_IGNORED;
    unsigned (*down)(struct flame_view *) = f->look.upward ? flame_shallower : flame_deeper;
    unsigned (*up)(struct flame_view *) = f->look.upward ? flame_deeper : flame_shallower;
    switch (action) {
    case ACTION_UP:
        return up(f);
    case ACTION_DOWN:
        return down(f);
    case ACTION_LEFT:
        return flame_sideways(f, -1);
    case ACTION_RIGHT:
        return flame_sideways(f, 1);
    case ACTION_PAGE_UP:
        return flame_page(f, 10, up);
    case ACTION_PAGE_DOWN:
        return flame_page(f, 10, down);
    case ACTION_TOP:
        return flame_go(f, f->model.zoom);
    case ACTION_END:
        return flame_page(f, 1000, flame_deeper);
    case ACTION_DRILL:
        if (f->model.selected == f->model.zoom)
            return app_message(a, "select a frame with the arrows: Enter zooms into it");
        return flame_zoom(f, a, f->model.selected);
    case ACTION_FLAME_RESET:
        return flame_reset(f, a);
    case ACTION_FLAME_INVERT:
        f->look.upward = !f->look.upward;
        return APP_REDRAW;
    case ACTION_FLAME_COLOUR:
        return next_colour(f, a);
    default:
        return APP_IGNORED;
    }
}

static unsigned flame_click(void *v, struct app *a, int row, int col, bool twice)
{
    struct flame_view *f = v;
    (void)a;
    int from_root = flame_draw_row_at(&f->model, &f->look, f->area, row);
    int at = -1;
    for (int part = 0; part < f->look.parts && at < 0 && from_root >= 0; part++)
        at = flame_box_at(&f->model.flame, (uint32_t)from_root, (uint32_t)(col * f->look.parts + part));
    if (at < 0)
        return APP_HANDLED;
    uint32_t node = f->model.flame.boxes[at].node;
    return twice ? flame_zoom(f, a, node) : flame_go(f, node);
}

/* ---- selection and search ---- */

static void flame_selection(void *v, struct app *a, struct ui_selection *out)
{
    struct flame_view *f = v;
    const struct calltree_node *n = f->model.tree.n ? &f->model.tree.nodes[f->model.selected] : NULL;
    if (!n || !f->model.selected)
        return;
    out->group = n->group;
    out->path_key = n->key;
    out->is_group = n->is_group;
    out->chosen = true;
    if (!n->is_group)
        ui_selection_of(out, &a->data.funcs[n->func]);
}

/* Returns the heaviest path that ends in a function. */
static uint32_t find_function(const struct flame_model *m, uint64_t func_key)
{
    const struct calltree_node *nodes = m->tree.nodes;
    uint32_t best = 0;
    for (uint32_t i = 1; i < m->tree.n && func_key; i++)
        if (!nodes[i].is_group && m->view->funcs[nodes[i].func].key == func_key &&
            (!best || nodes[i].total_weight > nodes[best].total_weight))
            best = i;
    return best;
}

static unsigned flame_select(void *v, struct app *a, const struct ui_selection *sel, bool drill)
{
    struct flame_view *f = v;
    uint32_t node = sel->path_key ? calltree_find(&f->model.tree, sel->path_key) : 0;
    (void)a;
    (void)drill;
    node = node ? node : find_function(&f->model, sel->func_key);
    return node ? flame_go(f, node) : APP_HANDLED;
}

static enum search_found flame_search(void *v, struct app *a, int step)
{
    struct flame_view *f = v;
    struct flame_model *m = &f->model;
    flame_model_count_matches(m, a->search);
    int n = (int)m->flame.n, at = flame_model_box_of(m, m->selected);
    if (step == 0 && at >= 0 && flame_model_matches(m, m->selected, a->search))
        return SEARCH_FOUND;
    for (int i = 1; i <= n; i++) {
        int from = at < 0 ? 0 : at, box = (from + (step < 0 ? n * 2 - i : i)) % n;
        if (flame_model_box_matches(m, &m->flame.boxes[box], a->search)) {
            flame_go(f, m->flame.boxes[box].node);
            return (step > 0 && box <= from) || (step < 0 && box >= from) ? SEARCH_WENT_ROUND : SEARCH_FOUND;
        }
    }
    return m->matched_frames ? SEARCH_FOUND : SEARCH_NONE;
}

static void flame_describe(void *v, struct app *a, char *dst, size_t cap)
{
    const struct flame_view *f = v;
    char colour[160];
    colour_name(&f->look, a, colour, sizeof colour);
    snprintf(dst, cap, "%s, %s%s%s", f->look.upward ? "flame" : "icicle",
             f->look.colour == FLAME_BY_DIFFERENCE ? "" : "by ", colour, f->model.zoom ? ", zoomed" : "");
}

const struct view_ops view_flame_ops = {
    .intro =
        "Each frame is a function on a call path; its width is its share of all samples. Its callees are "
        "next to it, away from the root. Frames are sorted by name, so that two moments can be compared. "
        "A frame with … (or ~) replaces all of its neighbours that are narrower than a column.",
    .manual =
        "A flame graph: the width of each frame is its share of the samples, with callees below callers, or "
        "inverted. Frames are sorted by name.\n",
    .without = { ACTION_SORT },
    .compares = true,
    .by_comm = true,
    .size = sizeof(struct flame_view),
    .init = flame_init,
    .destroy = flame_destroy,
    .update = flame_update,
    .draw = flame_draw_view,
    .act = flame_act,
    .click = flame_click,
    .selection = flame_selection,
    .save = flame_save,
    .restore = flame_restore,
    .select = flame_select,
    .search = flame_search,
    .describe = flame_describe,
};
