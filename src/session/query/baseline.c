// SPDX-License-Identifier: GPL-2.0-or-later
#include "session/baseline.h"

#include <string.h>

#include "base/clock.h"

void session_set_range(struct session *s, double from_s, double to_s, struct view_query *q)
{
    struct session_status st;
    session_get_status(s, &st);
    uint64_t first = st.now_ns - st.elapsed_ns;
    q->window_ns = 0;
    q->from_ns = first + (uint64_t)(from_s * NS_PER_SEC);
    q->to_ns = first + (uint64_t)(to_s * NS_PER_SEC);
}

static struct zoom zoom_elsewhere(const struct zoom *z)
{
    struct zoom there = *z;
    if ((z->kind == ZOOM_PROCESS || z->kind == ZOOM_THREAD) && z->number != ZOOM_LIST) { /* "mysqld/1234" */
        there.kind = ZOOM_COMM;
        there.number = 0;
        char *slash = strrchr(there.text, '/');
        if (slash)
            *slash = '\0';
    }
    return there;
}

static struct view_query query_elsewhere(const struct view_query *q)
{
    struct view_query there = *q;
    there.n_zooms = 0;
    for (uint32_t i = 0; i < q->n_zooms; i++)
        if (q->zooms[i].kind != ZOOM_CGROUP)
            there.zooms[there.n_zooms++] = zoom_elsewhere(&q->zooms[i]);
    return there;
}

static void select_event(struct session *s, struct session *baseline)
{
    struct session_status here, there;
    session_get_status(s, &here);
    session_get_status(baseline, &there);
    for (uint32_t i = 0; i < there.n_events && strcmp(here.event, there.event); i++) {
        (void)session_select_event(baseline, 1, NULL);
        session_get_status(baseline, &there);
    }
}

void session_baseline_query(struct session *s, const struct session_baseline *baseline,
                            const struct view_query *q, struct view_query *there)
{
    *there = baseline->session == s ? *q : query_elsewhere(q);
    there->window_ns = there->from_ns = there->to_ns = 0;
    if (baseline->session != s)
        select_event(s, baseline->session);
    if (baseline->to_s > 0)
        session_set_range(baseline->session, baseline->from_s, baseline->to_s, there);
}
