// SPDX-License-Identifier: GPL-2.0-or-later
/* The range of time that all views are of: chosen and stepped. Each choice is a step that Esc takes back (ui/steps.h). */
#ifndef FLAMETOP_UI_RANGE_H
#define FLAMETOP_UI_RANGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct app;
/* Both ends count; 0 and 0: all of the time. goes_on: it changes the last one, as while it is being drawn. */
unsigned range_set(struct app *a, uint64_t from_ns, uint64_t to_ns, bool goes_on);
unsigned range_step(struct app *a, int step); /* by its own length */
unsigned range_all(struct app *a);
void range_forget(struct app *a); /* and all that could be taken back */
/* What is chosen, or the window that is shown, once that is a part. False: all of the time. */
bool range_shown(const struct app *a, uint64_t *from_ns, uint64_t *to_ns);
uint64_t range_base(const struct app *a); /* the moment from which times are counted */
/* All of the time that there is, with app->times. */
void range_extent(const struct app *a, uint64_t *from_ns, uint64_t *to_ns);
/* "12.3s-14.1s of 60s"; "" when none is chosen. */
void range_text(const struct app *a, char *dst, size_t cap);

#endif
