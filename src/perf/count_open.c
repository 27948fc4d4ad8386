// SPDX-License-Identifier: GPL-2.0-or-later
/* Open counters: which ones, and on which CPUs or tasks. */
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
#include "perf/count_target.h"
#include "perf/targets.h"

#define CGROUPS_MAX   64
#define CGROUP_EVENTS 6 /* of the two groups counted per cgroup */

/* ---- slots ---- */

/* Add the CPU slots. With several cgroups (which are added separately), each CPU's slot counts all tasks. */
static void add_cpus(struct count_set *c, const struct count_targets *targets)
{
    uint32_t n = targets->n_cgroups ? targets->n / targets->n_cgroups : targets->n;
    for (uint32_t i = 0; i < n; i++)
        count_slot_add(c, SLOT_CPU, targets->n_cgroups > 1 ? -1 : targets->items[i].pid,
                       targets->items[i].cpu, count_core_of(c, (uint32_t)targets->items[i].cpu));
    c->n_cpus = c->slots.n;
}

static bool socket_is_counted(const struct count_set *c, uint32_t cpu)
{
    uint32_t socket = topology_of(cpu).socket;
    for (uint32_t i = 0; i < c->n_cpus; i++)
        if (c->slots.items[i].at.socket == socket)
            return true;
    return false;
}

static void add_sockets(struct count_set *c)
{
    for (uint32_t i = 0; i < c->uncores.n; i++)
        for (uint32_t cpu = 0; cpu < c->uncores.items[i].cpus.n; cpu++)
            if (cpus_has(&c->uncores.items[i].cpus, cpu) && cpus_has(&c->online, cpu) &&
                socket_is_counted(c, cpu))
                count_slot_add(c, SLOT_SOCKET, -1, (int)cpu, i);
}

static void add_task(struct count_set *c, const struct count_target *at)
{
    for (uint32_t core = 0; core < c->n_cores; core++) {
        struct count_slot *slot = count_slot_add(c, SLOT_TASK, at->pid, -1, core);
        if (!slot)
            return;
        slot->owner = at->process;
        slot->main = core == 0;
    }
}

/* Number of descriptors that may be opened, leaving enough for the rest of the program. */
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

static void add_slots(struct count_set *c, const struct count_targets *targets)
{
    cpus_read("online", &c->online);
    for (uint32_t i = 0; c->tasks && i < targets->n; i++)
        add_task(c, &targets->items[i]);
    if (c->tasks)
        return;
    add_cpus(c, targets);
    add_sockets(c);
    /* Half of what is left: the total has priority over its parts. */
    uint32_t most = descriptor_budget() / 2 / (CGROUP_EVENTS * c->n_cpus);
    if (c->how.cgroups)
        count_cgroups_add(c, most < CGROUPS_MAX ? most : CGROUPS_MAX);
}

/* ---- counters ---- */

/* True if the event is counted on this slot. */
static bool wants(const struct count_set *c, const struct count_slot *slot, enum count_event event)
{
    const struct count_def *def = &count_defs[event];
    if (def->group == COUNT_GROUP_NONE || def->detail > c->how.detail)
        return false;
    if (slot->kind == SLOT_SOCKET || def->flags & COUNT_SOCKET)
        return slot->kind == SLOT_SOCKET && def->flags & COUNT_SOCKET &&
               count_source_of(c, slot, event)->have;
    if (slot->kind == SLOT_CGROUP && def->group != COUNT_GROUP_SOFTWARE && def->group != COUNT_GROUP_CYCLES)
        return false;
    if (!slot->main && !(def->flags & COUNT_CORE))
        return false;
    return count_source_of(c, slot, event)->have;
}

static void attr_of(const struct count_set *c, const struct count_slot *slot, enum count_event event,
                    struct perf_event_attr *attr)
{
    unsigned flags = count_defs[event].flags;
    *attr = count_source_of(c, slot, event)->attr;
    attr->read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING | PERF_FORMAT_GROUP;
    attr->inherit = c->tasks && !c->scope.no_inherit;
    if (!(flags & COUNT_ANY_MODE)) {
        attr->exclude_kernel = attr->exclude_hv = c->scope.no_kernel;
        attr->exclude_user = c->scope.no_user;
    }
    if (c->user_only && (flags & COUNT_ALWAYS || flags & COUNT_CORE) && !(flags & COUNT_KERNEL_ONLY))
        attr->exclude_kernel = attr->exclude_hv = 1;
}

static int leader_of(const struct count_slot *slot, enum count_group group)
{
    for (int i = 0; i < COUNT_EVENTS; i++)
        if (count_defs[i].group == group && slot->fds[i] >= 0)
            return i;
    return -1;
}

/* Kernels for hybrid Arm CPUs that do not know the upper half of config find the CPU's PMU by themselves. */
static int open_on(struct perf_event_attr *attr, const struct count_slot *slot, int leader_fd)
{
    unsigned long flags = slot->kind != SLOT_TASK && slot->pid >= 0 ? PERF_FLAG_PID_CGROUP : 0;
    int fd = event_open_fd(attr, slot->pid, slot->cpu, leader_fd, flags);
    bool plain = attr->type == PERF_TYPE_HARDWARE || attr->type == PERF_TYPE_HW_CACHE;
    if (fd >= 0 || slot->cpu < 0 || !plain || !(attr->config >> 32) || (errno != EINVAL && errno != ENOENT))
        return fd;
    attr->config &= UINT32_MAX;
    return event_open_fd(attr, slot->pid, slot->cpu, leader_fd, flags);
}

/* Open one counter. If the kernel denies counting kernel mode, count user space only from then on. */
static int open_counter(struct count_set *c, const struct count_slot *slot, enum count_event event,
                        int leader_fd)
{
    struct perf_event_attr attr;
    unsigned flags = count_defs[event].flags;
    attr_of(c, slot, event, &attr);
    attr.disabled = leader_fd < 0;
    int fd = open_on(&attr, slot, leader_fd);
    if (fd >= 0 || (errno != EACCES && errno != EPERM) || attr.exclude_kernel || attr.exclude_user ||
        flags & COUNT_KERNEL_ONLY || !(flags & (COUNT_ALWAYS | COUNT_CORE)))
        return fd;
    attr.exclude_kernel = attr.exclude_hv = 1;
    fd = open_on(&attr, slot, leader_fd);
    c->user_only |= fd >= 0;
    return fd;
}

static void say_why(struct count_set *c, const struct count_slot *slot, enum count_event event, int errnum)
{
    struct perf_event_attr attr;
    attr_of(c, slot, event, &attr);
    event_explain(count_event_name(c, event), &attr, c->tasks ? slot->pid : -1, errnum, &c->why[event]);
}

/* Open an event in its group. A group with more events than the PMU has counters is refused (EINVAL): then
 * the event counts on its own. */
static void open_member(struct count_set *c, struct count_slot *slot, enum count_event event)
{
    enum count_group group = count_defs[event].group;
    int leader = group == COUNT_GROUP_ENERGY ? -1 : leader_of(slot, group);
    slot->fds[event] = open_counter(c, slot, event, leader < 0 ? -1 : slot->fds[leader]);
    slot->leader[event] = (uint8_t)(leader < 0 ? (int)event : leader);
    if (slot->fds[event] < 0 && leader >= 0 && errno == EINVAL) {
        slot->fds[event] = open_counter(c, slot, event, -1);
        slot->leader[event] = (uint8_t)event;
        c->alone[event] |= slot->fds[event] >= 0;
    }
    if (slot->fds[event] >= 0)
        c->fds_open++;
    else if (!*c->why[event].text)
        say_why(c, slot, event, errno);
}

/* Enable the leader after its siblings are open: a sibling that joins a running group led by a clock does
 * not count until the group is rescheduled. */
static void open_group_on(struct count_set *c, struct count_slot *slot, enum count_group group)
{
    for (int i = 0; i < COUNT_EVENTS; i++)
        if (count_defs[i].group == group && wants(c, slot, i))
            open_member(c, slot, i);
    for (int i = 0; i < COUNT_EVENTS; i++)
        if (count_defs[i].group == group && slot->fds[i] >= 0 && slot->leader[i] == i)
            ioctl(slot->fds[i], PERF_EVENT_IOC_ENABLE, 0);
}

static void open_group(struct count_set *c, enum count_group group)
{
    for (uint32_t i = 0; i < c->slots.n; i++)
        open_group_on(c, &c->slots.items[i], group);
}

static bool group_fits(struct count_set *c, enum count_group group, uint32_t budget)
{
    uint64_t members = 0;
    for (uint32_t i = 0; i < c->slots.n; i++)
        for (int event = 0; event < COUNT_EVENTS; event++)
            members += count_defs[event].group == group && wants(c, &c->slots.items[i], event);
    if (c->fds_open + members <= budget)
        return true;
    for (int i = 0; i < COUNT_EVENTS; i++)
        if (count_defs[i].group == group)
            error_set(&c->why[i], ERROR_LIMIT,
                      "%s: %u counters need more open files than are left; raise the limit (ulimit -n)",
                      count_event_name(c, i), (unsigned)members);
    return false;
}

static void open_all(struct count_set *c)
{
    uint32_t budget = descriptor_budget();
    for (int group = COUNT_GROUP_NONE + 1; group < COUNT_GROUPS; group++)
        if (group_fits(c, group, budget))
            open_group(c, group);
}

/* began: threads began meanwhile. */
static bool open_once(struct count_set *c, bool *began, struct error *e)
{
    memset(c->why, 0, sizeof c->why);
    memset(c->alone, 0, sizeof c->alone);
    count_sources_find(c);
    struct count_targets targets;
    struct error why = { 0 };
    bool ok = count_targets_of(&targets, &c->scope, 0, &why);
    if (ok) {
        add_slots(c, &targets);
        open_all(c);
        *began = count_targets_began(&targets, &c->scope);
    } else
        error_set(e, why.class, "counters: %s", why.text);
    count_targets_done(&targets);
    count_cgroups_close(c);
    return ok;
}

bool count_slots_open(struct count_set *c, struct error *e)
{
    struct targets_again again = { 0 };
    bool began;
    while (open_once(c, &began, e)) {
        if (!began || !targets_again(&again))
            return true;
        count_slots_close(c);
    }
    return false;
}

void count_slots_close(struct count_set *c)
{
    for (uint32_t i = 0; i < c->slots.n; i++)
        for (int event = COUNT_EVENTS - 1; event >= 0; event--)
            if (c->slots.items[i].fds[event] >= 0)
                close(c->slots.items[i].fds[event]);
    VEC_FREE(&c->slots);
    cpus_done(&c->online);
    count_cgroups_done(c);
    count_sources_done(c);
    c->n_cpus = c->fds_open = 0;
}
