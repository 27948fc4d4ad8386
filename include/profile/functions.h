// SPDX-License-Identifier: GPL-2.0-or-later
/* The flat table: self and total per (group, function). A recursive function counts once per sample. */
#ifndef FLAMETOP_PROFILE_FUNCTIONS_H
#define FLAMETOP_PROFILE_FUNCTIONS_H

#include "profile/query.h"

struct function_row {
    uint32_t func, group;
    uint64_t self_weight, total_weight;
    uint32_t self_count, total_count;
    uint32_t trend[QUERY_TREND]; /* of total samples */
};

struct functions {
    struct function_row *rows;
    uint32_t n;
    size_t cap;
    uint64_t version;                  /* of the result that it was made of */
    struct functions_scratch *scratch; /* kept between builds */
};

/* The function that runs in samples of a node: of its frame or, where that is left out, of the nearest caller that is not;
 * see functions_build. */
static inline uint32_t functions_leaf(const struct result *r, const uint32_t *frame_func, uint32_t node)
{
    while (node && !frame_func[r->frame[node]])
        node = r->parent[node];
    return frame_func[node ? r->frame[node] : 0];
}

/* frame_func: a function number (dense, < n_funcs) for each of r's frames; number 0 means "left out": then
 * the nearest caller that is not is the one that runs. frame_func[0] is what samples without any (remaining)
 * frame count as, 0: nothing. with_group: rows are per (group, func); else group is 0. leaf_only: no totals
 * are made (then total = self, and the trend is of self). Rows are in no particular order.
 *
 * Where r goes on from the result of the build before (r->since), only what was added to it is added here, and rows
 * that all samples have left go. Who gives frames that were there before another function than then sets r->since
 * to 0. */
void functions_build(struct functions *f, const struct result *r, const uint32_t *frame_func,
                     uint32_t n_funcs, bool with_group, bool leaf_only);
/* What the events beside r's count in each row itself: r->besides sums a row, in the order of the rows, as frame_func and
 * with_group made them of r. sums is memory of the caller's, reused. */
void functions_beside(const struct functions *f, const struct result *r, const uint32_t *frame_func,
                      bool with_group, uint64_t **sums, size_t *cap);
void functions_done(struct functions *f);

#endif
