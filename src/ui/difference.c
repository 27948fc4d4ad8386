// SPDX-License-Identifier: GPL-2.0-or-later
/* The baseline of the screens. It is queried after each result of the screen, and nothing waits for it. */
#include "ui/difference.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"

#define SHOWN_POINTS 0.005 /* smaller differences are shown as 0 */

struct difference *difference_new(const struct session_baseline *baseline, bool negate)
{
    struct difference *d = baseline->session ? mem_zalloc(sizeof *d) : NULL;
    if (d) {
        d->baseline = *baseline;
        d->negate = negate;
    }
    return d;
}

void difference_free(struct difference *d)
{
    if (d)
        view_done(&d->data);
    mem_free(d);
}

bool difference_is_stale(const struct difference *d)
{
    return d && session_generation(d->baseline.session) != d->data.generation;
}

void difference_ask(struct difference *d, struct session *s, const struct view_query *q)
{
    struct view_query there;
    uint32_t event = d->status.event_index;
    session_baseline_query(s, &d->baseline, q, &there);
    session_get_status(d->baseline.session, &d->status);
    if (d->answers && event == d->status.event_index && !memcmp(&there, &d->asked, sizeof there) &&
        !difference_is_stale(d))
        return;
    d->asked = there;
    d->answers++;
    session_query(d->baseline.session, &there, &d->data);
    session_get_status(d->baseline.session, &d->status);
}

bool difference_points(const struct difference *d, double percent, uint64_t baseline_weight, double *points)
{
    uint64_t all = d ? d->data.result.weight : 0;
    if (!all)
        return false;
    *points = percent - 100 * (double)baseline_weight / (double)all;
    if (d->negate)
        *points = -*points;
    return true;
}

const char *difference_name(const struct difference *d, char *dst, size_t cap)
{
    text_clean(dst, cap, d->baseline.name, strlen(d->baseline.name));
    size_t n = strlen(dst);
    if (d->status.reading)
        (void)snprintf(dst + n, cap - n, " (%.0f%% read)", 100 * d->status.read_share);
    else if (!d->data.result.weight)
        (void)snprintf(dst + n, cap - n, " (no samples)");
    return dst;
}

const char *difference_text(double points, char *dst, size_t cap)
{
    (void)snprintf(dst, cap, fabs(points) < SHOWN_POINTS ? "%.2f" : "%+.2f",
                   fabs(points) < SHOWN_POINTS ? 0.0 : points);
    return dst;
}

enum style difference_style(double points)
{
    if (fabs(points) < SHOWN_POINTS)
        return STYLE_DIM;
    return points > 0 ? STYLE_HIGH : STYLE_METER_IOWAIT;
}
