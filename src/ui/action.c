// SPDX-License-Identifier: GPL-2.0-or-later
#include "ui/action.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "ui/term.h"

static const struct action_row rows[ACTION_COUNT] = {
    [ACTION_NONE] = { SCOPE_KEYS_GLOBAL, "", "", "", "" },
#define ACTION(scope, id, name, keys, label, help)                                                           \
    [ACTION_##id] = { SCOPE_KEYS_##scope, name, keys, label, help },
#include "ui/actions.def"
};

static const char *const scope_titles[SCOPE_KEYS_COUNT] = {
    [SCOPE_KEYS_GLOBAL] = "Everywhere",
    [SCOPE_KEYS_MOVE] = "Moving",
#define VIEW(number, id, name, title, ...) [SCOPE_KEYS_##id] = title,
#include "ui/actions.def"
    [SCOPE_KEYS_STRIP] = "Time strip",
    [SCOPE_KEYS_PICKER] = "Menus and pickers",
};

const struct action_row *action_row(enum action a)
{
    return &rows[a < ACTION_COUNT ? a : ACTION_NONE];
}

const char *action_scope_title(enum action_scope s)
{
    return scope_titles[s];
}

/* --- names of keys --- */

static const struct {
    uint32_t key;
    const char *name;
} named[] = {
    { TK_UP, "Up" },           { TK_DOWN, "Down" },
    { TK_LEFT, "Left" },       { TK_RIGHT, "Right" },
    { TK_PGUP, "PgUp" },       { TK_PGDN, "PgDn" },
    { TK_HOME, "Home" },       { TK_END, "End" },
    { TK_INSERT, "Insert" },   { TK_DELETE, "Delete" },
    { TK_ENTER, "Enter" },     { TK_TAB, "Tab" },
    { TK_SHIFT_TAB, "S-Tab" }, { TK_BACKSPACE, "Backspace" },
    { TK_ESC, "Esc" },         { ' ', "Space" },
    { TK_F1, "F1" },           { TK_F2, "F2" },
    { TK_F3, "F3" },           { TK_F4, "F4" },
    { TK_F5, "F5" },           { TK_F6, "F6" },
    { TK_F7, "F7" },           { TK_F8, "F8" },
    { TK_F9, "F9" },           { TK_F10, "F10" },
    { TK_F11, "F11" },         { TK_F12, "F12" },
};
#define N_NAMED (sizeof named / sizeof *named)

static const char *const *key_names(size_t *n)
{
    static const char *names[N_NAMED];
    for (size_t i = 0; i < N_NAMED; i++)
        names[i] = named[i].name;
    *n = N_NAMED;
    return names;
}

bool key_parse(const char *name, uint32_t *key)
{
    for (size_t i = 0; i < N_NAMED; i++) {
        if (strcasecmp(name, named[i].name) == 0) {
            *key = named[i].key;
            return true;
        }
    }
    if (name[0] == '^' && name[1] && !name[2]) {
        int c = name[1] & ~0x20;
        *key = (uint32_t)(c - '@');
        /* ^H, ^I, ^J, ^M and ^[ are other keys; ^C and ^Z are signals. */
        return c >= 'A' && c <= 'Z' && !strchr("HIJMCZ", c);
    }
    size_t len = strlen(name);
    if (!len || text_decode(name, len, key) != len)
        return false;
    return *key > 0x20 && *key != 0x7f && *key != 0xfffd;
}

void key_name(uint32_t key, char dst[16])
{
    for (size_t i = 0; i < N_NAMED; i++) {
        if (named[i].key == key) {
            (void)snprintf(dst, 16, "%s", named[i].name);
            return;
        }
    }
    if (key >= 1 && key <= 26)
        (void)snprintf(dst, 16, "^%c", (char)(key + '@'));
    else if (key < 0x80)
        (void)snprintf(dst, 16, "%c", (char)key);
    else
        (void)snprintf(dst, 16, "U+%04X", (unsigned)key);
}

/* --- the keymap --- */

#define KEYS_PER_ACTION 6
struct keymap {
    struct {
        uint32_t keys[KEYS_PER_ACTION];
        uint32_t n;
        char text[64];
    } bound[ACTION_COUNT];
};

static bool unknown_key(const char *word, enum action a, struct error *e)
{
    size_t n;
    const char *const *names = key_names(&n);
    int near = text_nearest(word, names, n);
    error_set(e, ERROR_ARGUMENT, "unknown key \"%s\" for the action \"%s\"", word, rows[a].name);
    if (near >= 0)
        return error_hint(e, "did you mean \"%s\"?", names[near]);
    return error_hint(e, "keys are single characters, ^A to ^Z, F1 to F12, Up, PgDn, Enter, Esc, Tab, S-Tab, "
                         "Space and their like");
}

static bool bind(struct keymap *km, enum action a, const char *keys, struct error *e)
{
    char words[64], *save = NULL;
    km->bound[a].n = 0;
    if (text_clean(words, sizeof words, keys, strlen(keys)) != strlen(keys))
        return error_set(e, ERROR_ARGUMENT, "too many keys for the action \"%s\"", rows[a].name);
    memcpy(km->bound[a].text, words, sizeof words);
    for (char *w = strtok_r(words, " \t", &save); w; w = strtok_r(NULL, " \t", &save)) {
        uint32_t key;
        if (!key_parse(w, &key))
            return unknown_key(w, a, e);
        if (km->bound[a].n == KEYS_PER_ACTION)
            return error_set(e, ERROR_ARGUMENT, "too many keys for the action \"%s\": at most %d",
                             rows[a].name, KEYS_PER_ACTION);
        km->bound[a].keys[km->bound[a].n++] = key;
    }
    return true;
}

static bool has_key(const struct keymap *km, enum action a, uint32_t key)
{
    for (uint32_t i = 0; i < km->bound[a].n; i++)
        if (km->bound[a].keys[i] == key)
            return true;
    return false;
}

/* Unbinds a key that the user gave to another action from its default action in the same scope. */
static void yield_key(struct keymap *km, enum action owner, uint32_t key)
{
    uint32_t n = 0;
    struct buf text = { 0 };
    char name[16];
    for (uint32_t i = 0; i < km->bound[owner].n; i++) {
        if (km->bound[owner].keys[i] == key)
            continue;
        km->bound[owner].keys[n] = km->bound[owner].keys[i];
        key_name(km->bound[owner].keys[n++], name);
        buf_printf(&text, "%s%s", text.len ? " " : "", name);
    }
    km->bound[owner].n = n;
    (void)snprintf(km->bound[owner].text, sizeof km->bound[owner].text, "%s", buf_str(&text));
    buf_done(&text);
}

static bool shares_scope(enum action a, enum action b)
{
    enum action_scope x = rows[a].scope, y = rows[b].scope;
    return x == y || (x == SCOPE_KEYS_MOVE && y == SCOPE_KEYS_GLOBAL) ||
           (x == SCOPE_KEYS_GLOBAL && y == SCOPE_KEYS_MOVE);
}

static bool settle_conflicts(struct keymap *km, const bool *by_user, struct error *e)
{
    for (enum action a = 1; a < ACTION_COUNT; a++) {
        for (enum action b = 1; by_user[a] && b < ACTION_COUNT; b++) {
            for (uint32_t i = 0; i < km->bound[a].n; i++) {
                uint32_t key = km->bound[a].keys[i];
                if (b == a || !shares_scope(a, b) || !has_key(km, b, key))
                    continue;
                char name[16];
                key_name(key, name);
                if (by_user[b])
                    return error_set(e, ERROR_ARGUMENT,
                                     "the key \"%s\" is given to two actions: \"%s\" and \"%s\"", name,
                                     rows[a].name, rows[b].name);
                yield_key(km, b, key);
            }
        }
    }
    if (km->bound[ACTION_QUIT].n == 0)
        return error_set(e, ERROR_ARGUMENT, "no key is left for the action \"quit\": give it one");
    return true;
}

static bool bind_user(struct keymap *km, const struct key_binding *b, bool *by_user, struct error *e)
{
    const char *names[ACTION_COUNT];
    for (enum action a = 1; a < ACTION_COUNT; a++) {
        if (strcmp(b->action, rows[a].name) == 0) {
            by_user[a] = true;
            return bind(km, a, b->keys, e);
        }
        names[a - 1] = rows[a].name;
    }
    char safe[64];
    text_clean(safe, sizeof safe, b->action, strlen(b->action));
    int near = text_nearest(safe, names, ACTION_COUNT - 1);
    error_set(e, ERROR_ARGUMENT, "unknown action \"%s\"", safe);
    return near >= 0 ? error_hint(e, "did you mean \"%s\"?", names[near])
                     : error_hint(e, "the manual lists the actions, as does F1");
}

struct keymap *keymap_new(const struct key_binding *bindings, size_t n, struct error *e)
{
    struct keymap *km = mem_zalloc(sizeof *km);
    bool by_user[ACTION_COUNT] = { false }, good = true;
    for (enum action a = 1; a < ACTION_COUNT && good; a++)
        good = bind(km, a, rows[a].keys, e);
    for (size_t i = 0; i < n && good; i++)
        good = bind_user(km, &bindings[i], by_user, e);
    if (good && settle_conflicts(km, by_user, e))
        return km;
    mem_free(km);
    return NULL;
}

void keymap_free(struct keymap *km)
{
    mem_free(km);
}

static enum action find_in(const struct keymap *km, enum action_scope scope, uint32_t key)
{
    for (enum action a = 1; a < ACTION_COUNT; a++)
        if (rows[a].scope == scope && has_key(km, a, key))
            return a;
    return ACTION_NONE;
}

enum action keymap_find(const struct keymap *km, enum action_scope scope, uint32_t key)
{
    enum action a = find_in(km, scope, key);
    if (a == ACTION_NONE && scope != SCOPE_KEYS_PICKER)
        a = find_in(km, SCOPE_KEYS_MOVE, key);
    if (a == ACTION_NONE && scope != SCOPE_KEYS_PICKER)
        a = find_in(km, SCOPE_KEYS_GLOBAL, key);
    return a;
}

const char *keymap_keys(const struct keymap *km, enum action a)
{
    return km->bound[a].text;
}

const char *keymap_first(const struct keymap *km, enum action a, char dst[16])
{
    dst[0] = '\0';
    if (km->bound[a].n)
        key_name(km->bound[a].keys[0], dst);
    return dst;
}

/* --- the manual --- */

static void document_row(struct buf *out, const struct action_row *row, enum action_format format)
{
    if (format == ACTION_MARKDOWN) {
        buf_puts(out, "| ");
        for (const char *p = row->keys; *p; p++)
            buf_puts(out, *p == '|' ? "\\|" : (char[]){ *p, '\0' });
        buf_printf(out, " | %s | `%s` |\n", row->help, row->name);
        return;
    }
    buf_puts(out, ".It Sy \"\\&"); /* mandoc would treat a lone bracket as punctuation */
    for (const char *p = row->keys; *p; p++)
        buf_puts(out, *p == '\\' ? "\\e" : *p == '"' ? "\\(dq" : *p == '-' ? "\\-" : (char[]){ *p, '\0' });
    buf_printf(out, "\" Pq Cm %s\n%s\n", row->name, row->help);
}

void action_document(struct buf *out, enum action_format format)
{
    for (int scope = 0; scope < SCOPE_KEYS_COUNT; scope++) {
        bool any = false;
        for (enum action a = 1; a < ACTION_COUNT; a++) {
            if (rows[a].scope != (enum action_scope)scope)
                continue;
            if (!any && format == ACTION_MDOC)
                buf_printf(out, ".Ss %s\n.Bl -tag -width Ds\n", scope_titles[scope]);
            else if (!any)
                buf_printf(out, "### %s\n\n| key | does | action |\n|---|---|---|\n", scope_titles[scope]);
            any = true;
            document_row(out, &rows[a], format);
        }
        if (any)
            buf_puts(out, format == ACTION_MDOC ? ".El\n" : "\n");
    }
}
