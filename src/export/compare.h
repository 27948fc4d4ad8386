// SPDX-License-Identifier: GPL-2.0-or-later
/* Compares the result of a query with the baseline's result, by function name. */
#ifndef FLAMETOP_EXPORT_COMPARE_H
#define FLAMETOP_EXPORT_COMPARE_H

#include "export/export.h"
#include "session/nametree.h"

/* Runs the query q of s on the baseline (session/baseline.h), after the baseline is read and has its names,
 * and adds the result to the baseline side of the tree. Adds nothing if there is no baseline. */
void compare_add_baseline(struct nametree *t, struct session *s, const struct view_query *q,
                          const struct session_baseline *baseline, bool by_weight);

struct compare_row {
    uint32_t func;
    /* percent of each side's total; a recursive function counts once */
    double self[NAMETREE_SIDES], total[NAMETREE_SIDES];
};
/* Returns one row per function of a sorted tree, the largest change of self first; the caller frees it. */
struct compare_row *compare_rows(const struct nametree *t, uint32_t *n);
/* Prints the rows as text, in percent of periods or of samples (o->compare_by). o->svg.negate swaps the
 * signs. */
void compare_print(struct session *s, const struct view_query *q, const struct view *v,
                   const struct export_options *o, struct buf *out);

#endif
