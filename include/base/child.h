// SPDX-License-Identifier: GPL-2.0-or-later
/* Accounts for the CPU time and the priority of the processes that flametop starts for its own work. The
 * profiled command is not one of them. All functions are thread-safe. */
#ifndef FLAMETOP_BASE_CHILD_H
#define FLAMETOP_BASE_CHILD_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Starts a child for flametop's own work, and registers it. path: its program; NULL: flametop. It has `fd` as
 * its descriptor 3, and `rest` as 0, 1 and 2; rest -1: `fd` as well. Returns 0 or an errno. */
int child_spawn(const char *path, char *const argv[], char *const env[], int fd, int rest, pid_t *pid);
void child_started(pid_t pid);
/* waitpid(2) for a child that child_started() registered. */
pid_t child_wait(pid_t pid, int *status, int flags);
/* Kills a child and waits for its end, at most wait_ns. False: it hangs in the kernel and is still there. */
bool child_kill(pid_t pid, int *status, uint64_t wait_ns);
/* Reaps the ended children in the list. Moves those that still run to the front; returns their number. */
unsigned child_reap(pid_t *pids, unsigned n);
/* True if child_started() registered this process and it was not waited for. */
bool child_is(pid_t pid);
uint64_t child_cpu_ns(pid_t pid); /* UINT64_MAX: it has ended */
/* CPU time of this process and its children, ended ones included. A child that was not registered with
 * child_started() counts only after it was waited for. */
uint64_t child_total_cpu_ns(void);

/* Nanoseconds that this process and its children were runnable but waited for a CPU (schedstat: see
 * sched-stats.rst in the kernel's Documentation/scheduler). 0 if the kernel does not report it. */
uint64_t child_delay_ns(void);
uint64_t child_thread_delay_ns(void); /* of the calling thread alone */
/* Raises the priority of this process and of its present and future children (nice -10). False: not
 * permitted. */
bool child_raise_priority(void);
/* True: the calling thread preempts all ordinary threads (SCHED_RR 1, which needs CAP_SYS_NICE or
 * RLIMIT_RTPRIO; new threads and processes do not inherit it). False: as others again. Returns false if
 * refused. */
bool child_thread_set_real_time(bool on);
/* Restores the original priority. Called after fork(2) in a child that does not do flametop's own work. */
void child_has_first_priority(void);

#endif
