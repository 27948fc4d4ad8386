// SPDX-License-Identifier: GPL-2.0-or-later
/* Try to open events, and explain the kernel's refusals. */
#include <errno.h>
#include <linux/capability.h>
#include <linux/hw_breakpoint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/file.h"
#include "perf/event_parse.h"
#include "perf/pair_rows.h"
#include "perf/pmu.h"
#include "perf/targets.h"
#include "perf/tracepoint.h"

/* Shift of the PMU's type in the config of an event that several PMUs have, Linux 5.13. */
#define TYPE_SHIFT 32

void event_attr_on_cpu(const struct perf_event_attr *attr, int cpu, struct perf_event_attr *out)
{
    bool generic = (attr->type == PERF_TYPE_HARDWARE || attr->type == PERF_TYPE_HW_CACHE) &&
                   !(attr->config >> TYPE_SHIFT);
    *out = *attr;
    uint32_t type = generic || attr->type == PERF_TYPE_RAW ? pmu_hybrid_type(cpu) : 0;
    if (type && generic)
        out->config |= (uint64_t)type << TYPE_SHIFT;
    else if (type)
        out->type = type;
}

int event_open_fd(const struct perf_event_attr *attr, pid_t pid, int cpu, int group_fd, unsigned long flags)
{
    struct perf_event_attr on;
    event_attr_on_cpu(attr, cpu, &on);
    if (attr->type == EVENT_TYPE_TOOL) {
        errno = EOPNOTSUPP;
        return -1;
    }
    return (int)syscall(SYS_perf_event_open, &on, pid, cpu, group_fd, flags | PERF_FLAG_FD_CLOEXEC);
}

bool event_set_filter(int fd, const struct event *ev)
{
    return !*ev->filter || ioctl(fd, PERF_EVENT_IOC_SET_FILTER, ev->filter) == 0;
}

bool event_explain_filter(const struct event *ev, int errnum, struct error *e)
{
    char system[EVENT_NAME_MAX];
    size_t n = strcspn(ev->tracepoint, ":");
    snprintf(system, sizeof system, "%.*s", (int)n, ev->tracepoint);
    return tracepoint_explain_filter(system, ev->tracepoint + n + (ev->tracepoint[n] == ':'), ev->filter,
                                     errnum, e);
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
                         "%s: no hardware counters on this machine (in a VM, the host must expose a PMU); "
                         "cpu-clock works everywhere",
                         name);
    if (wants_cpu_counters(attr))
        return error_set(e, ERROR_UNSUPPORTED, "%s: this CPU does not count it", name);
    return error_set(e, ERROR_UNSUPPORTED, "%s: this kernel does not have it", name);
}

static bool is_capable(void)
{
    struct __user_cap_header_struct of = { .version = _LINUX_CAPABILITY_VERSION_3 };
    struct __user_cap_data_struct d[2] = { { 0 } };
    if (syscall(SYS_capget, &of, d))
        return false;
    return d[CAP_PERFMON / 32].effective >> CAP_PERFMON % 32 & 1 || d[0].effective >> CAP_SYS_ADMIN & 1;
}

/* Explain a refused task of another user, which needs more than any perf_event_paranoid value gives. */
static bool refused_task(const char *name, pid_t pid, int errnum, struct error *e)
{
    uid_t owner;
    if (pid <= 0 || !targets_uid_of((uint32_t)pid, &owner) || owner == geteuid())
        return false;
    error_sys(e, errnum, "%s: thread %d belongs to uid %u", name, (int)pid, (unsigned)owner);
    error_hint(e, "; run as that user, or with CAP_PERFMON and CAP_SYS_PTRACE");
    return true;
}

static bool explain_refusal(const char *name, const struct perf_event_attr *attr, pid_t pid, int errnum,
                            struct error *e)
{
    int level = event_paranoid();
    bool is_tracepoint = attr->type == PERF_TYPE_TRACEPOINT;
    int enough = is_tracepoint ? -1 : pid < 0 ? 0 : attr->exclude_kernel ? 2 : 1;
    if (is_capable()) {
        error_sys(e, errnum, "%s: the kernel refuses it even with CAP_PERFMON", name);
        return error_hint(e, "; a container's seccomp rules or the kernel's lockdown may forbid it");
    }
    if (refused_task(name, pid, errnum, e))
        return false;
    error_sys(e, errnum, "%s: the kernel refuses it at kernel.perf_event_paranoid=%d", name, level);
    if (level > enough)
        return error_hint(e, "; it needs CAP_PERFMON, or sysctl kernel.perf_event_paranoid=%d", enough);
    if (pid > 0)
        return error_hint(
            e, "; a task that hides its memory (not dumpable) needs CAP_PERFMON and CAP_SYS_PTRACE");
    return error_hint(e, "; a container's seccomp rules or the kernel's lockdown may forbid it");
}

/* Explain EINVAL, which the kernel returns without details. */
static const char *why_invalid(const struct perf_event_attr *attr)
{
    bool is_breakpoint = attr->type == PERF_TYPE_BREAKPOINT;
    if (is_breakpoint && attr->bp_type & HW_BREAKPOINT_X && attr->bp_type != HW_BREAKPOINT_X)
        return "a breakpoint is on execution (x) or on accesses (w, rw), not on both";
    if (is_breakpoint && attr->bp_type == HW_BREAKPOINT_R)
        return "this CPU has no breakpoints on reads only; use rw (reads and writes)";
    if (is_breakpoint && attr->bp_type == HW_BREAKPOINT_X && attr->bp_len != sizeof(long))
        return "a breakpoint on execution has no length: mem:0xADDRESS:x";
    if (is_breakpoint && attr->bp_len && attr->bp_addr % attr->bp_len)
        return "the address of a breakpoint is a multiple of its length; mem:0xADDRESS/1 is anywhere";
    if (attr->type >= PERF_TYPE_MAX && (attr->exclude_user || attr->exclude_kernel))
        return "its PMU cannot separate user space and kernel: leave out the modifiers (u, k), -K and -U";
    return "the kernel rejects this combination of settings";
}

bool event_explain(const char *name, const struct perf_event_attr *attr, pid_t pid, int errnum,
                   struct error *e)
{
    if (attr->type == EVENT_TYPE_TOOL)
        return error_set(e, ERROR_UNSUPPORTED, "%s: it is counted by --stat, and cannot be sampled", name);
    switch (errnum) {
    case ENOENT:
    case ENODEV:
    case ENXIO:
    case EOPNOTSUPP:
        return explain_missing(name, attr, e);
    case EACCES:
    case EPERM:
        return explain_refusal(name, attr, pid, errnum, e);
    case EINVAL:
        return error_set(e, ERROR_UNSUPPORTED, "%s: %s", name, why_invalid(attr));
    case EMFILE:
    case ENFILE:
        return error_set(e, ERROR_LIMIT, "%s: too many open files; raise the limit (ulimit -n)", name);
    case EBUSY:
        return error_set(e, ERROR_LIMIT,
                         "%s: another profiler, or the NMI watchdog, uses the counter; stop it, or sysctl "
                         "kernel.nmi_watchdog=0",
                         name);
    case ENOSPC:
        if (attr->type == PERF_TYPE_BREAKPOINT)
            return error_set(
                e, ERROR_LIMIT,
                "%s: the CPU's breakpoints are all in use (x86 has 4, shared with debuggers and other "
                "profilers); stop one of them, or choose fewer mem: events",
                name);
        return error_set(e, ERROR_LIMIT,
                         "%s: no counter is left: another profiler, or the NMI watchdog, holds them", name);
    case ENOSYS:
        return error_set(e, ERROR_UNSUPPORTED, "%s: this kernel is built without perf_event", name);
    case ESRCH:
        return error_set(e, ERROR_MISSING, "%s: the task has ended", name);
    default:
        return error_sys(e, errnum, "%s: the kernel did not open it", name);
    }
}

/* Try to open the event. An uncore PMU counts on its own CPUs, not tasks; all others are tried on this
 * process. */
static int try_open(const struct event *ev, const struct perf_event_attr *attr)
{
    int fd = event_open_fd(attr, 0, -1, -1, 0);
    /* RAPL and similar PMUs count per package: the kernel refuses tasks with EINVAL. */
    if (fd >= 0 || ev->kind != EVENT_PMU || (!cpu_mask_any(&ev->cpus) && errno != EINVAL))
        return fd;
    int cpu = cpu_mask_first(&ev->cpus);
    return event_open_fd(attr, -1, cpu < 0 ? 0 : cpu, -1, 0);
}

int event_try(const struct event *ev, struct error *e)
{
    struct event parts[EVENT_LATENCY_PARTS], off_cpu;
    if (ev->latency && ev->pair->of_waits)
        return event_parse_one("off-cpu", &off_cpu, e) && event_make_wakers(&off_cpu, &parts[0], e)
                   ? event_try(&parts[0], e)
                   : -1;
    if (ev->latency) /* the end opens if the begin does */
        return event_latency_parts(ev, parts, e) ? event_try(&parts[0], e) : -1;
    struct perf_event_attr attr = ev->attr;
    attr.size = sizeof attr;
    attr.disabled = 1;
    int fd = try_open(ev, &attr);
    if (fd < 0 && (errno == EACCES || errno == EPERM) && !attr.exclude_kernel && !attr.exclude_user) {
        /* Permission is checked before the event: without the kernel part the error may differ. */
        attr.exclude_kernel = attr.exclude_hv = 1;
        fd = try_open(ev, &attr);
    }
    if (fd < 0)
        event_explain(ev->name, &attr, cpu_mask_any(&ev->cpus) ? -1 : 0, errno, e);
    return fd;
}

bool event_supported(const struct event *ev, struct error *e)
{
    if (ev->kind == EVENT_TOOL && !ev->attr.sample_period)
        return true;
    int fd = event_try(ev, e);
    if (fd >= 0)
        close(fd);
    return fd >= 0;
}
