// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/library.h"

#include <dlfcn.h>

static void *find(void *lib, const struct library_symbol *s)
{
    return s->linked ? s->linked : lib ? dlsym(lib, s->name) : NULL;
}

/* With capstone and libpfm4 linked, each start of the program and of its worker took 3 ms and 5 MB more,
 * for 120,000 relocations. */
bool library_load(const char *soname, const char *package, const struct library_symbol *symbols, size_t n,
                  struct error *e)
{
    void *lib = symbols[0].linked ? NULL : dlopen(soname, RTLD_NOW | RTLD_LOCAL);
    if (!lib && !symbols[0].linked)
        return error_set(e, ERROR_MISSING, "%s cannot be loaded: install it (Debian: %s)", soname, package);
    for (size_t i = 0; i < n; i++) {
        *symbols[i].at = find(lib, &symbols[i]);
        if (!*symbols[i].at)
            return error_set(e, ERROR_MISSING,
                             "%s is another version than this program was built with: it has no %s", soname,
                             symbols[i].name);
    }
    return true;
}
