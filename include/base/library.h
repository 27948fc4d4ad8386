// SPDX-License-Identifier: GPL-2.0-or-later
/* Loads rarely needed libraries by name on first use. In a static build they are part of the program. */
#ifndef FLAMETOP_BASE_LIBRARY_H
#define FLAMETOP_BASE_LIBRARY_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

struct library_symbol {
    const char *name;
    void **at;    /* receives the function's address */
    void *linked; /* NULL: found in the library by name */
};
/* Initialises an entry for the pointer in structure `pointers` that has the function's name. */
#ifdef FLAMETOP_STATIC
#define LIBRARY_SYMBOL(pointers, function)                                                                   \
    {                                                                                                        \
#function, (void **)&(pointers).function, (void *)function                                           \
    }
#else
#define LIBRARY_SYMBOL(pointers, function)                                                                   \
    {                                                                                                        \
#function, (void **)&(pointers).function, NULL                                                       \
    }
#endif

/* Loads the library for good. soname: such as "libcapstone.so.4"; package: its package in Debian.
 * ERROR_MISSING: not installed, or another version than the program was built with. */
bool library_load(const char *soname, const char *package, const struct library_symbol *symbols, size_t n,
                  struct error *e);

#endif
