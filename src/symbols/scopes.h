// SPDX-License-Identifier: GPL-2.0-or-later
/* Name functions that have no linkage name. For the worker.
 * Such are lambdas, and functions visible only in their own unit (local classes, unnamed namespaces,
 * templates instantiated with these). */
#ifndef FLAMETOP_SYMBOLS_SCOPES_H
#define FLAMETOP_SYMBOLS_SCOPES_H

#include <stdint.h>

#include "base/map.h"
#include "base/mem.h"
#include "symbols/debuginfo.h"

/* Bytes, with the NUL. Longer names are given without their scopes. */
#define SCOPES_NAME_MAX 4096

/* Scopes of a file and of the files it refers to. Zero-initialised is empty. */
struct scopes {
    struct map units;  /* units already read */
    struct map around; /* function → its enclosing scope (const char *) */
    struct map names;  /* function → its whole name (const char *) */
    struct arena text;
};

/* Return the linkage name of a function or inlined call; else its name with the scopes around it, as
 * demangled names have them ("app::Pool::run::{lambda#1}::operator()"); NULL: none. Valid until scopes_done
 * and while the files are open. A unit that exceeds the deadline is used as far as it was read. */
const char *scopes_name(struct scopes *s, const struct debuginfo_entry *entry, uint64_t deadline_ns);
void scopes_done(struct scopes *s);

#endif
