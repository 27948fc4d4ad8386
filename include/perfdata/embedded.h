// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads the symbols that a recording tool stored in a perf.data file: simpleperf (Android) or hiperf
 * (OpenHarmony), whose files are usually analysed on another machine. The tools store the sampled functions.
 * Formats: record_file.h and record_file.proto of simpleperf, SymbolFileStruct in perf_file_format.h of
 * hiperf. */
#ifndef FLAMETOP_PERFDATA_EMBEDDED_H
#define FLAMETOP_PERFDATA_EMBEDDED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct embedded_symbol { /* borrowed from the section; strings are not NUL-terminated */
    const char *path, *name;
    size_t path_n, name_n;
    bool kernel;           /* the path is the kernel's: offsets are addresses */
    uint64_t offset, size; /* in the file; size 0: up to the next symbol */
};
typedef void embedded_symbol_fn(void *ctx, const struct embedded_symbol *symbol);

bool embedded_is(unsigned feature); /* true for a section with symbols (enum format_feature) */
/* Calls fn for each symbol of a section (enum format_feature); fn may be NULL. False: the section is damaged;
 * the symbols before the damage were passed to fn. Leaves out files whose addresses have no offsets (kernel
 * modules). */
bool embedded_read(unsigned feature, const void *bytes, size_t n, bool swap, embedded_symbol_fn *fn,
                   void *ctx);

#endif
