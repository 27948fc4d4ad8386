// SPDX-License-Identifier: GPL-2.0-or-later
/* What the screens compare their answer with (--diff, --diff-range): the answer to the same question there. */
#ifndef FLAMETOP_UI_DIFFERENCE_H
#define FLAMETOP_UI_DIFFERENCE_H

#include "session/before.h"
#include "ui/theme.h"

struct difference {
    struct session_before before;
    bool negate;        /* more is less: signs and colours are turned */
    struct view answer; /* names are valid until the next one */
    struct session_status status;
    struct view_query asked;
    uint64_t answers; /* so many were there: what is made of one is good as long as this is the same */
};
/* NULL: nothing is compared. */
struct difference *difference_new(const struct session_before *before, bool negate);
void difference_free(struct difference *d);
bool difference_is_stale(const struct difference *d); /* there is more to answer */
/* Asks what s was asked, if that, or what there is there, is something new. */
void difference_ask(struct difference *d, struct session *s, const struct view_query *q);

/* How many percentage points a share is more than before; false: nothing is there to compare with. */
bool difference_points(const struct difference *d, double percent, uint64_t weight_before, double *points);
/* "monday.data", "monday.data (40% read)". */
const char *difference_name(const struct difference *d, char *dst, size_t cap);
/* "+3.20", "-0.45", "0.00". */
const char *difference_text(double points, char *dst, size_t cap);
enum style difference_style(double points); /* of that text */

#endif
