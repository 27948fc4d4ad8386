// SPDX-License-Identifier: GPL-2.0-or-later
/* Layout of the functions table: its columns, their positions and widths, and the text of their cells. */
#ifndef FLAMETOP_UI_TABLE_COLUMNS_H
#define FLAMETOP_UI_TABLE_COLUMNS_H

#include "ui/app.h"
#include "ui/columns.h"
#include "ui/table_rows.h"

struct table_columns {
    enum column columns[COLUMN_COUNT];
    int at[COLUMN_COUNT], width[COLUMN_COUNT];
    int n;
};
void table_columns_lay_out(struct table_columns *l, const struct app *a, const struct table_rows *t,
                           int cols);
/* Returns a column's present title. dst: buffer for titles that vary. */
const char *table_columns_title(const struct app *a, const struct table_rows *t, enum column c, char dst[32]);
/* Returns whether the event and the query have such a column. The screen may still be too narrow for it. */
bool table_columns_has(const struct app *a, const struct table_rows *t, enum column c);
/* Finds the column at a cell of the line. Returns false before the first. */
bool table_columns_at(const struct table_columns *l, int col, enum column *c);
/* Draws the titles into row 0 of the area. */
void table_columns_draw_head(const struct table_columns *l, const struct app *a, const struct table_rows *t,
                             struct area area);
/* Rows with fewer samples have dim numbers: their shares are unreliable. */
#define TABLE_FEW_SAMPLES 10
bool table_row_is_few(const struct table_row *r);
/* shift: columns by which names are scrolled to the left. */
void table_columns_draw_row(const struct table_columns *l, const struct app *a, struct table_rows *t,
                            const struct table_row *r, int shift, struct area area, int row);

#endif
