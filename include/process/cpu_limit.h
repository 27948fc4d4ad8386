// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads the CPU limits of a process's cgroups and how often they were used up. See cgroup-v2.rst (cpu.max,
 * cpu.stat) and sched-bwc.rst (cpu.cfs_quota_us) in the kernel's Documentation. */
#ifndef FLAMETOP_PROCESS_CPU_LIMIT_H
#define FLAMETOP_PROCESS_CPU_LIMIT_H

#include <stddef.h>
#include <stdint.h>

#define CPU_LIMITS_MAX 4 /* of one process: the innermost ones */

struct cpu_limit {
    char cgroup[256]; /* path in its hierarchy */
    double cpus;      /* the limit: 0.5 is half of one CPU */
    uint64_t periods,
        throttled; /* since the cgroup exists: in which threads ran, and in which they had to stop */
};

/* Returns the number of limits of the process's cgroup and its ancestors. 0: none, or the process has
 * ended. */
size_t cpu_limits_of_process(uint32_t pid, struct cpu_limit out[CPU_LIMITS_MAX]);
/* Same for the text of a /proc/PID/cgroup. `mounts` is used instead of /sys/fs/cgroup. */
size_t cpu_limits_of_text(const char *text, const char *mounts, struct cpu_limit out[CPU_LIMITS_MAX]);

#endif
