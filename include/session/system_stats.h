// SPDX-License-Identifier: GPL-2.0-or-later
/* System statistics: CPU use, context switches and faults per second (/proc/stat, /proc/vmstat), and
 * instructions per cycle of all CPUs where there is a PMU. */
#ifndef FLAMETOP_SESSION_SYSTEM_STATS_H
#define FLAMETOP_SESSION_SYSTEM_STATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/mem.h"

struct system_counters;

struct system_file {
    int fd;        /* stays open; -1: not open */
    size_t enough; /* bytes that the last read needed; 0: unknown */
};

struct system_stats {
    struct system_file stat, vmstat;
    struct buf text;
    uint32_t cpus;                              /* online */
    uint64_t user, system, idle, iowait, total; /* jiffies at the last read */
    uint64_t switches, faults;
    uint64_t time_ns;
    /* all since the previous read; < 0: unknown */
    double user_percent, system_percent, idle_percent, iowait_percent;
    double switches_per_sec, faults_per_sec;
    struct system_counters *counters; /* NULL: not tried yet, or not available */
    bool counters_tried;
    double ipc; /* since the previous read; < 0: unknown */
};

void system_init(struct system_stats *b);
void system_look(struct system_stats *b, uint64_t now_ns); /* missing files leave the values unknown */
void system_done(struct system_stats *b);

/* CPU use per CPU: the share of the time since the previous read that it was not idle. Zero-initialise. */
struct system_cpu {
    uint32_t number;
    uint64_t busy, total; /* jiffies at the last read */
    double busy_percent;  /* < 0: not known yet */
};
struct system_cpus {
    VEC(struct system_cpu); /* the online CPUs, in order */
};
void system_cpus_look(struct system_cpus *b);
const struct system_cpu *system_cpus_find(const struct system_cpus *b,
                                          uint32_t number); /* NULL: not online */
void system_cpus_done(struct system_cpus *b);

#endif
