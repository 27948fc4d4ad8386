// SPDX-License-Identifier: GPL-2.0-or-later
/* The actions that keys trigger: their enum, the keymap and the key names.
 * ui/actions.def has a row per action. The enum, the keymap, F1, the bottom bar and the man page come from
 * it. Where a view's own action and a global one have the same key, the view's wins. */
#ifndef FLAMETOP_UI_ACTION_H
#define FLAMETOP_UI_ACTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"

enum action {
    ACTION_NONE,
#define ACTION(scope, id, name, keys, label, help) ACTION_##id,
#include "ui/actions.def"
    ACTION_COUNT
};

enum action_scope {
    SCOPE_KEYS_GLOBAL, /* everywhere */
    SCOPE_KEYS_MOVE,   /* lists, trees, pickers, help */
#define VIEW(number, id, ...) SCOPE_KEYS_##id,
#include "ui/actions.def"
    SCOPE_KEYS_STRIP,  /* the time strip, while it has the keys */
    SCOPE_KEYS_PICKER, /* dialogs with a list */
    SCOPE_KEYS_COUNT
};

struct action_row {
    enum action_scope scope;
    const char *name;  /* in the config file: "flame-colour" */
    const char *keys;  /* default keys: "F1 ?" */
    const char *label; /* in the bottom bar; "": not listed there */
    const char *help;
};
const struct action_row *action_row(enum action a);
const char *action_scope_title(enum action_scope s);

struct key_binding {
    const char *action, *keys; /* both as in the config file: "freeze", "z F9"; keys "": unbound */
};

struct keymap;
/* Returns the default keymap with `n` bindings changed. The caller frees it. NULL: an unknown action or
 * key (the error names the nearest), or a key bound twice in one scope. */
struct keymap *keymap_new(const struct key_binding *bindings, size_t n, struct error *e);
void keymap_free(struct keymap *km);
/* Returns the action of a key: first of `scope`, then of the move keys (views and pickers), then global
 * (not in pickers). */
enum action keymap_find(const struct keymap *km, enum action_scope scope, uint32_t key);
/* Returns the keys of an action, "F1 ?", or "". */
const char *keymap_keys(const struct keymap *km, enum action a);
/* Writes the first key of an action, "F1", for the bottom bar and hints. Returns dst. */
const char *keymap_first(const struct keymap *km, enum action a, char dst[16]);

bool key_parse(const char *name, uint32_t *key); /* Parses "F1", "^L", "Space", "S-Tab", "é". */
void key_name(uint32_t key, char dst[16]);

/* Writes the table of keys, for the manual. */
enum action_format { ACTION_MDOC, ACTION_MARKDOWN };
void action_document(struct buf *out, enum action_format format);

#endif
