// SPDX-License-Identifier: GPL-2.0-or-later
/* Comparison of the functions table's rows with the baseline (--diff). */
#ifndef FLAMETOP_UI_TABLE_BASELINE_H
#define FLAMETOP_UI_TABLE_BASELINE_H

#include "ui/table_rows.h"

/* Matches the rows with t->baseline by name and sets their changes. Appends the rows that are only in the
 * baseline. */
void table_baseline_compare(struct table_rows *t);

#endif
