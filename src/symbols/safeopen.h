// SPDX-License-Identifier: GPL-2.0-or-later
/* Open files and folders of an untrusted process, to communicate with it. Files to read are opened by
 * process/opener.h. */
#ifndef FLAMETOP_SYMBOLS_SAFEOPEN_H
#define FLAMETOP_SYMBOLS_SAFEOPEN_H

#include <stdbool.h>
#include <sys/stat.h>

/* Open a handle to a file of any kind, for fstat and /proc/self/fd only (O_PATH). Links are not followed. -1
 * with errno. */
int safeopen_handle(const char *root, const char *path, struct stat *st);
/* Open a folder below root, to create and remove files in it. Links are not followed. -1 with errno. */
int safeopen_folder(const char *root, const char *path);

#endif
