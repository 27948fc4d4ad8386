// SPDX-License-Identifier: GPL-2.0-or-later
/* An answer beside the same question's answer elsewhere, by the names of functions. */
#ifndef FLAMETOP_EXPORT_COMPARE_H
#define FLAMETOP_EXPORT_COMPARE_H

#include "export/export.h"
#include "session/nametree.h"

/* Asks q, as s was asked, of what it is compared with, and adds the answer to that side of the tree; nothing where
 * nothing is compared. Of another session only a zoom's name can be meant: one into a process or a thread is one into
 * processes of its name there, one into a cgroup is left out. */
void compare_add_before(struct nametree *t, struct session *s, const struct view_query *q, const struct export_before *before,
                        bool by_weight);

struct compare_row {
    uint32_t func;
    double self[NAMETREE_SIDES], total[NAMETREE_SIDES]; /* percent of its side; a recursive function counts once */
};
/* One row per function of a sorted tree, what changed most in itself first; the caller frees. */
struct compare_row *compare_rows(const struct nametree *t, uint32_t *n);
/* The rows as text. */
void compare_print(struct session *s, const struct view_query *q, const struct view *v, const struct export_before *before,
                   struct buf *out);

#endif
