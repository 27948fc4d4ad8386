// SPDX-License-Identifier: GPL-2.0-or-later
/* Columns of the functions table, one row each in ui/columns.def.
 * The table head, widths, the sort keys of F6 and --sort, and the setup screen come from it. */
#ifndef FLAMETOP_UI_COLUMNS_H
#define FLAMETOP_UI_COLUMNS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"
#include "session/group_column.h"

enum column {
#define COLUMN(id, title, name, width, min_cols, by_name, help) COLUMN_##id,
#include "ui/columns.def"
#undef COLUMN
    COLUMN_COUNT
};

/* Columns of session/group_column.h. From IPC on, their order is that of the kinds there. */
static inline bool column_is_of_group(enum column c)
{
    return c == COLUMN_LATENCY || c == COLUMN_PARALLELISM || (c >= COLUMN_IPC && c <= COLUMN_OTHER_4);
}
static inline enum group_column_kind column_group_kind(enum column c)
{
    return c == COLUMN_LATENCY       ? GROUP_COLUMN_LATENCY
           : c == COLUMN_PARALLELISM ? GROUP_COLUMN_PARALLELISM
                                     : (enum group_column_kind)(GROUP_COLUMN_IPC + (c - COLUMN_IPC));
}

/* Columns of cgroups side by side. */
static inline bool column_is_cgroup(enum column c)
{
    return c >= COLUMN_CGROUP_1 && c <= COLUMN_CGROUP_8;
}

struct column_row {
    const char *title, *name; /* name: for --sort and F6 */
    int width;                /* 0: the rest (last column), or the title's width */
    int min_cols;             /* minimum screen width at which it is shown */
    bool by_name;             /* sorts as text, ascending */
    const char *help;
};
extern const struct column_row column_table[COLUMN_COUNT];
/* Returns one bit per column missing in the list; the function column is never hidden. */
uint32_t columns_hidden_but(const char *list);
void columns_shown(uint32_t hidden, struct buf *list); /* The reverse: writes "self,total,function". */
/* Parses "total,self": the first column sorts, the next ones break ties. columns has room for COLUMN_COUNT.
 * An error names the nearest name. */
bool columns_parse(const char *list, enum column *columns, uint32_t *n, struct error *e);

#endif
