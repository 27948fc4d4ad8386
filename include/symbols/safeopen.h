// SPDX-License-Identifier: GPL-2.0-or-later
/* Files and folders of a process that should not be trusted, to talk to it. What is to be read is opened by
 * process/opener.h. */
#ifndef FLAMETOP_SYMBOLS_SAFEOPEN_H
#define FLAMETOP_SYMBOLS_SAFEOPEN_H

#include <stdbool.h>
#include <sys/stat.h>

/* The file itself, whatever kind it is, for fstat and /proc/self/fd only (O_PATH); no link is followed. -1 with errno. */
int safeopen_handle(const char *root, const char *path, struct stat *st);
/* A folder below root, to create and remove files in; no link is followed. -1 with errno. */
int safeopen_folder(const char *root, const char *path);

#endif
