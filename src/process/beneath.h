// SPDX-License-Identifier: GPL-2.0-or-later
/* Opens paths below a folder; no path can lead out of it. */
#ifndef FLAMETOP_PROCESS_BENEATH_H
#define FLAMETOP_PROCESS_BENEATH_H

#include <stdbool.h>

/* Returns an O_PATH descriptor for a path of any file type: it does not block on a FIFO or act on a device.
 * links: follow symbolic links, as if the folder `dir` were the root. -1 with errno. */
int beneath_open(int dir, const char *path, bool links);

#endif
