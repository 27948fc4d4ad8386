// SPDX-License-Identifier: GPL-2.0-or-later
/* What a bundle contains of a query's samples: unwound stacks and their symbols, for a system without the
 * files. */
#ifndef FLAMETOP_SESSION_BUNDLE_PROFILE_H
#define FLAMETOP_SESSION_BUNDLE_PROFILE_H

#include "base/buf.h"
#include "session/session.h"

struct session_bundle_profile {
    int fd; /* a perf.data without a name, without stack dumps and registers */
    uint64_t bytes, samples;
    uint64_t last_ns; /* of the samples, by their clock */
    uint64_t wall_s;  /* the same moment by wall clock; 0: unknown */
    struct buf names; /* symbols/supplied.h */
};
/* Makes the bundle's content. near_path: a path whose folder has room for the temporary file. Call
 * session_bundle_profile_done in any case. */
bool session_pack(struct session *s, const struct view_query *q, const char *near_path,
                  struct session_bundle_profile *out, struct error *e);
/* The bundle that the session's file came from, borrowed; NULL: none. */
struct bundle;
const struct bundle *session_bundle(const struct session *s);
void session_bundle_profile_done(struct session_bundle_profile *p);

#endif
