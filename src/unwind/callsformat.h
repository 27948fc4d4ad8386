// SPDX-License-Identifier: GPL-2.0-or-later
/* Constants and sizes of the call table's format, shared by its reader and its builder. */
#ifndef FLAMETOP_UNWIND_CALLSFORMAT_H
#define FLAMETOP_UNWIND_CALLSFORMAT_H

#include "unwind/calls.h"

#define CALLS_MAGIC    0x4c435446u /* FTCL */
#define CALLS_VERSION  1
#define CALLS_ANYWHERE UINT32_MAX /* target of an indirect call, or of one out of the module */

static inline uint64_t calls_size(const struct calls_header *h)
{
    return sizeof *h + ((uint64_t)h->n_calls * 2 + h->n_functions + (uint64_t)h->n_jumps * 2) * 4;
}

#endif
