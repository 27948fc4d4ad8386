// SPDX-License-Identifier: GPL-2.0-or-later
/* Columns of the functions table: ui/columns.def has a row for each. From it: the head, the widths, the sort
 * keys of F6 and --sort, the setup screen. */
#ifndef FLAMETOP_UI_COLUMNS_H
#define FLAMETOP_UI_COLUMNS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"

enum column {
#define COLUMN(id, title, name, width, min_cols, by_name, help) COLUMN_##id,
#include "ui/columns.def"
#undef COLUMN
    COLUMN_COUNT
};

/* Those of other events of a group are the kinds of session/beside.h, in the same order. */
static inline bool column_is_beside(enum column c)
{
    return c >= COLUMN_IPC && c <= COLUMN_OTHER_4;
}

/* Of cgroups side by side. */
static inline bool column_is_cgroup(enum column c)
{
    return c >= COLUMN_CGROUP_1 && c <= COLUMN_CGROUP_8;
}

struct column_row {
    const char *title, *name; /* name: --sort, F6 */
    int width;                /* 0: what is left (the last column), or what the title takes */
    int min_cols;             /* shown when the screen is at least so wide */
    bool by_name;             /* sorts upwards, as text */
    const char *help;
};
extern const struct column_row column_table[COLUMN_COUNT];
bool column_find(const char *name, enum column *c, struct error *e); /* an error names the nearest */
/* "total,self": the first one sorts, the next ones decide among equals. columns has room for COLUMN_COUNT. */
uint32_t columns_hidden_but(
    const char *list); /* bit per column that is not in the list; the function's always is */
void columns_shown(uint32_t hidden, struct buf *list); /* its reverse: "self,total,function" */
bool columns_parse(const char *list, enum column *columns, uint32_t *n, struct error *e);

#endif
