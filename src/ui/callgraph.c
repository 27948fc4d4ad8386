// SPDX-License-Identifier: GPL-2.0-or-later
/* The call graph: callees, callers, and the callers of one function.
 * An inverted tree holds only the samples that ended in a function. For the callers of one function and
 * their total time, every stack through that function (the focus) is truncated there, and the rest is
 * inverted. */
#include "ui/callgraph.h"

#include "base/mem.h"
#include "base/text.h"
#include "process/module.h"

#define HOT_PART   200  /* nodes below 1/200 of all are not on the hot path */
#define SMALL_PART 1000 /* nodes below 1/1000 of all share a row with their siblings */

void callgraph_done(struct callgraph *g)
{
    calltree_done(&g->tree);
    calltree_done(&g->own);
    mem_free(g->func_key.items);
    mem_free(g->group_key.items);
    mem_free(g->entries.items);
    mem_free(g->focus_node.items);
    mem_free(g->func_match.items);
    *g = (struct callgraph){ 0 };
}

/* --- struct tree_model --- */

static uint32_t model_first_child(const void *ctx, uint32_t node)
{
    const struct callgraph *g = ctx;
    return g->tree.n ? g->tree.nodes[node].first_child : 0;
}

static uint32_t model_next_sibling(const void *ctx, uint32_t node)
{
    return callgraph_node(ctx, node)->next_sibling;
}

static uint32_t model_parent(const void *ctx, uint32_t node)
{
    return callgraph_node(ctx, node)->parent;
}

static uint64_t model_key(const void *ctx, uint32_t node)
{
    return callgraph_node(ctx, node)->key;
}

static uint32_t model_hot_child(const void *ctx, uint32_t node, uint32_t start)
{
    return callgraph_hot_child(ctx, node, start);
}

static bool is_wait(const struct callgraph *g, uint32_t node)
{
    const struct view_function *f = callgraph_function(g, node);
    return f && f->module_id == MODULE_ID_WAIT;
}

/* In callers order, the function at the top has its own row: the rows below it are its callers. The row of
 * a wait ends with its reason: who woke the thread comes below. */
static bool model_chained(const void *ctx, uint32_t node, uint32_t child)
{
    const struct callgraph *g = ctx;
    const struct calltree_node *n = callgraph_node(g, node);
    uint32_t top = g->by_group ? 2 : 1;
    return !n->is_group && !is_wait(g, node) && n->total_weight == callgraph_node(g, child)->total_weight &&
           (g->order == CALLGRAPH_CALLEES || n->depth > top);
}

static bool model_small(const void *ctx, uint32_t node)
{
    const struct callgraph *g = ctx;
    return callgraph_node(g, node)->total_weight < g->small_below;
}

const struct tree_model callgraph_model = { .first_child = model_first_child,
                                            .next_sibling = model_next_sibling,
                                            .parent = model_parent,
                                            .key = model_key,
                                            .hot_child = model_hot_child,
                                            .chained = model_chained,
                                            .small = model_small };

const struct calltree_node *callgraph_node(const struct callgraph *g, uint32_t node)
{
    return &g->tree.nodes[node];
}

const struct view_function *callgraph_function(const struct callgraph *g, uint32_t node)
{
    uint32_t func = g->tree.nodes[node].func;
    return func ? &g->view->funcs[func] : NULL;
}

const char *callgraph_name(const struct callgraph *g, uint32_t node)
{
    const struct view_function *f = callgraph_function(g, node);
    return f ? f->name : g->view->groups[g->tree.nodes[node].group].label;
}

/* --- building --- */

static uint32_t function_of_key(const struct view *v, uint64_t key)
{
    for (uint32_t i = 1; i < v->n_funcs; i++)
        if (v->funcs[i].key == key)
            return i;
    return 0;
}

/* Finds, for every node of the trie, the innermost frame of the focus on its path; 0: none. */
static void find_focus(struct callgraph *g)
{
    const struct result *r = &g->view->result;
    uint32_t func = function_of_key(g->view, g->focus);
    VEC_RESERVE(&g->focus_node, r->n_nodes + 1);
    g->focus_node.items[0] = 0;
    for (uint32_t i = 1; i < r->n_nodes; i++)
        g->focus_node.items[i] =
            func && g->view->frame_func[r->frame[i]] == func ? i : g->focus_node.items[r->parent[i]];
}

/* Returns the entries that pass through the focus, truncated there; own: only those that ended there. */
static struct result focus_part(struct callgraph *g, bool own)
{
    struct result part = g->view->result; /* the trie is borrowed */
    VEC_RESERVE(&g->entries, part.n_entries + 1);
    uint32_t n = 0;
    for (uint32_t i = 0; i < part.n_entries; i++) {
        uint32_t node = part.entries[i].node, at = g->focus_node.items[node];
        if (!at || (own && at != node))
            continue;
        g->entries.items[n] = part.entries[i];
        g->entries.items[n++].node = at;
    }
    part.entries = g->entries.items;
    part.n_entries = n;
    return part;
}

static void build_focus(struct callgraph *g, const struct calltree_options *o)
{
    find_focus(g);
    struct result part = focus_part(g, true);
    calltree_build(&g->own, &part, o);
    part = focus_part(g, false);
    calltree_build(&g->tree, &part, o);
}

void callgraph_build(struct callgraph *g, const struct view *v)
{
    g->view = v;
    g->small_below = v->result.weight / SMALL_PART;
    VEC_RESERVE(&g->func_key, v->n_funcs + 1);
    VEC_RESERVE(&g->group_key, v->n_groups + 1);
    for (uint32_t i = 0; i < v->n_funcs; i++)
        g->func_key.items[i] = v->funcs[i].key;
    for (uint32_t i = 0; i < v->n_groups; i++)
        g->group_key.items[i] = v->groups[i].key;
    struct calltree_options o = {
        .inverted = g->order == CALLGRAPH_CALLERS,
        .by_group = g->by_group,
        .frame_func = v->frame_func,
        .func_key = g->func_key.items,
        .group_key = g->group_key.items,
    };
    if (g->focus && g->order == CALLGRAPH_CALLERS)
        build_focus(g, &o);
    else
        calltree_build(&g->tree, &v->result, &o);
    calltree_sort_weight(&g->tree);
}

/* --- queries --- */

uint64_t callgraph_self_weight(const struct callgraph *g, uint32_t node)
{
    const struct calltree_node *n = &g->tree.nodes[node];
    if (g->order == CALLGRAPH_CALLEES)
        return n->self_weight;
    if (!g->focus)
        return n->total_weight;
    uint32_t own = calltree_find(&g->own, n->key);
    return own ? g->own.nodes[own].total_weight : 0;
}

struct callgraph_rest callgraph_rest_of(const struct callgraph *g, uint32_t node)
{
    struct callgraph_rest rest = { 0 };
    for (; node; node = g->tree.nodes[node].next_sibling) {
        rest.total += g->tree.nodes[node].total_weight;
        rest.self += callgraph_self_weight(g, node);
        rest.samples += g->tree.nodes[node].total_count;
        rest.nodes++;
    }
    return rest;
}

static bool is_better(const struct calltree_node *n, const struct calltree_node *than, uint32_t group)
{
    bool here = group && n->group == group, there = group && than->group == group;
    return here != there ? here : n->total_weight > than->total_weight;
}

uint32_t callgraph_find(const struct callgraph *g, uint64_t func_key, uint32_t group)
{
    uint32_t func = function_of_key(g->view, func_key), best = 0;
    uint16_t deepest = g->order == CALLGRAPH_CALLEES ? UINT16_MAX : g->by_group ? 2 : 1;
    for (uint32_t i = 1; i < g->tree.n && func; i++) {
        const struct calltree_node *n = &g->tree.nodes[i];
        if (n->func == func && n->depth <= deepest && (!best || is_better(n, &g->tree.nodes[best], group)))
            best = i;
    }
    return best;
}

uint32_t callgraph_hot_child(const struct callgraph *g, uint32_t node, uint32_t start)
{
    const struct calltree_node *nodes = g->tree.nodes;
    uint32_t child = g->tree.n ? nodes[node].first_child : 0;
    if (!child)
        return 0;
    uint64_t least = nodes[0].total_weight / HOT_PART, half = nodes[start].total_weight / 2;
    if (nodes[child].total_weight * 2 < nodes[node].total_weight) /* the path forks here */
        return 0;
    return nodes[child].total_weight >= (least < half ? least : half) ? child : 0;
}

/* --- search --- */

void callgraph_match(struct callgraph *g, const char *needle)
{
    const struct view *v = g->view;
    VEC_RESERVE(&g->func_match, v->n_funcs + 1);
    for (uint32_t i = 1; i < v->n_funcs; i++)
        g->func_match.items[i] = text_find_nocase(v->funcs[i].name, needle);
}

bool callgraph_matches(const struct callgraph *g, uint32_t node, const char *needle)
{
    uint32_t func = g->tree.nodes[node].func;
    return func ? g->func_match.items[func] : text_find_nocase(callgraph_name(g, node), needle);
}

static uint32_t next_in_order(const struct callgraph *g, uint32_t node)
{
    const struct calltree_node *nodes = g->tree.nodes;
    if (nodes[node].first_child)
        return nodes[node].first_child;
    while (node && !nodes[node].next_sibling)
        node = nodes[node].parent;
    return node ? nodes[node].next_sibling : 0;
}

uint32_t callgraph_next_match(const struct callgraph *g, uint32_t node, int step, const char *needle,
                              bool *round)
{
    uint32_t first = 0, last = 0, before = 0, after = 0;
    bool behind = false;
    for (uint32_t at = g->tree.n ? next_in_order(g, 0) : 0; at; at = next_in_order(g, at)) {
        behind = behind || at == node;
        if (!callgraph_matches(g, at, needle))
            continue;
        first = first ? first : at;
        last = at;
        if (!behind)
            before = at;
        else if (at != node && !after)
            after = at;
    }
    uint32_t found = step < 0 ? before : after;
    *round = !found;
    return found ? found : step < 0 ? last : first;
}
