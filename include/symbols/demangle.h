// SPDX-License-Identifier: GPL-2.0-or-later
/* Linker names to what was written in the source: C++, Rust (both manglings) and D. */
#ifndef FLAMETOP_SYMBOLS_DEMANGLE_H
#define FLAMETOP_SYMBOLS_DEMANGLE_H

#include <stdbool.h>
#include <stddef.h>

#define DEMANGLE_INPUT_MAX  8192
#define DEMANGLE_OUTPUT_MAX 1024 /* with the NUL; longer ones are cut */

enum demangle_language { DEMANGLE_NONE, DEMANGLE_CXX, DEMANGLE_RUST, DEMANGLE_D };

/* What the shape of a name says; cheap, reads the name only. */
enum demangle_language demangle_language(const char *name);
/* Demangles and cleans. False: not mangled, or this build has no demangler. The demangler may crash or run for
 * long on hostile names: worker only. */
bool demangle_name(const char *name, char *dst, size_t cap);

#endif
