// SPDX-License-Identifier: GPL-2.0-or-later
#include "ui/flame_model.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/text.h"

#define LAYOUT_NS   (15 * NS_PER_SEC / 2) /* 1/8 of a minute, as the eighths of trends */
#define FIRST_NS    (4 * NS_PER_SEC)
#define OFF_COLUMNS 6 /* times parts; a frame whose width is off by more is wrong */

void flame_model_done(struct flame_model *m)
{
    calltree_done(&m->tree);
    flame_done(&m->flame);
    mem_free(m->func_key.items);
    mem_free(m->group_key.items);
    mem_free(m->func_rank.items);
    mem_free(m->group_rank.items);
    mem_free(m->order.items);
    mem_free(m->box_key.items);
    mem_free(m->baseline_node.items);
    nametree_done(&m->baseline);
    *m = (struct flame_model){ 0 };
}

const char *flame_model_name(const struct flame_model *m, uint32_t node)
{
    const struct calltree_node *n = &m->tree.nodes[node];
    if (!node)
        return "all";
    return n->is_group ? m->view->groups[n->group].label : m->view->funcs[n->func].name;
}

/* --- the tree --- */

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

static void rank(struct flame_model *m, uint32_t *ranks, uint32_t n,
                 int (*compare)(const void *, const void *, void *), void *ctx)
{
    VEC_RESERVE(&m->order, n + 1);
    for (uint32_t i = 0; i < n; i++)
        m->order.items[i] = i;
    qsort_r(m->order.items, n, sizeof *m->order.items, compare, ctx);
    for (uint32_t i = 0; i < n; i++)
        ranks[m->order.items[i]] = i;
}

static void build_tree(struct flame_model *m)
{
    const struct view *v = m->view;
    VEC_RESERVE(&m->func_key, v->n_funcs + 1);
    VEC_RESERVE(&m->group_key, v->n_groups + 1);
    VEC_RESERVE(&m->func_rank, v->n_funcs + 1);
    VEC_RESERVE(&m->group_rank, v->n_groups + 1);
    for (uint32_t i = 0; i < v->n_funcs; i++)
        m->func_key.items[i] = v->funcs[i].key;
    for (uint32_t i = 0; i < v->n_groups; i++)
        m->group_key.items[i] = v->groups[i].key;
    struct calltree_options o = {
        .by_group = v->n_groups > 1,
        .frame_func = v->frame_func,
        .func_key = m->func_key.items,
        .group_key = m->group_key.items,
    };
    calltree_build(&m->tree, &v->result, &o);
    rank(m, m->func_rank.items, v->n_funcs, by_function_name, v->funcs);
    rank(m, m->group_rank.items, v->n_groups, by_group_label, v->groups);
    calltree_sort_rank(&m->tree, m->func_rank.items, m->group_rank.items);
}

/* --- the layout --- */

/* Returns whether the layout is kept: for some seconds while numbers change, unless the query changes.
 * Frames that slide a little with every redraw can neither be read nor selected, and are expensive on a
 * slow line. */
static bool layout_stays(const struct flame_model *m, const struct view_query *q,
                         const struct session_status *s)
{
    uint64_t patience = q->window_ns && q->window_ns / 8 < LAYOUT_NS ? q->window_ns / 8 : LAYOUT_NS;
    return m->columns && !s->file && s->elapsed_ns > FIRST_NS && s->now_ns >= m->laid_out_ns &&
           s->now_ns - m->laid_out_ns < patience && memcmp(&m->asked, q, sizeof *q) == 0;
}

/* Gives the frames the node numbers of a new tree, and drops frames without a node. Returns false if that
 * leaves a gap. */
static bool renumber_boxes(struct flame_model *m)
{
    uint32_t n = 0;
    bool whole = true;
    for (uint32_t i = 0; i < m->flame.n; i++) {
        uint32_t node = m->box_key.items[i] ? calltree_find(&m->tree, m->box_key.items[i]) : 0;
        if (!node && m->box_key.items[i]) {
            whole &= m->flame.boxes[i].width == 1;
            continue;
        }
        m->flame.boxes[n] = m->flame.boxes[i];
        m->flame.boxes[n].node = node;
        m->box_key.items[n++] = m->box_key.items[i];
    }
    m->flame.n = n;
    return whole;
}

/* Returns whether the widths of the frames next to the root are still about right. */
static bool widths_hold(const struct flame_model *m)
{
    const struct calltree_node *nodes = m->tree.nodes;
    double all = (double)nodes[m->zoom].total_weight;
    for (uint32_t i = nodes[m->zoom].first_child; i && all > 0; i = nodes[i].next_sibling) {
        int box = flame_box_of(&m->flame, i);
        bool rest = box >= 0 && m->flame.boxes[box].rest;
        uint64_t weight = rest ? flame_rest_of(&m->tree, i).weight : nodes[i].total_weight;
        double off = (double)weight / all * m->columns - (box >= 0 ? m->flame.boxes[box].width : 0);
        if (fabs(off) > OFF_COLUMNS * m->parts)
            return false;
    }
    return true;
}

/* Keys may come before the next frame is drawn, and must not meet frames of an old tree. */
static void drop_layout(struct flame_model *m)
{
    m->columns = m->flame.n = m->flame.rows = 0;
}

void flame_model_lay_out(struct flame_model *m, uint32_t columns, uint32_t parts, const struct view_query *q,
                         uint64_t now_ns)
{
    columns *= parts;
    m->parts = parts;
    if (m->columns == columns)
        return;
    flame_layout(&m->flame, &m->tree, m->zoom, columns);
    VEC_RESERVE(&m->box_key, m->flame.n + 1);
    for (uint32_t i = 0; i < m->flame.n; i++)
        m->box_key.items[i] = m->flame.boxes[i].node ? m->tree.nodes[m->flame.boxes[i].node].key : 0;
    m->columns = columns;
    m->laid_out_ns = now_ns;
    m->asked = *q;
}

void flame_model_update(struct flame_model *m, const struct view *v, const struct view_query *q,
                        const struct session_status *status)
{
    m->view = v;
    build_tree(m);
    m->zoom = m->zoom_key ? calltree_find(&m->tree, m->zoom_key) : 0;
    m->selected = m->selected_key ? calltree_find(&m->tree, m->selected_key) : m->zoom;
    if (!layout_stays(m, q, status) || !renumber_boxes(m) || !widths_hold(m))
        drop_layout(m);
}

void flame_model_select(struct flame_model *m, uint32_t node)
{
    m->selected = node;
    m->selected_key = node ? m->tree.nodes[node].key : 0;
}

void flame_model_zoom(struct flame_model *m, uint32_t node)
{
    m->zoom = node;
    m->zoom_key = node ? m->tree.nodes[node].key : 0;
    drop_layout(m);
    flame_model_select(m, node);
}

int flame_model_box_of(const struct flame_model *m, uint32_t node)
{
    const struct calltree_node *nodes = m->tree.nodes;
    int at = flame_box_of(&m->flame, node);
    for (uint32_t i = 0; at < 0 && node && i < m->flame.n; i++) {
        const struct flame_box *b = &m->flame.boxes[i];
        if (b->rest && nodes[b->node].parent == nodes[node].parent)
            at = (int)i;
    }
    return at;
}

/* --- comparison with the baseline --- */

bool flame_model_change(const struct flame_model *m, uint32_t node, double *points)
{
    uint64_t all = m->view->result.weight;
    double percent = all ? 100 * (double)m->tree.nodes[node].total_weight / (double)all : 0;
    return m->difference &&
           difference_points(m->difference, percent,
                             m->baseline.nodes[m->baseline_node.items[node]].total[NAMETREE_BASELINE],
                             points);
}

void flame_model_compare(struct flame_model *m, const struct difference *difference)
{
    double points;
    m->difference = difference;
    m->largest = 0;
    if (!difference)
        return;
    /* nametree_find adds missing nodes, so the tree is rebuilt when it has grown */
    if (m->baseline_result != difference->answers || m->baseline.n > 2 * (m->baseline_nodes + m->tree.n)) {
        nametree_init(&m->baseline);
        nametree_add(&m->baseline, &difference->data, NAMETREE_BASELINE, true);
        m->baseline_result = difference->answers;
        m->baseline_nodes = m->baseline.n;
    }
    VEC_RESERVE(&m->baseline_node, m->tree.n + 1);
    nametree_find(&m->baseline, m->view, &m->tree, m->baseline_node.items);
    for (uint32_t i = 0; i < m->tree.n; i++)
        if (flame_model_change(m, i, &points) && fabs(points) > m->largest)
            m->largest = fabs(points);
}

/* --- search --- */

bool flame_model_matches(const struct flame_model *m, uint32_t node, const char *needle)
{
    return node && *needle && text_find_nocase(flame_model_name(m, node), needle);
}

bool flame_model_box_matches(const struct flame_model *m, const struct flame_box *b, const char *needle)
{
    const struct calltree_node *nodes = m->tree.nodes;
    bool match = flame_model_matches(m, b->node, needle);
    if (!b->rest || match || !*needle)
        return match;
    for (uint32_t i = nodes[nodes[b->node].parent].first_child; i && !match; i = nodes[i].next_sibling)
        match = nodes[i].total_weight <= nodes[b->node].total_weight && flame_model_matches(m, i, needle);
    return match;
}

/* Counts matches; the weight below a match counts once. Parents precede their children. */
void flame_model_count_matches(struct flame_model *m, const char *needle)
{
    uint64_t weight = 0, all = m->view->result.weight;
    uint8_t *below = mem_array(m->tree.n + 1, 1);
    m->matched_frames = 0;
    for (uint32_t i = 1; i < m->tree.n && *needle; i++) {
        bool match = flame_model_matches(m, i, needle);
        uint8_t above = below[m->tree.nodes[i].parent];
        m->matched_frames += match;
        weight += match && !above ? m->tree.nodes[i].total_weight : 0;
        below[i] = above || match;
    }
    m->matched_percent = all ? 100.0 * (double)weight / (double)all : 0;
    mem_free(below);
}
