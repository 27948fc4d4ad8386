// SPDX-License-Identifier: GPL-2.0-or-later
/* Baseline of a diff: the same query on another session, or on another time range. */
#ifndef FLAMETOP_SESSION_BASELINE_H
#define FLAMETOP_SESSION_BASELINE_H

#include "session/session.h"

struct session_baseline {
    struct session *session; /* NULL: no baseline */
    const char *name;        /* "monday.data" */
    double from_s, to_s;     /* to_s not 0: only these seconds of it */
};
/* Translates the query q of session s into the query of the baseline. Another session then shows its event
 * of the same name, where there is one, and a zoom is matched by name: a process or thread zoom matches all
 * processes of this name; a cgroup zoom is dropped. */
void session_baseline_query(struct session *s, const struct session_baseline *baseline,
                            const struct view_query *q, struct view_query *there);
/* Limits q to these seconds of the session, counted from its start or clear; of a file, from its first
 * sample. */
void session_set_range(struct session *s, double from_s, double to_s, struct view_query *q);

#endif
