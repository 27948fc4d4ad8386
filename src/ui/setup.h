// SPDX-License-Identifier: GPL-2.0-or-later
/* Saving of what the setup dialog changes. */
#ifndef FLAMETOP_UI_SETUP_H
#define FLAMETOP_UI_SETUP_H

#include "ui/app.h"

/* Writes [options] to the config file, and shows a message either way. */
unsigned setup_save(struct app *a);

#endif
