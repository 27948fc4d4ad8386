// SPDX-License-Identifier: GPL-2.0-or-later
/* Converts a call-frame state to an entry of an unwind table. For the worker. */
#ifndef FLAMETOP_UNWIND_CFIROW_H
#define FLAMETOP_UNWIND_CFIROW_H

#include "unwind/cfirun.h"
#include "unwind/rowbuild.h"

/* Fills `out`. `signal`: the CIE marks a signal frame. A state that does not fit in an entry becomes
 * general rules in the builder, or kind NONE if those cannot express it either. */
void cfi_row(struct rowbuild *b, const struct unwind_abi *abi, bool signal, const struct cfi_state *state,
             struct unwind_entry *out);

#endif
