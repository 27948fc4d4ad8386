// SPDX-License-Identifier: GPL-2.0-or-later
/* The stack of a single sample, for views whose rows are samples. */
#ifndef FLAMETOP_UI_SAMPLE_STACK_H
#define FLAMETOP_UI_SAMPLE_STACK_H

#include "session/log_rows.h"
#include "ui/app.h"

/* Shows the stack of a row as a call graph of its moment. Returns app_flags. */
unsigned sample_stack_show(struct app *a, const struct log_row *row);
/* Draws the time of a row in `cols` columns, right-aligned: seconds since the start. */
void sample_time_draw(const struct app *a, const struct log_row *row, struct area area, int y, int cols);

#endif
