// SPDX-License-Identifier: GPL-2.0-or-later
/* What one CPU's ring and events (struct live_cpu) say of themselves: rate, end, times, losses. */
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

/* Lost records of an event, as the kernel counts them. 0: it has no such count (before Linux 6.0), or the
 * event reads a group. */
uint64_t live_cpu_lost(const struct plan *p, uint32_t member, int fd);
/* True if the CPU has lost records, or may have. */
bool live_cpu_is_lossy(const struct live_cpu *c);
/* Makes a record of the losses that none reports. The kernel reports them in front of the next record that
 * fits, so never if the ring is closed before. Call it after all records were read. False: there are none. */
bool live_cpu_unreported(const struct plan *p, struct live_cpu *c, struct record *out);
/* True if no event of them ran although its tasks did: the counters are used by others. A sleeping task adds
 * no enabled time. */
bool live_cpus_are_starved(const struct live_cpus *cpus);
/* The entry of a CPU: of one that left and came back, the newer one. NULL: none. */
struct live_cpu *live_cpus_find(const struct live_cpus *cpus, uint32_t cpu);

/* From when on the rings of other CPUs may have lost records, which is not reported yet. 0: none has. */
uint64_t live_cpus_gap_ns(const struct live_cpus *cpus, uint32_t cpu);
/* A PERF_RECORD_LOST of this CPU: counts it, and says from when on records are lost. */
void live_cpu_reported(struct live_cpu *c, struct record *lost);
/* Counts a record. */
void live_cpu_count_record(struct live_stats *s, const struct record *r);

#endif
