// SPDX-License-Identifier: GPL-2.0-or-later
/* Print tracepoint payloads by any format (one from a file): by the format's "print fmt"
 * (perf/print_format.h), or field by field as "name=value". Formats of the running kernel are printed by
 * perf/tracepoint.h. */
#ifndef FLAMETOP_PERF_PAYLOAD_H
#define FLAMETOP_PERF_PAYLOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

struct payload_format;
/* Parse a format. text: as in tracefs ("\tfield:char comm[16];\toffset:8;\tsize:16;\tsigned:0;"), n bytes.
 * Invalid lines are ignored; never NULL. */
struct payload_format *payload_format_new(const char *text, size_t n, bool swap);
void payload_format_free(struct payload_format *f);
struct payload {
    const struct payload_format *format;
    const void *raw;
    uint32_t size;
    const char *(*name)(void *ctx, uint64_t address,
                        uint64_t *start); /* see tracepoint_name_fn; NULL: addresses have no names */
    void *ctx;
};
/* Append the payload's text, cleaned. */
void payload_print(const struct payload *p, struct buf *out);

/* A field's value: PAYLOAD_VALUE_NUMBER sets *number (sign-extended) and *is_negative; PAYLOAD_VALUE_TEXT
 * appends it to `text`, cleaned, bytes as hexadecimal digits. */
enum payload_value { PAYLOAD_VALUE_NONE, PAYLOAD_VALUE_NUMBER, PAYLOAD_VALUE_TEXT };
enum payload_value payload_value(const struct payload *p, int32_t field, uint64_t *number, bool *is_negative,
                                 struct buf *text);
/* Append a field as payload_print shows it, cleaned and without blanks around it: "S" of "prev_state=S",
 * "8,0" of a device. Fields that it does not print alone: as payload_value, numbers in digits. False: the
 * payload is too short for the field. */
bool payload_put_field(const struct payload *p, int32_t field, struct buf *out);
/* Name of a field; NULL: `field` is not below the number of fields. */
const char *payload_field_name(const struct payload_format *f, int32_t field);

/* For perf/print_format.h: index of a field by name, -1: none. */
int32_t payload_field_find(const struct payload_format *f, const char *name);
/* The same, -1 also for a field that payload_is_readable rejects. */
int32_t payload_number_find(const struct payload_format *f, const char *name);
/* A field's value, not sign-extended, as in libtraceevent. 0: beyond the payload, or not a number. */
uint64_t payload_number(const struct payload *p, int32_t field);
uint64_t payload_number_at(const struct payload *p, const uint8_t *bytes,
                           uint32_t size); /* size: 1, 2, 4 or 8, all within the payload */
bool payload_is_number(const struct payload_format *f, int32_t field);
bool payload_is_address(const struct payload_format *f, int32_t field);  /* a pointer */
bool payload_is_device(const struct payload_format *f, int32_t field);   /* a dev_t */
bool payload_is_readable(const struct payload_format *f, int32_t field); /* a number of a usual size */
bool payload_has(const struct payload *p, int32_t field); /* the payload is long enough for the field */
uint64_t payload_element(const struct payload *p, int32_t field,
                         uint64_t index); /* of an array; 0: out of range */
/* The bytes of an array. False: the field is a number, or the array is not entirely in the payload. */
bool payload_bytes(const struct payload *p, int32_t field, const uint8_t **bytes, uint32_t *n);

#endif
