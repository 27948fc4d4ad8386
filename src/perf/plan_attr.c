// SPDX-License-Identifier: GPL-2.0-or-later
/* Build the perf_event_attrs of a plan. */
#include <time.h>

#include "base/log.h"
#include "perf/open.h"

/* Features by the kernel version that added them, newest first: an older kernel returns EINVAL for each. */
enum feature {
    FEATURE_COUNT_LOST,    /* 6.0 */
    FEATURE_SAMPLE_CGROUP, /* 5.7, with CONFIG_CGROUP_PERF */
    FEATURE_CGROUP,        /* 5.7 */
    FEATURE_KSYMBOL,       /* 5.1 */
    FEATURE_SWITCHES,      /* 4.3 */
    FEATURE_CLOCKID,       /* 4.1 */
    FEATURE_COMM_EXEC,     /* 3.16 */
    FEATURE_MMAP2,         /* 3.16 */
    FEATURE_COUNT,
};
static const char *const feature_names[FEATURE_COUNT] = {
    [FEATURE_COUNT_LOST] = "counts of lost records",
    [FEATURE_SAMPLE_CGROUP] = "cgroups of samples",
    [FEATURE_CGROUP] = "cgroup records",
    [FEATURE_KSYMBOL] = "kernel symbol records",
    [FEATURE_SWITCHES] = "records of switches",
    [FEATURE_CLOCKID] = "a choice of clock",
    [FEATURE_COMM_EXEC] = "marks on exec",
    [FEATURE_MMAP2] = "inodes of mappings",
};

static bool has(const struct plan *p, enum feature f)
{
    return p->features_dropped <= (uint32_t)f;
}

bool plan_drop_feature(struct plan *p)
{
    if (p->features_dropped == FEATURE_COUNT)
        return false;
    log_add("trying without %s, which this kernel may lack", feature_names[p->features_dropped]);
    p->features_dropped++;
    return true;
}

static bool has_payload(const struct event *ev)
{
    return ev->kind == EVENT_TRACEPOINT || ev->attr.type == PERF_TYPE_TRACEPOINT;
}

/* True if the event's stacks are by frame pointers, while those of others are dumps. */
static bool is_by_fp(const struct plan *p, uint32_t member)
{
    return plan_event(p, member)->wakers && p->cfg.wakers_by_fp && dumps_run(p);
}

/* The sample_type of a member. The fields for id, task and time are the same for all members. */
static uint64_t sample_type_of(const struct plan *p, uint32_t member)
{
    uint64_t freq_hz, period;
    plan_rate(p, member, &freq_hz, &period);
    uint64_t t =
        PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU;
    /* With PERF_SAMPLE_PERIOD the kernel samples each occurrence of a software event or tracepoint,
     * regardless of sample_period. It is set for a period of 1: some tracepoints count by more than one at
     * a time. Not for waits and operations, which have other periods (thin.c, select.c). */
    if (freq_hz ||
        (period == 1 && !event_has_waits(plan_event(p, member)) && !plan_event(p, member)->of_pair))
        t |= PERF_SAMPLE_PERIOD;
    bool stack = !plan_event(p, member)->no_stack;
    if (p->cfg.callchain != CALLCHAIN_NONE && stack)
        t |= PERF_SAMPLE_CALLCHAIN;
    if (has_payload(plan_event(p, member)))
        t |= PERF_SAMPLE_RAW;
    if (plan_is_read(p, member))
        t |= PERF_SAMPLE_READ;
    if (has(p, FEATURE_SAMPLE_CGROUP))
        t |= PERF_SAMPLE_CGROUP;
    if (stack && dumps_run(p) && !is_by_fp(p, member))
        t |= PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
    if (stack && dumps_link_mask(p))
        t |= PERF_SAMPLE_REGS_USER;
    if (p->cfg.callchain == CALLCHAIN_LBR && stack)
        t |= PERF_SAMPLE_BRANCH_STACK;
    return t;
}

/* True if switches are to be recorded, and no event does so by itself, as off-cpu does. */
static bool wants_switches(const struct plan *p)
{
    bool wants = p->cfg.switches && has(p, FEATURE_SWITCHES);
    for (uint32_t member = plan_first(p); member < EVENT_SET_MAX; member = plan_next_member(p, member))
        wants &= !plan_event(p, member)->attr.context_switch;
    return wants;
}

/* Enable side-band records. Namespace records are excluded: for each fork on the system the kernel would
 * look up all seven namespaces, which costs more than all its other records (session/scan_proc.c). */
static void set_sideband(const struct plan *p, struct perf_event_attr *a)
{
    a->sample_id_all = 1;
    a->mmap = a->comm = a->task = 1;
    a->mmap2 = has(p, FEATURE_MMAP2);
    a->comm_exec = has(p, FEATURE_COMM_EXEC);
    a->ksymbol = has(p, FEATURE_KSYMBOL);
    a->cgroup = has(p, FEATURE_CGROUP);
    a->context_switch |= wants_switches(p);
    if (has(p, FEATURE_CLOCKID)) {
        a->use_clockid = 1;
        a->clockid = CLOCK_MONOTONIC;
    }
}

static void set_modes(const struct plan *p, struct perf_event_attr *a)
{
    if (p->cfg.scope.no_kernel)
        a->exclude_kernel = a->exclude_hv = 1;
    if (p->cfg.scope.no_user)
        a->exclude_user = 1;
    a->exclude_callchain_kernel = a->exclude_kernel;
    a->exclude_callchain_user = a->exclude_user;
}

/* Set registers, stack dump and branch records. The kernel's frame pointer chain of user space adds nothing
 * to a dump, except where a program switches stacks (Go on x86-64): there it continues, at little cost if
 * nothing maintains frame pointers. */
static void set_stacks(const struct plan *p, struct perf_event_attr *a)
{
    a->sample_regs_user = dumps_link_mask(p);
    if (dumps_run(p)) {
        a->sample_regs_user = p->cfg.regs_user_mask;
        a->sample_stack_user = p->cfg.stack_bytes;
        a->exclude_callchain_user = a->exclude_user || p->cfg.regs_link_mask;
    }
    if (p->cfg.callchain == CALLCHAIN_LBR) {
        a->branch_sample_type = PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_CALL_STACK |
                                PERF_SAMPLE_BRANCH_NO_FLAGS | PERF_SAMPLE_BRANCH_NO_CYCLES;
        a->exclude_callchain_user = 1;
    }
}

/* True if children inherit the events. Needed for tasks only: events on CPUs see children anyway. */
static bool inherits(struct plan *p)
{
    if (!p->cfg.inherit && !p->cfg.scope.own)
        return false;
    if (!plan_reads(p) || open_inherits_readers())
        return true;
    if (!p->inherit_noted)
        plan_note(p, "children are not followed: this kernel reads groups (:S) of single tasks only",
                  "Linux 6.13, all CPUs, or the group without :S");
    p->inherit_noted = true;
    return false;
}

static uint64_t read_format_of(const struct plan *p, uint32_t member)
{
    uint64_t times = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
    /* these values are in samples, which programs older than Linux 6.0 may read */
    if (plan_is_read(p, member))
        return times | PERF_FORMAT_GROUP | PERF_FORMAT_ID;
    return has(p, FEATURE_COUNT_LOST) ? times | PERF_FORMAT_LOST : times;
}

static void set_rate(const struct plan *p, uint32_t member, struct perf_event_attr *a)
{
    uint64_t freq_hz, period;
    plan_rate(p, member, &freq_hz, &period);
    a->freq = freq_hz != 0;
    if (a->freq)
        a->sample_freq = freq_hz;
    else
        a->sample_period = period;
}

/* Fill the attr of a member other than the first. Side-band records come with the first event only. Group
 * members are started and stopped by the kernel with their leader; members that the leader reads only
 * deliver counts. */
static void make_other(struct plan *p, uint32_t member)
{
    struct perf_event_attr *a = &p->attrs[member];
    const struct perf_event_attr *first = &p->attrs[plan_first(p)];
    *a = plan_event(p, member)->attr;
    a->size = sizeof *a;
    a->sample_type = sample_type_of(p, member);
    a->read_format = read_format_of(p, member);
    a->sample_id_all = 1;
    a->inherit = first->inherit;
    a->use_clockid = first->use_clockid;
    a->clockid = first->clockid;
    a->watermark = first->watermark;
    a->wakeup_watermark = first->wakeup_watermark;
    set_modes(p, a);
    if (plan_leader(p, member) == member) {
        a->disabled = 1;
        a->enable_on_exec = first->enable_on_exec;
    } else {
        a->pinned = a->exclusive = 0;
    }
    if (plan_is_silent(p, member)) {
        a->sample_type &= PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_READ;
        return;
    }
    set_rate(p, member, a);
    if (plan_event(p, member)->wakers || plan_is_for_all(p, member))
        a->inherit = a->enable_on_exec = 0;
    if (!plan_event(p, member)->no_stack && !is_by_fp(p, member))
        set_stacks(p, a);
}

/* A thread that leaves a sampled CPU may come back on another: its waits have no known end. */
static bool waits_end(const struct plan *p, struct error *e)
{
    for (uint32_t member = plan_first(p); member < EVENT_SET_MAX; member = plan_next_member(p, member))
        if (plan_event(p, member)->off_cpu && p->cfg.scope.cpus)
            return error_set(e, ERROR_ARGUMENT,
                             "off-cpu needs all CPUs, because threads move between them: leave out -C");
    return true;
}

void plan_note_off_cpu(struct plan *p)
{
    for (uint32_t member = plan_first(p); member < EVENT_SET_MAX; member = plan_next_member(p, member)) {
        const struct perf_event_attr *attr = plan_attr(p, member);
        if (!plan_event(p, member)->off_cpu)
            continue;
        if (attr->exclude_kernel)
            plan_note(p, "off-cpu without stacks and reasons, which come from the kernel",
                      "include the kernel: as root, with CAP_PERFMON, or without -K");
        else if (attr->type != PERF_TYPE_TRACEPOINT)
            plan_note(p, "off-cpu by context switches: the tracepoint sched:sched_switch is not readable",
                      "run as root, or make tracefs readable");
        else if (member < p->cfg.n_others && plan_event(p, member + 1)->wakers && p->without[member + 1])
            plan_note(p, "off-cpu without wakers: waits include the time until the thread runs again",
                      "run as root, or with CAP_PERFMON");
    }
}

void plan_note_switches(struct plan *p)
{
    if (p->cfg.switches && !has(p, FEATURE_SWITCHES))
        plan_note(p, "no latency shares: this kernel does not record the switches of threads", "Linux 4.3");
}

bool plan_make_attr(struct plan *p, struct error *e)
{
    if (!waits_end(p, e))
        return false;
    uint32_t first = plan_first(p);
    struct perf_event_attr *a = &p->attrs[first];
    *a = plan_event(p, first)->attr;
    a->size = sizeof *a;
    a->sample_type = sample_type_of(p, first);
    set_rate(p, first, a);
    set_sideband(p, a);
    set_modes(p, a);
    if (!plan_event(p, first)->no_stack)
        set_stacks(p, a);
    if (a->exclude_kernel && a->exclude_user)
        return error_set(e, ERROR_ARGUMENT,
                         "%s: with both kernel and user space left out nothing is measured",
                         plan_event(p, first)->name);
    a->read_format = read_format_of(p, first);
    a->disabled = 1;
    a->watermark = 1;
    a->wakeup_watermark = dumps_watermark(p);
    if (p->where == PLAN_TASKS) {
        a->inherit = inherits(p);
        a->enable_on_exec = p->cfg.enable_on_exec;
    }
    if (p->filter && a->type == PERF_TYPE_SOFTWARE)
        a->exclude_idle = 1; /* some PMUs do not support it, and their counters stop in idle anyway */
    for (uint32_t member = plan_next_member(p, first); member < EVENT_SET_MAX;
         member = plan_next_member(p, member))
        make_other(p, member);
    return true;
}
