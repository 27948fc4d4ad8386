// SPDX-License-Identifier: GPL-2.0-or-later
/* The processes that flametop starts for its own work: what they cost, and their priority. A command that is profiled is none
 * of them. Any thread may call. */
#ifndef FLAMETOP_BASE_CHILD_H
#define FLAMETOP_BASE_CHILD_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

void child_started(pid_t pid);
/* waitpid(2) for one that child_started() knows. */
pid_t child_wait(pid_t pid, int *status, int flags);
/* Of those that were left behind the ones that are still there, at the front of the list; returns how many they are. */
unsigned child_reap(pid_t *pids, unsigned n);
/* CPU time of this process and of its children, those that have ended included. Without a child that was not told of: the time
 * of those counts once they were waited for. */
uint64_t child_total_cpu_ns(void);

/* How long this process and its children have waited for a CPU while they could have run, in ns (schedstat: see
 * sched-stats.rst in the kernel's Documentation/scheduler); 0: the kernel does not tell. */
uint64_t child_delay_ns(void);
uint64_t child_thread_delay_ns(void); /* of the calling thread alone */
/* Gives this process, its children and those to come a higher priority (nice -10). False: it may not. */
bool child_raise_priority(void);
/* After fork(2), in a process that is not of flametop's own work: it has the priority from before. */
void child_has_first_priority(void);

#endif
