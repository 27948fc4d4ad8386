// SPDX-License-Identifier: GPL-2.0-or-later
/* Libraries that few ask for are loaded by name when somebody does: tables of a hundred thousand addresses, as
 * disassemblers have them, are relocated whenever a program starts that is linked with them, and are its memory. A
 * program that is linked statically has them in itself. */
#ifndef FLAMETOP_BASE_LIBRARY_H
#define FLAMETOP_BASE_LIBRARY_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

struct library_symbol {
    const char *name;
    void **at;    /* a pointer to the function is put there */
    void *linked; /* NULL: it is looked for in the library */
};
/* A pointer of the same name in a structure, and the function that it is to point to. */
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

/* soname: as "libcapstone.so.4"; package: that has it in Debian. ERROR_MISSING: it is not installed, or is another than the
 * program was built with. It stays loaded. */
bool library_load(const char *soname, const char *package, const struct library_symbol *symbols, size_t n,
                  struct error *e);

#endif
