// SPDX-License-Identifier: GPL-2.0-or-later
/* Words of latency rows, and the fields of a kernel's event that they name. event: its name, for messages. */
#ifndef FLAMETOP_PERF_PAIR_FIELDS_H
#define FLAMETOP_PERF_PAIR_FIELDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "perf/payload.h"

/* True for n > 0 letters, digits, _ and -. */
bool pair_word_is(const char *text, size_t n);
/* Copies such a word of less than cap bytes to dst. False: it is none, and dst is unchanged. */
bool pair_word_set(char *dst, size_t cap, const char *text, size_t n);
/* False: the event has no such field; e lists its fields. */
bool pair_field_find(const struct payload_format *f, const char *event, const char *name, int32_t *field,
                     struct error *e);
/* The same for a field that must be a number. */
bool pair_field_find_number(const struct payload_format *f, const char *event, const char *name,
                            int32_t *field, struct error *e);

#endif
