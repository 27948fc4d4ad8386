// SPDX-License-Identifier: GPL-2.0-or-later
/* A number that is measured in intervals, with its last values for a sparkline. */
#ifndef FLAMETOP_SESSION_MEASURED_H
#define FLAMETOP_SESSION_MEASURED_H

#include <stdint.h>

#define MEASURED_TREND 60 /* intervals of history */

struct measured {
    double now;                     /* < 0: unknown */
    uint32_t trend[MEASURED_TREND]; /* in hundredths; newest last */
    uint32_t n_trend;
};
void measured_add(struct measured *m, double now); /* an unknown value adds nothing to the trend */

#endif
