// SPDX-License-Identifier: GPL-2.0-or-later
/* Which counters, on which CPUs or tasks, and opening them. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "perf/count_set.h"
#include "perf/namelist.h"

#define SLOTS_MAX 16384

static const struct {
    const char *name;
    enum count_group group;
    /* Happens in the kernel only: counted in user space it would be a false zero. */
    bool kernel_only;
    /* Counts what happens, not where the CPU spends its time: -K and -U do not change it. */
    bool any_mode;
} events[COUNT_EVENTS] = {
    [COUNT_CLOCK] = { "cpu-clock", COUNT_GROUP_SOFTWARE, false, true },
    [COUNT_CONTEXT_SWITCHES] = { "context-switches", COUNT_GROUP_SOFTWARE, true, true },
    [COUNT_CPU_MIGRATIONS] = { "cpu-migrations", COUNT_GROUP_SOFTWARE, true, true },
    [COUNT_PAGE_FAULTS] = { "page-faults", COUNT_GROUP_SOFTWARE, false, true },
    [COUNT_CYCLES] = { "cycles", COUNT_GROUP_CYCLES, false, false },
    [COUNT_STALLED_FRONTEND] = { "stalled-cycles-frontend", COUNT_GROUP_FRONTEND, false, false },
    [COUNT_STALLED_BACKEND] = { "stalled-cycles-backend", COUNT_GROUP_BACKEND, false, false },
    [COUNT_INSTRUCTIONS] = { "instructions", COUNT_GROUP_CYCLES, false, false },
    [COUNT_BRANCHES] = { "branches", COUNT_GROUP_BRANCHES, false, false },
    [COUNT_BRANCH_MISSES] = { "branch-misses", COUNT_GROUP_BRANCHES, false, false },
    [COUNT_L1_LOADS] = { "L1-dcache-loads", COUNT_GROUP_L1, false, false },
    [COUNT_L1_MISSES] = { "L1-dcache-load-misses", COUNT_GROUP_L1, false, false },
    [COUNT_LLC_LOADS] = { "LLC-loads", COUNT_GROUP_LLC, false, false },
    [COUNT_LLC_MISSES] = { "LLC-load-misses", COUNT_GROUP_LLC, false, false },
};

const char *count_event_name(const struct count_set *c, enum count_event event)
{
    return event == COUNT_CLOCK && c->tasks ? "task-clock" : events[event].name;
}

enum count_group count_group_of(enum count_event event)
{
    return events[event].group;
}

bool count_is_open(const struct count_set *c, enum count_event event)
{
    for (uint32_t i = 0; i < c->n_slots; i++)
        if (c->slots[i].fds[event] >= 0)
            return true;
    return false;
}

static void add_slot(struct count_set *c, pid_t pid, int cpu)
{
    if (c->n_slots >= SLOTS_MAX)
        return;
    MEM_GROW(c->slots, c->cap_slots, c->n_slots + 1);
    struct count_slot *slot = &c->slots[c->n_slots++];
    *slot = (struct count_slot){ .pid = pid, .cpu = cpu };
    for (int i = 0; i < COUNT_EVENTS; i++)
        slot->fds[i] = -1;
}

static bool add_cpus(struct count_set *c, struct error *e)
{
    const struct scope *s = &c->scope;
    for (uint32_t cpu = 0; cpu < c->online.n; cpu++)
        if (cpus_has(&c->online, cpu) && (!s->cpus || (cpu < s->n_cpus && s->cpus[cpu])))
            add_slot(c, -1, (int)cpu);
    return c->n_slots || error_set(e, ERROR_MISSING, "counters: none of the chosen CPUs is online");
}

static void add_threads(struct count_set *c, uint32_t pid)
{
    char path[64];
    struct namelist tids = { 0 };
    snprintf(path, sizeof path, "/proc/%u/task", pid);
    namelist_add_dir(&tids, path, true, NULL);
    for (size_t i = 0; i < tids.n; i++)
        add_slot(c, atoi(tids.items[i]), -1);
    namelist_done(&tids);
}

static bool add_tasks(struct count_set *c, struct error *e)
{
    for (uint32_t i = 0; i < c->scope.n_ids; i++)
        if (c->scope.kind == SCOPE_PIDS)
            add_threads(c, c->scope.ids[i]);
        else
            add_slot(c, (pid_t)c->scope.ids[i], -1);
    return c->n_slots || error_set(e, ERROR_MISSING, "counters: no task of the target lives any more");
}

/* How many descriptors we may take and leave the rest of the program its own. */
static uint32_t descriptor_budget(void)
{
    struct rlimit limit;
    struct namelist mine = { 0 };
    if (getrlimit(RLIMIT_NOFILE, &limit))
        limit.rlim_cur = 1024;
    namelist_add_dir(&mine, "/proc/self/fd", false, NULL);
    rlim_t spare = limit.rlim_cur / 2 < 256 ? limit.rlim_cur / 2 : 256;
    rlim_t taken = mine.n + spare, left = limit.rlim_cur > taken ? limit.rlim_cur - taken : 0;
    namelist_done(&mine);
    return left < INT32_MAX ? (uint32_t)left : INT32_MAX;
}

static void attr_of(const struct count_set *c, enum count_event event, struct perf_event_attr *attr)
{
    struct event ev;
    event_parse(count_event_name(c, event), &ev, NULL);
    *attr = ev.attr;
    attr->read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING | PERF_FORMAT_GROUP;
    attr->inherit = c->tasks;
    if (!events[event].any_mode) {
        attr->exclude_kernel = attr->exclude_hv = c->scope.no_kernel;
        attr->exclude_user = c->scope.no_user;
    }
    if (c->user_only && !events[event].kernel_only)
        attr->exclude_kernel = attr->exclude_hv = 1;
}

static int leader_of(const struct count_slot *slot, enum count_group group)
{
    for (int i = 0; i < COUNT_EVENTS; i++)
        if (events[i].group == group && slot->fds[i] >= 0)
            return slot->fds[i];
    return -1;
}

/* Opens one counter; where the kernel keeps its own part to itself, counts user space from then on. */
static int open_counter(struct count_set *c, const struct count_slot *slot, enum count_event event,
                        int cgroup_fd)
{
    struct perf_event_attr attr;
    unsigned long flags = cgroup_fd >= 0 ? PERF_FLAG_PID_CGROUP : 0;
    pid_t target = cgroup_fd >= 0 ? cgroup_fd : slot->pid;
    int leader = leader_of(slot, events[event].group);
    attr_of(c, event, &attr);
    attr.disabled = leader < 0;
    int fd = event_open_fd(&attr, target, slot->cpu, leader, flags);
    if (fd >= 0 || (errno != EACCES && errno != EPERM) || attr.exclude_kernel || attr.exclude_user ||
        events[event].kernel_only)
        return fd;
    attr.exclude_kernel = attr.exclude_hv = 1;
    fd = event_open_fd(&attr, target, slot->cpu, leader, flags);
    c->user_only |= fd >= 0;
    return fd;
}

static void say_why(struct count_set *c, enum count_event event, int errnum)
{
    struct perf_event_attr attr;
    attr_of(c, event, &attr);
    (c->tasks ? event_explain : event_explain_on_cpu)(count_event_name(c, event), &attr, errnum,
                                                      &c->why[event]);
}

/* The leader is started when its siblings are there: a sibling that joins a group that already runs under a
 * clock does not count until the group is scheduled anew. */
static void open_group_on(struct count_set *c, struct count_slot *slot, enum count_group group, int cgroup_fd)
{
    for (int i = 0; i < COUNT_EVENTS; i++) {
        if (events[i].group != group)
            continue;
        slot->fds[i] = open_counter(c, slot, i, cgroup_fd);
        if (slot->fds[i] >= 0)
            c->fds_open++;
        else if (!*c->why[i].text)
            say_why(c, i, errno);
    }
    int leader = leader_of(slot, group);
    if (leader >= 0)
        ioctl(leader, PERF_EVENT_IOC_ENABLE, 0);
}

static void open_group(struct count_set *c, enum count_group group, int cgroup_fd)
{
    for (uint32_t i = 0; i < c->n_slots; i++)
        open_group_on(c, &c->slots[i], group, cgroup_fd);
}

static bool group_fits(struct count_set *c, enum count_group group, uint32_t budget)
{
    uint32_t members = 0;
    for (int i = 0; i < COUNT_EVENTS; i++)
        members += events[i].group == group;
    if ((uint64_t)c->fds_open + (uint64_t)c->n_slots * members <= budget)
        return true;
    for (int i = 0; i < COUNT_EVENTS; i++)
        if (events[i].group == group)
            error_set(&c->why[i], ERROR_LIMIT,
                      "%s: %u counters would take more open files than are left; raise the limit (ulimit -n)",
                      count_event_name(c, i), c->n_slots * members);
    return false;
}

static bool open_cgroup(const struct scope *scope, int *fd, struct error *e)
{
    char path[PATH_MAX];
    bool v2;
    *fd = -1;
    if (scope->kind != SCOPE_CGROUP)
        return true;
    if (!scope_cgroup_root(path, sizeof path - sizeof scope->cgroup, &v2, e))
        return false;
    strcat(path, scope->cgroup);
    *fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return *fd >= 0 || error_sys(e, errno, "counters: cannot open the cgroup %s", path);
}

static bool add_slots(struct count_set *c, struct error *e)
{
    cpus_read("online", &c->online);
    return c->tasks ? add_tasks(c, e) : add_cpus(c, e);
}

bool count_slots_open(struct count_set *c, struct error *e)
{
    int cgroup_fd;
    if (!open_cgroup(&c->scope, &cgroup_fd, e))
        return false;
    bool ok = add_slots(c, e);
    uint32_t budget = descriptor_budget();
    memset(c->why, 0, sizeof c->why);
    for (int group = 0; ok && group < COUNT_GROUPS; group++)
        if (group_fits(c, group, budget))
            open_group(c, group, cgroup_fd);
    if (cgroup_fd >= 0)
        close(cgroup_fd);
    return ok;
}

void count_slots_close(struct count_set *c)
{
    for (uint32_t i = 0; i < c->n_slots; i++)
        for (int event = COUNT_EVENTS - 1; event >= 0; event--)
            if (c->slots[i].fds[event] >= 0)
                close(c->slots[i].fds[event]);
    mem_free(c->slots);
    cpus_done(&c->online);
    c->slots = NULL;
    c->n_slots = c->fds_open = 0;
    c->cap_slots = 0;
}
