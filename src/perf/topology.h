// SPDX-License-Identifier: GPL-2.0-or-later
/* Core, socket and temperature of CPUs, from /sys/devices/system/cpu and /sys/class/hwmon. */
#ifndef FLAMETOP_PERF_TOPOLOGY_H
#define FLAMETOP_PERF_TOPOLOGY_H

#include <stdbool.h>
#include <stdint.h>

struct topology_cpu {
    uint32_t core, socket; /* the kernel's numbers; core numbers restart in each socket */
};
/* Unknown values are 0, and the CPU is a core of its own. */
struct topology_cpu topology_of(uint32_t cpu);

struct topology_heat {
    uint32_t socket;
    double celsius; /* of the whole package */
};
/* Read at most `cap` sensors of CPU packages (coretemp, k10temp, zenpower, cpu_thermal). Returns their
 * number. */
uint32_t topology_heats(struct topology_heat *out, uint32_t cap);

/* For tests: replace /sys; NULL: restore it. */
void topology_set_root(const char *dir);

#endif
