// SPDX-License-Identifier: GPL-2.0-or-later
/* The terms between the slashes of an event: "event=0x3c,umask=1,name='my event',period=1000". */
#ifndef FLAMETOP_PERF_TERMS_H
#define FLAMETOP_PERF_TERMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/* What they say beside the config. */
struct event_terms {
    char name[96];            /* name=; "": none */
    uint64_t period, freq_hz; /* 0: none */
    double scale; /* of an event that the PMU names: what its counts are multiplied by; 0: not said */
    char unit[16];
};

struct term {
    char *name, *value;  /* value NULL: a bare word; its quotes are gone */
    size_t at, value_at; /* in the text */
};
/* Calls back for each; a copy is cut, `text` stays. False when a call is; what it says has its place in `text`. */
bool terms_each(const char *text, bool (*fn)(void *ctx, const struct term *t, struct error *e), void *ctx,
                struct error *e);
/* A term of every event: name=, period=, freq=; those of perf record that are none of an event here are refused. False:
 * it is none of them (*known false), or it is wrong and e says how. */
bool terms_take(const struct term *t, struct event_terms *out, bool *known, struct error *e);
/* A number, decimal or 0x. */
bool terms_number(const struct term *t, uint64_t *value, struct error *e);

#endif
