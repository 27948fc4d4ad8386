// SPDX-License-Identifier: GPL-2.0-or-later
/* The "print fmt" of a tracepoint format, to print payloads as perf script does: a printf format and its
 * arguments in C. Supports what the kernel's own events use (include/trace/events). For others, and for
 * invalid texts, there is no print_format, and fields are printed one by one (perf/payload.h). The text is
 * untrusted: memory, depth and output are bounded. */
#ifndef FLAMETOP_PERF_PRINT_FORMAT_H
#define FLAMETOP_PERF_PRINT_FORMAT_H

#include "perf/payload.h"

struct print_format;
/* Parse `text`, the n bytes behind "print fmt:". NULL: not supported. fields: borrowed until
 * print_format_free. */
struct print_format *print_format_new(const char *text, size_t n, const struct payload_format *fields);
void print_format_free(struct print_format *p);
/* Append the payload's text, not cleaned: payload_print cleans it. Fields beyond the payload's end are 0 or
 * empty. */
void print_format_put(const struct print_format *p, const struct payload *payload, struct buf *out);
/* The number that the field's __print_symbolic prints as `name`. False: there is none, and the names of the
 * field's numbers are appended to `names`, separated by commas. p may be NULL. */
bool print_format_symbol(const struct print_format *p, int32_t field, const char *name, uint64_t *number,
                         struct buf *names);
/* The same, only the part that prints a field: "S" of "prev_state=S ==> ...". False: nothing in the format
 * prints this field alone. */
bool print_format_put_field(const struct print_format *p, const struct payload *payload, int32_t field,
                            struct buf *out);

#endif
