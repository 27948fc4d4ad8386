// SPDX-License-Identifier: GPL-2.0-or-later
/* Where a CPU is: its core and socket, and how hot sockets are; from /sys/devices/system/cpu and /sys/class/hwmon. */
#ifndef FLAMETOP_PERF_TOPOLOGY_H
#define FLAMETOP_PERF_TOPOLOGY_H

#include <stdbool.h>
#include <stdint.h>

struct topology_cpu {
    uint32_t core, socket; /* numbers as the kernel has them; cores are counted anew in each socket */
};
/* What is not known is 0, and the CPU a core by itself. */
struct topology_cpu topology_of(uint32_t cpu);

struct topology_heat {
    uint32_t socket;
    double celsius; /* of the whole package */
};
/* At most `cap` sensors of CPU packages (coretemp, k10temp, zenpower, cpu_thermal); how many there are. */
uint32_t topology_heats(struct topology_heat *out, uint32_t cap);

/* For tests: another folder in the place of /sys; NULL: that one again. */
void topology_set_root(const char *dir);

#endif
