// SPDX-License-Identifier: GPL-2.0-or-later
/* Builds call trees.
 *
 * Top-down, the tree follows the trie frame by frame. Bottom-up, the top-down tree is built first and
 * its stacks are inverted: it is much smaller than the trie, because frames that differ only by address
 * are merged by function. While building, total_weight has the weight that ends at a node; sum_up makes
 * totals of it. */
#include "profile/calltree.h"

#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/mem.h"
#include "profile/paths.h"

#define KEY_TOP_DOWN  UINT64_C(0x746f702d646f776e)
#define KEY_BOTTOM_UP UINT64_C(0x626f74746f6d7570)
#define KEY_FACTOR    UINT64_C(0x9e3779b97f4a7c15)
#define KEY_GROUP     UINT64_C(0x5bd1e9955bd1e995)
#define MAX_DEPTH     512
#define CUT           (UINT32_C(1) << 31) /* flag of a node number: no children may be added */
#define TABLE_MIN     256

struct sort_item {
    uint64_t first, second;
    uint32_t node;
};

/* By key: its upper half and the node; 0: free. */
struct table {
    uint64_t *slots;
    size_t size, n;
};

struct calltree_scratch {
    struct paths paths;
    struct table children;
    struct table all;         /* for calltree_find, built when needed */
    struct calltree top_down; /* for bottom-up */
    struct sort_item *items;
    size_t items_cap;
    size_t n_group_sums; /* numbers that are initialised */
};

static uint64_t child_key(uint64_t parent_key, uint64_t identity)
{
    return map_mix(parent_key * KEY_FACTOR + identity);
}

static bool is_child(const struct calltree_node *n, const struct calltree_node *as)
{
    return n->key == as->key && n->parent == as->parent && n->func == as->func && n->group == as->group;
}

static uint64_t slot_of(uint64_t key, uint32_t node)
{
    return (key & ~(uint64_t)UINT32_MAX) | node;
}

static bool may_be(uint64_t slot, uint64_t key)
{
    return !((slot ^ key) >> 32);
}

static void table_reset(struct table *tb, size_t size)
{
    tb->n = 0;
    if (tb->size == size) {
        memset(tb->slots, 0, size * sizeof *tb->slots);
        return;
    }
    mem_free(tb->slots);
    tb->slots = mem_array(size, sizeof *tb->slots);
    tb->size = size;
}

/* Returns the size to start with: the same as last time, because the next tree will be similar. It
 * shrinks gradually after a large tree. */
static size_t table_size_for(const struct table *tb)
{
    if (tb->size <= TABLE_MIN)
        return TABLE_MIN;
    return tb->size / 16 > tb->n ? tb->size / 2 : tb->size;
}

static void table_place(struct table *tb, uint64_t slot, uint64_t key)
{
    size_t i = key & (tb->size - 1);

    while (tb->slots[i])
        i = (i + 1) & (tb->size - 1);
    tb->slots[i] = slot;
}

static void table_insert(struct table *tb, const struct calltree_node *nodes, uint32_t node)
{
    if (++tb->n * 2 > tb->size) {
        struct table larger = { .n = tb->n };

        table_reset(&larger, tb->size * 2);
        larger.n = tb->n;
        for (size_t i = 0; i < tb->size; i++) {
            if (tb->slots[i])
                table_place(&larger, tb->slots[i], nodes[(uint32_t)tb->slots[i]].key);
        }
        mem_free(tb->slots);
        *tb = larger;
    }
    table_place(tb, slot_of(nodes[node].key, node), nodes[node].key);
}

static uint32_t table_find_child(const struct calltree *t, const struct calltree_node *as)
{
    const struct table *tb = &t->scratch->children;
    size_t i = as->key & (tb->size - 1);

    while (tb->slots[i] &&
           !(may_be(tb->slots[i], as->key) && is_child(&t->nodes[(uint32_t)tb->slots[i]], as)))
        i = (i + 1) & (tb->size - 1);
    return (uint32_t)tb->slots[i];
}

/* Returns the child with the key, parent, func and group of `as`; creates it if needed. Returns its
 * parent if there are too many nodes. Most parents have one child: only further children are in the
 * table, which keeps it small enough for the CPU cache. Until sum_up links the siblings, first_child is
 * the child that was created first. */
static uint32_t child_at(struct calltree *t, struct calltree_node *as)
{
    struct calltree_node *parent = &t->nodes[as->parent];
    bool is_first = !parent->first_child;
    uint32_t i;

    if (!is_first) {
        if (is_child(&t->nodes[parent->first_child], as))
            return parent->first_child;
        i = table_find_child(t, as);
        if (i)
            return i;
    }
    if (t->n >= CALLTREE_MAX_NODES)
        return as->parent;
    i = t->n++;
    as->depth = (uint16_t)(parent->depth + 1);
    if (is_first)
        parent->first_child = i;
    MEM_GROW(t->nodes, t->cap, t->n);
    t->nodes[i] = *as;
    if (!is_first)
        table_insert(&t->scratch->children, t->nodes, i);
    return i;
}

static uint32_t func_child(struct calltree *t, uint32_t parent, uint32_t func, uint32_t frame,
                           const struct calltree_options *o)
{
    const struct calltree_node *p = &t->nodes[parent];
    struct calltree_node as = { .parent = parent, .func = func, .group = p->group, .frame = frame };

    as.key = child_key(p->key, o->func_key ? o->func_key[func] : func);
    return child_at(t, &as);
}

static uint32_t group_child(struct calltree *t, uint32_t group, const struct calltree_options *o)
{
    struct calltree_node as = { .group = group, .is_group = 1 };

    as.key = child_key(t->nodes[0].key ^ KEY_GROUP, o->group_key ? o->group_key[group] : group);
    return child_at(t, &as);
}

static void start(struct calltree *t, uint64_t key)
{
    if (!t->scratch)
        t->scratch = mem_zalloc(sizeof *t->scratch);
    if (t->cap > 65536 && t->cap / 16 > t->n) {
        mem_free(t->nodes);
        t->nodes = NULL;
        t->cap = 0;
    }
    table_reset(&t->scratch->children, table_size_for(&t->scratch->children));
    t->scratch->all.n = 0;
    t->n = 1;
    MEM_GROW(t->nodes, t->cap, 1);
    t->nodes[0] = (struct calltree_node){ .key = key };
}

/* Returns the node of a path. Frames deeper than max_depth, and those left out, get their caller's node. */
static uint32_t follow_path(struct calltree *t, uint32_t node, uint32_t max_depth,
                            const struct calltree_options *o)
{
    struct paths *p = &t->scratch->paths;
    uint32_t at, n = paths_climb(p, node, &at);

    while (n-- > 0) {
        uint32_t below = p->pending.items[n];
        uint32_t frame = p->r->frame[below];
        uint32_t func = o->frame_func[frame];

        if (func && !(at & CUT)) {
            uint32_t child = t->nodes[at].depth < max_depth ? func_child(t, at, func, frame, o) : at;
            at = child == at ? at | CUT : child;
        }
        paths_set(p, below, at);
    }
    return at & ~CUT;
}

/* Makes room for the sums of the other events of all nodes. */
static void grow_group_sums(struct calltree *t, size_t *n)
{
    MEM_GROW(t->group_sums, t->group_sums_cap, (size_t)t->n * t->group_events);
    if ((size_t)t->n * t->group_events > *n)
        memset(t->group_sums + *n, 0, ((size_t)t->n * t->group_events - *n) * sizeof *t->group_sums);
    *n = (size_t)t->n * t->group_events;
}

static void add_group_sums(struct calltree *t, uint32_t node, const uint64_t *sums)
{
    grow_group_sums(t, &t->scratch->n_group_sums);
    for (uint32_t k = 0; k < t->group_events; k++)
        t->group_sums[(size_t)node * t->group_events + k] += sums[k];
}

static void build_top_down(struct calltree *t, const struct result *r, uint32_t max_depth,
                           const struct calltree_options *o)
{
    struct paths *p;

    start(t, KEY_TOP_DOWN);
    t->group_events = r->group_events;
    t->scratch->n_group_sums = 0;
    p = &t->scratch->paths;
    paths_begin(p, r, o->by_group);
    for (uint32_t g = 0; g < p->groups.n; g++) {
        paths_next_group(p, o->by_group ? group_child(t, p->groups.items[g], o) : 0);
        for (uint32_t i = p->starts.items[g]; i < p->starts.items[g + 1]; i++) {
            const struct result_entry *e = &r->entries[p->order.items[i]];
            uint32_t at = follow_path(t, e->node, max_depth, o);
            struct calltree_node *n = &t->nodes[at];

            n->self_weight += e->weight;
            n->self_count += e->count;
            n->total_weight += e->weight;
            n->total_count += e->count;
            if (r->group_events)
                add_group_sums(t, at, r->group_sums + (size_t)p->order.items[i] * r->group_events);
        }
    }
}

/* Adds a stack of the top-down tree from its leaf (node `leaf`) to the root. */
static void add_turned(struct calltree *t, const struct calltree *from, uint32_t leaf, uint32_t max_depth,
                       const struct calltree_options *o)
{
    const struct calltree_node *n = &from->nodes[leaf];
    uint32_t at = o->by_group && leaf ? group_child(t, n->group, o) : 0;
    uint32_t top = at; /* the node of the function that ran */
    uint64_t weight = n->self_weight;
    uint32_t count = n->self_count;

    for (; n->func && t->nodes[at].depth < max_depth; n = &from->nodes[n->parent]) {
        uint32_t below = func_child(t, at, n->func, n->frame, o);

        if (below == at)
            break;
        if (!t->nodes[at].func)
            top = below;
        at = below;
    }
    t->nodes[top].self_weight += weight;
    t->nodes[top].self_count += count;
    t->nodes[at].total_weight += weight;
    t->nodes[at].total_count += count;
}

static void build_bottom_up(struct calltree *t, const struct result *r, uint32_t max_depth,
                            const struct calltree_options *o)
{
    struct calltree *from;

    start(t, KEY_BOTTOM_UP);
    t->group_events = 0;
    from = &t->scratch->top_down;
    build_top_down(from, r, UINT16_MAX, o);
    for (uint32_t i = 0; i < from->n; i++) {
        if (from->nodes[i].self_count)
            add_turned(t, from, i, max_depth, o);
    }
}

/* Adds up totals. Children come after their parents, so one backward pass completes each node before its
 * parent. It also links the siblings in order of creation. */
static void sum_up(struct calltree *t)
{
    if (t->group_events)
        grow_group_sums(t, &t->scratch->n_group_sums);
    for (uint32_t i = 0; i < t->n; i++)
        t->nodes[i].first_child = 0;
    for (uint32_t i = t->n; i-- > 1;) {
        struct calltree_node *n = &t->nodes[i];
        struct calltree_node *parent = &t->nodes[n->parent];

        parent->total_weight += n->total_weight;
        parent->total_count += n->total_count;
        if (t->group_events)
            add_group_sums(t, n->parent, t->group_sums + (size_t)i * t->group_events);
        n->next_sibling = parent->first_child;
        parent->first_child = i;
    }
}

void calltree_build(struct calltree *t, const struct result *r, const struct calltree_options *o)
{
    uint32_t max_depth = o->max_depth ? o->max_depth : MAX_DEPTH;

    if (o->inverted)
        build_bottom_up(t, r, max_depth, o);
    else
        build_top_down(t, r, max_depth, o);
    sum_up(t);
}

static int item_compare(const void *va, const void *vb)
{
    const struct sort_item *a = va, *b = vb;

    if (a->first != b->first)
        return a->first < b->first ? -1 : 1;
    if (a->second != b->second)
        return a->second < b->second ? -1 : 1;
    return a->node < b->node ? -1 : a->node > b->node;
}

struct sort_by {
    bool weight;
    const uint32_t *func_rank, *group_rank;
};

static uint64_t sort_value(const struct calltree_node *n, const struct sort_by *by)
{
    if (by->weight)
        return ~n->total_weight;
    if (n->is_group)
        return by->group_rank ? by->group_rank[n->group] : n->group;
    return UINT64_C(1) << 32 | (by->func_rank ? by->func_rank[n->func] : n->func);
}

static void sort_children(struct calltree *t, uint32_t parent, const struct sort_by *by)
{
    struct calltree_scratch *s = t->scratch;
    uint32_t *link = &t->nodes[parent].first_child;
    uint32_t n = 0;

    for (uint32_t i = *link; i; i = t->nodes[i].next_sibling) {
        MEM_GROW(s->items, s->items_cap, (size_t)n + 1);
        s->items[n++] = (struct sort_item){ sort_value(&t->nodes[i], by), t->nodes[i].key, i };
    }
    qsort(s->items, n, sizeof *s->items, item_compare);
    for (uint32_t i = 0; i < n; i++) {
        *link = s->items[i].node;
        link = &t->nodes[s->items[i].node].next_sibling;
    }
    *link = 0;
}

static void sort_all(struct calltree *t, const struct sort_by *by)
{
    for (uint32_t i = 0; i < t->n; i++) {
        uint32_t first = t->nodes[i].first_child;

        if (first && t->nodes[first].next_sibling)
            sort_children(t, i, by);
    }
}

void calltree_sort_weight(struct calltree *t)
{
    sort_all(t, &(struct sort_by){ .weight = true });
}

void calltree_sort_rank(struct calltree *t, const uint32_t *func_rank, const uint32_t *group_rank)
{
    sort_all(t, &(struct sort_by){ .func_rank = func_rank, .group_rank = group_rank });
}

static void index_all(const struct calltree *t)
{
    struct table *all = &t->scratch->all;
    size_t size = TABLE_MIN;

    while (size < (size_t)t->n * 2)
        size *= 2;
    table_reset(all, size);
    for (uint32_t i = 1; i < t->n; i++)
        table_insert(all, t->nodes, i);
}

uint32_t calltree_find(const struct calltree *t, uint64_t key)
{
    const struct table *all;
    size_t i;

    if (t->n < 2)
        return 0;
    all = &t->scratch->all;
    if (!all->n)
        index_all(t);
    i = key & (all->size - 1);
    while (all->slots[i] && !(may_be(all->slots[i], key) && t->nodes[(uint32_t)all->slots[i]].key == key))
        i = (i + 1) & (all->size - 1);
    return (uint32_t)all->slots[i];
}

void calltree_done(struct calltree *t)
{
    struct calltree_scratch *s = t->scratch;

    if (s) {
        paths_done(&s->paths);
        calltree_done(&s->top_down);
        mem_free(s->children.slots);
        mem_free(s->all.slots);
        mem_free(s->items);
        mem_free(s);
    }
    mem_free(t->nodes);
    mem_free(t->group_sums);
    *t = (struct calltree){ 0 };
}
