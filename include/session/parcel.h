// SPDX-License-Identifier: GPL-2.0-or-later
/* What a query selects, for a machine that has none of the files: stacks that are unwound, and their names. */
#ifndef FLAMETOP_SESSION_PARCEL_H
#define FLAMETOP_SESSION_PARCEL_H

#include "base/buf.h"
#include "session/session.h"

struct session_parcel {
    int fd; /* a perf.data without a name; no dump of a stack or of registers is in it */
    uint64_t bytes, samples;
    uint64_t last_ns; /* of the samples, by their clock … */
    uint64_t wall_s;  /* … and on the wall; 0: not known */
    struct buf names; /* symbols/given.h */
};
/* beside: the file is made in this path's folder, which has room. */
bool session_pack(struct session *s, const struct view_query *q, const char *beside,
                  struct session_parcel *out, struct error *e);
/* The bundle that the session's file came in; NULL: none. */
struct bundle;
const struct bundle *session_bundle(const struct session *s);
void session_parcel_done(struct session_parcel *p);

#endif
