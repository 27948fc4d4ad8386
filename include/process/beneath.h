// SPDX-License-Identifier: GPL-2.0-or-later
/* Paths below a folder, out of which nothing leads. */
#ifndef FLAMETOP_PROCESS_BENEATH_H
#define FLAMETOP_PROCESS_BENEATH_H

#include <stdbool.h>

/* An O_PATH descriptor of what is there, whatever kind it is: it waits for no FIFO and acts on no device.
 * links: symbolic links are followed, as if the folder `dir` were the root. -1 with errno. */
int beneath_open(int dir, const char *path, bool links);

#endif
