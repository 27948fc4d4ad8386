// SPDX-License-Identifier: GPL-2.0-or-later
/* What an answer is compared with: the same question, asked of another session or of another range. */
#ifndef FLAMETOP_SESSION_BEFORE_H
#define FLAMETOP_SESSION_BEFORE_H

#include "session/session.h"

struct session_before {
    struct session *session; /* NULL: nothing is compared */
    const char *name;        /* "monday.data" */
    double from_s, to_s;     /* to_s not 0: only these seconds of it */
};
/* q, as s was asked, for what it is compared with, whose event becomes the one of that name, where there is one. Of another
 * session only a zoom's name can be meant: one into a process or a thread is one into processes of its name there, one into
 * a cgroup is left out. */
void session_before_query(struct session *s, const struct session_before *before, const struct view_query *q,
                          struct view_query *there);
/* Makes q ask for these seconds of what s has, from its first one on. */
void session_set_range(struct session *s, double from_s, double to_s, struct view_query *q);

#endif
