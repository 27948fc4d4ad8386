// SPDX-License-Identifier: GPL-2.0-or-later
/* Columns of time on a screen: each is a whole number of buckets that are counted. Over time that goes on, buckets keep
 * their length for long and columns grow by one bucket at a time, so that little has to be counted anew. */
#ifndef FLAMETOP_UI_TIME_AXIS_H
#define FLAMETOP_UI_TIME_AXIS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct time_axis {           /* zero-initialised at first */
    uint64_t from_ns, to_ns; /* to_ns: the last moment of it */
    uint64_t bucket_ns;
    uint32_t per;     /* buckets of a column */
    uint32_t columns; /* at least 1 */
    bool grows;
};
/* At most so many columns (at least 1). grows: to_ns is now, and will be later soon. */
void time_axis_fit(struct time_axis *x, uint64_t from_ns, uint64_t to_ns, uint32_t columns, bool grows);
uint64_t time_axis_step(const struct time_axis *x);                /* length of a column */
uint64_t time_axis_ns(const struct time_axis *x, uint32_t column); /* its beginning */
uint32_t time_axis_column(const struct time_axis *x,
                          uint64_t time_ns); /* the nearest one, of those there are */

/* Moments for people, from the start on, with as many digits as steps of so much want: "12.3s", "1:02:05". */
char *time_text(char *dst, size_t cap, uint64_t ns, uint64_t step_ns);
/* How long something took: "1.8s", "150ms", "12us". */
char *time_length_text(char *dst, size_t cap, uint64_t ns);
/* A round length of time not below ns: 1, 2 or 5 times a power of ten, or of minutes and hours. */
uint64_t time_round(uint64_t ns);

#endif
