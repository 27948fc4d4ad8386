// SPDX-License-Identifier: GPL-2.0-or-later
#include "ui/window.h"

#include <stdio.h>

#include "base/clock.h"
#include "profile/query.h"

#define SPAN_MIN_NS (3 * NS_PER_SEC)

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

/* Returns the span that trends divide: it doubles as time passes, so that bars fill from the left. When it
 * doubles, two buckets of the trend become one, so a half-filled window needs no new scan. */
static uint64_t filled(uint64_t window_ns, uint64_t elapsed_ns)
{
    uint64_t span = window_ns ? window_ns : SPAN_MIN_NS;
    while (span <= elapsed_ns)
        span *= 2;
    while (span / 2 > elapsed_ns && span / 2 >= SPAN_MIN_NS)
        span /= 2;
    return span;
}

/* Trends that move with every redraw would change nearly all of their bars each time: half of the bytes
 * sent, and useless flicker. */
void window_align(struct view_query *q, const struct session_status *status)
{
    uint64_t now = status->now_ns, elapsed = status->elapsed_ns, start = now - elapsed;
    if (status->frozen || status->file || q->from_ns || q->to_ns || elapsed > now)
        return;
    if (q->window_ns && elapsed >= q->window_ns) {
        uint64_t step = q->window_ns / QUERY_TREND;
        q->from_ns = start + (elapsed / step + 1) * step - q->window_ns;
        q->to_ns = q->from_ns + q->window_ns - 1; /* so that its buckets are `step` long */
        return;
    }
    q->from_ns = start;
    q->to_ns = start + filled(q->window_ns, elapsed) - 1;
}
