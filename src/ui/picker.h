// SPDX-License-Identifier: GPL-2.0-or-later
/* A list to pick from: typing filters it, Space tags (where several can be chosen), Enter chooses.
 * Items may form a tree (in depth-first order); then Left, Right, + and - fold it. */
#ifndef FLAMETOP_UI_PICKER_H
#define FLAMETOP_UI_PICKER_H

#include "ui/app.h"

struct picker;
struct picker_item {
    uint64_t key;     /* stable between fills; not 0 */
    const char *text; /* the line, copied and cleaned */
    /* the item's name, if the line begins with something else; copied, or NULL */
    const char *name;
    uint16_t depth; /* 0 in lists */
    bool dim;       /* visible, but cannot be chosen (why_not explains) */
    bool heading;   /* a branch that only expands and collapses */
};

struct picker_config {
    const char *title;
    const char *head;    /* column titles, or NULL */
    const char *hint;    /* the bottom line, or NULL: the keys */
    const char *typed;   /* a filter, as if typed, or NULL */
    bool multiple;       /* Space tags */
    bool tree;           /* items have depths */
    bool cut_end;        /* shorten long lines at the end, not in the middle */
    uint16_t open_depth; /* tree: levels open at first */
    uint64_t current;    /* key of the first cursor row, 0: the first row */
    uint32_t refresh_ms; /* not 0: refill at this interval; tags and cursor stay */
    /* For items that another thread makes; may be NULL. ask requests them every refresh_ms; read_reply
     * returns true when they have arrived, and fill is called. Until the first time, the picker shows that
     * it waits. Without ask, read_reply may still request a refill. */
    void (*ask)(void *ctx, struct app *a);
    bool (*read_reply)(void *ctx, struct app *a);
    int cols;                                                 /* width; 0: that of the longest line */
    void (*fill)(void *ctx, struct app *a, struct picker *p); /* Calls picker_add per item. */
    /* Enter: keys of the tagged rows, or of the row under the cursor. The picker is closed already. */
    unsigned (*take)(void *ctx, struct app *a, const uint64_t *keys, uint32_t n);
    /* Returns the item of exactly this name, which then precedes other matches; 0: none. May be NULL. */
    uint64_t (*called)(const void *ctx, const char *text);
    /* Enter on a dim item: explains why it cannot be chosen. Required if any item is dim. */
    void (*why_not)(void *ctx, uint64_t key, struct error *e);
    /* Enter when nothing matches the typed text. check_typed returns whether the text itself can be chosen
     * (if not, e is shown and the picker stays); take_typed chooses it. Both or none. */
    bool (*check_typed)(void *ctx, const char *text, struct error *e);
    unsigned (*take_typed)(void *ctx, struct app *a, const char *text);
    /* Handles keys that only this picker has (PICK_COUNT ...); may be NULL. */
    unsigned (*act)(void *ctx, struct app *a, struct picker *p, enum action action);
    bool (*waits)(const void *ctx); /* read_reply waits for data: it is called often; may be NULL */
    void (*destroy)(void *ctx);     /* frees what ctx owns; may be NULL */
    void *ctx;                      /* allocated, owned by the picker after picker_open; or NULL */
};
unsigned picker_open(struct app *a, const struct picker_config *cfg);
void picker_add(struct picker *p, const struct picker_item *item);

/* Returns the keys of the visible rows, the cursor's first; headings are left out. Returns their number. */
uint32_t picker_shown(const struct picker *p, uint64_t *keys, uint32_t cap);

/* Returns the key of the row under the cursor; 0: none, or a heading. */
uint64_t picker_cursor(const struct picker *p);

/* A short menu of fixed choices; `take` gets the number of the chosen row. Strings are copied. */
unsigned picker_menu(struct app *a, const char *title, const char *const *choices, uint32_t n,
                     uint32_t current, unsigned (*take)(struct app *a, uint32_t choice));

/* The pickers, one file each. */
unsigned pick_event(struct app *a);
unsigned pick_latency(struct app *a);  /* the same, filtered by latency:ROW */
unsigned pick_recorded(struct app *a); /* events of a recording */
unsigned pick_process(struct app *a);  /* processes to sample */
unsigned pick_one_process(struct app *a, const char *title, unsigned (*take)(struct app *a, uint32_t pid));
unsigned pick_cgroup(struct app *a);
unsigned pick_scope(struct app *a); /* a menu of the above and more */
unsigned scope_toggle_inherit(struct app *a);

#endif
