// SPDX-License-Identifier: GPL-2.0-or-later
/* Builds the flat profile: self and total per (group, function). A recursive function counts once per
 * sample. */
#ifndef FLAMETOP_PROFILE_FUNCTIONS_H
#define FLAMETOP_PROFILE_FUNCTIONS_H

#include "profile/query.h"

struct function_row {
    uint32_t func, group;
    uint64_t self_weight, total_weight;
    uint32_t self_count, total_count;
    uint64_t trend[QUERY_TREND]; /* of total_weight */
};

struct functions {
    struct function_row *rows;
    uint32_t n;
    size_t cap;
    uint64_t version;                  /* of the result it was built from */
    struct functions_scratch *scratch; /* kept between builds */
};

/* Returns the function that runs in samples of a node: the function of its frame or, if that frame is
 * left out, of the nearest caller that is not. See functions_build. */
static inline uint32_t functions_leaf(const struct result *r, const uint32_t *frame_func, uint32_t node)
{
    while (node && !frame_func[r->frame[node]])
        node = r->parent[node];
    return frame_func[node ? r->frame[node] : 0];
}

/* Builds the rows, in no particular order. frame_func: a function number (dense, < n_funcs) per frame of
 * r. Number 0 means "left out": the nearest caller that is not left out then counts as running.
 * frame_func[0] is the function of samples without any (remaining) frame; 0: they are ignored.
 * with_group: one row per (group, func); else group is 0.
 *
 * If r continues the result of the previous build (r->since), only its deltas are added, and rows
 * without remaining samples are removed. The caller sets r->since to 0 if it assigns another function to
 * an existing frame. */
void functions_build(struct functions *f, const struct result *r, const uint32_t *frame_func,
                     uint32_t n_funcs, bool with_group);
/* Sums the other events of the query per row: r->besides sums, in the order of the rows, for the self
 * samples of each row. frame_func and with_group as for the rows. *sums is the caller's memory and is
 * reused. */
void functions_group_sums(const struct functions *f, const struct result *r, const uint32_t *frame_func,
                          bool with_group, uint64_t **sums, size_t *cap);
void functions_done(struct functions *f);

#endif
