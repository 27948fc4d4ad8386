// SPDX-License-Identifier: GPL-2.0-or-later
/* Payloads of tracepoints by a format that may be anything (one in a file): as the format's "print fmt"
 * says (perf/print_format.h), or field by field, as "name=value". What this machine's kernel says itself
 * is printed by perf/tracepoint.h. */
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
struct payload {
    const struct payload_format *format;
    const void *raw;
    uint32_t size;
    const char *(*name)(void *ctx, uint64_t address,
                        uint64_t *start); /* as tracepoint_name_fn; NULL: addresses have no names */
    void *ctx;
};
/* Adds the payload's text, cleaned. */
void payload_print(const struct payload *p, struct buf *out);

/* For perf/print_format.h: a field by its name, -1: there is none. */
int32_t payload_field_find(const struct payload_format *f, const char *name);
/* Not extended by its sign, as in libtraceevent; 0: beyond the payload, or no number. */
uint64_t payload_number(const struct payload *p, int32_t field);
uint64_t payload_number_at(const struct payload *p, const uint8_t *bytes,
                           uint32_t size); /* 1, 2, 4 or 8, which are there */
bool payload_is_number(const struct payload_format *f, int32_t field);
uint64_t payload_element(const struct payload *p, int32_t field,
                         uint64_t index); /* of an array; 0: there is none */
/* The bytes of an array; false: it is a number, or the array is not all in the payload. */
bool payload_bytes(const struct payload *p, int32_t field, const uint8_t **bytes, uint32_t *n);

#endif
