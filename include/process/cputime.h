// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads the CPU time that the kernel accounts to processes, threads, CPUs and cgroups. */
#ifndef FLAMETOP_PROCESS_CPUTIME_H
#define FLAMETOP_PROCESS_CPUTIME_H

#include <stdbool.h>
#include <stdint.h>

struct cputime {
    uint64_t user_ns, system_ns;
};

struct cputime_task {
    uint32_t ppid;
    uint64_t start_ns;     /* since boot, including suspend */
    struct cputime own;    /* of a process: all its threads, ended ones included */
    struct cputime waited; /* of children that ended and were waited for, recursively */
    bool drops_children;   /* SIGCHLD is ignored: children's time is not added to `waited` */
};

/* Parses /proc/PID/stat, whose times are in the kernel's ticks (proc_pid_stat(5)). False: another format. */
bool cputime_parse(const char *stat, long ticks_per_second, struct cputime_task *out);
/* False: the process (thread) does not exist or is hidden. */
bool cputime_of_process(uint32_t pid, struct cputime_task *out);
bool cputime_of_thread(uint32_t tid, struct cputime_task *out); /* waited: zeros */

/* Reads /proc/stat for the online CPUs, or for those with cpus[n_cpus] true. out: as sampled by the kernel's
 * tick. busy_ns: total time of these CPUs that was neither idle nor stolen by the hypervisor, from an
 * arbitrary start. */
bool cputime_of_cpus(const bool *cpus, uint32_t n_cpus, struct cputime *out, uint64_t *busy_ns);
/* Reads cpu.stat of a v2 cgroup, which includes its descendants. dirfd: its open folder. False: not
 * available. */
bool cputime_of_cgroup(int dirfd, struct cputime *out);

#endif
