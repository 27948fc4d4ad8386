// SPDX-License-Identifier: GPL-2.0-or-later
/* Parse the terms between the slashes of an event: "event=0x3c,umask=1,name='my event',period=1000". */
#ifndef FLAMETOP_PERF_TERMS_H
#define FLAMETOP_PERF_TERMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/* Terms other than the config. */
struct event_terms {
    char name[96];            /* name=; "": none */
    uint64_t period, freq_hz; /* 0: none */
    double scale;             /* multiplier of counts, of an event that the PMU names; 0: none */
    char unit[16];
};

struct term {
    char *name, *value;  /* value NULL: a bare word; quotes are removed */
    size_t at, value_at; /* offsets in the text */
};
/* Call back for each term, which is a copy. False when a callback returns false; its error points into
 * `text`. */
bool terms_each(const char *text, bool (*fn)(void *ctx, const struct term *t, struct error *e), void *ctx,
                struct error *e);
/* Parse a term common to all events: name=, period=, freq=. Refuses terms of perf record that do not apply
 * here. False: not such a term (*known false), or invalid and e says how. */
bool terms_take(const struct term *t, struct event_terms *out, bool *known, struct error *e);
/* Parse a number, decimal or 0x. */
bool terms_number(const struct term *t, uint64_t *value, struct error *e);

#endif
