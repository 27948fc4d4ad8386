// SPDX-License-Identifier: GPL-2.0-or-later
/* What surrounds a view: the header above it, the line of tabs, the bottom line. */
#ifndef FLAMETOP_UI_BAR_H
#define FLAMETOP_UI_BAR_H

#include "ui/app.h"

int header_rows(const struct app *a, int screen_rows); /* lines that header_draw wants */
void header_draw(const struct app *a, struct area area);
void tabs_draw(struct app *a, struct area area);
bool tabs_find(const struct app *a, struct area area, int col, uint32_t *view);  /* the tab at a column */
void footer_draw(const struct app *a, struct area area);                         /* keys, or the message */
bool footer_find(const struct app *a, struct area area, int col, uint32_t *key); /* the key at a column */
/* Keys of menus and pickers; multiple: several may be tagged. */
void footer_draw_picker(const struct app *a, struct area area, bool multiple);

#endif
