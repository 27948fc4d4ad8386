// SPDX-License-Identifier: GPL-2.0-or-later
#include "symbols/demangle.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"

#ifdef HAVE_LIBIBERTY
/* libiberty's own header declares a basename() that clashes with the system's; this one suffices. */
#include <libiberty/demangle.h>

/* Demangle without parameters, as perf does: they would fill a terminal's line.
 * The recursion limit is off: it refuses C++ names of more than 1024 bytes whatever their depth, which deep
 * templates have, and a crash costs only the worker. Rust keeps its limit, which is one of depth: a name of
 * eight bytes that refers to itself (_RNvB1_0) would never end. */
static char *demangle(const char *name)
{
    int style = demangle_language(name) == DEMANGLE_D ? DMGL_DLANG : DMGL_AUTO;
    int limit = name[1] == 'R' ? 0 : DMGL_NO_RECURSE_LIMIT;

    return cplus_demangle(name, limit | style);
}
#else
static char *demangle(const char *name)
{
    (void)name;
    return NULL;
}
#endif

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Legacy Rust mangling looks like C++ except for its last part, a hash: 17h<16 hex digits>E. */
static bool has_rust_hash(const char *name)
{
    const char *p = name;

    while ((p = strstr(p, "17h"))) {
        p += 3;
        if (strspn(p, "0123456789abcdef") == 16 && p[16] == 'E')
            return true;
    }
    return false;
}

enum demangle_language demangle_language(const char *name)
{
    if (name[0] != '_')
        return DEMANGLE_NONE;
    if (name[1] == 'R' && (is_digit(name[2]) || (name[2] >= 'A' && name[2] <= 'Z')))
        return DEMANGLE_RUST;
    if (name[1] == 'Z' || !strncmp(name, "_GLOBAL__", 9))
        return has_rust_hash(name) ? DEMANGLE_RUST : DEMANGLE_CXX;
    if (name[1] == 'D' && (is_digit(name[2]) || !strcmp(name, "_Dmain")))
        return DEMANGLE_D;
    return DEMANGLE_NONE;
}

bool demangle_name(const char *name, char *dst, size_t cap)
{
    size_t n = strcspn(name, "@"), room = cap < DEMANGLE_OUTPUT_MAX ? cap : DEMANGLE_OUTPUT_MAX, used;
    char bare[DEMANGLE_INPUT_MAX + 1];
    char *text;

    if (demangle_language(name) == DEMANGLE_NONE || n > DEMANGLE_INPUT_MAX)
        return false;
    memcpy(bare, name, n); /* without @plt or @VERSION */
    bare[n] = '\0';
    text = demangle(bare);
    if (!text)
        return false;
    used = text_clean(dst, room, text, strlen(text));
    free(text);
    if (used && name[n])
        text_clean(dst + used, room - used, name + n, strlen(name + n));
    return used != 0;
}
