// SPDX-License-Identifier: GPL-2.0-or-later
/* The order of the functions table: rows that look the same keep their positions across builds. */
#ifndef FLAMETOP_UI_TABLE_ORDER_H
#define FLAMETOP_UI_TABLE_ORDER_H

#include "ui/table_rows.h"

/* Starts a build: the present rows become the previous ones. */
void table_order_next(struct table_rows *t);
/* Finds the previous position of a row of t->made. */
void table_order_find(struct table_rows *t, struct table_row *r);
/* Puts the built rows into t->rows. */
void table_order_put(struct table_rows *t);

#endif
