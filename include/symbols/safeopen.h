// SPDX-License-Identifier: GPL-2.0-or-later
/* Opening files whose names or folders a process may have chosen that we should not trust. */
#ifndef FLAMETOP_SYMBOLS_SAFEOPEN_H
#define FLAMETOP_SYMBOLS_SAFEOPEN_H

#include <stdbool.h>
#include <sys/stat.h>

/* Opens a regular file for reading below the folder `root`, out of which nothing leads. links: symbolic links
 * are followed (within root). Never blocks on a FIFO and has no side effect on a device: what is not regular is
 * not opened. -1 with errno. st may be NULL. */
int safeopen_regular(const char *root, const char *path, bool links, struct stat *st);
/* The file itself, whatever kind it is, for fstat and /proc/self/fd only (O_PATH); no link is followed. -1 with errno. */
int safeopen_handle(const char *root, const char *path, struct stat *st);
/* A folder below root, to create and remove files in; no link is followed. -1 with errno. */
int safeopen_folder(const char *root, const char *path);

#endif
