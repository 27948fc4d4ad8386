// SPDX-License-Identifier: GPL-2.0-or-later
/* A list to pick from: typing filters it, Space tags (when several may be taken), Enter takes. Items may form a
 * tree (depth first order), then Left, Right, + and - fold it. */
#ifndef FLAMETOP_UI_PICKER_H
#define FLAMETOP_UI_PICKER_H

#include "ui/app.h"

struct picker;
struct picker_item {
    uint64_t key;     /* stable between fills; not 0 */
    const char *text; /* the line, copied and cleaned */
    const char *name; /* what it is called, where its line begins with something else; copied, or NULL */
    uint16_t depth;   /* 0 in lists */
    bool dim;         /* cannot be taken (why_not says why): still shown */
    bool heading;     /* a branch that only opens and closes */
};

struct picker_config {
    const char *title;
    const char *head;    /* column titles, or NULL */
    const char *hint;    /* line at its bottom, or NULL: the keys */
    bool multiple;       /* Space tags */
    bool tree;           /* items have depths */
    bool cut_end;        /* a line that is too long gives way at its end, not in its middle */
    uint16_t open_depth; /* tree: levels that are open at first */
    uint64_t current;    /* key where the cursor starts, 0: the first */
    uint32_t refresh_ms; /* not 0: fill again so often, tags and cursor stay */
    /* NULL, or: fill would have to wait for what another thread makes. Asks for it every refresh_ms, and fills when
     * it was taken. Until the first time the picker says that it waits. Without ask, take_answer may still have it
     * filled again. */
    void (*ask)(void *ctx, struct app *a);
    bool (*take_answer)(void *ctx, struct app *a);
    int cols; /* wanted width, 0: as wide as the longest line */
    void (*fill)(void *ctx, struct app *a, struct picker *p); /* calls picker_add per item */
    /* Enter: keys of what is tagged, or of the row under the cursor. The picker is closed already. */
    unsigned (*take)(void *ctx, struct app *a, const uint64_t *keys, uint32_t n);
    /* The item that is called so, which then goes before others that have the text in them; 0: none. May be NULL. */
    uint64_t (*called)(const void *ctx, const char *text);
    /* Enter on what is dim: why it cannot be taken. Must be there if anything is dim. */
    void (*why_not)(void *ctx, uint64_t key, struct error *e);
    /* Enter where nothing matches what was typed, which may be taken as it stands: whether it can (else why not, and the
     * picker stays), and taking it. Both or none. */
    bool (*check_typed)(void *ctx, const char *text, struct error *e);
    unsigned (*take_typed)(void *ctx, struct app *a, const char *text);
    /* Keys that mean something in this picker only (PICK_COUNT ...); may be NULL. */
    unsigned (*act)(void *ctx, struct app *a, struct picker *p, enum action action);
    bool (*waits)(const void *ctx); /* take_answer waits for something: it is asked often; may be NULL */
    void (*destroy)(void *ctx);     /* may be NULL */
    void *ctx;                      /* owned by the picker from here on */
};
unsigned picker_open(struct app *a, const struct picker_config *cfg);
void picker_add(struct picker *p, const struct picker_item *item);
/* The text of an item, "" if it is not there; valid within take and fill. */
const char *picker_text(const struct picker *p, uint64_t key);

/* Keys of the rows on the screen, the one under the cursor first; headings are left out. Returns how many. */
uint32_t picker_shown(const struct picker *p, uint64_t *keys, uint32_t cap);

uint64_t picker_cursor(
    const struct picker *p); /* the key of the row under the cursor; 0: there is none, or a heading */

/* A short menu of fixed choices; the number of the chosen row goes to take. Strings are copied. */
unsigned picker_menu(struct app *a, const char *title, const char *const *choices, uint32_t n,
                     uint32_t current, unsigned (*take)(struct app *a, uint32_t choice));

/* The pickers of the field: each its own file. */
unsigned pick_event(struct app *a);
unsigned pick_recorded(struct app *a); /* of a file */
unsigned pick_process(struct app *a);
unsigned pick_cgroup(struct app *a);
unsigned pick_scope(struct app *a); /* a menu of these and more */
unsigned scope_toggle_inherit(struct app *a);

#endif
