// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/text.h"
#include "ui/bar.h"
#include "ui/dialog.h"
#include "ui/list.h"
#include "ui/view_ops.h"

#define HELP_MESSAGES 40
#define KEYS_COLS     16

struct line {
    char *keys, *text;
    enum style style;
};
struct help {
    struct dialog dialog;
    VEC(struct line) lines;
    int top, page;
    char needle[64];
    int found; /* line of the current match; -1: none */
};

static void add(struct help *h, enum style style, const char *keys, const char *text)
{
    *VEC_PUSH(&h->lines) = (struct line){ mem_strdup(keys), mem_strdup(text), style };
}

/* Adds long text as lines of at most `columns`. */
static void add_wrapped(struct help *h, enum style style, const char *text, int columns)
{
    while (*text) {
        size_t n = text_prefix(text, columns, NULL), cut = n;
        while (text[n] && cut > 0 && text[cut] != ' ')
            cut--;
        n = cut ? cut : n;
        char line[512];
        text_clean(line, sizeof line, text, n);
        add(h, style, "", line);
        text += n ? n : strlen(text);
        text += strspn(text, " ");
    }
}

/* Writes the keys that trigger an action in the present view, without keys that the view uses itself. */
static void working_keys(const struct app *a, enum action action, char dst[64])
{
    char all[64], *save = NULL;
    enum action_scope scope = action_row(action)->scope;
    size_t n = 0;
    dst[0] = '\0';
    (void)snprintf(all, sizeof all, "%s", keymap_keys(a->keymap, action));
    if (scope != SCOPE_KEYS_PICKER && scope != SCOPE_KEYS_STRIP)
        scope = view_table[a->view].scope;
    for (char *w = strtok_r(all, " ", &save); w; w = strtok_r(NULL, " ", &save)) {
        uint32_t key;
        if (key_parse(w, &key) && keymap_find(a->keymap, scope, key) == action)
            n += (size_t)snprintf(dst + n, 64 - n, "%s%s", n ? " " : "", w);
    }
}

static void add_key(struct help *h, const char *keys, const char *text, int columns)
{
    size_t first = h->lines.n;
    add_wrapped(h, STYLE_NORMAL, text, columns - KEYS_COLS);
    for (size_t i = first; i < h->lines.n; i++) {
        mem_free(h->lines.items[i].keys);
        h->lines.items[i].keys = mem_strdup(i == first ? keys : " ");
    }
}

static void add_scope(struct help *h, const struct app *a, enum action_scope scope, int columns)
{
    bool any = false;
    char keys[64];
    for (enum action action = 1; action < ACTION_COUNT; action++) {
        const struct action_row *row = action_row(action);
        if (row->scope != scope)
            continue;
        if (!any) {
            add(h, STYLE_NORMAL, "", "");
            add(h, STYLE_NAME, "", action_scope_title(scope));
        }
        any = true;
        working_keys(a, action, keys);
        add_key(h, keys[0] ? keys : "(no key)", row->help, columns);
    }
}

static void add_notes(struct help *h, const struct app *a, int columns)
{
    const struct session_status *s = &a->status;
    if (!s->n_notes && !s->fatal[0])
        return;
    add(h, STYLE_NORMAL, "", "");
    add(h, STYLE_DEGRADED, "", "What is limited, and how to fix it");
    if (s->fatal[0])
        add_wrapped(h, STYLE_DEGRADED, s->fatal, columns);
    for (uint32_t i = 0; i < s->n_notes; i++) {
        char fix[256];
        add_wrapped(h, STYLE_NORMAL, s->notes[i].what, columns);
        (void)snprintf(fix, sizeof fix, "    -> %s", s->notes[i].fix);
        if (s->notes[i].fix[0])
            add_wrapped(h, STYLE_LABEL, fix, columns);
    }
}

static void add_legend(struct help *h)
{
    if (!term_colors())
        return;
    add(h, STYLE_NORMAL, "", "");
    add(h, STYLE_NAME, "", "Colours of functions");
    for (int i = 0; i < SYMBOL_CLASSES; i++)
        add(h, app_class_style((enum symbol_class)i), "", symbol_class_names[i]);
}

static void add_messages(struct help *h, int columns)
{
    uint64_t end = log_count();
    char text[256];
    if (!end)
        return;
    add(h, STYLE_NORMAL, "", "");
    add(h, STYLE_NAME, "", "Messages, and output of the command");
    for (uint64_t i = end > HELP_MESSAGES ? end - HELP_MESSAGES : 0; i < end; i++)
        if (log_get(i, text, sizeof text))
            add_wrapped(h, STYLE_NORMAL, text, columns);
}

static void build(struct help *h, const struct app *a)
{
    struct area screen = area_screen();
    int columns = screen.cols > 8 ? screen.cols - 6 : screen.cols;
    const struct view_row *view = &view_table[a->view];
    add(h, STYLE_NAME, "", view->title);
    add_wrapped(h, STYLE_NORMAL, a->ops[a->view]->intro, columns);
    add_notes(h, a, columns);
    add_scope(h, a, view->scope, columns);
    add_scope(h, a, SCOPE_KEYS_MOVE, columns);
    add_scope(h, a, SCOPE_KEYS_GLOBAL, columns);
    add_scope(h, a, SCOPE_KEYS_STRIP, columns);
    add_scope(h, a, SCOPE_KEYS_PICKER, columns);
    add_legend(h);
    add_messages(h, columns);
    if (a->cfg->version) {
        add(h, STYLE_NORMAL, "", "");
        add(h, STYLE_DIM, "", a->cfg->version);
    }
}

static void scroll(struct help *h, int by)
{
    int last = (int)h->lines.n - h->page;
    h->top += by;
    h->top = h->top > last ? last : h->top;
    h->top = h->top < 0 ? 0 : h->top;
}

static bool line_matches(const struct line *line, const char *needle)
{
    return text_find_nocase(line->text, needle) || text_find_nocase(line->keys, needle);
}

/* Searches from the last match, or from the first visible line. */
static unsigned find(struct help *h, struct app *a, int step)
{
    int n = (int)h->lines.n, from = h->found >= 0 ? h->found : h->top;
    char key[16];
    if (!h->needle[0])
        return app_message(a, "nothing to search for yet: %s starts a search",
                           keymap_first(a->keymap, ACTION_SEARCH, key));
    for (int i = step ? 1 : 0; i <= n; i++) {
        int at = (from + (step < 0 ? n * 2 - i : i)) % n;
        if (!line_matches(&h->lines.items[at], h->needle))
            continue;
        h->found = at;
        h->top = at - h->page / 3;
        scroll(h, 0);
        return APP_REDRAW;
    }
    h->found = -1;
    return app_message(a, "nothing matches \"%s\"", h->needle);
}

static unsigned needle_changed(void *ctx, struct app *a, const char *text)
{
    struct help *h = ctx;
    text_clean(h->needle, sizeof h->needle, text, strlen(text));
    h->found = -1;
    return APP_REDRAW | (h->needle[0] ? find(h, a, 0) : 0);
}

static unsigned needle_done(void *ctx, struct app *a, const char *text)
{
    struct help *h = ctx;
    if (!text)
        h->needle[0] = '\0';
    return APP_REDRAW | (h->needle[0] ? find(h, a, 0) : 0); /* its message stays when the prompt is closed */
}

static unsigned help_key(struct dialog *d, struct app *a, uint32_t key)
{
    struct help *h = (struct help *)d;
    switch (keymap_find(a->keymap, SCOPE_KEYS_GLOBAL, key)) {
    case ACTION_UP:
        scroll(h, -1);
        break;
    case ACTION_DOWN:
        scroll(h, 1);
        break;
    case ACTION_PAGE_UP:
        scroll(h, -h->page);
        break;
    case ACTION_PAGE_DOWN:
        scroll(h, h->page);
        break;
    case ACTION_TOP:
        scroll(h, -(int)h->lines.n);
        break;
    case ACTION_END:
        scroll(h, (int)h->lines.n);
        break;
    case ACTION_SEARCH:
        return dialog_ask(
            a, &(struct dialog_prompt){
                   .label = "search: ", .changed = needle_changed, .done = needle_done, .ctx = h });
    case ACTION_SEARCH_NEXT:
        return find(h, a, 1);
    case ACTION_SEARCH_PREVIOUS:
        return find(h, a, -1);
    case ACTION_HELP:
    case ACTION_BACK:
    case ACTION_QUIT:
    case ACTION_DRILL:
        dialog_close(a, d);
        break;
    default:
        if (key != ' ')
            return APP_HANDLED;
        scroll(h, h->page);
    }
    return APP_REDRAW;
}

static void help_draw(struct dialog *d, struct app *a, struct area area)
{
    struct help *h = (struct help *)d;
    (void)a;
    struct area in = draw_box(area, "Help");
    h->page = in.rows > 0 ? in.rows : 1;
    scroll(h, 0);
    for (int row = 0; row < in.rows && (size_t)(h->top + row) < h->lines.n; row++) {
        const struct line *line = &h->lines.items[h->top + row];
        int col = 0;
        if (line->keys[0]) {
            draw_text(in, row, 1, STYLE_LABEL, line->keys);
            int width = text_width(line->keys) + 3;
            col = width > KEYS_COLS ? width : KEYS_COLS;
        }
        (void)draw_match(in, row, col, in.cols - col, line->style, line->text, h->needle);
        if (h->top + row == h->found)
            draw_restyle(in, row, STYLE_CURSOR);
    }
}

static void help_draw_bar(struct dialog *d, struct app *a, struct area bar)
{
    const struct help *h = (const struct help *)d;
    char key[16], search[16];
    if (a->message[0]) {
        footer_draw(a, bar);
        return;
    }
    draw_fill(bar, 0, 0, -1, STYLE_KEY_LABEL);
    draw_printf(bar, 0, 0, STYLE_KEY_LABEL,
                "%s closes   arrows and pages scroll   %s searches   line %d of %zu",
                keymap_first(a->keymap, ACTION_BACK, key), keymap_first(a->keymap, ACTION_SEARCH, search),
                h->top + 1, h->lines.n);
}

static void help_destroy(struct dialog *d)
{
    struct help *h = (struct help *)d;
    for (size_t i = 0; i < h->lines.n; i++) {
        mem_free(h->lines.items[i].keys);
        mem_free(h->lines.items[i].text);
    }
    mem_free(h->lines.items);
}

unsigned dialog_help(struct app *a)
{
    static const struct dialog_ops ops = {
        .key = help_key, .draw = help_draw, .draw_bar = help_draw_bar, .destroy = help_destroy
    };
    struct help *h = mem_zalloc(sizeof *h);
    h->found = -1;
    h->dialog.ops = &ops;
    build(h, a);
    dialog_push(a, &h->dialog);
    return APP_REDRAW;
}
