// SPDX-License-Identifier: GPL-2.0-or-later
#include "ui/trend.h"

#include <string.h>

#include "ui/bars.h"

static uint64_t step_of(const struct trend_time *t)
{
    uint64_t span = t->to_ns > t->from_ns ? t->to_ns - t->from_ns : 0;
    return query_bucket_ns(0, span);
}

static bool is_running(const struct trend_time *t)
{
    return step_of(t) > 1 && t->now_ns >= t->from_ns && t->now_ns < t->to_ns;
}

uint64_t trend_beat(const struct trend_time *t)
{
    uint64_t step = step_of(t);
    if (!is_running(t))
        return t->to_ns;
    return t->from_ns / (step / 2) + (t->now_ns - t->from_ns + step / 4) / (step / 2);
}

uint32_t trend_newest(const struct trend_time *t)
{
    uint64_t at = is_running(t) ? (t->now_ns - t->from_ns) / step_of(t) : QUERY_TREND - 1;
    return at < QUERY_TREND ? (uint32_t)at : QUERY_TREND - 1;
}

void trend_picture(uint64_t dst[QUERY_TREND], const uint64_t weights[QUERY_TREND], const struct trend_time *t)
{
    memcpy(dst, weights, QUERY_TREND * sizeof *dst);
    if (!is_running(t))
        return;
    uint64_t step = step_of(t);
    uint32_t newest = trend_newest(t);
    uint64_t over = t->now_ns - t->from_ns - newest * step;
    if (over >= step / 4 && over < step) { /* before that, a few samples would be scaled up too much */
        double rate = (double)weights[newest] * (double)step / (double)over;
        dst[newest] = rate < (double)UINT64_MAX ? (uint64_t)(rate + 0.5) : UINT64_MAX;
    }
}

void trend_spark(char *dst, size_t cap, const uint64_t picture[QUERY_TREND], bool glyphs)
{
    uint32_t values[QUERY_TREND];
    uint64_t most = 0;
    unsigned shift = 0;
    for (uint32_t i = 0; i < QUERY_TREND; i++)
        most = picture[i] > most ? picture[i] : most;
    while (most >> shift > UINT32_MAX)
        shift++;
    for (uint32_t i = 0; i < QUERY_TREND; i++) {
        values[i] = (uint32_t)(picture[i] >> shift);
        if (picture[i] && !values[i]) /* only an eighth without weight is empty */
            values[i] = 1;
    }
    bar_spark(dst, cap, values, QUERY_TREND, 0, glyphs);
}
