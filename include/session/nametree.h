// SPDX-License-Identifier: GPL-2.0-or-later
/* A call tree keyed by names. It outlives its session, and two trees can be merged, because names, unlike
 * function and group numbers, mean the same in every session. */
#ifndef FLAMETOP_SESSION_NAMETREE_H
#define FLAMETOP_SESSION_NAMETREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/map.h"
#include "base/mem.h"
#include "session/view.h"

enum nametree_side {
    NAMETREE_SHOWN,    /* the shown result */
    NAMETREE_BASELINE, /* the baseline */
    NAMETREE_SIDES
};

struct nametree_func { /* funcs[0] is the root, "all" */
    /* Cleaned. name: without "(inlined)", which is in class. module: "" for groups. */
    const char *name, *module;
    enum symbol_class class;
    bool is_group; /* a comm, or another group of the view */
    uint64_t key;  /* equal names have equal keys; an inlined function differs */
};
struct nametree_node {
    uint64_t key; /* of the path: equal in another tree */
    uint64_t self[NAMETREE_SIDES], total[NAMETREE_SIDES];
    uint32_t func;
    uint32_t parent, first_child, next_sibling; /* 0: none */
    uint32_t depth;                             /* the root's is 0 */
};
struct nametree {
    struct nametree_node *nodes; /* nodes[0] is the root; parents precede their children */
    struct nametree_func *funcs;
    uint32_t n, n_funcs;
    size_t cap, funcs_cap;
    struct arena strings;
    struct map by_key, func_numbers;
};

/* Makes an empty tree, whatever it contained. */
void nametree_init(struct nametree *t);
/* Adds the stacks of a result to one side: in samples, or in the view's weights. Modules that differ only
 * by version are the same (libc-2.31.so and libc-2.36.so), so that profiles can be compared across
 * upgrades. */
void nametree_add(struct nametree *t, const struct view *v, enum nametree_side side, bool by_weight);
/* Maps each node of the result's call tree to a node of t, by number. Missing nodes are added, without
 * samples. */
struct calltree;
void nametree_find(struct nametree *t, const struct view *v, const struct calltree *tree, uint32_t *node);
/* Equal for functions of equal names in modules that differ only by version. */
uint64_t nametree_func_key(const struct nametree_func *f);
/* Adds all stacks of another tree inverted: from the leaf function to the group. */
void nametree_add_reversed(struct nametree *t, const struct nametree *from);
/* Sorts siblings by name, groups and functions alike. Call after the last addition, before reading
 * first_child and next_sibling. */
void nametree_sort(struct nametree *t);
/* The next node in preorder; `skip`: without the children of `node`. 0: the end. */
uint32_t nametree_next(const struct nametree *t, uint32_t node, bool skip);
void nametree_done(struct nametree *t);

#endif
