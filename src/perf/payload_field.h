// SPDX-License-Identifier: GPL-2.0-or-later
/* The fields of a tracepoint's payload (perf/payload.h), for the files that print them. */
#ifndef FLAMETOP_PERF_PAYLOAD_FIELD_H
#define FLAMETOP_PERF_PAYLOAD_FIELD_H

#include "perf/payload.h"

#define PAYLOAD_FIELDS_MAX 128

enum payload_kind { PAYLOAD_NUMBER, PAYLOAD_ADDRESS, PAYLOAD_TEXT, PAYLOAD_BYTES };

struct payload_field {
    char name[64];
    uint32_t offset, size, element; /* element: size in bytes of an array element; 0: unknown */
    enum payload_kind kind;
    /* located: the value holds the data's offset, relative to the field or to the payload */
    bool is_signed, located, relative;
    bool is_device; /* a dev_t */
};
struct payload_format {
    struct payload_field fields[PAYLOAD_FIELDS_MAX];
    uint32_t n;
    bool swap;
    struct print_format *print; /* NULL: none, or not supported */
};

#endif
