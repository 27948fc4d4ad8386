// SPDX-License-Identifier: GPL-2.0-or-later
/* The cursor of a scrolling list. Draws nothing.
 * Rows have stable 64-bit keys: after a new sort the cursor stays on its row. Until the user moves it, it
 * stays on the first row. */
#ifndef FLAMETOP_UI_LIST_H
#define FLAMETOP_UI_LIST_H

#include <stdbool.h>
#include <stdint.h>

#include "ui/action.h"
#include "ui/position.h"

typedef uint64_t list_key_fn(const void *ctx, uint32_t row);
typedef bool list_match_fn(const void *ctx, uint32_t row, const char *needle);

struct list { /* zero-initialised: empty, cursor at the top */
    uint32_t n, cursor, top;
    uint64_t key;   /* of the row under the cursor */
    bool moved;     /* by the user */
    int page;       /* rows on the screen at the last list_fit */
    bool restarted; /* since list_restart, the user has not moved the cursor */
};
/* Sets the number of rows. If the cursor's row is gone, the cursor keeps its position; after list_restart
 * it goes to the first row. */
void list_update(struct list *l, uint32_t n, list_key_fn *key, const void *ctx);
/* Scrolls so that the cursor is visible on `rows` rows; l->top is then the first row to draw. Call before
 * drawing. */
void list_fit(struct list *l, int rows);
/* For rows of another query: scrolls to the first row, unless the user moved the cursor to a row further
 * down that still exists. Call before list_update. */
void list_restart(struct list *l);
/* For Esc: restores the cursor to the row of that key, as far below the first visible row as before. */
void list_save(const struct list *l, struct view_position *out);
void list_restore(struct list *l, const struct view_position *position, list_key_fn *key, const void *ctx);
/* Handles ACTION_UP … ACTION_END. Returns false for other actions. */
bool list_act(struct list *l, enum action a, list_key_fn *key, const void *ctx);
/* Finds the row on a line of the list, counted from the first drawn row. Returns false if there is none. */
bool list_row_at(const struct list *l, int line, uint32_t *row);
/* On the first row, the cursor stays on the first row, whichever it is: in most lists the hottest one. */
void list_go(struct list *l, uint32_t row, list_key_fn *key, const void *ctx);
/* Handles a click on a line, as list_row_at() counts them: goes to its row. Returns false if there is
 * none. */
bool list_click(struct list *l, int line, list_key_fn *key, const void *ctx);
/* For a row that was searched or chosen by name: the cursor stays with it, also if it is the first. */
void list_choose(struct list *l, uint32_t row, list_key_fn *key, const void *ctx);
/* Returns false if no row has that key; the cursor then stays. */
bool list_go_key(struct list *l, uint64_t wanted, list_key_fn *key, const void *ctx);
void list_scroll(struct list *l, int rows, list_key_fn *key, const void *ctx); /* mouse wheel */
/* Returns the next row (step > 0) or previous row that matches the needle, wrapping around; step 0 starts at
 * the present row. -1: none. */
int64_t list_search(const struct list *l, int step, const char *needle, list_match_fn *match,
                    const void *ctx);
/* SEARCH_WENT_ROUND: the search wrapped around, or found only the present row. */
enum search_found { SEARCH_NONE, SEARCH_FOUND, SEARCH_WENT_ROUND };
/* The same, and chooses that row. */
enum search_found list_find(struct list *l, int step, const char *needle, list_match_fn *match,
                            list_key_fn *key, const void *ctx);
/* Returns whether such a step to `row` wrapped around. Call before list_go(). */
bool list_went_round(const struct list *l, int step, int64_t row);

#endif
