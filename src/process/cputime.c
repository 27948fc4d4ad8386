// SPDX-License-Identifier: GPL-2.0-or-later
#include "process/cputime.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/procfile.h"

#define SIGCHLD_BIT 16 /* bit in a signal mask */
#define STAT_MAX    4096
#define CPUS_MAX    (1u << 20) /* of /proc/stat */

static uint64_t ns_of_ticks(uint64_t ticks, long ticks_per_second)
{
    return ticks * (NS_PER_SEC / (uint64_t)ticks_per_second);
}

bool cputime_parse(const char *stat, long ticks_per_second, struct cputime_task *out)
{
    struct procfile_stat s;
    *out = (struct cputime_task){ 0 };
    if (!procfile_parse_stat(stat, &s))
        return false;
    out->ppid = s.ppid;
    out->own =
        (struct cputime){ ns_of_ticks(s.user, ticks_per_second), ns_of_ticks(s.system, ticks_per_second) };
    out->waited = (struct cputime){ ns_of_ticks(s.waited_user, ticks_per_second),
                                    ns_of_ticks(s.waited_system, ticks_per_second) };
    out->start_ns = ns_of_ticks(s.start, ticks_per_second);
    out->drops_children = s.ignored >> SIGCHLD_BIT & 1;
    return true;
}

static bool read_task(const char *path, struct cputime_task *out)
{
    struct buf b = { 0 };
    bool ok = file_read(path, STAT_MAX, &b, NULL) && cputime_parse(buf_str(&b), sysconf(_SC_CLK_TCK), out);
    buf_done(&b);
    return ok;
}

bool cputime_of_process(uint32_t pid, struct cputime_task *out)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%u/stat", pid);
    return read_task(path, out);
}

bool cputime_of_thread(uint32_t tid, struct cputime_task *out)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%u/task/%u/stat", tid, tid);
    bool ok = read_task(path, out);
    out->waited = (struct cputime){ 0 }; /* belongs to the process */
    return ok;
}

/* Parses a line "cpuN user nice system idle iowait irq softirq steal …". */
static bool add_cpu(const char *line, const bool *cpus, uint32_t n_cpus, long ticks_per_second,
                    uint64_t *not_running_ns, struct cputime *out)
{
    uint32_t cpu;
    uint64_t user, nice, system, idle, iowait, irq, softirq, steal;
    if (sscanf(line,
               "cpu%" SCNu32 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64
               " %" SCNu64 " %" SCNu64,
               &cpu, &user, &nice, &system, &idle, &iowait, &irq, &softirq, &steal) != 9)
        return false;
    if (cpus && (cpu >= n_cpus || !cpus[cpu]))
        return false;
    out->user_ns += ns_of_ticks(user + nice, ticks_per_second);
    out->system_ns += ns_of_ticks(system + irq + softirq, ticks_per_second);
    *not_running_ns += ns_of_ticks(idle + iowait + steal, ticks_per_second);
    return true;
}

bool cputime_of_cpus(const bool *cpus, uint32_t n_cpus, struct cputime *out, uint64_t *busy_ns)
{
    struct buf b = { 0 };
    uint64_t not_running_ns = 0, n = 0;
    *out = (struct cputime){ 0 };
    bool ok = file_read("/proc/stat", CPUS_MAX, &b, NULL);
    uint64_t now_ns = clock_now_ns();
    for (const char *line = ok ? strchr(buf_str(&b), '\n') : NULL; line && !strncmp(line, "\ncpu", 4);
         line = strchr(line + 1, '\n'))
        n += add_cpu(line + 1, cpus, n_cpus, sysconf(_SC_CLK_TCK), &not_running_ns, out);
    buf_done(&b);
    *busy_ns = n * now_ns - not_running_ns;
    return n > 0;
}

bool cputime_of_cgroup(int dirfd, struct cputime *out)
{
    struct buf b = { 0 };
    uint64_t user_us, system_us;
    bool ok = file_read_at(dirfd, "cpu.stat", STAT_MAX, &b, NULL) &&
              procfile_number(buf_str(&b), "user_usec ", 0, &user_us) &&
              procfile_number(buf_str(&b), "system_usec ", 0, &system_us);
    if (ok)
        *out = (struct cputime){ user_us * 1000, system_us * 1000 };
    buf_done(&b);
    return ok;
}
