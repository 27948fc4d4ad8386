// SPDX-License-Identifier: GPL-2.0-or-later
/* Rows of the functions table beside those that they are compared with (--diff). */
#ifndef FLAMETOP_UI_TABLE_BEFORE_H
#define FLAMETOP_UI_TABLE_BEFORE_H

#include "ui/table_rows.h"

/* The rows as they were made, by their names: how much more they are than in t->before, and behind them those that were
 * there before only. */
void table_before_compare(struct table_rows *t);

#endif
