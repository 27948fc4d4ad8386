// SPDX-License-Identifier: GPL-2.0-or-later
/* The command line of a program, from a probe at the entry point of the dynamic loader: a new program begins
 * there, in its own thread, with its arguments on the stack. Static programs have no loader, and 32-bit
 * programs have stacks that the probe cannot read: their arguments stay unknown. */
#ifndef FLAMETOP_PERF_PAIR_COMMAND_H
#define FLAMETOP_PERF_PAIR_COMMAND_H

#include "perf/pair_rows.h"

/* Defines the probe at the first call, and sets event to its "system:name". False: e says why there is
 * none. */
bool pair_command_define(char event[PAIR_EVENT_MAX], struct error *e);
/* Finds the fields of its event. False: the format is another one. */
bool pair_command_find(const struct payload_format *format, struct pair_command *out);

#endif
