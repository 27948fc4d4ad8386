// SPDX-License-Identifier: GPL-2.0-or-later
#include "ui/list.h"

static void set_cursor(struct list *l, uint32_t row, list_key_fn *key, const void *ctx)
{
    l->cursor = row < l->n ? row : l->n ? l->n - 1 : 0;
    l->key = l->n ? key(ctx, l->cursor) : 0;
}

void list_update(struct list *l, uint32_t n, list_key_fn *key, const void *ctx)
{
    l->n = n;
    if (!l->moved) {
        set_cursor(l, 0, key, ctx);
        return;
    }
    if (l->cursor < n && key(ctx, l->cursor) == l->key)
        return;
    for (uint32_t i = 0; i < n; i++) {
        if (key(ctx, i) == l->key) {
            l->cursor = i;
            return;
        }
    }
    if (l->restarted) {
        l->moved = false;
        l->top = 0;
    }
    set_cursor(l, l->moved ? l->cursor : 0, key, ctx);
}

void list_restart(struct list *l)
{
    l->restarted = true;
    l->top = 0;
}

void list_save(const struct list *l, struct view_position *out)
{
    out->row_key = l->key;
    out->cursor = l->cursor;
    out->top = l->top;
    out->moved = l->moved;
}

void list_restore(struct list *l, const struct view_position *position, list_key_fn *key, const void *ctx)
{
    uint32_t above = position->cursor > position->top ? position->cursor - position->top : 0;
    if (!list_go_key(l, position->row_key, key, ctx))
        set_cursor(l, position->cursor, key, ctx);
    l->moved = position->moved;
    l->top = l->cursor > above ? l->cursor - above : 0;
    if (!l->moved)
        set_cursor(l, 0, key, ctx);
}

void list_fit(struct list *l, int rows)
{
    uint32_t page = rows > 0 ? (uint32_t)rows : 1;
    l->page = (int)page;
    uint32_t last_top = l->n > page ? l->n - page : 0;
    if (l->top > last_top)
        l->top = last_top;
    if (l->cursor < l->top)
        l->top = l->cursor;
    if (l->cursor >= l->top + page)
        l->top = l->cursor - page + 1;
}

bool list_row_at(const struct list *l, int line, uint32_t *row)
{
    if (line < 0 || line >= l->page || (uint32_t)line >= l->n - (l->top < l->n ? l->top : l->n))
        return false;
    *row = l->top + (uint32_t)line;
    return true;
}

void list_go(struct list *l, uint32_t row, list_key_fn *key, const void *ctx)
{
    set_cursor(l, row, key, ctx);
    l->moved = l->cursor != 0;
    l->restarted = false;
}

bool list_click(struct list *l, int line, list_key_fn *key, const void *ctx)
{
    uint32_t row;
    bool found = list_row_at(l, line, &row);
    if (found)
        list_go(l, row, key, ctx);
    return found;
}

void list_choose(struct list *l, uint32_t row, list_key_fn *key, const void *ctx)
{
    list_go(l, row, key, ctx);
    l->moved = true;
}

bool list_go_key(struct list *l, uint64_t wanted, list_key_fn *key, const void *ctx)
{
    for (uint32_t i = 0; i < l->n; i++) {
        if (key(ctx, i) == wanted) {
            list_choose(l, i, key, ctx);
            return true;
        }
    }
    return false;
}

void list_scroll(struct list *l, int rows, list_key_fn *key, const void *ctx)
{
    int64_t row = (int64_t)l->cursor + rows;
    list_go(l, row < 0 ? 0 : (uint32_t)row, key, ctx);
}

bool list_act(struct list *l, enum action a, list_key_fn *key, const void *ctx)
{
    int page = l->page > 1 ? l->page - 1 : 1;
    switch (a) {
    case ACTION_UP:
    case ACTION_PICK_UP:
        list_scroll(l, -1, key, ctx);
        return true;
    case ACTION_DOWN:
    case ACTION_PICK_DOWN:
        list_scroll(l, 1, key, ctx);
        return true;
    case ACTION_PAGE_UP:
    case ACTION_PICK_PAGE_UP:
        list_scroll(l, -page, key, ctx);
        return true;
    case ACTION_PAGE_DOWN:
    case ACTION_PICK_PAGE_DOWN:
        list_scroll(l, page, key, ctx);
        return true;
    case ACTION_TOP:
    case ACTION_PICK_TOP:
        list_go(l, 0, key, ctx);
        return true;
    case ACTION_END:
    case ACTION_PICK_END:
        list_go(l, l->n ? l->n - 1 : 0, key, ctx);
        return true;
    default:
        return false;
    }
}

int64_t list_search(const struct list *l, int step, const char *needle, list_match_fn *match, const void *ctx)
{
    if (!l->n)
        return -1;
    uint32_t start = step == 0  ? l->cursor
                     : step > 0 ? (l->cursor + 1) % l->n
                                : (l->cursor + l->n - 1) % l->n;
    for (uint32_t i = 0; i < l->n; i++) {
        uint32_t row = step < 0 ? (start + l->n - i) % l->n : (start + i) % l->n;
        if (match(ctx, row, needle))
            return row;
    }
    return -1;
}

bool list_went_round(const struct list *l, int step, int64_t row)
{
    return (step > 0 && row <= l->cursor) || (step < 0 && row >= l->cursor);
}

enum search_found list_find(struct list *l, int step, const char *needle, list_match_fn *match,
                            list_key_fn *key, const void *ctx)
{
    int64_t row = list_search(l, step, needle, match, ctx);
    bool round = list_went_round(l, step, row);
    if (row < 0)
        return SEARCH_NONE;
    list_choose(l, (uint32_t)row, key, ctx);
    return round ? SEARCH_WENT_ROUND : SEARCH_FOUND;
}
