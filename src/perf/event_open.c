// SPDX-License-Identifier: GPL-2.0-or-later
/* Trying events on the machine, and words for its refusals. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/file.h"
#include "perf/event.h"
#include "perf/pmu.h"

int event_open_fd(const struct perf_event_attr *attr, pid_t pid, int cpu, int group_fd, unsigned long flags)
{
    return (int)syscall(SYS_perf_event_open, attr, pid, cpu, group_fd, flags | PERF_FLAG_FD_CLOEXEC);
}

int event_paranoid(void)
{
    struct buf b = { 0 };
    int level = 2;
    if (file_read("/proc/sys/kernel/perf_event_paranoid", 64, &b, NULL))
        level = atoi(buf_str(&b));
    buf_done(&b);
    return level;
}

static bool wants_cpu_counters(const struct perf_event_attr *attr)
{
    return attr->type == PERF_TYPE_HARDWARE || attr->type == PERF_TYPE_HW_CACHE ||
           attr->type == PERF_TYPE_RAW;
}

static bool explain_missing(const char *name, const struct perf_event_attr *attr, struct error *e)
{
    if (wants_cpu_counters(attr) && !pmu_has_core())
        return error_set(e, ERROR_UNSUPPORTED,
                         "%s: this machine shows no hardware counters (in a VM the host must pass a PMU on); "
                         "cpu-clock works everywhere",
                         name);
    if (wants_cpu_counters(attr))
        return error_set(e, ERROR_UNSUPPORTED, "%s: this CPU does not count it", name);
    return error_set(e, ERROR_UNSUPPORTED, "%s: this kernel does not have it", name);
}

static bool explain_refusal(const char *name, const struct perf_event_attr *attr, bool all_tasks, int errnum,
                            struct error *e)
{
    int level = event_paranoid();
    error_sys(e, errnum, "%s: the kernel refuses it at kernel.perf_event_paranoid=%d", name, level);
    if (attr->type == PERF_TYPE_TRACEPOINT)
        return error_hint(e, "; it wants CAP_PERFMON, or sysctl kernel.perf_event_paranoid=-1");
    if (level <= -1)
        return error_hint(e, "; a container's seccomp rules or the kernel's lockdown may forbid it");
    int enough = all_tasks ? 0 : attr->exclude_kernel ? 2 : 1;
    if (level <= enough)
        return error_hint(e, "; a task of another user wants CAP_PERFMON (and CAP_SYS_PTRACE)");
    return error_hint(e, "; it wants CAP_PERFMON, or sysctl kernel.perf_event_paranoid=%d", enough);
}

static bool explain(const char *name, const struct perf_event_attr *attr, bool all_tasks, int errnum,
                    struct error *e)
{
    switch (errnum) {
    case ENOENT:
    case ENODEV:
    case ENXIO:
    case EOPNOTSUPP:
        return explain_missing(name, attr, e);
    case EACCES:
    case EPERM:
        return explain_refusal(name, attr, all_tasks, errnum, e);
    case EINVAL:
        return error_set(e, ERROR_UNSUPPORTED, "%s: the kernel says that these settings do not go together",
                         name);
    case EMFILE:
    case ENFILE:
        return error_set(e, ERROR_LIMIT, "%s: too many open files; raise the limit (ulimit -n)", name);
    case EBUSY:
        return error_set(e, ERROR_LIMIT, "%s: another profiler, or the NMI watchdog, holds the counter",
                         name);
    case ENOSPC:
        return error_set(e, ERROR_LIMIT, "%s: no breakpoint or counter is left", name);
    case ENOSYS:
        return error_set(e, ERROR_UNSUPPORTED, "%s: this kernel is built without perf_event", name);
    case ESRCH:
        return error_set(e, ERROR_MISSING, "%s: the task is gone", name);
    default:
        return error_sys(e, errnum, "%s: the kernel did not open it", name);
    }
}

bool event_explain(const char *name, const struct perf_event_attr *attr, int errnum, struct error *e)
{
    return explain(name, attr, false, errnum, e);
}

bool event_explain_on_cpu(const char *name, const struct perf_event_attr *attr, int errnum, struct error *e)
{
    return explain(name, attr, true, errnum, e);
}

/* An uncore PMU counts on its own CPUs and no task; all others can be tried on ourselves. */
static int try_open(const struct event *ev, const struct perf_event_attr *attr)
{
    if (!ev->cpus)
        return event_open_fd(attr, 0, -1, -1, 0);
    int fd = event_open_fd(attr, 0, -1, -1, 0);
    return fd >= 0 ? fd : event_open_fd(attr, -1, __builtin_ctzll(ev->cpus), -1, 0);
}

bool event_supported(const struct event *ev, struct error *e)
{
    struct perf_event_attr attr = ev->attr;
    attr.size = sizeof attr;
    attr.disabled = 1;
    int fd = try_open(ev, &attr);
    if (fd < 0 && (errno == EACCES || errno == EPERM) && !attr.exclude_kernel && !attr.exclude_user) {
        /* Rights are looked at before the event is: without the kernel's part it may be another refusal. */
        attr.exclude_kernel = attr.exclude_hv = 1;
        fd = try_open(ev, &attr);
    }
    if (fd < 0)
        return explain(ev->name, &attr, ev->cpus != 0, errno, e);
    close(fd);
    return true;
}
