// SPDX-License-Identifier: GPL-2.0-or-later
/* The baseline of the screens (--diff, --diff-range): its result for the same query. */
#ifndef FLAMETOP_UI_DIFFERENCE_H
#define FLAMETOP_UI_DIFFERENCE_H

#include "session/baseline.h"
#include "ui/theme.h"

struct difference {
    struct session_baseline baseline;
    bool negate;      /* less counts as more: signs and colours are swapped */
    struct view data; /* names are valid until the next result */
    struct session_status status;
    struct view_query asked;
    /* number of the result: what was built from it is valid while this is unchanged */
    uint64_t answers;
};
/* Returns NULL when nothing is compared. */
struct difference *difference_new(const struct session_baseline *baseline, bool negate);
void difference_free(struct difference *d);
bool difference_is_stale(const struct difference *d); /* the baseline has grown since the last result */
/* Queries the baseline with s's query, if the query or the baseline changed. */
void difference_ask(struct difference *d, struct session *s, const struct view_query *q);

/* Computes the change in percentage points from the baseline. Returns false without a baseline. */
bool difference_points(const struct difference *d, double percent, uint64_t baseline_weight, double *points);
/* "monday.data", "monday.data (40% read)". */
const char *difference_name(const struct difference *d, char *dst, size_t cap);
/* "+3.20", "-0.45", "0.00". */
const char *difference_text(double points, char *dst, size_t cap);
enum style difference_style(double points); /* for difference_text */

#endif
