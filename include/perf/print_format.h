// SPDX-License-Identifier: GPL-2.0-or-later
/* The "print fmt" of a tracepoint's format, as perf script prints payloads by it: a printf format and its
 * arguments in C. Understood is what the kernel's own events use (trace/events in its include folder); for
 * all else, and for texts that are no format, there is none, and fields are printed by themselves
 * (perf/payload.h). The text may be anything: memory, depth and output are bounded. */
#ifndef FLAMETOP_PERF_PRINT_FORMAT_H
#define FLAMETOP_PERF_PRINT_FORMAT_H

#include "perf/payload.h"

struct print_format;
/* text: what is behind "print fmt:", n bytes. NULL: not understood. fields: borrowed until
 * print_format_free. */
struct print_format *print_format_new(const char *text, size_t n, const struct payload_format *fields);
void print_format_free(struct print_format *p);
/* Adds the payload's text, not cleaned. Fields beyond the payload's end are 0, or empty. */
void print_format_put(const struct print_format *p, const struct payload *payload, struct buf *out);

#endif
