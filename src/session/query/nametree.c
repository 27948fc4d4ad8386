// SPDX-License-Identifier: GPL-2.0-or-later
/* Builds a view's call tree by numbers first, which is fast, and then finds its nodes by name. */
#include "session/nametree.h"

#include <stdlib.h>
#include <string.h>

#include "profile/calltree.h"

#define KEY_ROOT     UINT64_C(0x6e616d6574726565)
#define DEPTH_MAX    UINT16_MAX
#define INLINED_MARK " (inlined)"

static uint64_t child_key(uint64_t parent_key, uint64_t identity)
{
    return map_mix(parent_key * UINT64_C(0x9e3779b97f4a7c15) + identity);
}

/* Significant length of a module's name: without ".so" and a version before it, for "libc-2.31.so" and
 * "libfoo.so.1.2". */
static size_t module_stem(const char *module)
{
    const char *so = strstr(module, ".so");
    size_t n, end;
    if (!so || (so[3] && so[3] != '.'))
        return strlen(module);
    n = end = (size_t)(so - module);
    while (end && strchr("0123456789.", module[end - 1]))
        end--;
    return end > 1 && end < n && module[end - 1] == '-' ? end - 1 : n;
}

static size_t name_length(const char *name, enum symbol_class class)
{
    size_t n = strlen(name), mark = strlen(INLINED_MARK);
    return class == SYMBOL_CLASS_INLINED && n > mark && !strcmp(name + n - mark, INLINED_MARK) ? n - mark : n;
}

uint64_t nametree_func_key(const struct nametree_func *f)
{
    uint64_t kind = f->is_group
                        ? KEY_ROOT
                        : map_hash_bytes(f->module, module_stem(f->module), f->class == SYMBOL_CLASS_INLINED);
    return map_hash_bytes(f->name, name_length(f->name, f->class), kind);
}

static uint32_t func_at(struct nametree *t, const struct nametree_func *f)
{
    bool created;
    size_t n = name_length(f->name, f->class);
    uint64_t key = nametree_func_key(f);
    uint64_t *at = map_at(&t->func_numbers, key, t->n_funcs, &created);
    if (!created)
        return (uint32_t)*at;
    MEM_GROW(t->funcs, t->funcs_cap, t->n_funcs + 1);
    struct nametree_func *to = &t->funcs[t->n_funcs];
    *to = *f;
    to->name = arena_strndup(&t->strings, f->name, n);
    to->module = arena_strndup(&t->strings, f->module, strlen(f->module));
    to->key = key;
    return t->n_funcs++;
}

static uint32_t group_at(struct nametree *t, const char *label)
{
    return func_at(t, &(struct nametree_func){
                          .name = label, .module = "", .class = SYMBOL_CLASS_UNKNOWN, .is_group = true });
}

static uint32_t child_at(struct nametree *t, uint32_t parent, uint32_t func)
{
    bool created;
    uint64_t key = child_key(t->nodes[parent].key, t->funcs[func].key);
    uint64_t *at = map_at(&t->by_key, key, t->n, &created);
    if (!created)
        return (uint32_t)*at;
    MEM_GROW(t->nodes, t->cap, t->n + 1);
    t->nodes[t->n] = (struct nametree_node){
        .key = key, .func = func, .parent = parent, .depth = t->nodes[parent].depth + 1
    };
    return t->n++;
}

void nametree_init(struct nametree *t)
{
    nametree_done(t);
    MEM_GROW(t->nodes, t->cap, 1);
    t->nodes[0] = (struct nametree_node){ .key = KEY_ROOT };
    t->n = 1;
    (void)group_at(t, "all");
}

void nametree_done(struct nametree *t)
{
    mem_free(t->nodes);
    mem_free(t->funcs);
    arena_done(&t->strings);
    map_done(&t->by_key);
    map_done(&t->func_numbers);
    *t = (struct nametree){ 0 };
}

/* The tree's function for a node of the view's tree. Each function is looked up once (numbers: by
 * function, 0: not yet). */
static uint32_t func_of(struct nametree *t, const struct view *v, const struct calltree_node *n,
                        uint32_t *numbers)
{
    const struct view_function *f = &v->funcs[n->func];
    if (n->is_group)
        return group_at(t, v->groups[n->group].label);
    if (!numbers[n->func])
        numbers[n->func] =
            func_at(t, &(struct nametree_func){ .name = f->name, .module = f->module, .class = f->class });
    return numbers[n->func];
}

void nametree_find(struct nametree *t, const struct view *v, const struct calltree *tree, uint32_t *node)
{
    uint32_t *numbers = mem_array(v->n_funcs, sizeof *numbers);
    for (uint32_t i = 0; i < tree->n; i++)
        node[i] = i ? child_at(t, node[tree->nodes[i].parent], func_of(t, v, &tree->nodes[i], numbers)) : 0;
    mem_free(numbers);
}

void nametree_add(struct nametree *t, const struct view *v, enum nametree_side side, bool by_weight)
{
    struct calltree tree = { 0 };
    struct calltree_options o = { .by_group = v->n_groups > 1,
                                  .frame_func = v->frame_func,
                                  .max_depth = DEPTH_MAX };
    calltree_build(&tree, &v->result, &o);
    uint32_t *node = mem_array(tree.n, sizeof *node);
    nametree_find(t, v, &tree, node);
    for (uint32_t i = 0; i < tree.n; i++) {
        const struct calltree_node *c = &tree.nodes[i];
        t->nodes[node[i]].self[side] += by_weight ? c->self_weight : c->self_count;
        t->nodes[node[i]].total[side] += by_weight ? c->total_weight : c->total_count;
    }
    mem_free(node);
    calltree_done(&tree);
}

static void add_to_path(struct nametree *t, uint32_t node, const struct nametree_node *what)
{
    for (uint32_t i = node;; i = t->nodes[i].parent) {
        for (int side = 0; side < NAMETREE_SIDES; side++)
            t->nodes[i].total[side] += what->self[side];
        if (!i)
            return;
    }
}

void nametree_add_reversed(struct nametree *t, const struct nametree *from)
{
    for (uint32_t i = 0; i < from->n; i++) {
        const struct nametree_node *leaf = &from->nodes[i];
        uint32_t at = 0;
        if (!leaf->self[NAMETREE_SHOWN] && !leaf->self[NAMETREE_BASELINE])
            continue;
        for (uint32_t up = i; up; up = from->nodes[up].parent)
            at = child_at(t, at, func_at(t, &from->funcs[from->nodes[up].func]));
        for (int side = 0; side < NAMETREE_SIDES; side++)
            t->nodes[at].self[side] += leaf->self[side];
        add_to_path(t, at, leaf);
    }
}

static int by_name(const void *x, const void *y, void *ctx)
{
    const struct nametree_func *funcs = ctx, *a = &funcs[*(const uint32_t *)x],
                               *b = &funcs[*(const uint32_t *)y];
    int order = strcmp(a->name, b->name);
    if (!order)
        order = strcmp(a->module, b->module);
    return order ? order : (a->key > b->key) - (a->key < b->key);
}

/* Inserts nodes in front of their siblings, starting with the last function. */
void nametree_sort(struct nametree *t)
{
    uint32_t *order = mem_array(t->n_funcs, sizeof *order);
    uint32_t *first = mem_array(t->n_funcs, sizeof *first),
             *next = mem_array(t->n, sizeof *next); /* by function */
    for (uint32_t i = 0; i < t->n_funcs; i++)
        order[i] = i;
    qsort_r(order, t->n_funcs, sizeof *order, by_name, t->funcs);
    t->nodes[0].first_child = 0;
    for (uint32_t i = t->n; i-- > 1;) {
        struct nametree_node *n = &t->nodes[i];
        n->first_child = n->next_sibling = 0;
        next[i] = first[n->func];
        first[n->func] = i;
    }
    for (uint32_t i = t->n_funcs; i-- > 0;) {
        for (uint32_t node = first[order[i]]; node; node = next[node]) {
            uint32_t *link = &t->nodes[t->nodes[node].parent].first_child;
            t->nodes[node].next_sibling = *link;
            *link = node;
        }
    }
    mem_free(order);
    mem_free(first);
    mem_free(next);
}

uint32_t nametree_next(const struct nametree *t, uint32_t node, bool skip)
{
    const struct nametree_node *nodes = t->nodes;
    if (!skip && nodes[node].first_child)
        return nodes[node].first_child;
    for (; node; node = nodes[node].parent)
        if (nodes[node].next_sibling)
            return nodes[node].next_sibling;
    return 0;
}
