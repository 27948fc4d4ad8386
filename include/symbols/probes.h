// SPDX-License-Identifier: GPL-2.0-or-later
/* Find the locations that definitions of probes mean (perf/probe.h), through the symbol worker. */
#ifndef FLAMETOP_SYMBOLS_PROBES_H
#define FLAMETOP_SYMBOLS_PROBES_H

#include "perf/probe.h"

/* A probe_find_fn. It searches for files, and may take a second. */
bool probes_find(const struct probe_spec *spec, struct probe_places *out, struct error *e);
/* Visit the markers (USDT probes) that match a glob of "PROVIDER:NAME", of one file (as in a definition), or
 * of all files that the processes of `pids` have mapped (file NULL). definition: "sdt:FILE:PROVIDER:NAME";
 * arguments as the note has them. False: there are none, or a file is unreadable. */
typedef void probes_marker_fn(void *ctx, const char *definition, const char *arguments);
bool probes_each_marker(const char *file, const pid_t *pids, size_t n_pids, const char *glob,
                        probes_marker_fn *each, void *ctx, struct error *e);

#endif
