// SPDX-License-Identifier: GPL-2.0-or-later
#include "process/cpu_limit.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/text.h"
#include "process/cgroup.h"

#define TEXT_MAX 4096 /* of a cgroup's file */

static bool read_text(const char *folder, const char *name, struct buf *text)
{
    char path[PATH_MAX + 64];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return file_read(path, TEXT_MAX, text, NULL);
}

/* Finds the limit in files of v2: "20000 100000" or "max 100000", in microseconds per period. */
static bool read_max(const char *folder, struct buf *text, double *cpus)
{
    unsigned long long quota, period;
    if (!read_text(folder, "cpu.max", text) || sscanf(buf_str(text), "%llu %llu", &quota, &period) != 2 ||
        !period)
        return false;
    *cpus = (double)quota / (double)period;
    return true;
}

/* Finds the limit in files of v1; a quota of -1 is none. */
static bool read_quota(const char *folder, struct buf *text, double *cpus)
{
    long long quota, period;
    if (!read_text(folder, "cpu.cfs_quota_us", text) || sscanf(buf_str(text), "%lld", &quota) != 1 ||
        quota <= 0)
        return false;
    if (!read_text(folder, "cpu.cfs_period_us", text) || sscanf(buf_str(text), "%lld", &period) != 1 ||
        period <= 0)
        return false;
    *cpus = (double)quota / (double)period;
    return true;
}

/* Returns the number on the line "NAME NUMBER"; 0: there is none. */
static uint64_t number_of(const char *text, const char *name)
{
    size_t n = strlen(name);
    for (; text; text = strchr(text, '\n') ? strchr(text, '\n') + 1 : NULL) {
        unsigned long long value;
        if (!strncmp(text, name, n) && sscanf(text + n, " %llu", &value) == 1)
            return value;
    }
    return 0;
}

static bool read_limit(const char *folder, struct cpu_limit *out)
{
    struct buf text = { 0 };
    bool limited = read_max(folder, &text, &out->cpus) || read_quota(folder, &text, &out->cpus);
    bool ok = limited && read_text(folder, "cpu.stat", &text);
    if (ok) {
        out->periods = number_of(buf_str(&text), "nr_periods");
        out->throttled = number_of(buf_str(&text), "nr_throttled");
    }
    buf_done(&text);
    return ok;
}

/* Reads the limits of the cgroup and of its ancestors. */
static size_t add_limits(const char *mount, const char *path, struct cpu_limit *out, size_t n)
{
    char at[PATH_MAX];
    size_t root = strlen(mount), length = (size_t)snprintf(at, sizeof at, "%s%s", mount, path);
    if (length >= sizeof at || strstr(path, "/..")) /* outside of flametop's own cgroup namespace */
        return n;
    while (n < CPU_LIMITS_MAX && length > root) {
        if (read_limit(at, &out[n])) {
            text_clean(out[n].cgroup, sizeof out[n].cgroup, at + root, length - root);
            n++;
        }
        length = (size_t)(strrchr(at, '/') - at);
        at[length] = '\0';
    }
    return n;
}

size_t cpu_limits_of_text(const char *text, const char *mounts, struct cpu_limit out[CPU_LIMITS_MAX])
{
    static const struct {
        const char *controller, *mount;
    } kinds[] = {
        { "", "" },
        { "", "/unified" },
        { "cpu", "/cpu" },
        { "cpu,cpuacct", "/cpu,cpuacct" },
        { "cpuacct,cpu", "/cpuacct,cpu" },
    };
    size_t n = 0;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        char mount[PATH_MAX], *path = cgroup_path_in(text, kinds[i].controller);
        snprintf(mount, sizeof mount, "%s%s", mounts, kinds[i].mount);
        n = path ? add_limits(mount, path, out, n) : n;
        mem_free(path);
    }
    return n;
}

size_t cpu_limits_of_process(uint32_t pid, struct cpu_limit out[CPU_LIMITS_MAX])
{
    char path[64];
    struct buf text = { 0 };
    size_t n = 0;
    snprintf(path, sizeof path, "/proc/%u/cgroup", pid);
    if (file_read(path, 64 << 10, &text, NULL))
        n = cpu_limits_of_text(buf_str(&text), "/sys/fs/cgroup", out);
    buf_done(&text);
    return n;
}
