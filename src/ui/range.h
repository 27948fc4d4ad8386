// SPDX-License-Identifier: GPL-2.0-or-later
/* The time range of all views, and that of durations: setting and stepping it. Esc undoes each change
 * (ui/steps.h). */
#ifndef FLAMETOP_UI_RANGE_H
#define FLAMETOP_UI_RANGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct app;
struct session_times;
/* Both ends are inclusive; 0 and 0: all time. goes_on: part of the last change, as while it is dragged. */
unsigned range_set(struct app *a, uint64_t from_ns, uint64_t to_ns, bool goes_on);
/* Also shows a hint where the range can be viewed. */
unsigned range_set_from_chart(struct app *a, uint64_t from_ns, uint64_t to_ns);
/* Both ranges at once: only operations that ended in this time and took so long, all inclusive. from_ns and
 * to_ns 0: all time; max_ns 0: any duration. */
unsigned range_set_operations(struct app *a, uint64_t from_ns, uint64_t to_ns, uint64_t min_ns,
                              uint64_t max_ns);
/* True if a range of durations limits what is shown: the event has durations of operations. */
bool range_has_durations(const struct app *a);
/* Writes "1.05 ms-2.1 ms" or ">=20 ms"; "" without such a range. */
void range_durations_text(const struct app *a, char *dst, size_t cap);
unsigned range_step(struct app *a, int step); /* moves it by its own length */
unsigned range_all(struct app *a);            /* drops both ranges */
void range_forget(struct app *a);             /* also drops the steps that could be undone */
/* Returns the range, or the window if it is shorter than all time. False: all time is shown. */
bool range_shown(const struct app *a, uint64_t *from_ns, uint64_t *to_ns);
uint64_t range_base(const struct app *a); /* the moment from which times are counted */
/* Returns the extent of all samples, using app->times, or other times. */
void range_extent(const struct app *a, uint64_t *from_ns, uint64_t *to_ns);
void range_extent_of(const struct app *a, const struct session_times *times, uint64_t *from_ns,
                     uint64_t *to_ns);
/* Writes "12.3s-14.1s of 60s"; "" without a range. */
void range_text(const struct app *a, char *dst, size_t cap);

#endif
