// SPDX-License-Identifier: GPL-2.0-or-later
/* A call tree by names: it outlives the session that it is of, and two of them meet in one. Numbers of functions and
 * groups mean something else in every session; names do not. */
#ifndef FLAMETOP_SESSION_NAMETREE_H
#define FLAMETOP_SESSION_NAMETREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/map.h"
#include "base/mem.h"
#include "session/view.h"

enum nametree_side {
    NAMETREE_SHOWN,  /* the answer that is looked at */
    NAMETREE_BEFORE, /* the one that it is compared with */
    NAMETREE_SIDES
};

struct nametree_func { /* funcs[0] is the root's, "all" */
    const char *name,
        *module; /* cleaned; without "(inlined)", which the class tells; module: "" for groups */
    enum symbol_class class;
    bool is_group; /* a comm, or whatever the view groups by */
    uint64_t key;  /* equal names, equal keys; what is inlined is another function */
};
struct nametree_node {
    uint64_t key; /* of the path: equal in another tree */
    uint64_t self[NAMETREE_SIDES], total[NAMETREE_SIDES];
    uint32_t func;
    uint32_t parent, first_child, next_sibling; /* 0: none */
    uint32_t depth;                             /* the root's is 0 */
};
struct nametree {
    struct nametree_node *nodes; /* nodes[0] is the root; parents stand before their children */
    struct nametree_func *funcs;
    uint32_t n, n_funcs;
    size_t cap, funcs_cap;
    struct arena strings;
    struct map by_key, func_numbers;
};

/* An empty tree, whatever it held. */
void nametree_init(struct nametree *t);
/* Adds the stacks of an answer to one side: in samples, or in the view's weights. Modules that differ by their version
 * only are the same (libc-2.31.so and libc-2.36.so), so that what was upgraded can be compared. */
void nametree_add(struct nametree *t, const struct view *v, enum nametree_side side, bool by_weight);
/* Which node each one of the answer's call tree is, by number; those that are not there yet are added, without samples. */
struct calltree;
void nametree_find(struct nametree *t, const struct view *v, const struct calltree *tree, uint32_t *node);
/* Equal for functions of equal names in modules that differ by their version only. */
uint64_t nametree_func_key(const struct nametree_func *f);
/* Adds all stacks of another tree turned over: from the function that ran to the group. */
void nametree_add_reversed(struct nametree *t, const struct nametree *from);
/* Siblings by name; groups and functions alike. To be called when all is added, before first_child and next_sibling
 * are read. */
void nametree_sort(struct nametree *t);
/* The next node in preorder within the tree below `top`, without (`skip`) what is below `node`; 0: the end. */
uint32_t nametree_next(const struct nametree *t, uint32_t top, uint32_t node, bool skip);
void nametree_done(struct nametree *t);

#endif
