// SPDX-License-Identifier: GPL-2.0-or-later
/* Select CPUs by number, core, socket or NUMA node: "0-3,8", "core:2", "socket:1", "node:0-1", or a list of
 * these. The topology comes from /sys/devices/system (Documentation/admin-guide/cputopology.rst,
 * ABI/stable/sysfs-devices-node). */
#ifndef FLAMETOP_PERF_CPUSPEC_H
#define FLAMETOP_PERF_CPUSPEC_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "perf/cpus.h"

#define CPUSPEC_ROOT "/sys/devices/system"

struct cpu_target {
    uint32_t cpu;
    int core, socket, node; /* -1: unknown; core numbers are per socket */
};
/* All possible CPUs in order; offline ones have no core. The caller frees the array. */
struct cpu_target *cpuspec_targets(const char *root, uint32_t *n);
/* Parse a selection. core:2 selects that core of all sockets, core:1.2 only that of socket 1. False: e
 * names the part that is wrong or does not exist. Call cpus_done() in any case. */
bool cpuspec_parse(const char *text, const char *root, struct cpus *out, struct error *e);

#endif
