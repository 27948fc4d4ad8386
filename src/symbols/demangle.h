// SPDX-License-Identifier: GPL-2.0-or-later
/* Demangle linker names to source names: C++, Rust (both manglings) and D. */
#ifndef FLAMETOP_SYMBOLS_DEMANGLE_H
#define FLAMETOP_SYMBOLS_DEMANGLE_H

#include <stdbool.h>
#include <stddef.h>

#define DEMANGLE_INPUT_MAX  8192
#define DEMANGLE_OUTPUT_MAX 1024 /* with the NUL; longer ones are truncated */

enum demangle_language { DEMANGLE_NONE, DEMANGLE_CXX, DEMANGLE_RUST, DEMANGLE_D };

/* Return the language that the name's form suggests. Cheap, reads only the name. */
enum demangle_language demangle_language(const char *name);
/* Demangle and clean a name. False: not mangled, or this build has no demangler. The demangler may crash or
 * run for long on hostile names: worker only. */
bool demangle_name(const char *name, char *dst, size_t cap);

#endif
