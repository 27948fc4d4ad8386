// SPDX-License-Identifier: GPL-2.0-or-later
/* Conditions of a latency row's event, which its fields must meet:
 *
 *   EVENT[FIELD=VALUE|VALUE,FIELD!=VALUE;FIELD=VALUE]
 *
 * All conditions must be met, each by one of its values. VALUE: a number, or its name in the "print fmt" of
 * the event (TCP_CLOSE). Behind the semicolon, of the end only: the event ends the operation anyway, which
 * counts only if these are met, too. */
#ifndef FLAMETOP_PERF_PAIR_CONDITIONS_H
#define FLAMETOP_PERF_PAIR_CONDITIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "perf/payload.h"

#define PAIR_CONDITIONS_MAX 4
#define PAIR_VALUES_MAX     4  /* of a condition */
#define PAIR_VALUE_MAX      32 /* bytes of a value, with its NUL */
#define PAIR_FIELD_MAX      64 /* bytes of a field's name, with its NUL */

struct pair_condition {
    char field[PAIR_FIELD_MAX];
    char values[PAIR_VALUES_MAX][PAIR_VALUE_MAX];
    uint32_t n_values;
    bool differs; /* FIELD!=VALUE: from all of the values */
    bool counts;  /* behind the semicolon */
};
/* The conditions of an event. */
struct pair_conditions {
    struct pair_condition items[PAIR_CONDITIONS_MAX];
    uint32_t n;
};
/* The same for this kernel's event: indices of fields, and numbers of values. */
struct pair_checks {
    struct {
        int32_t field;
        uint64_t values[PAIR_VALUES_MAX];
        uint32_t n_values;
        bool differs, counts;
    } items[PAIR_CONDITIONS_MAX];
    uint32_t n;
};

/* Reads the n bytes between the brackets. False: e says what is wrong. */
bool pair_conditions_parse(const char *text, size_t n, struct pair_conditions *out, struct error *e);
/* False: the event lacks a field, or a value is no number and not among the names of the field's values; e
 * says which. event: its name, for messages. */
bool pair_conditions_find(const struct pair_conditions *c, const struct payload_format *format,
                          const char *event, struct pair_checks *out, struct error *e);
/* The kernel's filter for events that meet the conditions before the semicolon; "": all events, as there are
 * none, or they do not fit. */
void pair_checks_filter(const struct pair_checks *c, const struct payload_format *format, char *filter,
                        size_t cap);
/* True if the payload meets the conditions before the semicolon (counts: those behind it). */
bool pair_checks_pass(const struct pair_checks *c, const struct payload *p, bool counts);

#endif
