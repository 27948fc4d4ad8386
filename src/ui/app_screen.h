// SPDX-License-Identifier: GPL-2.0-or-later
/* The whole screen: header, tabs, view or dialog, bottom line; and hit tests for the mouse. */
#ifndef FLAMETOP_UI_APP_SCREEN_H
#define FLAMETOP_UI_APP_SCREEN_H

#include "ui/app.h"

void app_screen_draw(struct app *a);
struct area app_screen_view(const struct app *a); /* Returns where the view is drawn. */

struct app_place {
    enum {
        APP_PLACE_NOTHING,
        APP_PLACE_KEY,
        APP_PLACE_TAB,
        APP_PLACE_VIEW,
        APP_PLACE_STRIP,
        APP_PLACE_DIALOG
    } what;
    int row, col;  /* in the view, the strip, or the dialog's area */
    uint32_t key;  /* of the bottom line at that cell */
    uint32_t view; /* of the tab */
};
void app_screen_find(struct app *a, int y, int x, struct app_place *at);

#endif
