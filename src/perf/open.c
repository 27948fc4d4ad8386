// SPDX-License-Identifier: GPL-2.0-or-later
#include "perf/open.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/mem.h"

#define FDS_RESERVE 32 /* for files, the worker, the terminal */

static bool is_permission(int sys)
{
    return sys == EACCES || sys == EPERM;
}

void open_raise_limit(void)
{
    struct rlimit lim;
    if (getrlimit(RLIMIT_NOFILE, &lim) != 0 || lim.rlim_cur == lim.rlim_max)
        return;
    lim.rlim_cur = lim.rlim_max;
    setrlimit(RLIMIT_NOFILE, &lim);
}

static uint64_t count_open_files(void)
{
    DIR *d = opendir("/proc/self/fd");
    uint64_t n = 0;
    if (!d)
        return 64;
    while (readdir(d))
        n++;
    closedir(d);
    return n - 3; /* ".", ".." and the descriptor of this folder */
}

/* Number of descriptors that may be opened, without the reserve. */
static uint64_t files_left(void)
{
    struct rlimit lim;
    if (getrlimit(RLIMIT_NOFILE, &lim) != 0 || lim.rlim_cur == RLIM_INFINITY)
        return UINT64_MAX;
    uint64_t used = count_open_files() + FDS_RESERVE;
    return lim.rlim_cur > used ? lim.rlim_cur - used : 0;
}

static bool is_measured_on(const struct plan *p, uint32_t cpu)
{
    for (uint32_t member = plan_first(p); member < EVENT_SET_MAX; member = plan_next_member(p, member))
        if (cpu_mask_has(&plan_event(p, member)->cpus, cpu))
            return true;
    return false;
}

void open_narrow_cpus(const struct plan *p, struct cpus *out)
{
    const struct scope *s = &p->cfg.scope;
    for (uint32_t i = 0; i < out->n; i++) {
        if (s->cpus && (i >= s->n_cpus || !s->cpus[i]))
            out->in[i] = false;
        if (!is_measured_on(p, i))
            out->in[i] = false;
    }
}

void open_cpu_list(const struct plan *p, struct cpus *out)
{
    cpus_read("online", out);
    open_narrow_cpus(p, out);
}

static bool is_online(uint32_t cpu)
{
    struct cpus now;
    cpus_read("online", &now);
    bool online = cpus_has(&now, cpu);
    cpus_done(&now);
    return online;
}

void live_cpu_close(struct live_cpu *c)
{
    ring_unmap(&c->ring);
    for (uint32_t i = 0; i < c->fds.n; i++)
        close(c->fds.items[i].fd);
    for (uint32_t i = 0; i < c->selected.n; i++)
        close(c->selected.items[i].fd);
    mem_free(c->fds.items);
    mem_free(c->selected.items);
    mem_free(c);
}

/* The target to open on each CPU: one task or cgroup, or a list of threads. */
struct on_cpu {
    const uint32_t *tids; /* NULL: `pid` */
    uint32_t n_tids;
    int pid;                        /* -1: all tasks; or the first cgroup's folder */
    int cgroups[SCOPE_CGROUPS_MAX]; /* descriptors of their folders */
    uint32_t n_cgroups;
    unsigned long flags;
};

/* Map the CPU's ring on its first event; the other events write to the same ring. */
static bool join_ring(const struct plan *p, struct live_cpu *c, int fd)
{
    if (c->fds.n)
        return ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, c->fds.items[0].fd) == 0;
    return ring_map(&c->ring, fd, p->ring_bytes);
}

/* Set the period of waits. It is not in the plan's attr, as each event has its own. */
static void thin(const struct plan *p, const struct live_cpu *c, uint32_t member, struct perf_event_attr *a)
{
    if (thin_may(p, member))
        a->sample_period = thin_period(p->cfg.one_in[plan_event(p, member)->wakers], p->vary_seed,
                                       (uint64_t)c->cpu << 32 | c->fds.n);
}

/* Set a varied period, except for events of whole CPUs, whose period is changed while they run (vary_cpus).
 */
static void vary_period(const struct plan *p, const struct live_cpu *c, uint32_t member,
                        struct perf_event_attr *a)
{
    if (p->where == PLAN_CPUS || !a->freq || !vary_may(p, member))
        return;
    a->sample_period = vary_task_period(a->sample_freq, p->vary_seed, (uint64_t)c->cpu << 32 | c->fds.n);
    a->freq = 0;
}

static bool set_filter(const struct plan *p, uint32_t member, int fd)
{
    bool nothing = p->selects[member] && !p->count_periods[member];
    return nothing ? ioctl(fd, PERF_EVENT_IOC_SET_FILTER, SELECT_NOTHING) == 0
                   : event_set_filter(fd, plan_event(p, member));
}

static bool open_member(const struct plan *p, struct live_cpu *c, const struct on_cpu *at, uint32_t member,
                        int leader, struct open_failure *f)
{
    f->stage = OPEN_EVENT;
    f->member = member;
    struct perf_event_attr attr = *plan_attr(p, member);
    vary_period(p, c, member, &attr);
    thin(p, c, member, &attr);
    if (p->count_periods[member])
        attr.sample_period = p->count_periods[member];
    int fd = event_open_fd(&attr, at->pid, (int)c->cpu, leader, at->flags);
    if (fd >= 0) {
        f->stage = OPEN_FILTER;
        if (set_filter(p, member, fd) && (f->stage = OPEN_RING, join_ring(p, c, fd))) {
            *VEC_PUSH(&c->fds) = (struct live_fd){ fd, (uint8_t)member };
            return true;
        }
    }
    f->sys = errno;
    f->cpu = c->cpu;
    if (fd >= 0)
        close(fd);
    return false;
}

/* The descriptor of the member's leader, or -1. Descriptors from `from` on have the same target. */
static int leader_fd(const struct plan *p, const struct live_cpu *c, uint32_t from, uint32_t member)
{
    uint32_t leader = plan_leader(p, member);
    for (uint32_t i = from; leader != member && i < c->fds.n; i++)
        if (c->fds.items[i].member == leader)
            return c->fds.items[i].fd;
    return -1;
}

/* Open all events that have counters on this CPU, or none. */
static bool open_one(const struct plan *p, struct live_cpu *c, int pid, unsigned long flags,
                     struct open_failure *f)
{
    struct on_cpu at = { .pid = pid, .flags = flags };
    size_t before = c->fds.n;
    for (uint32_t member = plan_first(p); member < EVENT_SET_MAX; member = plan_next_member(p, member)) {
        if (plan_is_for_all(p, member) || !cpu_mask_has(&plan_event(p, member)->cpus, c->cpu) ||
            open_member(p, c, &at, member, leader_fd(p, c, before, member), f))
            continue;
        if (before == 0)
            ring_unmap(&c->ring);
        while (c->fds.n > before)
            close(c->fds.items[--c->fds.n].fd);
        return false;
    }
    return true;
}

/* Open the threads. Threads that have ended meanwhile, or that are not permitted, are left out if others
 * open. */
static bool open_threads(struct plan *p, struct live_cpu *c, const struct on_cpu *what, uint32_t *refused,
                         struct open_failure *f)
{
    struct open_failure kept = { 0 };
    for (uint32_t i = 0; i < what->n_tids; i++) {
        if (open_one(p, c, (int)what->tids[i], what->flags, f))
            continue;
        f->tid = what->tids[i];
        bool permission = f->stage == OPEN_EVENT && is_permission(f->sys);
        if (!permission &&
            (f->stage == OPEN_FILTER || f->sys != ESRCH)) { /* ESRCH of a filter may mean an open quote */
            if (p->fit && c->fds.n && (f->sys == EMFILE || f->sys == ENFILE))
                break;
            return false;
        }
        if (!kept.sys || (permission && !is_permission(kept.sys)))
            kept = *f;
        *refused += permission;
    }
    if (c->fds.n)
        return true;
    *f = kept;
    return false;
}

/* Open what is not for the targets only. Without it the others work. */
static void open_for_all(struct plan *p, struct live_cpu *c)
{
    const struct on_cpu all = { .pid = -1 };
    struct open_failure f;
    for (uint32_t member = plan_first(p); member < EVENT_SET_MAX; member = plan_next_member(p, member))
        if (plan_is_for_all(p, member) && !open_member(p, c, &all, member, -1, &f))
            p->without[member] = true;
}

static struct live_cpu *try_cpu(struct plan *p, const struct on_cpu *what, uint32_t cpu, uint32_t *refused,
                                struct open_failure *f)
{
    struct live_cpu *c = mem_zalloc(sizeof *c);
    c->cpu = cpu;
    bool ok = what->tids ? open_threads(p, c, what, refused, f) : open_one(p, c, what->pid, what->flags, f);
    for (uint32_t i = 1; ok && i < what->n_cgroups; i++)
        ok = open_one(p, c, what->cgroups[i], what->flags, f);
    c->n_own = (uint32_t)c->fds.n;
    if (ok) {
        open_for_all(p, c);
        return c;
    }
    live_cpu_close(c);
    return NULL;
}

/* True if this CPU may be skipped: it went offline after the list was read, or its kind of core (big,
 * little) lacks the event. */
static bool may_skip(const struct open_failure *f, uint32_t first, uint32_t opened)
{
    if (f->stage != OPEN_EVENT)
        return false;
    return (f->sys == ENODEV && !is_online(f->cpu)) ||
           ((opened || f->member == first) && (f->sys == ENOENT || f->sys == ENODEV));
}

static void note_cpus(struct plan *p, uint32_t n, uint32_t of)
{
    char text[160];
    if (p->cpus_noted)
        return;
    p->cpus_noted = true;
    snprintf(text, sizeof text, "%.60s exists on %u of %u CPUs only: sampling these",
             plan_event(p, plan_first(p))->name, n, of);
    plan_note(p, text, "the others have different counters: flametop --list-events");
}

static bool open_list(struct plan *p, const struct on_cpu *what, const struct cpus *list,
                      struct live_cpus *cpus, struct open_failure *f)
{
    uint32_t refused = 0, without = 0; /* CPUs without the event */
    struct open_failure first = { 0 };
    for (uint32_t cpu = 0; cpu < list->n; cpu++) {
        if (!list->in[cpu])
            continue;
        uint32_t refused_here = 0;
        struct live_cpu *c = try_cpu(p, what, cpu, &refused_here, f);
        if (!c && may_skip(f, plan_first(p), (uint32_t)cpus->n)) {
            first = without ? first : *f;
            without += is_online(cpu);
            continue;
        }
        if (!c)
            return false;
        refused = refused_here;
        *VEC_PUSH(cpus) = c;
    }
    if (refused && !p->cfg.scope.own && !p->refused_noted) {
        char what_text[160];
        p->refused_noted = true;
        snprintf(what_text, sizeof what_text, "no permission to sample %u of %u threads", refused,
                 what->n_tids);
        plan_note(p, what_text, "run as their user, or with CAP_PERFMON and CAP_SYS_PTRACE");
    }
    if (!cpus->n && without)
        *f = first;
    else if (!cpus->n)
        f->stage = OPEN_NO_CPU;
    else if (without)
        note_cpus(p, (uint32_t)cpus->n, (uint32_t)cpus->n + without);
    return cpus->n > 0;
}

static uint32_t count_cpus(const struct cpus *list)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < list->n; i++)
        n += list->in[i];
    return n;
}

/* Check that the threads fit into the available descriptors; with `fit`, reduce their number. */
static bool keep_budget(struct plan *p, struct on_cpu *what, uint32_t n_cpus, struct open_failure *f)
{
    uint64_t left = files_left() / plan_members(p);
    f->n_tasks = what->n_tids;
    f->n_cpus = n_cpus;
    if ((uint64_t)what->n_tids * n_cpus <= left || what->n_tids <= 1)
        return true;
    if (!p->fit) {
        f->stage = OPEN_BUDGET;
        f->sys = EMFILE;
        return false;
    }
    uint64_t fits = left / n_cpus;
    what->n_tids = fits ? (uint32_t)fits : 1;
    if (!p->fit_noted) {
        char text[160];
        p->fit_noted = true;
        snprintf(text, sizeof text, "only %u of %u threads are sampled: the limit of open files is too low",
                 what->n_tids, f->n_tasks);
        plan_note(p, text, "ulimit -n %llu",
                  (unsigned long long)f->n_tasks * n_cpus * plan_members(p) + count_open_files() +
                      FDS_RESERVE);
    }
    return true;
}

static bool open_cgroups(const struct plan *p, struct on_cpu *what, struct open_failure *f)
{
    const struct scope *s = &p->cfg.scope;
    what->flags = PERF_FLAG_PID_CGROUP;
    for (uint32_t i = 0; i < scope_cgroups(s); i++) {
        int fd = scope_open_cgroup(s, i);
        f->sys = errno;
        if (fd < 0)
            return false;
        what->cgroups[what->n_cgroups++] = fd;
    }
    what->pid = what->cgroups[0];
    return what->n_cgroups > 0;
}

static bool what_to_open(const struct plan *p, const struct targets *targets, struct on_cpu *what,
                         uint32_t **tids, struct open_failure *f)
{
    *what = (struct on_cpu){ .pid = -1 };
    *tids = NULL;
    f->stage = OPEN_TARGET;
    if (p->where == PLAN_CGROUP) {
        return open_cgroups(p, what, f);
    }
    if (p->where == PLAN_CPUS)
        return true;
    what->tids = *tids = targets_threads(targets, &what->n_tids);
    f->sys = ESRCH;
    return what->n_tids > 0;
}

static void close_cgroups(const struct on_cpu *what)
{
    for (uint32_t i = 0; i < what->n_cgroups; i++)
        close(what->cgroups[i]);
}

/* The highest precision that the PMU supports, tried with a plain counter, so that a kernel without a newer
 * feature is not mistaken for a PMU without precision. */
static unsigned best_precision(const struct event *ev, const struct perf_event_attr *attr,
                               const struct on_cpu *what, uint32_t cpu)
{
    struct perf_event_attr bare = ev->attr;
    bare.size = sizeof bare;
    bare.disabled = 1;
    bare.freq = attr->freq;
    bare.sample_period = attr->sample_period;
    bare.exclude_kernel = attr->exclude_kernel;
    bare.exclude_hv = attr->exclude_hv;
    bare.exclude_user = attr->exclude_user;
    for (unsigned level = 3; level > 0; level--) {
        bare.precise_ip = level & 3;
        int fd = event_open_fd(&bare, what->tids ? (int)what->tids[0] : what->pid, (int)cpu, -1, what->flags);
        if (fd < 0)
            continue;
        close(fd);
        return level;
    }
    return 0;
}

static uint32_t first_cpu(const struct cpus *list, const struct cpu_mask *mask)
{
    for (uint32_t i = 0; i < list->n; i++)
        if (list->in[i] && cpu_mask_has(mask, i))
            return i;
    return 0;
}

static void choose_precision(struct plan *p, const struct on_cpu *what, const struct cpus *list)
{
    for (uint32_t member = plan_first(p); member < EVENT_SET_MAX; member = plan_next_member(p, member)) {
        const struct event *ev = plan_event(p, member);
        struct perf_event_attr *attr = &p->attrs[member];
        if (ev->precise_max && plan_leader(p, member) == member)
            attr->precise_ip = best_precision(ev, attr, what, first_cpu(list, &ev->cpus)) & 3;
    }
}

bool open_inherits_readers(void)
{
    struct perf_event_attr attr = {
        .type = PERF_TYPE_SOFTWARE,
        .size = sizeof attr,
        .config = PERF_COUNT_SW_DUMMY,
        .sample_period = 1,
        .sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_READ,
        .read_format = PERF_FORMAT_GROUP | PERF_FORMAT_ID,
        .disabled = 1,
        .inherit = 1,
        .exclude_kernel = 1,
        .exclude_hv = 1,
    };
    int fd = event_open_fd(&attr, 0, -1, -1, 0);
    if (fd < 0)
        return false;
    close(fd);
    return true;
}

static void close_all(struct live_cpus *cpus)
{
    for (uint32_t i = 0; i < cpus->n; i++)
        live_cpu_close(cpus->items[i]);
    VEC_FREE(cpus);
}

/* began: the number of threads that began meanwhile. */
static bool open_once(struct plan *p, struct targets *targets, struct live_cpus *cpus, uint32_t *began,
                      struct open_failure *f)
{
    struct on_cpu what;
    struct cpus list;
    uint32_t *tids;
    *f = (struct open_failure){ 0 };
    *cpus = (struct live_cpus){ 0 };
    *began = 0;
    open_cpu_list(p, &list);
    uint32_t n_cpus = count_cpus(&list);
    bool ok = what_to_open(p, targets, &what, &tids, f);
    uint32_t n_tids = what.n_tids;
    if (ok && n_cpus == 0) {
        f->stage = OPEN_NO_CPU;
        ok = false;
    }
    if (ok && p->where == PLAN_TASKS)
        ok = keep_budget(p, &what, n_cpus, f);
    if (ok) {
        choose_precision(p, &what, &list);
        ok = open_list(p, &what, &list, cpus, f);
    }
    if (!ok)
        close_all(cpus);
    else if (tids && p->attrs[plan_first(p)].inherit)
        *began = targets_began(targets, &p->cfg.scope, tids, n_tids);
    close_cgroups(&what);
    mem_free(tids);
    cpus_done(&list);
    return ok;
}

/* Events are opened for one thread and one CPU after the other. A thread that begins meanwhile inherits those
 * of its creator that were open then, and nothing tells which: on other CPUs it would not be seen. */
bool open_all(struct plan *p, struct targets *targets, struct live_cpus *cpus, struct open_failure *f)
{
    struct targets_again again = { 0 };
    uint32_t began;
    while (open_once(p, targets, cpus, &began, f)) {
        if (began && targets_again(&again)) {
            close_all(cpus);
            continue;
        }
        if (began && !p->began_noted) {
            char text[160];
            p->began_noted = true;
            snprintf(text, sizeof text,
                     "%u thread%s began while the events were opened and may be seen in part", began,
                     began == 1 ? "" : "s");
            plan_note(p, text, "without -p, all threads are sampled");
        }
        return true;
    }
    return false;
}

struct live_cpu *open_cpu(const struct plan *p, const struct targets *targets, uint32_t cpu)
{
    struct open_failure f = { 0 };
    struct on_cpu what;
    uint32_t *tids, refused = 0;
    struct live_cpu *c = NULL;
    struct plan fit = *p; /* what no longer fits is left out */
    fit.fit = true;
    if (what_to_open(p, targets, &what, &tids, &f))
        c = try_cpu(&fit, &what, cpu, &refused, &f);
    close_cgroups(&what);
    mem_free(tids);
    return c;
}

/* ---- events of the selected operations ---- */

/* They bring no other records. */
static void without_sideband(struct perf_event_attr *a)
{
    a->mmap = a->mmap2 = a->comm = a->comm_exec = a->task = 0;
    a->ksymbol = a->bpf_event = a->cgroup = a->context_switch = 0;
    a->enable_on_exec = 0;
}

static bool open_one_selected(const struct plan *p, struct live_cpu *c, int pid, unsigned long flags,
                              uint32_t member, const char *filter)
{
    struct perf_event_attr attr = *plan_attr(p, member);
    uint64_t id;
    without_sideband(&attr);
    int fd = event_open_fd(&attr, pid, (int)c->cpu, -1, flags);
    if (fd < 0)
        return errno == ESRCH; /* the thread has ended */
    if ((!*filter || ioctl(fd, PERF_EVENT_IOC_SET_FILTER, filter) == 0) && join_ring(p, c, fd) &&
        ioctl(fd, PERF_EVENT_IOC_ID, &id) == 0 && ioctl(fd, PERF_EVENT_IOC_ENABLE, 0) == 0) {
        *VEC_PUSH(&c->selected) = (struct select_fd){ .fd = fd, .member = (uint8_t)member, .id = id };
        return true;
    }
    close(fd);
    return false;
}

static bool open_selected_on(const struct plan *p, struct live_cpu *c, const struct on_cpu *what,
                             uint32_t member, const struct live_selection *selection)
{
    char filter[SELECT_FILTER_MAX];
    if (!select_filter(plan_event(p, member), selection, c->cpu, filter))
        return true;
    if (plan_is_for_all(p, member))
        return open_one_selected(p, c, -1, 0, member, filter);
    bool ok = true;
    for (uint32_t i = 0; what->tids && i < what->n_tids && ok; i++)
        ok = open_one_selected(p, c, (int)what->tids[i], what->flags, member, filter);
    for (uint32_t i = 0; i < what->n_cgroups && ok; i++)
        ok = open_one_selected(p, c, what->cgroups[i], what->flags, member, filter);
    return ok &&
           (what->tids || what->n_cgroups || open_one_selected(p, c, what->pid, what->flags, member, filter));
}

/* Closes the events that were opened last, which have no age yet. */
static void close_selected(struct live_cpus *cpus)
{
    for (uint32_t i = 0; i < cpus->n; i++) {
        struct live_cpu *c = cpus->items[i];
        while (c->selected.n && !c->selected.items[c->selected.n - 1].age)
            close(c->selected.items[--c->selected.n].fd);
    }
}

bool open_selected(struct plan *p, const struct targets *targets, struct live_cpus *cpus,
                   const struct live_selection *selections)
{
    struct open_failure f = { 0 };
    struct on_cpu what;
    uint32_t *tids;
    bool ok = what_to_open(p, targets, &what, &tids, &f);
    for (int begins = 0; begins < 2 && ok; begins++) /* an end must not be missed */
        for (uint32_t member = plan_first(p); member < EVENT_SET_MAX && ok;
             member = plan_next_member(p, member))
            for (uint32_t i = 0; i < cpus->n && ok; i++)
                if (p->selects[member] && plan_event(p, member)->begins == begins && !cpus->items[i]->leaving)
                    ok = open_selected_on(p, cpus->items[i], &what, member, &selections[member]);
    int sys = errno;
    if (!ok)
        close_selected(cpus);
    close_cgroups(&what);
    mem_free(tids);
    errno = sys;
    return ok;
}
