// SPDX-License-Identifier: GPL-2.0-or-later
#ifndef FLAMETOP_WAITING_H
#define FLAMETOP_WAITING_H

#include "perfdata/spool.h"

/* Around opening a recording. Once that takes long, ^C ends it with what has come, and not the program. */
const struct spool_wait *waiting_begin(void);
void waiting_end(void);

#endif
