// SPDX-License-Identifier: GPL-2.0-or-later
#include "ui/difference.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"

#define SHOWN_POINTS 0.005 /* smaller differences are shown as 0 */

struct difference *difference_new(const struct session_before *before, bool negate)
{
    struct difference *d = before->session ? mem_zalloc(sizeof *d) : NULL;
    if (d) {
        d->before = *before;
        d->negate = negate;
    }
    return d;
}

void difference_free(struct difference *d)
{
    if (d)
        view_done(&d->answer);
    mem_free(d);
}

bool difference_is_stale(const struct difference *d)
{
    return d && session_generation(d->before.session) != d->answer.generation;
}

void difference_ask(struct difference *d, struct session *s, const struct view_query *q)
{
    struct view_query there;
    uint32_t event = d->status.event_index;
    session_before_query(s, &d->before, q, &there);
    session_get_status(d->before.session, &d->status);
    if (d->answers && event == d->status.event_index && !memcmp(&there, &d->asked, sizeof there) &&
        !difference_is_stale(d))
        return;
    d->asked = there;
    d->answers++;
    session_query(d->before.session, &there, &d->answer);
    session_get_status(d->before.session, &d->status);
}

bool difference_points(const struct difference *d, double percent, uint64_t weight_before, double *points)
{
    uint64_t all = d ? d->answer.result.weight : 0;
    if (!all)
        return false;
    *points = percent - 100 * (double)weight_before / (double)all;
    if (d->negate)
        *points = -*points;
    return true;
}

const char *difference_name(const struct difference *d, char *dst, size_t cap)
{
    text_clean(dst, cap, d->before.name, strlen(d->before.name));
    size_t n = strlen(dst);
    if (d->status.reading)
        (void)snprintf(dst + n, cap - n, " (%.0f%% read)", 100 * d->status.read_share);
    else if (!d->answer.result.weight)
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
