// SPDX-License-Identifier: GPL-2.0-or-later
/* Exports call trees as text: callees from the threads' roots down (callgraph, as perf report --children -g
 * caller), and each function with its callers, the hottest first (callers, as perf report --no-children -g
 * callee). */
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "export/export.h"
#include "profile/calltree.h"

#define PERCENT_LEAST 0.5 /* as in perf: smaller branches would hide the others */
#define INDENT_MAX    60  /* columns */

struct drawing {
    const struct view *v;
    const struct calltree *tree;
    struct buf *out;
    double all;
    bool inverted;
    uint32_t left_out;
};

static void put_node(const struct drawing *d, const struct calltree_node *n)
{
    char count[32];
    unsigned indent = 2u * (n->depth - 1u);
    buf_printf(d->out, "%7.2f ", 100 * n->total_weight / d->all);
    if (!d->inverted)
        buf_printf(d->out, "%7.2f ", 100 * n->self_weight / d->all);
    buf_printf(d->out, "%9s  ", text_thousands(count, sizeof count, n->total_count));
    if (indent > INDENT_MAX)
        buf_printf(d->out, "%*s%u> ", INDENT_MAX - 4, "", n->depth - 1u);
    else
        buf_printf(d->out, "%*s", (int)indent, "");
    if (n->is_group)
        buf_printf(d->out, "%s\n", d->v->groups[n->group].full);
    else
        buf_printf(d->out, "%s  %s\n", d->v->funcs[n->func].name, d->v->funcs[n->func].module);
}

static bool is_shown(const struct drawing *d, const struct calltree_node *n)
{
    return 100 * n->total_weight >= PERCENT_LEAST * d->all;
}

/* Puts the tree depth first, without recursion: a tree may be as deep as a stack. */
static void put_tree(struct drawing *d)
{
    const struct calltree_node *nodes = d->tree->nodes;
    for (uint32_t at = nodes[0].first_child; at;) {
        bool shown = is_shown(d, &nodes[at]);
        if (shown)
            put_node(d, &nodes[at]);
        d->left_out += !shown;
        if (shown && nodes[at].first_child) {
            at = nodes[at].first_child;
            continue;
        }
        while (at && !nodes[at].next_sibling)
            at = nodes[at].parent;
        at = at ? nodes[at].next_sibling : 0;
    }
}

static void put_drawing(struct session *s, const struct view_query *q, const struct view *v, bool inverted,
                        struct buf *out)
{
    struct calltree tree = { 0 };
    struct drawing d = { v, &tree, out, v->result.weight ? (double)v->result.weight : 1, inverted, 0 };
    calltree_build(&tree, &v->result,
                   &(struct calltree_options){
                       .inverted = inverted,
                       .by_group = q->group != VIEW_GROUP_SYMBOL && q->group != VIEW_GROUP_MODULE,
                       .frame_func = v->frame_func,
                   });
    calltree_sort_weight(&tree);
    report_header(s, q, v, out);
    buf_printf(out, "\n%7s %s%9s  FUNCTION AND %s, FROM THE %s\n", "TOTAL%", inverted ? "" : "  SELF% ",
               "SAMPLES", inverted ? "CALLERS" : "CALLEES", inverted ? "LEAF" : "ROOT");
    put_tree(&d);
    if (d.left_out)
        buf_printf(out, "\n%u branches of less than %.1f %% each are omitted\n", d.left_out, PERCENT_LEAST);
    calltree_done(&tree);
}

static void callgraph_text(struct session *s, const struct view_query *q, const struct view *v,
                           const struct export_options *o, struct buf *out)
{
    (void)o;
    put_drawing(s, q, v, false, out);
}

static void callers_text(struct session *s, const struct view_query *q, const struct view *v,
                         const struct export_options *o, struct buf *out)
{
    (void)o;
    put_drawing(s, q, v, true, out);
}

const struct exporter export_callgraph = {
    .name = "callgraph",
    .suffix = ".callgraph.txt",
    .sections = true,
    .help = "the call graph as text, from the threads' roots down",
    .text = callgraph_text,
};

const struct exporter export_callers = {
    .name = "callers",
    .suffix = ".callers.txt",
    .sections = true,
    .help = "the hottest functions as text, each with its callers",
    .text = callers_text,
};
