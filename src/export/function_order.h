// SPDX-License-Identifier: GPL-2.0-or-later
/* The order of functions in exports. Private to src/export. */
#ifndef FLAMETOP_EXPORT_FUNCTION_ORDER_H
#define FLAMETOP_EXPORT_FUNCTION_ORDER_H

#include "profile/functions.h"
#include "session/view.h"

/* Sorts by self, then total; by names where both are equal, so that equal samples give equal exports: numbers
 * of functions depend on when their names became known. by_samples: by number of samples, not by weight. */
void function_order(struct functions *f, const struct view *v, bool by_samples);

#endif
