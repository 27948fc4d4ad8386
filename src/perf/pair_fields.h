// SPDX-License-Identifier: GPL-2.0-or-later
/* Finds the fields that a latency row names in an event of this kernel. event: its name, for messages. */
#ifndef FLAMETOP_PERF_PAIR_FIELDS_H
#define FLAMETOP_PERF_PAIR_FIELDS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "perf/payload.h"

/* False: the event has no such field; e lists its fields. */
bool pair_field_find(const struct payload_format *f, const char *event, const char *name, int32_t *field,
                     struct error *e);
/* The same for a field that must be a number. */
bool pair_field_find_number(const struct payload_format *f, const char *event, const char *name,
                            int32_t *field, struct error *e);

#endif
