// SPDX-License-Identifier: GPL-2.0-or-later
/* Which Debian package a file came with. */
#ifndef FLAMETOP_SYMBOLS_PACKAGE_H
#define FLAMETOP_SYMBOLS_PACKAGE_H

#include <stdbool.h>
#include <stddef.h>

/* dir: where dpkg lists the packages' files, "/var/lib/dpkg/info". Reads some 10 MB: not for the screen's thread. False:
 * no package has it. */
bool package_of_file(const char *dir, const char *path, char *dst, size_t cap);
/* The package with its debug symbols. */
void package_of_symbols(const char *package, char *dst, size_t cap);

#endif
