// SPDX-License-Identifier: GPL-2.0-or-later
/* The columns of the functions table on a screen: which there are, where each begins, how wide it is; and what of a
 * row stands in them. */
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
/* What a column is called now; dst: room for what is not called so always. */
const char *table_columns_title(const struct app *a, const struct table_rows *t, enum column c, char dst[32]);
/* Is there such a column for what is measured and asked for? The screen may be too narrow for it. */
bool table_columns_has(const struct app *a, const struct table_rows *t, enum column c);
/* The column at a cell of the line; false: before the first. */
bool table_columns_at(const struct table_columns *l, int col, enum column *c);
/* Titles into row 0 of the area. */
void table_columns_draw_head(const struct table_columns *l, const struct app *a, const struct table_rows *t,
                             struct area area);
/* Of so few samples a share says little: the row's numbers are dim. */
#define TABLE_FEW_SAMPLES 10
bool table_row_is_few(const struct table_row *r);
/* shift: names begin so many columns to the left. */
void table_columns_draw_row(const struct table_columns *l, const struct app *a, struct table_rows *t,
                            const struct table_row *r, int shift, struct area area, int row);

#endif
