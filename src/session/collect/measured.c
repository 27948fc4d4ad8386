// SPDX-License-Identifier: GPL-2.0-or-later
#include "session/measured.h"

#include <string.h>

void measured_add(struct measured *m, double now)
{
    uint32_t keep = m->n_trend < MEASURED_TREND ? m->n_trend : MEASURED_TREND - 1;
    m->now = now;
    if (now < 0)
        return;
    memmove(m->trend, m->trend + (m->n_trend - keep), keep * sizeof *m->trend);
    m->trend[keep] = now < UINT32_MAX / 100 ? (uint32_t)(100 * now) : UINT32_MAX;
    m->n_trend = keep + 1;
}
