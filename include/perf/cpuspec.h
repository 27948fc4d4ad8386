// SPDX-License-Identifier: GPL-2.0-or-later
/* CPUs by number, core, socket or NUMA node: "0-3,8", "core:2", "socket:1", "node:0-1", and several of these. Where each
 * CPU is comes from /sys/devices/system (Documentation/admin-guide/cputopology.rst, ABI/stable/sysfs-devices-node). */
#ifndef FLAMETOP_PERF_CPUSPEC_H
#define FLAMETOP_PERF_CPUSPEC_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "perf/cpus.h"

#define CPUSPEC_ROOT "/sys/devices/system"

struct cpu_place {
    uint32_t cpu;
    int core, socket, node; /* -1: the machine does not say; a core's number is of its socket */
};
/* Of every possible CPU, in their order; offline ones have no core. The caller frees. */
struct cpu_place *cpuspec_places(const char *root, uint32_t *n);
/* core:2 means the cores of that number in all sockets, core:1.2 the one of socket 1. False: e names the part that is
 * wrong, or that is not there. cpus_done() in any case. */
bool cpuspec_parse(const char *text, const char *root, struct cpus *out, struct error *e);

#endif
