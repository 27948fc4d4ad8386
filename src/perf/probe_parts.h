// SPDX-License-Identifier: GPL-2.0-or-later
/* Parts of probes, for probe*.c only. */
#ifndef FLAMETOP_PERF_PROBE_PARTS_H
#define FLAMETOP_PERF_PROBE_PARTS_H

#include "perf/probe.h"

/* probe_arguments.c: adds " name=%di:u64 ..." in the syntax of uprobe_events. */
bool probe_put_arguments(const struct probe_spec *spec, const struct probe_place *place, struct buf *out,
                         struct error *e);
/* The same for a marker, whose places have the same types. Arguments that uprobes cannot read are left
 * out. */
void probe_put_marker_arguments(const struct probe_places *places, size_t place, struct buf *out);

/* probe_files.c: writes a line to uprobe_events. False with errno in e->sys; e has the kernel's reason. */
bool probe_write(const char *line, struct error *e);
/* The group of the probes of this process: "flametop_PID_START". */
void probe_own_group(char *dst, size_t cap);

/* probe_signals.c: let signals that end the program wait for probe_release_signals. */
void probe_hold_signals(void);

#endif
