// SPDX-License-Identifier: GPL-2.0-or-later
/* Variables for probes, in debug information. For the worker. */
#ifndef FLAMETOP_SYMBOLS_PROBEVARIABLES_H
#define FLAMETOP_SYMBOLS_PROBEVARIABLES_H

#include "symbols/debuginfo.h"
#include "symbols/probeformat.h"

/* "s32", "u8", "x64" (a pointer), "text" (an array of characters); "": the kernel cannot read it as a
 * value. */
void probevariables_type(const struct debuginfo_value *v, char dst[8]);
/* Add "name:PLACE:type" to dst for each of the names (separated by blanks) that exists when the code at the
 * address runs. PLACE: "%di", "-20(%bp)", "@+16400" (from the start of the file's code), or "" if it is not
 * in one place. offset: of the code in the file. */
void probevariables_describe(const struct debuginfo *d, const struct elffile *code, const char *names,
                             uint64_t address, uint64_t offset, char dst[PROBEFILE_DETAILS_MAX]);

#endif
