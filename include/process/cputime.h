// SPDX-License-Identifier: GPL-2.0-or-later
/* The CPU time that the kernel has accounted: of processes, threads, CPUs and cgroups. */
#ifndef FLAMETOP_PROCESS_CPUTIME_H
#define FLAMETOP_PROCESS_CPUTIME_H

#include <stdbool.h>
#include <stdint.h>

struct cputime {
    uint64_t user_ns, system_ns;
};

struct cputime_task {
    uint32_t ppid;
    uint64_t start_ns;     /* since boot, suspended time included */
    struct cputime own;    /* of a process: of all its threads, those that have ended included */
    struct cputime waited; /* of ended children that were waited for, and of those that they had waited for */
    bool drops_children;   /* nobody waits for its children: SIGCHLD is ignored */
};

/* /proc/PID/stat, in the kernel's ticks (proc_pid_stat(5)); false: it is no such text. */
bool cputime_parse(const char *stat, long ticks_per_second, struct cputime_task *out);
/* False: there is no such process (thread), or it is hidden. */
bool cputime_of_process(uint32_t pid, struct cputime_task *out);
bool cputime_of_thread(uint32_t tid, struct cputime_task *out); /* waited: nothing */

/* Of the CPUs that are online, or of those for which cpus[n_cpus] is true (/proc/stat). out: as the kernel's
 * tick samples it. busy_ns: the time of all these CPUs, from any beginning, that was neither idle nor stolen
 * by the hypervisor. */
bool cputime_of_cpus(const bool *cpus, uint32_t n_cpus, struct cputime *out, uint64_t *busy_ns);
/* Of a cgroup and all below it, by its open folder: cpu.stat of cgroup v2. False: there is none. */
bool cputime_of_cgroup(int dirfd, struct cputime *out);

#endif
