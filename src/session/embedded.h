// SPDX-License-Identifier: GPL-2.0-or-later
/* Symbols that the recording tool put into the file (perfdata/embedded.h), as supplied symbols. */
#ifndef FLAMETOP_SESSION_EMBEDDED_H
#define FLAMETOP_SESSION_EMBEDDED_H

#include "perfdata/reader.h"
#include "symbols/given.h"

/* NULL: none. Free with given_free. */
struct given *embedded_symbols(const struct perfdata *p);

#endif
