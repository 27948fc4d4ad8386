// SPDX-License-Identifier: GPL-2.0-or-later
/* Explain the kernel's refusals: the cause, and the least privilege or setting that fixes it. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/file.h"
#include "perf/open.h"

#define CAPABILITIES "setcap cap_perfmon,cap_sys_ptrace,cap_syslog+ep on the program"

static bool file_has(const char *path, const char *text)
{
    struct buf b = { 0 };
    bool found = file_read(path, 4 << 20, &b, NULL) && strstr(buf_str(&b), text);
    buf_done(&b);
    return found;
}

bool advice_is_vm(void)
{
    return file_has("/proc/cpuinfo", " hypervisor");
}

void advice_permission(char *dst, unsigned cap, int level)
{
    snprintf(dst, cap, "%s, or sysctl kernel.perf_event_paranoid=%d (now %d)", CAPABILITIES, level,
             event_paranoid());
}

static bool not_owner(uint32_t tid, unsigned *owner)
{
    uid_t uid;
    if (tid == 0 || geteuid() == 0 || !targets_uid_of(tid, &uid) || uid == geteuid())
        return false;
    *owner = uid;
    return true;
}

/* The kernel's own checks return EACCES; EPERM comes from layers before them (lockdown, seccomp). */
static bool refused_permission(const struct plan *p, const struct open_failure *f, struct error *e)
{
    const char *name = plan_event(p, f->member)->name;
    unsigned owner;
    if (f->sys == EPERM && file_has("/sys/kernel/security/lockdown", "[confidentiality]"))
        return error_set(
            e, ERROR_PERMISSION,
            "cannot open %s: the kernel is locked down (confidentiality), which forbids perf events; "
            "boot with lockdown=integrity",
            name);
    if (f->sys == EPERM && file_has("/proc/self/status", "\nSeccomp:\t2"))
        return error_set(
            e, ERROR_PERMISSION,
            "cannot open %s: a seccomp filter (a container's?) refuses perf_event_open; allow that call "
            "in its profile (docker: --cap-add PERFMON), or run outside",
            name);
    bool own = p->cfg.scope.own; /* the request was for all CPUs */
    int level = plan_event(p, f->member)->kind == EVENT_TRACEPOINT ? -1
                : p->where == PLAN_TASKS && !own                   ? 1
                                                                   : 0;
    if (not_owner(f->tid, &owner))
        error_sys(e, f->sys, "cannot open %s on thread %u, which belongs to uid %u", name, f->tid, owner);
    else if (p->where == PLAN_CGROUP)
        error_sys(e, f->sys, "cannot open %s on a cgroup (kernel.perf_event_paranoid is %d)", name,
                  event_paranoid());
    else
        error_sys(e, f->sys, "cannot open %s%s (kernel.perf_event_paranoid is %d)", name,
                  own ? " on all CPUs, nor on a process of yours" : "", event_paranoid());
    if (not_owner(f->tid, &owner)) /* regardless of perf_event_paranoid */
        return error_hint(e, "run as that user, or with CAP_PERFMON and CAP_SYS_PTRACE: " CAPABILITIES);
    return error_hint(e, "it needs CAP_PERFMON (" CAPABILITIES ") or sysctl kernel.perf_event_paranoid=%d",
                      level);
}

static bool refused_files(const struct plan *p, const struct open_failure *f, struct error *e)
{
    struct rlimit lim = { 0 };
    getrlimit(RLIMIT_NOFILE, &lim);
    return error_set(e, ERROR_LIMIT,
                     "cannot open %s: it needs more open files than RLIMIT_NOFILE allows (%llu); "
                     "ulimit -n %llu, or choose fewer CPUs (-C) or tasks",
                     plan_event(p, plan_first(p))->name, (unsigned long long)lim.rlim_cur,
                     (unsigned long long)(f->n_tasks ? f->n_tasks : 1) * (f->n_cpus ? f->n_cpus : 1) + 512);
}

static bool refused_ring(const struct plan *p, const struct open_failure *f, struct error *e)
{
    error_sys(e, f->sys, "cannot map a ring of %u KiB on CPU %u", p->ring_bytes / 1024, f->cpu);
    if (f->sys != EPERM && f->sys != ENOMEM && f->sys != EAGAIN)
        return false;
    if (e)
        e->class = ERROR_LIMIT;
    return error_hint(e, "raise RLIMIT_MEMLOCK (ulimit -l) or sysctl kernel.perf_event_mlock_kb, stop other "
                         "profilers of this user, or run with CAP_IPC_LOCK");
}

static bool refused_gone(const struct plan *p, struct error *e)
{
    const struct scope *s = &p->cfg.scope;
    const char *what = s->kind == SCOPE_TIDS ? "thread" : "process";
    if (s->kind == SCOPE_CGROUP)
        return error_set(e, ERROR_MISSING, "cgroup %s no longer exists", s->cgroup);
    if (s->kind == SCOPE_USER)
        return error_set(e, ERROR_MISSING, "uid %u has no processes to sample", (unsigned)s->uid);
    if (s->n_ids == 1)
        return error_set(e, ERROR_MISSING, "%s %u has ended", what, s->ids[0]);
    return error_set(e, ERROR_MISSING, "all %u of the %s ids to sample have ended", s->n_ids, what);
}

/* Replaces the kernel's error, which for software events, in VMs and on other CPUs says that a file is
 * missing. */
static bool refused_branches(const struct event *ev, struct error *e)
{
    error_set(e, ERROR_UNSUPPORTED, "%s: stacks from the CPU's branch records (LBR) are not available here",
              ev->name);
    return error_hint(
        e, "LBR needs a hardware event and a CPU that records calls (Intel since Haswell), rarely in VMs; "
           "choose auto, dwarf or fp");
}

/* Software events exist everywhere, so it is the cgroup that has no perf events. */
static bool refused_cgroup(const struct plan *p, struct error *e)
{
    error_set(e, ERROR_UNSUPPORTED, "the kernel has no perf events in the cgroup %s", p->cfg.scope.cgroup);
    return error_hint(e, "enable a controller in its parent: echo +pids > cgroup.subtree_control there; "
                         "or choose another cgroup, or all CPUs");
}

static bool refused_event(const struct plan *p, const struct open_failure *f, struct error *e)
{
    const struct event *ev = plan_event(p, f->member);
    switch (f->sys) {
    case EACCES:
    case EPERM:
        return refused_permission(p, f, e);
    case EMFILE:
    case ENFILE:
        return refused_files(p, f, e);
    case ESRCH:
        return refused_gone(p, e);
    case EINVAL:
    case ENOENT:
    case ENODEV:
    case EOPNOTSUPP:
        if (p->cfg.callchain == CALLCHAIN_LBR)
            return refused_branches(ev, e);
        if (p->where == PLAN_CGROUP && f->sys == ENOENT && ev->attr.type == PERF_TYPE_SOFTWARE)
            return refused_cgroup(p, e);
        if (event_supported(ev, NULL))
            return error_set(e, ERROR_UNSUPPORTED,
                             "%s can be counted (--stat -e %s), but not sampled: its PMU has no interrupt",
                             ev->name, ev->name);
        /* fall through */
    default:
        return event_explain(ev->name, plan_attr(p, f->member), f->tid ? (pid_t)f->tid : -1, f->sys, e);
    }
}

bool advice_refused(const struct plan *p, const struct open_failure *f, struct error *e)
{
    switch (f->stage) {
    case OPEN_RING:
        return refused_ring(p, f, e);
    case OPEN_BUDGET:
        return refused_files(p, f, e);
    case OPEN_FILTER:
        return event_explain_filter(plan_event(p, f->member), f->sys, e);
    case OPEN_TARGET:
        return refused_gone(p, e);
    case OPEN_NO_CPU:
        return error_set(e, ERROR_MISSING, "none of the chosen CPUs is online and has %s",
                         plan_event(p, plan_first(p))->name);
    default:
        return refused_event(p, f, e);
    }
}
