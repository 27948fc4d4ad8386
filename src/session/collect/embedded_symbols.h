// SPDX-License-Identifier: GPL-2.0-or-later
/* Symbols that the recording tool put into the file (perfdata/embedded.h), as supplied symbols. */
#ifndef FLAMETOP_SESSION_COLLECT_EMBEDDED_SYMBOLS_H
#define FLAMETOP_SESSION_COLLECT_EMBEDDED_SYMBOLS_H

#include "perfdata/reader.h"
#include "symbols/supplied.h"

/* NULL: none. Free with supplied_free. */
struct supplied_symbols *embedded_symbols(const struct perfdata *p);

#endif
