// SPDX-License-Identifier: GPL-2.0-or-later
/* Header, line of tabs and bottom line, around each view. */
#ifndef FLAMETOP_UI_BAR_H
#define FLAMETOP_UI_BAR_H

#include "ui/app.h"

int header_rows(const struct app *a, int screen_rows); /* Returns the lines that header_draw needs. */
void header_draw(const struct app *a, struct area area);
void tabs_draw(struct app *a, struct area area);
bool tabs_find(const struct app *a, struct area area, int col, uint32_t *view); /* tab at a column */
void footer_draw(const struct app *a, struct area area); /* Draws the keys, or the message. */
bool footer_find(const struct app *a, struct area area, int col, uint32_t *key); /* key at a column */
/* Draws the keys of menus and pickers. multiple: Space tags. */
void footer_draw_picker(const struct app *a, struct area area, bool multiple);

#endif
