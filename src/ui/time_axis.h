// SPDX-License-Identifier: GPL-2.0-or-later
/* Columns of time on a screen; each is a whole number of counted buckets.
 * While time goes on, buckets keep their length for long and columns grow by one bucket at a time, so that
 * little has to be recounted. */
#ifndef FLAMETOP_UI_TIME_AXIS_H
#define FLAMETOP_UI_TIME_AXIS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct time_axis {           /* zero-initialise before use */
    uint64_t from_ns, to_ns; /* to_ns: inclusive */
    uint64_t bucket_ns;
    uint32_t per;     /* buckets per column */
    uint32_t columns; /* at least 1 */
    bool grows;
};
/* Fits the range into at most `columns` columns (at least 1). grows: to_ns is now, and increases. */
void time_axis_fit(struct time_axis *x, uint64_t from_ns, uint64_t to_ns, uint32_t columns, bool grows);
uint64_t time_axis_step(const struct time_axis *x);                     /* length of a column */
uint64_t time_axis_ns(const struct time_axis *x, uint32_t column);      /* start of a column */
uint32_t time_axis_column(const struct time_axis *x, uint64_t time_ns); /* nearest column, clamped */

/* Writes a time from the start, with the digits that steps of step_ns need: "12.3s", "1:02:05". */
char *time_text(char *dst, size_t cap, uint64_t ns, uint64_t step_ns);
/* Writes a duration: "1.8s", "150ms", "12us". */
char *time_length_text(char *dst, size_t cap, uint64_t ns);
/* Returns a round duration of at least ns: 1, 2 or 5 times a power of ten, or of minutes and hours. */
uint64_t time_round(uint64_t ns);

#endif
