// SPDX-License-Identifier: GPL-2.0-or-later
/* The flame view: the call tree as boxes whose width is their share. Frames are sorted by name, so that
 * two moments compare. Zoom and cursor hold by path while the numbers move. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/text.h"
#include "profile/flame.h"
#include "ui/app.h"
#include "ui/bars.h"
#include "ui/view.h"

#define MODULE_COLOURS 8
#define ZOOMS_MAX      32
#define LAYOUT_NS      (15 * NS_PER_SEC / 2) /* an eighth of a minute, as trends have it */
#define FIRST_NS       (4 * NS_PER_SEC)
#define OFF_COLUMNS    6 /* a box that ought to be so much wider or narrower is wrong */
#define NAME_LEAST     4 /* columns; a name cut shorter says nothing */

struct flame_view {
    struct calltree tree;
    struct flame flame;
    uint64_t zoom_key, selected_key; /* 0: the root */
    uint64_t zooms[ZOOMS_MAX];       /* where Esc goes back to */
    uint32_t n_zooms;
    uint32_t zoom, selected; /* nodes of the tree as it is now */
    uint32_t columns;        /* of the layout; 0: to be made */
    uint64_t laid_out_ns;
    struct view_query asked; /* when it was laid out */
    uint64_t *box_key;       /* path keys of its boxes */
    size_t box_key_cap;
    int first_row;  /* scrolled by so many rows of the tree */
    bool upward;    /* flame: the root at the bottom; else an icicle */
    bool by_module; /* what colours mean */
    uint64_t *func_key;
    uint32_t *func_rank, *group_rank, *order;
    size_t func_key_cap, func_rank_cap, group_rank_cap, order_cap;
    uint32_t matched_frames;
    double matched_percent;
};

static void *flame_create(struct app *a)
{
    (void)a;
    return mem_zalloc(sizeof(struct flame_view));
}

static void flame_destroy(void *v)
{
    struct flame_view *f = v;
    calltree_done(&f->tree);
    flame_done(&f->flame);
    mem_free(f->func_key);
    mem_free(f->func_rank);
    mem_free(f->group_rank);
    mem_free(f->order);
    mem_free(f->box_key);
    mem_free(f);
}

/* ---- the tree ---- */

static int by_function_name(const void *x, const void *y, void *ctx)
{
    const struct view_function *funcs = ctx, *a = &funcs[*(const uint32_t *)x],
                               *b = &funcs[*(const uint32_t *)y];
    int order = strcmp(a->name ? a->name : "", b->name ? b->name : "");
    return order ? order : (a->key > b->key) - (a->key < b->key);
}

static int by_group_label(const void *x, const void *y, void *ctx)
{
    const struct view_group_info *groups = ctx;
    return strcmp(groups[*(const uint32_t *)x].label, groups[*(const uint32_t *)y].label);
}

static void rank(struct flame_view *f, uint32_t *ranks, uint32_t n,
                 int (*compare)(const void *, const void *, void *), void *ctx)
{
    MEM_GROW(f->order, f->order_cap, n + 1);
    for (uint32_t i = 0; i < n; i++)
        f->order[i] = i;
    qsort_r(f->order, n, sizeof *f->order, compare, ctx);
    for (uint32_t i = 0; i < n; i++)
        ranks[f->order[i]] = i;
}

static const char *node_name(const struct flame_view *f, const struct app *a, uint32_t node)
{
    const struct calltree_node *n = &f->tree.nodes[node];
    if (!node)
        return "all";
    return n->is_group ? a->answer.groups[n->group].label : a->answer.funcs[n->func].name;
}

static bool node_matches(const struct flame_view *f, const struct app *a, uint32_t node)
{
    return node && *a->search && text_find_nocase(node_name(f, a, node), a->search);
}

/* The share of all that passes a match: what is below a match counts once. Parents come first. */
static void count_matches(struct flame_view *f, const struct app *a)
{
    uint64_t weight = 0;
    uint8_t *below = mem_array(f->tree.n + 1, 1);
    f->matched_frames = 0;
    for (uint32_t i = 1; i < f->tree.n && *a->search; i++) {
        bool match = node_matches(f, a, i);
        uint8_t above = below[f->tree.nodes[i].parent];
        f->matched_frames += match;
        weight += match && !above ? f->tree.nodes[i].total_weight : 0;
        below[i] = above || match;
    }
    f->matched_percent = app_percent(a, weight);
    mem_free(below);
}

/* Boxes that slide a little with every redraw can neither be read nor walked, and cost a slow line dearly:
 * they stay for some seconds, over numbers that move, unless something else is asked. */
static bool layout_stays(const struct flame_view *f, const struct app *a)
{
    const struct session_status *s = &a->status;
    const struct view_query *q = &a->query;
    uint64_t patience = q->window_ns && q->window_ns / 8 < LAYOUT_NS ? q->window_ns / 8 : LAYOUT_NS;
    return f->columns && !s->file && s->elapsed_ns > FIRST_NS && s->now_ns >= f->laid_out_ns &&
           s->now_ns - f->laid_out_ns < patience && memcmp(&f->asked, q, sizeof *q) == 0;
}

/* The boxes' nodes have other numbers in a new tree; some are no more. False when that leaves a hole. */
static bool renumber_boxes(struct flame_view *f)
{
    uint32_t n = 0;
    bool whole = true;
    for (uint32_t i = 0; i < f->flame.n; i++) {
        uint32_t node = f->box_key[i] ? calltree_find(&f->tree, f->box_key[i]) : 0;
        if (!node && f->box_key[i]) {
            whole &= f->flame.boxes[i].width == 1;
            continue;
        }
        f->flame.boxes[n] = f->flame.boxes[i];
        f->flame.boxes[n].node = node;
        f->box_key[n++] = f->box_key[i];
    }
    f->flame.n = n;
    return whole;
}

/* Whether the boxes next to the root still tell the truth. */
static bool widths_hold(const struct flame_view *f)
{
    const struct calltree_node *nodes = f->tree.nodes;
    double all = (double)nodes[f->zoom].total_weight;
    for (uint32_t i = nodes[f->zoom].first_child; i && all > 0; i = nodes[i].next_sibling) {
        int box = flame_box_of(&f->flame, i);
        double width = box >= 0 ? f->flame.boxes[box].width : 0;
        double off = (double)nodes[i].total_weight / all * f->columns - width;
        if (off > OFF_COLUMNS || off < -OFF_COLUMNS)
            return false;
    }
    return true;
}

static void lay_out(struct flame_view *f, const struct app *a, uint32_t columns)
{
    flame_layout(&f->flame, &f->tree, f->zoom, columns);
    MEM_GROW(f->box_key, f->box_key_cap, f->flame.n + 1);
    for (uint32_t i = 0; i < f->flame.n; i++)
        f->box_key[i] = f->flame.boxes[i].node ? f->tree.nodes[f->flame.boxes[i].node].key : 0;
    f->columns = columns;
    f->laid_out_ns = a->status.now_ns;
    f->asked = a->query;
}

static void flame_update(void *v, struct app *a)
{
    struct flame_view *f = v;
    struct view *answer = &a->answer;
    MEM_GROW(f->func_key, f->func_key_cap, answer->n_funcs + 1);
    MEM_GROW(f->func_rank, f->func_rank_cap, answer->n_funcs + 1);
    MEM_GROW(f->group_rank, f->group_rank_cap, answer->n_groups + 1);
    uint64_t *group_key = mem_array(answer->n_groups + 1, sizeof *group_key);
    for (uint32_t i = 0; i < answer->n_funcs; i++)
        f->func_key[i] = answer->funcs[i].key;
    for (uint32_t i = 0; i < answer->n_groups; i++)
        group_key[i] = answer->groups[i].key;
    struct calltree_options o = {
        .by_group = answer->n_groups > 1,
        .frame_func = answer->frame_func,
        .func_key = f->func_key,
        .group_key = group_key,
    };
    calltree_build(&f->tree, &answer->result, &o);
    rank(f, f->func_rank, answer->n_funcs, by_function_name, answer->funcs);
    rank(f, f->group_rank, answer->n_groups, by_group_label, answer->groups);
    calltree_sort_rank(&f->tree, f->func_rank, f->group_rank);
    mem_free(group_key);
    f->zoom = f->zoom_key ? calltree_find(&f->tree, f->zoom_key) : 0;
    f->selected = f->selected_key ? calltree_find(&f->tree, f->selected_key) : f->zoom;
    if (!layout_stays(f, a) || !renumber_boxes(f) || !widths_hold(f))
        f->columns = 0;
    count_matches(f, a);
}

/* ---- drawing ---- */

static enum style class_style(enum symbol_class class)
{
    switch (class) {
    case SYMBOL_CLASS_CXX:
        return STYLE_FLAME_CXX;
    case SYMBOL_CLASS_RUST:
        return STYLE_FLAME_RUST;
    case SYMBOL_CLASS_KERNEL:
        return STYLE_FLAME_KERNEL;
    case SYMBOL_CLASS_JIT:
        return STYLE_FLAME_JIT;
    case SYMBOL_CLASS_INLINED:
        return STYLE_FLAME_INLINED;
    case SYMBOL_CLASS_UNKNOWN:
        return STYLE_FLAME_UNKNOWN;
    default:
        return STYLE_FLAME_USER;
    }
}

static enum style box_style(const struct flame_view *f, const struct app *a, const struct flame_box *b)
{
    const struct calltree_node *n = &f->tree.nodes[b->node];
    if (b->node == f->selected)
        return STYLE_FLAME_SELECTED;
    if (node_matches(f, a, b->node))
        return STYLE_FLAME_MATCH;
    if (b->ancestor)
        return STYLE_FLAME_ANCESTOR;
    if (!b->node || n->is_group)
        return STYLE_FLAME_GROUP;
    const struct view_function *fn = &a->answer.funcs[n->func];
    if (!f->by_module)
        return class_style(fn->class);
    uint64_t hash = 5381; /* of the name: the same colour in every run */
    for (const char *p = fn->module; *p; p++)
        hash = hash * 33 + (unsigned char)*p;
    return STYLE_FLAME_MODULE_0 + hash % MODULE_COLOURS;
}

/* "|name 41%": a bar at the left edge sets a box off from its neighbour, also without colours. A box of
 * one cell is just its colour, or, without colours, the bar. */
static void draw_box_cells(const struct flame_view *f, const struct app *a, struct area area, int row,
                           const struct flame_box *b)
{
    char name[512], label[560];
    enum style style = box_style(f, a, b);
    int width = (int)b->width, x = (int)b->x;
    draw_fill(area, row, x, width, style);
    if (width > 1 || !term_colors())
        draw_text(area, row, x, style, term_glyphs() ? "▏" : "|");
    if (width <= NAME_LEAST)
        return;
    snprintf(name, sizeof name, "%s", node_name(f, a, b->node));
    snprintf(label, sizeof label, "%s %.1f%%", name, app_percent(a, f->tree.nodes[b->node].total_weight));
    draw_elided(area, row, x + 1, width - 1, style, text_width(label) < width ? label : name, false);
}

static int rows_below_head(struct area area)
{
    return area.rows > 2 ? area.rows - 2 : 1;
}

/* Scrolls so that the selected box is seen. */
static void keep_in_sight(struct flame_view *f, int rows)
{
    int at = flame_box_of(&f->flame, f->selected);
    int row = at >= 0 ? (int)f->flame.boxes[at].row : 0, last = (int)f->flame.rows - rows;
    if (row < f->first_row)
        f->first_row = row;
    if (row >= f->first_row + rows)
        f->first_row = row - rows + 1;
    if (f->first_row > last)
        f->first_row = last;
    if (f->first_row < 0)
        f->first_row = 0;
}

/* A long name is only seen whole here. */
static void draw_selected(const struct flame_view *f, const struct app *a, struct area area)
{
    const struct calltree_node *n = &f->tree.nodes[f->selected];
    char count[32], numbers[160], name[512];
    snprintf(name, sizeof name, "%s", node_name(f, a, f->selected));
    snprintf(numbers, sizeof numbers, "  %.1f%% total, %.1f%% self, %s samples",
             app_percent(a, n->total_weight), app_percent(a, n->self_weight),
             text_thousands(count, sizeof count, n->total_count));
    int col = draw_text(area, area.rows - 2, 0, STYLE_LABEL, "selected: ");
    col +=
        draw_elided(area, area.rows - 2, col, area.cols - col - text_width(numbers), STYLE_NAME, name, true);
    draw_text(area, area.rows - 2, col, STYLE_NORMAL, numbers);
    col = 0;
    if (f->selected && !n->is_group)
        col =
            draw_printf(area, area.rows - 1, 0, STYLE_DIM, "module %s%s%s  ", a->answer.funcs[n->func].module,
                        n->group ? ", under " : "", n->group ? a->answer.groups[n->group].label : "");
    if (*a->search)
        col += draw_printf(area, area.rows - 1, col, STYLE_LABEL, "/%s: %u frames, %.1f%%  ", a->search,
                           f->matched_frames, f->matched_percent);
    if (f->flame.hidden_weight)
        draw_printf(area, area.rows - 1, col, STYLE_DIM, "too small to draw: %.1f%%  ",
                    app_percent(a, f->flame.hidden_weight));
}

static void flame_draw(void *v, struct app *a, struct area area)
{
    struct flame_view *f = v;
    int rows = rows_below_head(area);
    if (!a->answer.result.samples || !f->tree.n) {
        view_draw_empty(a, area);
        return;
    }
    if (f->columns != (uint32_t)area.cols)
        lay_out(f, a, (uint32_t)area.cols);
    keep_in_sight(f, rows);
    for (uint32_t i = 0; i < f->flame.n; i++) {
        const struct flame_box *b = &f->flame.boxes[i];
        int row = (int)b->row - f->first_row;
        if (row >= 0 && row < rows)
            draw_box_cells(f, a, area, f->upward ? rows - 1 - row : row, b);
    }
    draw_selected(f, a, area);
}

/* ---- moving ---- */

static unsigned flame_go(struct flame_view *f, uint32_t node)
{
    f->selected = node;
    f->selected_key = node ? f->tree.nodes[node].key : 0;
    return APP_REDRAW;
}

/* Shows the tree from this node on. */
static unsigned flame_root(struct flame_view *f, uint32_t node)
{
    f->zoom = node;
    f->zoom_key = node ? f->tree.nodes[node].key : 0;
    f->columns = 0;
    return flame_go(f, node);
}

static unsigned flame_zoom(struct flame_view *f, uint32_t node)
{
    if (node == f->zoom)
        return flame_go(f, node);
    if (f->n_zooms == ZOOMS_MAX)
        memmove(f->zooms, f->zooms + 1, --f->n_zooms * sizeof *f->zooms);
    f->zooms[f->n_zooms++] = f->zoom_key;
    return flame_root(f, node);
}

static unsigned flame_reset(struct flame_view *f)
{
    f->n_zooms = 0;
    return flame_root(f, 0);
}

/* The neighbour in the same row; at the edge nothing moves. */
static unsigned flame_sideways(struct flame_view *f, int step)
{
    int at = flame_box_of(&f->flame, f->selected), next = at + step;
    if (at < 0)
        return flame_go(f, f->zoom);
    if (next < 0 || next >= (int)f->flame.n || f->flame.boxes[next].row != f->flame.boxes[at].row)
        return APP_HANDLED;
    return flame_go(f, f->flame.boxes[next].node);
}

static unsigned flame_deeper(struct flame_view *f)
{
    uint32_t best = 0;
    for (uint32_t c = f->tree.nodes[f->selected].first_child; c; c = f->tree.nodes[c].next_sibling)
        if (flame_box_of(&f->flame, c) >= 0 &&
            (!best || f->tree.nodes[c].total_weight > f->tree.nodes[best].total_weight))
            best = c;
    return best ? flame_go(f, best) : APP_HANDLED;
}

static unsigned flame_shallower(struct flame_view *f)
{
    return f->selected ? flame_go(f, f->tree.nodes[f->selected].parent) : APP_HANDLED;
}

static unsigned flame_page(struct flame_view *f, int steps, unsigned (*step)(struct flame_view *))
{
    for (int i = 0; i < steps; i++)
        if (step(f) == APP_HANDLED)
            break;
    return APP_REDRAW;
}

/* The cursor stays on the box that was zoomed into: there one was. */
static unsigned flame_back(struct flame_view *f)
{
    if (!f->zoom_key)
        return APP_IGNORED;
    uint64_t key = f->n_zooms ? f->zooms[--f->n_zooms] : 0;
    uint32_t was = f->zoom;
    (void)flame_root(f, key ? calltree_find(&f->tree, key) : 0);
    return flame_go(f, was);
}

static unsigned flame_act(void *v, struct app *a, enum action action)
{
    struct flame_view *f = v;
    if (!f->tree.n)
        return APP_IGNORED;
    unsigned (*down)(struct flame_view *) = f->upward ? flame_shallower : flame_deeper;
    unsigned (*up)(struct flame_view *) = f->upward ? flame_deeper : flame_shallower;
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
        return flame_go(f, f->zoom);
    case ACTION_END:
        return flame_page(f, 1000, flame_deeper);
    case ACTION_DRILL:
        return f->selected == f->zoom ? app_message(a, "walk to a box with the arrows: Enter zooms into it")
                                      : flame_zoom(f, f->selected);
    case ACTION_BACK:
        return a->search[0] ? (unsigned)APP_IGNORED : flame_back(f);
    case ACTION_UNZOOM:
        return flame_back(f);
    case ACTION_FLAME_RESET:
        return flame_reset(f);
    case ACTION_FLAME_INVERT:
        f->upward = !f->upward;
        return APP_REDRAW;
    case ACTION_FLAME_COLOUR:
        f->by_module = !f->by_module;
        return app_message(a, "colours: by %s",
                           f->by_module ? "module" : "type: kernel, user, C++, Rust, JIT");
    default:
        return APP_IGNORED;
    }
}

static unsigned flame_click(void *v, struct app *a, int row, int col, bool twice)
{
    struct flame_view *f = v;
    (void)a;
    int from_root = f->upward ? (int)f->flame.rows - f->first_row - 1 - row : row;
    int at =
        from_root < 0 ? -1 : flame_box_at(&f->flame, (uint32_t)(from_root + f->first_row), (uint32_t)col);
    if (at < 0)
        return APP_HANDLED;
    uint32_t node = f->flame.boxes[at].node;
    return twice ? flame_zoom(f, node) : flame_go(f, node);
}

/* ---- what other views see of it ---- */

static void flame_selection(void *v, struct app *a, struct ui_selection *out)
{
    struct flame_view *f = v;
    const struct calltree_node *n = f->tree.n ? &f->tree.nodes[f->selected] : NULL;
    if (!n || !f->selected)
        return;
    out->group = n->group;
    out->path_key = n->key;
    out->is_group = n->is_group;
    out->chosen = true;
    if (n->is_group)
        return;
    const struct view_function *fn = &a->answer.funcs[n->func];
    out->func_key = fn->key;
    snprintf(out->function, sizeof out->function, "%s", fn->name);
    snprintf(out->module, sizeof out->module, "%s", fn->module);
}

static unsigned flame_select(void *v, struct app *a, const struct ui_selection *sel, bool drill)
{
    struct flame_view *f = v;
    uint32_t best = sel->path_key ? calltree_find(&f->tree, sel->path_key) : 0;
    (void)drill;
    for (uint32_t i = 1; i < f->tree.n && !best && sel->func_key; i++)
        if (!f->tree.nodes[i].is_group && a->answer.funcs[f->tree.nodes[i].func].key == sel->func_key)
            best = i; /* any; the heaviest one is looked for below */
    for (uint32_t i = 1; i < f->tree.n && best && !sel->path_key; i++)
        if (f->tree.nodes[i].func == f->tree.nodes[best].func && !f->tree.nodes[i].is_group &&
            f->tree.nodes[i].total_weight > f->tree.nodes[best].total_weight)
            best = i;
    return best ? flame_go(f, best) : APP_HANDLED;
}

static bool flame_search(void *v, struct app *a, int step)
{
    struct flame_view *f = v;
    count_matches(f, a);
    int n = (int)f->flame.n, at = flame_box_of(&f->flame, f->selected);
    if (step == 0 && at >= 0 && node_matches(f, a, f->selected))
        return true;
    for (int i = 1; i <= n; i++) {
        int box = ((at < 0 ? 0 : at) + (step < 0 ? n * 2 - i : i)) % n;
        if (node_matches(f, a, f->flame.boxes[box].node)) {
            flame_go(f, f->flame.boxes[box].node);
            return true;
        }
    }
    return f->matched_frames > 0;
}

static void flame_describe(void *v, struct app *a, char *dst, size_t cap)
{
    const struct flame_view *f = v;
    (void)a;
    snprintf(dst, cap, "%s, colours by %s%s", f->upward ? "flame" : "icicle",
             f->by_module ? "module" : "type", f->zoom ? ", zoomed (Esc: back)" : "");
}

const struct view_ops view_flame_ops = {
    .name = "flame",
    .title = "Flame",
    .intro = "Every box is a function on a path; its width is the share of all samples that pass it, what it "
             "calls "
             "stands next to it, away from the root. Frames are sorted by name, so that two moments compare.",
    .number = 3,
    .scope = SCOPE_KEYS_FLAME,
    .by_comm = true,
    .create = flame_create,
    .destroy = flame_destroy,
    .update = flame_update,
    .draw = flame_draw,
    .act = flame_act,
    .click = flame_click,
    .selection = flame_selection,
    .select = flame_select,
    .search = flame_search,
    .describe = flame_describe,
};
