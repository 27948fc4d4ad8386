// SPDX-License-Identifier: GPL-2.0-or-later
#include "ui/threads_tree.h"

#include <string.h>

#include "base/map.h"
#include "base/text.h"

const struct threads_node *threads_node(const struct threads_tree *t, uint32_t node)
{
    return &t->items[node - 1];
}

static uint32_t first_child(const void *ctx, uint32_t node)
{
    const struct threads_tree *t = ctx;
    return node ? threads_node(t, node)->first : t->n > 0;
}

static uint32_t next_sibling(const void *ctx, uint32_t node)
{
    return threads_node(ctx, node)->next;
}

static uint32_t parent(const void *ctx, uint32_t node)
{
    return threads_node(ctx, node)->parent;
}

static uint64_t key(const void *ctx, uint32_t node)
{
    return threads_node(ctx, node)->key;
}

const struct tree_model threads_model = {
    .first_child = first_child, .next_sibling = next_sibling, .parent = parent, .key = key
};

/* ---- building ---- */

static const char *copy(struct threads_tree *t, const char *text)
{
    return arena_strndup(&t->strings, text, strlen(text));
}

/* Adds a line to the last row with threads. */
static void add_line(void *tree, const struct threads_line *line)
{
    struct threads_tree *t = tree;
    uint32_t last = (uint32_t)t->n, row = t->items[last - 1].row ? last : t->items[last - 1].parent;
    struct threads_node *new = VEC_PUSH(t);
    *new = (struct threads_node){ .parent = row, .line = *line };
    new->key = map_mix(t->items[row - 1].key + last + 1 - row);
    new->line.label = copy(t, line->label);
    new->line.text = copy(t, line->text);
    new->line.module = copy(t, line->module);
    if (last == row)
        t->items[row - 1].first = last + 1;
    else
        t->items[last - 1].next = last + 1;
}

static void add_row(struct threads_tree *t, const struct threads_now_row *row)
{
    struct buf since = { 0 }, name = { 0 }, call = { 0 };
    threads_text_longest(&since, row);
    threads_text_call(&call, row);
    if (row->n == 1)
        buf_printf(&name, "%u %s", row->threads[0]->tid, row->threads[0]->stat.comm);
    else
        threads_text_comms(&name, row);
    *VEC_PUSH(t) = (struct threads_node){ .key = row->key,
                                          .row = row,
                                          .since = copy(t, buf_str(&since)),
                                          .name = copy(t, buf_str(&name)),
                                          .call = copy(t, buf_str(&call)) };
    buf_clear(&since);
    threads_text_wait(&since, row);
    add_line(t, &(struct threads_line){ THREADS_LINE_TEXT, "state", buf_str(&since), "" });
    threads_text_lines(row, add_line, t);
    buf_done(&since);
    buf_done(&name);
    buf_done(&call);
}

void threads_tree_build(struct threads_tree *t, const struct threads_now *now)
{
    for (uint32_t i = 0, before = 0; i < now->n; i++) {
        uint32_t node = (uint32_t)t->n + 1;
        add_row(t, &now->rows[i]);
        if (before)
            t->items[before - 1].next = node;
        before = node;
    }
}

void threads_tree_done(struct threads_tree *t)
{
    mem_free(t->items);
    arena_done(&t->strings);
    *t = (struct threads_tree){ 0 };
}

/* ---- search ---- */

static bool matches(const struct threads_node *n, const char *needle)
{
    if (n->row)
        return text_find_nocase(n->name, needle) || text_find_nocase(n->call, needle) ||
               text_find_nocase(threads_text_state(n->row), needle) ||
               text_find_nocase(wait_reason_name(n->row->reason), needle);
    return text_find_nocase(n->line.text, needle) || text_find_nocase(n->line.module, needle);
}

uint32_t threads_next_match(const struct threads_tree *t, uint32_t node, int step, const char *needle)
{
    uint32_t n = (uint32_t)t->n;
    for (uint32_t i = step ? 1 : 0; i <= n; i++) {
        uint32_t at = (node - 1 + (step < 0 ? n - i : i)) % n;
        if (matches(&t->items[at], needle))
            return at + 1;
    }
    return 0;
}
