// SPDX-License-Identifier: GPL-2.0-or-later
/* Find the Debian package of a file. */
#ifndef FLAMETOP_SYMBOLS_PACKAGE_H
#define FLAMETOP_SYMBOLS_PACKAGE_H

#include <stdbool.h>
#include <stddef.h>

/* Find the package; dir: dpkg's file lists, "/var/lib/dpkg/info". Reads about 10 MB: not for the screen's
 * thread. False: in no package. */
bool package_of_file(const char *dir, const char *path, char *dst, size_t cap);
/* Name the package with its debug symbols. */
void package_of_symbols(const char *package, char *dst, size_t cap);

#endif
