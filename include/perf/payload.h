// SPDX-License-Identifier: GPL-2.0-or-later
/* Payloads of tracepoints by a format that nobody vouches for (one in a file): field by field, as "name=value". What
 * this machine's kernel says itself is printed by perf/tracepoint.h, with the kernel's own words between. */
#ifndef FLAMETOP_PERF_PAYLOAD_H
#define FLAMETOP_PERF_PAYLOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

struct payload_format;
/* text: as in tracefs ("\tfield:char comm[16];\toffset:8;\tsize:16;\tsigned:0;"), n bytes. Lines that say nothing are left
 * out; never NULL. */
struct payload_format *payload_format_new(const char *text, size_t n, bool swap);
void payload_format_free(struct payload_format *f);
/* Adds the fields that the payload is long enough for, cleaned, with a blank between. */
void payload_print(const struct payload_format *f, const void *raw, uint32_t size, struct buf *out);

#endif
