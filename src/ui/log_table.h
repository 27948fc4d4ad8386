// SPDX-License-Identifier: GPL-2.0-or-later
/* The log grouped by fields: a table with counts and sums, and the histogram of the selected row. */
#ifndef FLAMETOP_UI_LOG_TABLE_H
#define FLAMETOP_UI_LOG_TABLE_H

#include "session/log_groups.h"
#include "ui/app.h"
#include "ui/list.h"

struct log_table {        /* zero-initialise */
    struct log_by by;     /* n 0: the log is not grouped */
    struct log_by before; /* the last grouping, for the key that shows the groups again */
    struct log_groups groups;
    struct list list; /* row 0: all; then those of groups. Its keys: log_table_key */
    int order;
    struct error error;
};
uint64_t log_table_key(const void *table, uint32_t row);
/* Queries the groups of the samples that pass the filter. */
void log_table_update(struct log_table *t, struct app *a, const struct view_query *q,
                      const struct log_filter *filter);
/* only: what restricts the samples, as text; "": nothing. */
void log_table_draw(struct log_table *t, const struct app *a, const char *only, struct area area);
#define LOG_TABLE_ORDERS 6
extern const char *const log_table_orders[LOG_TABLE_ORDERS]; /* "count", "sum", ... */
unsigned log_table_sort(struct log_table *t, struct app *a, int order);
/* Handles keys of the list, and those for the next order. APP_IGNORED: not such a key. */
unsigned log_table_act(struct log_table *t, struct app *a, enum action action);
/* True if there is a row on that line, which is selected now. */
bool log_table_click(struct log_table *t, int row);
enum search_found log_table_search(struct log_table *t, struct app *a, int step);
/* "groups, sorted by count" */
void log_table_describe(const struct log_table *t, char *dst, size_t cap);
/* The group under the cursor; NULL: the row of all, or there is none. */
const struct value_group *log_table_group(const struct log_table *t);
void log_table_hide(struct log_table *t);

/* Picks one or two fields to group by, or with `value` a field with numbers to sum; `take` gets the new
 * grouping. */
unsigned pick_field(struct app *a, const struct log_by *by, bool value,
                    unsigned (*take)(struct app *a, const struct log_by *by));

#endif
