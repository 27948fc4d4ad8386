// SPDX-License-Identifier: GPL-2.0-or-later
/* Actions that first open a short menu or a line of input. */
#ifndef FLAMETOP_UI_MENUS_H
#define FLAMETOP_UI_MENUS_H

#include "ui/app.h"

const char *group_title(enum view_group g); /* "comm + symbol" */

unsigned menu_group(struct app *a);
unsigned menu_window(struct app *a);
unsigned menu_latency(struct app *a); /* menu_latency.c */
unsigned menu_stacks(struct app *a);
unsigned menu_export(struct app *a);
unsigned menu_zoom_thread(struct app *a); /* the threads that run the selected function */
unsigned ask_search(struct app *a);
unsigned ask_filter(struct app *a);
unsigned ask_frequency(struct app *a);
unsigned ask_write(struct app *a);

#endif
