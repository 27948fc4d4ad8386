// SPDX-License-Identifier: GPL-2.0-or-later
/* Texts for addresses without a symbol: "libfoo.so+0x1234", "[truncated: too deep]". */
#ifndef FLAMETOP_SYMBOLS_UNNAMED_H
#define FLAMETOP_SYMBOLS_UNNAMED_H

#include "symbols/symbolizer_state.h"

#define UNNAMED_MAX 65536 /* offsets without a name that are distinguished, per module */

/* Returns the text for an offset of the module. It is made once and lives as long as the module's names. */
const char *unnamed_name(struct symbolizer *sy, struct symbol_module *mod, uint64_t offset);

#endif
