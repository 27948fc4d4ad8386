// SPDX-License-Identifier: GPL-2.0-or-later
#include "ui/picker.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/text.h"
#include "ui/bar.h"
#include "ui/dialog.h"
#include "ui/prompt.h"
#include "ui/tree.h"

#define PICKER_ITEMS_MAX 200000
#define WHOLE_ROWS       2 /* below the list, for the whole text of a chosen line that is too long */
#define LEAST_ROWS       6 /* minimum rows of a list that gives rows away for it */

struct item {
    uint64_t key;
    const char *text, *name;      /* in the arena; name: NULL if the line begins with it */
    uint32_t parent, next, first; /* item numbers + 1 */
    uint16_t depth;
    bool dim, heading, matches, shown;
};

struct picker {
    struct dialog dialog;
    struct picker_config cfg;
    struct arena strings;
    VEC(struct item);
    int widest;
    struct map tagged;
    struct prompt filter;
    bool wrong; /* the typed text was rejected, from wrong_at on */
    size_t wrong_at;
    struct tree tree;
    struct area rows;   /* of the last drawn frame, relative to the dialog's area */
    uint64_t called;    /* item with exactly the typed name */
    uint64_t filled_ns; /* or requested data */
    bool filled;
};

/* --- items as a tree: a node number is an item number + 1 --- */

static uint32_t model_first_child(const void *ctx, uint32_t node)
{
    const struct picker *p = ctx;
    return node ? p->items[node - 1].first : p->n ? 1 : 0;
}

static uint32_t model_next_sibling(const void *ctx, uint32_t node)
{
    return ((const struct picker *)ctx)->items[node - 1].next;
}

static uint32_t model_parent(const void *ctx, uint32_t node)
{
    return ((const struct picker *)ctx)->items[node - 1].parent;
}

static uint64_t model_key(const void *ctx, uint32_t node)
{
    return ((const struct picker *)ctx)->items[node - 1].key;
}

static bool model_hidden(const void *ctx, uint32_t node)
{
    return !((const struct picker *)ctx)->items[node - 1].shown;
}

static const struct tree_model model = { .first_child = model_first_child,
                                         .next_sibling = model_next_sibling,
                                         .parent = model_parent,
                                         .key = model_key,
                                         .hidden = model_hidden };

static void link_items(struct picker *p)
{
    uint32_t last[64] = { 0 }; /* last item of each depth on the present path */
    for (uint32_t i = 0; i < p->n; i++) {
        struct item *item = &p->items[i];
        uint16_t depth = item->depth;
        item->parent = depth ? last[depth - 1] : 0;
        if (last[depth] && p->items[last[depth] - 1].parent == item->parent)
            p->items[last[depth] - 1].next = i + 1;
        else if (item->parent)
            p->items[item->parent - 1].first = i + 1;
        last[depth] = i + 1;
        for (int deeper = depth + 1; deeper < 64; deeper++)
            last[deeper] = 0;
    }
}

/* Applies the filter. A branch is visible with its matches; a matching branch is visible as a whole. */
static void apply_filter(struct picker *p)
{
    p->wrong = false;
    p->called = p->filter.len && p->cfg.called ? p->cfg.called(p->cfg.ctx, p->filter.text) : 0;
    for (uint32_t i = 0; i < p->n; i++) {
        struct item *item = &p->items[i];
        item->matches = text_find_nocase(item->text, p->filter.text) || (p->called && item->key == p->called);
        item->shown = item->matches || (item->parent && p->filter.len && p->items[item->parent - 1].shown);
    }
    for (uint32_t i = (uint32_t)p->n; i-- > 0;)
        if (p->items[i].shown && p->items[i].parent)
            p->items[p->items[i].parent - 1].shown = true;
    p->tree.open_depth = p->filter.len ? UINT16_MAX : p->cfg.open_depth;
    tree_update(&p->tree, &model, p);
}

void picker_add(struct picker *p, const struct picker_item *from)
{
    if (p->n >= PICKER_ITEMS_MAX)
        return;
    char clean[512];
    const char *name = NULL;
    size_t len;
    if (from->name) {
        len = text_clean(clean, sizeof clean, from->name, strlen(from->name));
        name = arena_strndup(&p->strings, clean, len);
    }
    len = text_clean(clean, sizeof clean, from->text, strlen(from->text));
    uint16_t limit = p->n ? p->items[p->n - 1].depth + 1 : 0, depth = from->depth > 63 ? 63 : from->depth;
    *VEC_PUSH(p) = (struct item){ .key = from->key,
                                  .text = arena_strndup(&p->strings, clean, len),
                                  .name = name,
                                  .depth = depth > limit ? limit : depth,
                                  .dim = from->dim,
                                  .heading = from->heading };
    int width = text_width(clean) + depth * 2;
    p->widest = width > p->widest ? width : p->widest;
}

static const struct item *find_item(const struct picker *p, uint64_t key)
{
    for (size_t i = 0; i < p->n; i++)
        if (p->items[i].key == key)
            return &p->items[i];
    return NULL;
}

/* How well an item matches the typed text: a part of its line, the start of its name or line, its first
 * word, or its name. */
enum fit { FIT_NONE, FIT_PART, FIT_BEGINS, FIT_WORD, FIT_EXACT };

static enum fit fit_of_name(const char *name, const char *typed)
{
    size_t n = strlen(typed);
    name += strspn(name, " ");
    if (strcasecmp(name, typed) == 0)
        return FIT_EXACT;
    if (strncasecmp(name, typed, n) != 0)
        return FIT_PART;
    return strcspn(name, " :") == n ? FIT_WORD : FIT_BEGINS;
}

static enum fit fit_of(const struct picker *p, const struct item *item)
{
    if (p->called && item->key == p->called)
        return FIT_EXACT;
    if (!item->matches || item->heading)
        return FIT_NONE;
    enum fit line = fit_of_name(item->text, p->filter.text);
    enum fit name = item->name ? fit_of_name(item->name, p->filter.text) : FIT_PART;
    return name > line ? name : line;
}

static void go_to_best_match(struct picker *p)
{
    enum fit best = FIT_NONE;
    uint32_t node = 0;
    p->tree.list.moved = false;
    tree_update(&p->tree, &model, p);
    for (uint32_t i = 0; i < p->tree.n && p->filter.len; i++) {
        enum fit fit = fit_of(p, &p->items[p->tree.rows[i].node - 1]);
        node = fit > best ? p->tree.rows[i].node : node;
        best = fit > best ? fit : best;
    }
    if (node)
        tree_reveal(&p->tree, node, &model, p);
}

static void fill(struct picker *p, struct app *a)
{
    arena_clear(&p->strings);
    p->n = 0;
    p->widest = 0;
    p->cfg.fill(p->cfg.ctx, a, p);
    link_items(p);
    apply_filter(p);
    /* text typed before there was a list */
    if (!p->filled && p->filter.len)
        go_to_best_match(p);
    p->filled = true;
    const struct item *current = p->cfg.current ? find_item(p, p->cfg.current) : NULL;
    if (current && !p->tree.list.moved && !p->filter.len)
        tree_reveal(&p->tree, (uint32_t)(current - p->items) + 1, &model, p);
    p->cfg.current = 0;
}

/* Requests the items, or fills at once. Returns whether it filled. */
static bool refresh(struct picker *p, struct app *a)
{
    p->filled_ns = clock_now_ns();
    if (p->cfg.ask)
        p->cfg.ask(p->cfg.ctx, a);
    else
        fill(p, a);
    return !p->cfg.ask;
}

/* --- keys --- */

static const struct item *cursor_item(const struct picker *p)
{
    const struct tree_row *row = tree_cursor(&p->tree);
    return row ? &p->items[row->node - 1] : NULL;
}

uint64_t picker_cursor(const struct picker *p)
{
    const struct item *cursor = cursor_item(p);
    return cursor && !cursor->heading ? cursor->key : 0;
}

uint32_t picker_shown(const struct picker *p, uint64_t *keys, uint32_t cap)
{
    const struct list *l = &p->tree.list;
    const struct item *cursor = cursor_item(p);
    uint32_t n = 0;
    if (cursor && !cursor->heading && cap)
        keys[n++] = cursor->key;
    for (uint32_t i = l->top; i < p->tree.n && i < l->top + (uint32_t)l->page && n < cap; i++) {
        const struct item *item = &p->items[p->tree.rows[i].node - 1];
        if (item != cursor && !item->heading)
            keys[n++] = item->key;
    }
    return n;
}

static unsigned say_why_not(const struct picker *p, struct app *a, uint64_t key)
{
    struct error e = { 0 };
    p->cfg.why_not(p->cfg.ctx, key, &e);
    return app_error(a, &e);
}

static bool may_take_typed(const struct picker *p)
{
    return p->cfg.check_typed && p->filled && p->filter.len && p->tree.n == 0 && p->tagged.n == 0;
}

static unsigned take_typed(struct picker *p, struct app *a)
{
    struct error e = { 0 };
    if (!p->cfg.check_typed(p->cfg.ctx, p->filter.text, &e)) {
        p->wrong_at = e.placed ? e.at : 0;
        p->wrong = true;
        return app_error(a, &e);
    }
    dialog_close(a, &p->dialog);
    return APP_REDRAW | p->cfg.take_typed(p->cfg.ctx, a, p->filter.text);
}

static unsigned apply_selection(struct picker *p, struct app *a)
{
    const struct item *item = cursor_item(p);
    if (may_take_typed(p))
        return take_typed(p, a);
    if (p->tagged.n == 0 && (!item || item->dim))
        return item ? say_why_not(p, a, item->key) : APP_HANDLED;
    if (p->tagged.n == 0 && item->heading) {
        (void)tree_act(&p->tree, ACTION_TOGGLE, &model, p);
        return APP_REDRAW;
    }
    uint64_t *keys = mem_array(p->tagged.n + 1, sizeof *keys);
    uint32_t n = 0;
    for (size_t i = 0; i < p->n; i++)
        if (map_get(&p->tagged, p->items[i].key, NULL) && n < p->tagged.n)
            keys[n++] = p->items[i].key;
    if (p->tagged.n == 0)
        keys[n++] = item->key;
    dialog_close(a, &p->dialog);
    unsigned flags =
        n ? p->cfg.take(p->cfg.ctx, a, keys, n) : app_message(a, "the tagged rows no longer exist");
    mem_free(keys);
    return flags | APP_REDRAW;
}

static unsigned tag(struct picker *p)
{
    const struct item *item = cursor_item(p);
    if (!item || item->dim || item->heading)
        return APP_HANDLED;
    if (!map_del(&p->tagged, item->key))
        map_put(&p->tagged, item->key, 1);
    (void)tree_act(&p->tree, ACTION_PICK_DOWN, &model, p);
    return APP_REDRAW;
}

static unsigned cancel(struct picker *p, struct app *a)
{
    if (p->filter.len == 0) {
        dialog_close(a, &p->dialog);
        return APP_REDRAW;
    }
    prompt_set(&p->filter, "");
    apply_filter(p);
    return APP_REDRAW;
}

static unsigned edit_filter(struct picker *p, uint32_t key)
{
    enum prompt_result result = prompt_key(&p->filter, key);
    if (result == PROMPT_CHANGED) {
        apply_filter(p);
        go_to_best_match(p);
    }
    return result == PROMPT_IGNORED ? APP_HANDLED : APP_REDRAW;
}

static unsigned picker_key(struct dialog *d, struct app *a, uint32_t key)
{
    struct picker *p = (struct picker *)d;
    enum action action = keymap_find(a->keymap, SCOPE_KEYS_PICKER, key);
    switch (action) {
    case ACTION_PICK_TAKE:
        return apply_selection(p, a);
    case ACTION_PICK_CANCEL:
        return cancel(p, a);
    case ACTION_PICK_TAG:
        return p->cfg.multiple ? tag(p) : edit_filter(p, key);
    case ACTION_PICK_CLOSE_BRANCH:
    case ACTION_PICK_OPEN_BRANCH:
        if (!p->cfg.tree)
            return edit_filter(p, key);
        break;
    case ACTION_PICK_COUNT:
    case ACTION_PICK_REMOVE:
        return p->cfg.act ? p->cfg.act(p->cfg.ctx, a, p, action) : (unsigned)APP_HANDLED;
    default:
        break;
    }
    if (action != ACTION_NONE && tree_act(&p->tree, action, &model, p))
        return APP_REDRAW;
    return edit_filter(p, key);
}

static unsigned picker_click(struct dialog *d, struct app *a, int row, int col, bool twice)
{
    struct picker *p = (struct picker *)d;
    uint32_t i;
    bool inside = col >= p->rows.x && col < p->rows.x + p->rows.cols;
    if (!inside || !list_row_at(&p->tree.list, row - p->rows.y, &i))
        return APP_HANDLED;
    tree_go(&p->tree, i, &model, p);
    return APP_REDRAW | (twice ? apply_selection(p, a) : 0);
}

/* --- drawing --- */

static void draw_item(const struct picker *p, struct area area, int row, const struct tree_row *at,
                      bool cursor)
{
    const struct item *item = &p->items[at->node - 1];
    bool tagged = map_get(&p->tagged, item->key, NULL);
    enum style style = tagged          ? STYLE_TAGGED
                       : item->dim     ? STYLE_DIM
                       : item->heading ? STYLE_GROUP
                                       : STYLE_DIALOG;
    char shown[512];
    int col = 0;
    if (p->cfg.multiple)
        col = 2;
    if (tagged)
        draw_text(area, row, 0, style, "*");
    if (p->cfg.tree) {
        col += at->depth * 2;
        draw_text(area, row, col, style, at->leaf ? "   " : at->open ? "[-]" : "[+]");
        col += 4;
    }
    text_elide(shown, sizeof shown, item->text, area.cols - col, !p->cfg.cut_end);
    (void)draw_match(area, row, col, area.cols - col, style, shown, p->filter.text);
    if (cursor)
        draw_restyle(area, row, STYLE_CURSOR);
}

static int draw_filter(const struct picker *p, struct area area, int row)
{
    char right[sizeof p->filter.text];
    size_t n = p->wrong && p->wrong_at < p->filter.len ? p->wrong_at : p->filter.len;
    int used = draw_text(area, row, 0, STYLE_LABEL, "filter: ");
    (void)snprintf(right, sizeof right, "%.*s", (int)n, p->filter.text);
    used += draw_text(area, row, used, STYLE_PROMPT, right);
    return used + draw_text(area, row, used, STYLE_DEGRADED, p->filter.text + n);
}

static const char *hint_of(const struct picker *p)
{
    return p->cfg.hint       ? p->cfg.hint
           : p->cfg.multiple ? "type to filter, Space tags, Enter chooses"
                             : "type to filter, Enter chooses";
}

static void draw_bottom(const struct picker *p, struct area area, int row)
{
    if (p->filter.len) {
        int used = draw_filter(p, area, row);
        const char *words = may_take_typed(p) ? "no such row: Enter uses the text itself" : "nothing matches";
        int last = area.cols - (int)strlen(words); /* before it, a long text ends */
        if (p->tree.n == 0 && used + 2 > last)
            draw_text(area, row, last - 2, STYLE_DIALOG, "  ");
        if (p->tree.n == 0)
            draw_text(area, row, used + 2 > last ? last : used + 2, STYLE_DEGRADED, words);
        return;
    }
    draw_text(area, row, 0, STYLE_DIM, hint_of(p));
    if (p->tagged.n)
        draw_printf(area, row, area.cols - 12, STYLE_TAGGED, "%zu tagged", p->tagged.n);
}

static int room_for_text(const struct picker *p, int cols)
{
    return cols - (p->cfg.multiple ? 2 : 0) - (p->cfg.tree ? 4 : 0);
}

/* Does not depend on the cursor: the list should not jump. */
static int whole_rows(const struct picker *p, struct area rows)
{
    return p->widest > room_for_text(p, rows.cols) && rows.rows >= LEAST_ROWS + WHOLE_ROWS ? WHOLE_ROWS : 0;
}

static void draw_whole(const struct picker *p, struct area area)
{
    const struct item *item = cursor_item(p);
    if (item && text_width(item->text) + item->depth * 2 > room_for_text(p, area.cols))
        draw_wrapped(area, 0, item->dim ? STYLE_DIM : STYLE_NAME, item->text);
}

static void picker_draw(struct dialog *d, struct app *a, struct area area)
{
    struct picker *p = (struct picker *)d;
    (void)a;
    int head = p->cfg.head ? 1 : 0;
    int wanted = p->cfg.cols ? p->cfg.cols : p->widest + (p->cfg.multiple ? 2 : 0) + (p->cfg.tree ? 4 : 0);
    int title = text_width(p->cfg.title) + 4, hint = text_width(hint_of(p)) + (p->cfg.multiple ? 12 : 0);
    wanted = wanted < 36 ? 36 : wanted;
    wanted = wanted < title ? title : wanted;
    wanted = wanted < hint ? hint : wanted;
    int below = wanted + 4 < area.cols && wanted >= p->widest ? 0 : WHOLE_ROWS;
    struct area box = area_center(area, (int)(p->n < 200 ? p->n : 200) + head + 3 + below, wanted + 4);
    struct area in = draw_box(box, p->cfg.title);
    if (head)
        draw_text(in, 0, p->cfg.multiple ? 2 : 0, STYLE_LABEL, p->cfg.head);
    struct area rows = area_sub(in, head, 0, in.rows - head - 1, -1);
    int whole = whole_rows(p, rows);
    rows.rows -= whole;
    p->rows = (struct area){ rows.y - area.y, rows.x - area.x, rows.rows, rows.cols };
    list_fit(&p->tree.list, rows.rows);
    for (int row = 0; row < rows.rows && p->tree.list.top + (uint32_t)row < p->tree.n; row++) {
        uint32_t i = p->tree.list.top + (uint32_t)row;
        draw_item(p, rows, row, &p->tree.rows[i], i == p->tree.list.cursor);
    }
    if (p->n == 0)
        draw_text(rows, 0, 0, STYLE_DIM, p->filled ? "nothing to list" : "reading ...");
    if (whole)
        draw_whole(p, area_sub(in, in.rows - 1 - whole, 0, whole, -1));
    draw_bottom(p, in, in.rows - 1);
}

static void picker_draw_bar(struct dialog *d, struct app *a, struct area bar)
{
    footer_draw_picker(a, bar, ((const struct picker *)d)->cfg.multiple);
}

static bool picker_tick(struct dialog *d, struct app *a)
{
    struct picker *p = (struct picker *)d;
    bool answered = p->cfg.read_reply && p->cfg.read_reply(p->cfg.ctx, a);
    bool due = p->cfg.refresh_ms && clock_now_ns() - p->filled_ns >= p->cfg.refresh_ms * NS_PER_MS;
    if (answered)
        fill(p, a);
    return (due && refresh(p, a)) || answered;
}

static bool picker_waits(const struct dialog *d)
{
    const struct picker *p = (const struct picker *)d;
    return !p->filled || (p->cfg.waits && p->cfg.waits(p->cfg.ctx));
}

static void picker_destroy(struct dialog *d)
{
    struct picker *p = (struct picker *)d;
    if (p->cfg.destroy)
        p->cfg.destroy(p->cfg.ctx);
    mem_free(p->cfg.ctx);
    arena_done(&p->strings);
    mem_free(p->items);
    map_done(&p->tagged);
    tree_done(&p->tree);
    mem_free((char *)p->cfg.title);
    mem_free((char *)p->cfg.head);
    mem_free((char *)p->cfg.hint);
}

unsigned picker_open(struct app *a, const struct picker_config *cfg)
{
    static const struct dialog_ops ops = { .key = picker_key,
                                           .takes_text = true,
                                           .draw = picker_draw,
                                           .draw_bar = picker_draw_bar,
                                           .tick = picker_tick,
                                           .waits = picker_waits,
                                           .click = picker_click,
                                           .destroy = picker_destroy };
    struct picker *p = mem_zalloc(sizeof *p);
    p->dialog.ops = &ops;
    p->cfg = *cfg;
    p->cfg.title = mem_strdup(cfg->title);
    p->cfg.head = cfg->head ? mem_strdup(cfg->head) : NULL;
    p->cfg.hint = cfg->hint ? mem_strdup(cfg->hint) : NULL;
    if (cfg->typed)
        prompt_set(&p->filter, cfg->typed);
    p->cfg.typed = NULL; /* the caller's */
    (void)refresh(p, a);
    dialog_push(a, &p->dialog);
    return APP_REDRAW;
}

/* --- a short menu --- */

struct menu {
    char **choices;
    uint32_t n;
    unsigned (*take)(struct app *a, uint32_t choice);
};

static void menu_fill(void *ctx, struct app *a, struct picker *p)
{
    const struct menu *m = ctx;
    (void)a;
    for (uint32_t i = 0; i < m->n; i++)
        picker_add(p, &(struct picker_item){ .key = i + 1, .text = m->choices[i] });
}

static unsigned menu_take(void *ctx, struct app *a, const uint64_t *keys, uint32_t n)
{
    const struct menu *m = ctx;
    (void)n;
    return m->take(a, (uint32_t)keys[0] - 1);
}

static void menu_destroy(void *ctx)
{
    struct menu *m = ctx;
    for (uint32_t i = 0; i < m->n; i++)
        mem_free(m->choices[i]);
    mem_free(m->choices);
}

unsigned picker_menu(struct app *a, const char *title, const char *const *choices, uint32_t n,
                     uint32_t current, unsigned (*take_choice)(struct app *a, uint32_t choice))
{
    struct menu *m = mem_zalloc(sizeof *m);
    m->choices = mem_array(n + 1, sizeof *m->choices);
    for (uint32_t i = 0; i < n; i++)
        m->choices[i] = mem_strdup(choices[i]);
    m->n = n;
    m->take = take_choice;
    return picker_open(a, &(struct picker_config){ .title = title,
                                                   .current = (uint64_t)current + 1,
                                                   .fill = menu_fill,
                                                   .take = menu_take,
                                                   .destroy = menu_destroy,
                                                   .ctx = m });
}
