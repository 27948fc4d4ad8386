// SPDX-License-Identifier: GPL-2.0-or-later
/* What setup changes, kept beyond the end of the program. */
#ifndef FLAMETOP_UI_SETUP_H
#define FLAMETOP_UI_SETUP_H

#include "ui/app.h"

/* Writes them as [options] into the config file; says so, or why not. */
unsigned setup_save(struct app *a);

#endif
