// SPDX-License-Identifier: GPL-2.0-or-later
/* The progress line and ^C while a recording is opened. */
#ifndef FLAMETOP_WAITING_H
#define FLAMETOP_WAITING_H

#include "perfdata/spool.h"

/* Call these before and after a recording is opened. If reading takes long, ^C then stops the reading instead
 * of the program, and what was read is used. */
const struct spool_wait *waiting_begin(void);
void waiting_end(void);

#endif
