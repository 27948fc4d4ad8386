// SPDX-License-Identifier: GPL-2.0-or-later
/* The action "threads now": the threads of one process at this moment, with their stacks. */
#ifndef FLAMETOP_UI_THREADS_NOW_H
#define FLAMETOP_UI_THREADS_NOW_H

#include "ui/app.h"

/* Asks, then shows the threads of the selected row's process; of the process that is zoomed into or sampled;
 * else of one that the user picks. */
unsigned threads_now(struct app *a);

#endif
