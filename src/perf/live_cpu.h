// SPDX-License-Identifier: GPL-2.0-or-later
/* What one CPU's ring and events (struct live_cpu) say of themselves: rate, end, times. */
#ifndef FLAMETOP_PERF_LIVE_CPU_H
#define FLAMETOP_PERF_LIVE_CPU_H

#include "perf/open.h"

/* Sets the ring's rate since the previous call, which is past_ns ago. 0: this is the first call. */
void live_cpu_rate(struct live_cpu *c, uint64_t past_ns);
/* True if the ring has room for `left` ns more at the highest rate known. past_ns: time since the rate was
 * set; 0: too short to be measured. */
bool live_cpu_lasts(const struct live_cpu *c, uint64_t past_ns, double left);
/* True if all events of the CPU have ended. */
bool live_cpu_has_ended(const struct live_cpu *c);
/* Reads a counter: its value (or the number of values), the time enabled, and the time running. */
bool live_cpu_read_times(int fd, uint64_t times[3]);

/* True if the ring of another CPU has lost records behind all that were read, which is not reported yet. */
bool live_cpus_have_gap(const struct live_cpus *cpus, uint32_t cpu);
/* Counts a record. */
void live_cpu_count_record(struct live_stats *s, const struct record *r);

#endif
