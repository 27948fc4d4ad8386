// SPDX-License-Identifier: GPL-2.0-or-later
/* A scrolling list's cursor. Rows have stable 64-bit keys: when rows are sorted anew the cursor stays with its
 * row; while nobody has moved it, it stays on the first. Draws nothing. */
#ifndef FLAMETOP_UI_LIST_H
#define FLAMETOP_UI_LIST_H

#include <stdbool.h>
#include <stdint.h>

#include "ui/action.h"
#include "ui/position.h"

typedef uint64_t list_key_fn(const void *ctx, uint32_t row);

struct list { /* zero-initialised: empty, cursor at the top */
    uint32_t n, cursor, top;
    uint64_t key;   /* of the row under the cursor */
    bool moved;     /* by a person */
    int page;       /* rows on the screen at the last list_fit */
    bool restarted; /* list_restart was called, and nobody moved the cursor since */
};
/* There are n rows now. A cursor whose row is gone stays at its place; after list_restart it goes to the first row. */
void list_update(struct list *l, uint32_t n, list_key_fn *key, const void *ctx);
/* Makes the cursor visible on `rows` rows; l->top is then the first row to draw. Call before drawing. */
void list_fit(struct list *l, int rows);
/* The rows are those of another question: the first ones come into view, unless a person moved the cursor to a row that
 * still exists and is further down. Call before list_update. */
void list_restart(struct list *l);
/* For going back: the cursor on the row of that key, as far below the first visible row as it was. */
void list_save(const struct list *l, struct view_position *out);
void list_restore(struct list *l, const struct view_position *position, list_key_fn *key, const void *ctx);
/* ACTION_UP … ACTION_END; true when it was one of them. */
bool list_act(struct list *l, enum action a, list_key_fn *key, const void *ctx);
/* The row on a line of the screen, counted from the first one that is drawn; false: there is none. */
bool list_row_at(const struct list *l, int line, uint32_t *row);
void list_go(struct list *l, uint32_t row, list_key_fn *key, const void *ctx);
bool list_go_key(struct list *l, uint64_t wanted, list_key_fn *key,
                 const void *ctx); /* false: not there, not moved */
void list_scroll(struct list *l, int rows, list_key_fn *key, const void *ctx); /* mouse wheel */
/* Next row (step > 0) or previous one for which match says true, around the end; with step 0 also the present
 * row counts. -1: none. */
int64_t list_search(const struct list *l, int step, bool (*match)(const void *ctx, uint32_t row),
                    const void *ctx);
/* Whether such a step to `row` went around the end; before list_go(). */
bool list_went_round(const struct list *l, int step, int64_t row);

#endif
