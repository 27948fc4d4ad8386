// SPDX-License-Identifier: GPL-2.0-or-later
/* What holds at an address, as an entry of a table. For the worker. */
#ifndef FLAMETOP_UNWIND_CFIROW_H
#define FLAMETOP_UNWIND_CFIROW_H

#include "unwind/cfirun.h"
#include "unwind/rowbuild.h"

/* signal: the CIE says that this is a signal frame. What an entry cannot say becomes general rules in the builder;
 * what they cannot say either is of kind NONE. */
void cfi_row(struct rowbuild *b, const struct unwind_abi *abi, bool signal, const struct cfi_state *state,
             struct unwind_entry *out);

#endif
