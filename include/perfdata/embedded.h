// SPDX-License-Identifier: GPL-2.0-or-later
/* Symbols that the recording tool put into a perf.data file: those of simpleperf (Android) and hiperf
 * (OpenHarmony), which are read elsewhere than they were recorded. Each keeps the functions that were
 * sampled. Formats: record_file.h and record_file.proto of simpleperf, SymbolFileStruct in perf_file_format.h
 * of hiperf. */
#ifndef FLAMETOP_PERFDATA_EMBEDDED_H
#define FLAMETOP_PERFDATA_EMBEDDED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct embedded_symbol { /* borrowed from the section; texts are not ended by a NUL */
    const char *path, *name;
    size_t path_n, name_n;
    bool kernel;           /* the path is the kernel's: offsets are addresses */
    uint64_t offset, size; /* in the file; size 0: up to the next one */
};
typedef void embedded_symbol_fn(void *ctx, const struct embedded_symbol *symbol);

bool embedded_is(unsigned feature); /* a section with symbols (enum format_feature) */
/* The symbols of a section (enum format_feature); fn may be NULL. False: it is damaged, and what was read
 * until then is told. Files whose addresses cannot be turned into offsets (kernel modules) are left out. */
bool embedded_read(unsigned feature, const void *bytes, size_t n, bool swap, embedded_symbol_fn *fn,
                   void *ctx);

#endif
