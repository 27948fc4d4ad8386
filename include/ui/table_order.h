// SPDX-License-Identifier: GPL-2.0-or-later
/* The order of the functions table: rows that read the same keep their places from one build to the next. */
#ifndef FLAMETOP_UI_TABLE_ORDER_H
#define FLAMETOP_UI_TABLE_ORDER_H

#include "ui/table_rows.h"

/* The rows become those of before; none is made yet. */
void table_order_next(struct table_rows *t);
/* Finds where a row of t->made stood before. */
void table_order_find(struct table_rows *t, struct table_row *r);
/* Puts what was made into rows. */
void table_order_put(struct table_rows *t);

#endif
