// SPDX-License-Identifier: GPL-2.0-or-later
/* What functions without a linkage name are called: lambdas, and what only their own unit sees (local classes,
 * unnamed namespaces, templates made with these). For the worker. */
#ifndef FLAMETOP_SYMBOLS_SCOPES_H
#define FLAMETOP_SYMBOLS_SCOPES_H

#include <stdint.h>

#include "base/map.h"
#include "base/mem.h"
#include "symbols/debuginfo.h"

#define SCOPES_NAME_MAX 4096 /* bytes, with the 0; what is longer is called without its scopes */

struct scopes {        /* of a file and those it refers to. Zero-initialised is empty */
    struct map units;  /* those that were walked */
    struct map around; /* function → the scope that holds it (const char *) */
    struct map names;  /* function → its whole name (const char *) */
    struct arena text;
};

/* The linkage name of a function or an inlined one; else its name with the scopes around it, as demangled names
 * have them ("app::Pool::run::{lambda#1}::operator()"); NULL: none. Valid until scopes_done and while the files are open.
 * A unit that takes longer than the deadline is told as far as it was read. */
const char *scopes_name(struct scopes *s, const struct debuginfo_entry *entry, uint64_t deadline_ns);
void scopes_done(struct scopes *s);

#endif
