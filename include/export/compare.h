// SPDX-License-Identifier: GPL-2.0-or-later
/* An answer beside the same question's answer elsewhere, by the names of functions. */
#ifndef FLAMETOP_EXPORT_COMPARE_H
#define FLAMETOP_EXPORT_COMPARE_H

#include "export/export.h"
#include "session/nametree.h"

/* Asks q, as s was asked, of what it is compared with (session/before.h), once that is read and has its names, and adds the
 * answer to that side of the tree; nothing where nothing is compared. */
void compare_add_before(struct nametree *t, struct session *s, const struct view_query *q,
                        const struct session_before *before, bool by_weight);

struct compare_row {
    uint32_t func;
    double self[NAMETREE_SIDES],
        total[NAMETREE_SIDES]; /* percent of its side; a recursive function counts once */
};
/* One row per function of a sorted tree, what changed most in itself first; the caller frees. */
struct compare_row *compare_rows(const struct nametree *t, uint32_t *n);
/* The rows as text, in percent of periods or of samples (o->compare_by), signs turned with o->svg.negate. */
void compare_print(struct session *s, const struct view_query *q, const struct view *v,
                   const struct export_options *o, struct buf *out);

#endif
