// SPDX-License-Identifier: GPL-2.0-or-later
#include "ui/window.h"

#include <stdio.h>

#include "base/clock.h"
#include "profile/query.h"

const uint64_t window_choices_ns[WINDOW_CHOICES] = {
    5 * NS_PER_SEC, 10 * NS_PER_SEC, 30 * NS_PER_SEC, 60 * NS_PER_SEC, 300 * NS_PER_SEC, 0,
};

void window_name(uint64_t window_ns, char *dst, size_t cap)
{
    if (!window_ns)
        (void)snprintf(dst, cap, "since start");
    else if (window_ns < 120 * NS_PER_SEC)
        (void)snprintf(dst, cap, "%llus", (unsigned long long)(window_ns / NS_PER_SEC));
    else
        (void)snprintf(dst, cap, "%llumin", (unsigned long long)(window_ns / NS_PER_SEC / 60));
}

/* Trends that slide with every redraw change nearly all of their bars each time: half of what goes over the line,
 * and a flicker that says nothing. */
void window_align(struct view_query *q, const struct session_status *status)
{
    uint64_t now = status->now_ns, elapsed = status->elapsed_ns;
    if (status->frozen || status->file || q->from_ns || q->to_ns || elapsed > now)
        return;
    if (q->window_ns && elapsed >= q->window_ns) {
        uint64_t step = q->window_ns / QUERY_TREND;
        uint64_t end = (now / step + 1) * step;
        q->from_ns = end - q->window_ns;
        q->to_ns = end - 1; /* so that its buckets are such steps */
        if (q->from_ns < now - elapsed)
            q->from_ns = now - elapsed;
        return;
    }
    uint64_t span =
        QUERY_TREND * NS_PER_SEC / 2; /* doubles as time goes by, so that bars fill from the left */
    while (span < elapsed)
        span *= 2;
    if (q->window_ns && span > q->window_ns)
        span = q->window_ns;
    q->from_ns = now - elapsed;
    q->to_ns = q->from_ns + span;
}
