// SPDX-License-Identifier: GPL-2.0-or-later
/* Fall back from the requested setup to what this machine supports, in steps that each leave a note. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/log.h"
#include "base/mem.h"
#include "perf/open.h"
#include "perf/pmu.h"

#define RATE_LIMIT_FILE "/proc/sys/kernel/perf_event_max_sample_rate"

/* Reduce a rate to the limit. *above: the highest requested rate above it so far. */
static void keep_limit(uint64_t *freq_hz, uint64_t limit, uint64_t *above)
{
    if (*freq_hz <= limit)
        return;
    if (*freq_hz > *above)
        *above = *freq_hz;
    *freq_hz = limit;
}

static bool step_rate(struct plan *p)
{
    uint64_t limit, above = 0;
    char what[160];
    if (!file_read_u64(RATE_LIMIT_FILE, &limit) || limit == 0)
        return false;
    p->limit_hz = limit;
    keep_limit(&p->cfg.freq_hz, limit, &above);
    for (uint32_t i = 0; i < p->cfg.n_others; i++)
        keep_limit(&p->cfg.others[i].freq_hz, limit, &above);
    if (!above)
        return false;
    snprintf(what, sizeof what, "%llu samples a second are above the kernel's limit: sampling at %llu",
             (unsigned long long)above, (unsigned long long)limit);
    plan_note(p, what, "sysctl kernel.perf_event_max_sample_rate=%llu", (unsigned long long)above);
    return true;
}

/* Above this rate of samples per second on all CPUs, dropping other tasks' samples is too expensive. */
#define WIDE_SAMPLES_MAX 20000
#define WIDE_HZ_ALWAYS   200 /* always cheap enough */

/* True if tasks may be sampled on all CPUs. The timer or counter of a task restarts in each of its threads
 * and children, so that one which ends within a period has no sample; that of a CPU continues across all of
 * them. */
static bool may_go_wide(const struct plan *p)
{
    struct cpus cpus;
    uint64_t hz = 0, freq_hz, period, n = 0;
    /* on CPUs, group readings include other tasks */
    if (!p->cfg.wide || p->cfg.scope.cpus || !plan_is_frequency(p) || plan_reads(p))
        return false;
    for (uint32_t member = plan_first(p); member < EVENT_SET_MAX; member = plan_next_member(p, member)) {
        plan_rate(p, member, &freq_hz, &period);
        hz += freq_hz;
    }
    open_cpu_list(p, &cpus);
    for (uint32_t i = 0; i < cpus.n; i++)
        n += cpus.in[i];
    cpus_done(&cpus);
    return hz <= WIDE_HZ_ALWAYS || hz * n <= WIDE_SAMPLES_MAX;
}

/* True if a target still runs. If all have ended, only per-task events report that: events on all CPUs
 * would open, and sample nothing. */
static bool any_runs(const struct live_config *cfg)
{
    return targets_any_runs(cfg->scope.ids, cfg->scope.n_ids) || targets_any_runs(cfg->known, cfg->n_known);
}

/* True if some operations of latency:ROW are sampled. The events of a selection are opened anew each time: of
 * tasks, they would miss the children that run already. And a period restarts in each child: equal children
 * would be counted at the same operations. */
static bool selects_any(const struct plan *p)
{
    for (uint32_t member = 0; member <= p->cfg.n_others && p->cfg.selections; member++)
        if (plan_event(p, member)->of_pair && p->cfg.selections[member].one_in > 1)
            return true;
    return false;
}

/* True if the first event, which follows the tasks, is open for all of them: of the begins and the ends of
 * operations that only a later event assigns to a process. */
static bool is_everywhere(const struct plan *p)
{
    return plan_first(p) < EVENT_SET_MAX && plan_event(p, plan_first(p))->everywhere;
}

/* Sample tasks on all CPUs where possible; also if the kernel does not let children inherit events that
 * read groups. */
static void look_at_all_cpus(struct plan *p)
{
    bool unread = plan_reads(p) && !open_inherits_readers() && !p->cfg.enable_on_exec;
    bool all = unread || (selects_any(p) && !p->cfg.enable_on_exec) || may_go_wide(p);
    if (p->where != PLAN_TASKS || (!is_everywhere(p) && (!p->cfg.inherit || !all || !any_runs(&p->cfg))))
        return;
    p->where = PLAN_CPUS;
    p->filter = true;
    log_add("children are followed on all CPUs, and the samples of other tasks dropped");
}

void ladder_start(struct plan *p)
{
    look_at_all_cpus(p);
    step_rate(p);
    dumps_start(p);
}

static bool is_hardware(const struct perf_event_attr *a)
{
    return a->type != PERF_TYPE_SOFTWARE && a->type != PERF_TYPE_TRACEPOINT &&
           a->type != PERF_TYPE_BREAKPOINT;
}

static bool is_clock(const struct perf_event_attr *a)
{
    return a->type == PERF_TYPE_SOFTWARE && a->config == PERF_COUNT_SW_CPU_CLOCK;
}

/* The upper half of config may hold the PMU's type. */
static bool is_cycles(const struct perf_event_attr *a)
{
    return a->type == PERF_TYPE_HARDWARE && (uint32_t)a->config == PERF_COUNT_HW_CPU_CYCLES;
}

static bool has_clock_like(const struct plan *p, const struct perf_event_attr *cycles)
{
    for (uint32_t member = plan_first(p); member < EVENT_SET_MAX; member = plan_next_member(p, member)) {
        const struct perf_event_attr *a = &plan_event(p, member)->attr;
        if (is_clock(a) && a->exclude_kernel == cycles->exclude_kernel &&
            a->exclude_user == cycles->exclude_user)
            return true;
    }
    return false;
}

static bool is_absent(int sys)
{
    return sys == ENOENT || sys == ENODEV || sys == ENXIO || sys == EOPNOTSUPP;
}

static void note_clock(struct plan *p, int sys)
{
    if (p->clock_noted)
        return;
    p->clock_noted = true;
    if (sys == EBUSY)
        plan_note(p, "the hardware counters are in use: sampling cpu-clock",
                  "stop the other profiler, or sysctl kernel.nmi_watchdog=0");
    else if (pmu_has_core())
        plan_note(p, "this CPU's counters cannot sample cycles: sampling cpu-clock",
                  "choose another event (flametop --list-events)");
    else if (advice_is_vm())
        plan_note(p, "no hardware counters in this VM: sampling cpu-clock",
                  "give the VM a virtual PMU (QEMU/KVM: -cpu host,pmu=on)");
    else
        plan_note(p, "no hardware counters on this machine: sampling cpu-clock",
                  "dmesg | grep -i perf says why the kernel found none");
    if (sys != EBUSY)
        plan_note_is_calm(p);
}

/* Undo reductions made for an event that did not open: they may not have been at fault. */
static void start_again(struct plan *p)
{
    p->features_dropped = 0;
    p->cfg.callchain = p->callchain_asked;
    dumps_start(p);
}

static bool may_be_clock(const struct plan *p, const struct open_failure *f)
{
    const struct perf_event_attr *a = &plan_event(p, f->member)->attr;
    if (p->cfg.callchain == CALLCHAIN_LBR)
        return false; /* branches are recorded by the hardware counters */
    return p->cfg.named ? is_cycles(a) && is_absent(f->sys) && !has_clock_like(p, a) : is_hardware(a);
}

/* Replace a hardware event that the user did not name, or cycles, by cpu-clock. Modes are kept, precision
 * is not. */
static bool step_clock(struct plan *p, const struct open_failure *f)
{
    struct event *ev = f->member ? &p->cfg.others[f->member - 1].event : &p->cfg.event;
    if (!may_be_clock(p, f))
        return false;
    note_clock(p, f->sys);
    struct perf_event_attr old = ev->attr;
    memset(&ev->attr, 0, sizeof ev->attr);
    ev->attr.size = sizeof ev->attr;
    ev->attr.type = PERF_TYPE_SOFTWARE;
    ev->attr.config = PERF_COUNT_SW_CPU_CLOCK;
    ev->attr.exclude_kernel = old.exclude_kernel;
    ev->attr.exclude_user = old.exclude_user;
    ev->attr.exclude_hv = old.exclude_hv;
    ev->kind = EVENT_SOFTWARE;
    ev->precise_max = false;
    ev->cpus = (struct cpu_mask){ { 0 } };
    if (!p->cfg.named) {
        ev->members = 0;
        ev->reads = false;
        p->cfg.n_others = 0;
    }
    snprintf(ev->name, sizeof ev->name, "cpu-clock%s",
             old.exclude_kernel ? ":u"
             : old.exclude_user ? ":k"
                                : "");
    if (f->member == plan_first(p))
        start_again(p);
    return true;
}

/* Fall back from all CPUs to the caller's processes. */
static bool step_own(struct plan *p)
{
    char fix[200];
    uint32_t n, *pids = targets_pids_of_user(geteuid(), &n);
    if (n == 0) {
        mem_free(pids);
        return false;
    }
    struct scope *s = &p->cfg.scope;
    mem_free(s->ids);
    s->ids = pids;
    s->n_ids = n;
    s->kind = SCOPE_PIDS;
    s->own = true;
    p->where = PLAN_TASKS;
    p->no_wide = true;
    advice_permission(fix, sizeof fix, 0);
    plan_note(p, "no permission for all CPUs: sampling your own processes", "%s", fix);
    return true;
}

/* All CPUs with a filter were refused: open the tasks themselves, as many as descriptors allow. */
static bool step_tasks(struct plan *p)
{
    char fix[200];
    p->where = PLAN_TASKS;
    p->filter = false;
    p->no_wide = true;
    p->fit = p->cfg.scope.kind != SCOPE_USER;
    if (p->cfg.scope.kind == SCOPE_USER) {
        advice_permission(fix, sizeof fix, 0);
        plan_note(p, "no permission for all CPUs: sampling running tasks and their children", "%s", fix);
    }
    return true;
}

static bool step_user_space(struct plan *p)
{
    char fix[200];
    const struct perf_event_attr *a = plan_attr(p, plan_first(p));
    if (a->exclude_kernel || a->exclude_user || p->where != PLAN_TASKS)
        return false;
    p->cfg.scope.no_kernel = true;
    advice_permission(fix, sizeof fix, 1);
    plan_note(p, "no permission for the kernel: sampling user space only", "%s", fix);
    return true;
}

static bool step_permission(struct plan *p)
{
    if (p->where == PLAN_CPUS && p->filter)
        return step_tasks(p);
    if (p->where == PLAN_CPUS && step_own(p))
        return true;
    return step_user_space(p);
}

/* Too few descriptors: open one per CPU and drop other tasks' samples, or open as many tasks as fit. */
static bool step_files(struct plan *p, const struct open_failure *f)
{
    char what[160];
    if (p->where != PLAN_TASKS || p->fit)
        return false;
    if (p->no_wide || p->cfg.enable_on_exec) {
        p->fit = true;
        return true;
    }
    p->where = PLAN_CPUS;
    p->filter = true;
    snprintf(
        what, sizeof what,
        "%u threads on %u CPUs need more open files than allowed: sampling all CPUs, dropping other tasks",
        f->n_tasks, f->n_cpus);
    log_add("%s; to avoid this, ulimit -n %llu", what, (unsigned long long)f->n_tasks * f->n_cpus + 64);
    return true;
}

static bool step_ring(struct plan *p, int sys)
{
    if (sys != EPERM && sys != ENOMEM && sys != EAGAIN)
        return false;
    if (p->ring_bytes / 2 < dumps_ring_least(p))
        return dumps_step_memory(p);
    p->ring_bytes /= 2;
    return true;
}

static bool step_event(struct plan *p, const struct open_failure *f)
{
    switch (f->sys) {
    case EINVAL:
        return step_rate(p) || plan_drop_feature(p) || dumps_step_refused(p) || step_clock(p, f);
    case ENOSYS: /* the kernel cannot sample registers or the stack on this architecture */
        return dumps_step_refused(p);
    case ENOENT:
    case ENODEV:
    case ENXIO:
    case EOPNOTSUPP:
    case EBUSY:
        return step_clock(p, f);
    case EACCES:
    case EPERM:
        return step_permission(p);
    case EMFILE:
    case ENFILE:
        return step_files(p, f);
    default:
        return false;
    }
}

/* Continue without the first event. */
static bool step_first(struct plan *p, const struct open_failure *f)
{
    struct error why = { 0 };
    char what[160];
    advice_refused(p, f, &why);
    if (!p->refused.text[0])
        p->refused = why;
    snprintf(what, sizeof what, "sampling without %.60s", plan_event(p, f->member)->name);
    plan_note(p, what, "%s", why.text);
    p->without[f->member] = true;
    start_again(p);
    return true;
}

/* Continue without an event that does not open together with the previous ones. */
static bool step_member(struct plan *p, const struct open_failure *f)
{
    const struct event *ev = plan_event(p, f->member);
    struct error why = { 0 };
    char what[160];
    p->without[f->member] = true;
    uint32_t leader = plan_leader(p, f->member);
    bool alone = leader == f->member;
    snprintf(what, sizeof what, "%s%.50s continues without %.60s", alone ? "" : "the group of ",
             plan_event(p, alone ? plan_first(p) : leader)->name, ev->name);
    event_explain(ev->name, &ev->attr, f->tid ? (pid_t)f->tid : -1, f->sys, &why);
    if (f->sys == EINVAL && !alone)
        plan_note(p, what, "the kernel cannot count these together: use fewer events, or events of one PMU");
    else
        plan_note(p, what, "%s", why.text);
    return true;
}

static bool is_of_one_event(const struct open_failure *f)
{
    return f->stage == OPEN_EVENT &&
           (is_absent(f->sys) || f->sys == EINVAL || f->sys == EBUSY || f->sys == ENOSPC);
}

static bool leave_out(struct plan *p, const struct open_failure *f)
{
    bool permission = f->sys == EACCES || f->sys == EPERM;
    if (f->stage != OPEN_EVENT || plan_members(p) == 1)
        return false;
    if (f->member != plan_first(p))
        return step_member(p, f);
    return (is_of_one_event(f) || permission) && step_first(p, f);
}

bool ladder_step(struct plan *p, const struct open_failure *f, struct error *e)
{
    bool changed = false;
    if (is_of_one_event(f) && f->member != plan_first(p))
        return step_clock(p, f) || step_member(p, f);
    switch (f->stage) {
    case OPEN_EVENT:
        changed = step_event(p, f);
        break;
    case OPEN_RING:
        changed = step_ring(p, f->sys);
        break;
    case OPEN_BUDGET:
        changed = step_files(p, f);
        break;
    case OPEN_FILTER:
    case OPEN_TARGET:
    case OPEN_NO_CPU:
        break;
    }
    if (changed || leave_out(p, f))
        return true;
    if (is_of_one_event(f) && p->refused.text[0] && e)
        *e = p->refused;
    else
        advice_refused(p, f, e);
    return false;
}
