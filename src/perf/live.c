// SPDX-License-Identifier: GPL-2.0-or-later
#include "perf/live.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "perf/live_cpu.h"
#include "perf/open.h"
#include "perf/programs.h"
#include "perf/readings.h"

/* A record is stamped, then reserved, copied and published, all with interrupts off or nested in such a
 * section. So records older than this when the heads are read have been published on every CPU. */
#define SLACK_NS (5 * NS_PER_MS)
/* Times further in the future than this are invalid. */
#define ABSURD_NS NS_PER_SEC

#define LATE_NS (DUMPS_LATE_MS * NS_PER_MS)
#define RATE_NS (50 * NS_PER_MS) /* shorter spans give no useful rate */

struct live {
    struct plan plan;
    struct targets targets;
    uint32_t first;                              /* first event that opened */
    struct record_layout layouts[EVENT_SET_MAX]; /* by event; other records use that of the first */
    struct live_cpus cpus;
    BUFFER(struct ring *) rings; /* rings of cpus, for order_drain */
    struct order order;
    uint64_t rated_ns; /* time when ring rates were last measured; 0: never */
    struct live_stats stats;
    struct map member_of; /* if there are several events: id → member */
    struct select_ids left_ids;
    struct readings readings;
    uint64_t dump_bytes;           /* of stack dumps, since open */
    struct dumps_look budget_look; /* at the last budget check */
    int epoll_fd;
    struct cpus_watch online;
    struct cpus now;      /* CPUs to sample, as of the last check */
    struct map lost;      /* CPUs whose event has ended although they are online */
    uint32_t n_lost;      /* as of the last check */
    bool starved;         /* as of the last check */
    bool before_exec;     /* the target is a command before its exec: its samples do not count yet */
    unsigned dead_looks;  /* consecutive checks that found running tasks whose events had ended */
    unsigned dead_drains; /* consecutive drains that found no running target of the filter */
    live_record_fn *fn;   /* of the current drain */
    void *ctx;
    size_t handed;
};

/* Add the next living event of the CPU to epoll. All of them share one ring, whose wakeup reaches each, but
 * an ended event would report POLLHUP forever. */
static void watch(struct live *l, struct live_cpu *c)
{
    struct epoll_event ev = { .events = EPOLLIN, .data.ptr = c };
    while (c->watched < c->n_own &&
           epoll_ctl(l->epoll_fd, EPOLL_CTL_ADD, c->fds.items[c->watched].fd, &ev) != 0)
        c->watched++;
}

static void unwatch(struct live *l, struct live_cpu *c)
{
    if (c->watched < c->n_own)
        epoll_ctl(l->epoll_fd, EPOLL_CTL_DEL, c->fds.items[c->watched].fd, NULL);
}

/* Skip events that have ended, by polling epoll without waiting. */
static void look_for_ends(struct live *l)
{
    struct epoll_event ev[16];
    bool again = true;
    while (again) {
        again = false;
        int n = epoll_wait(l->epoll_fd, ev, 16, 0);
        for (int i = 0; i < n; i++) {
            struct live_cpu *c = ev[i].data.ptr;
            if (!c || !(ev[i].events & (EPOLLHUP | EPOLLERR)))
                continue;
            unwatch(l, c);
            c->watched++;
            watch(l, c);
            again = true;
        }
    }
}

static void enable(const struct live *l, const struct live_cpu *c)
{
    for (uint32_t i = live_attr(l)->enable_on_exec ? c->n_own : 0; i < c->fds.n; i++)
        ioctl(c->fds.items[i].fd, PERF_EVENT_IOC_ENABLE, 0);
}

static void make_layouts(struct live *l)
{
    for (uint32_t member = l->first; member < EVENT_SET_MAX; member = plan_next_member(&l->plan, member)) {
        struct record_layout *layout = &l->layouts[member];
        record_layout_of(plan_attr(&l->plan, member), false, layout);
        layout->elsewhere = l->plan.where == PLAN_TASKS && l->cpus.n > 1;
        layout->scales = !layout->elsewhere;
    }
}

static bool open_by_steps(struct live *l, struct error *e)
{
    struct open_failure f;
    ladder_start(&l->plan);
    for (;;) {
        if (!plan_make_attr(&l->plan, e))
            return false;
        const struct live_config *cfg = &l->plan.cfg;
        targets_done(&l->targets);
        targets_init(&l->targets, &cfg->scope, cfg->inherit || cfg->scope.own);
        targets_add(&l->targets, cfg->known, cfg->n_known);
        if (l->plan.where == PLAN_TASKS)
            targets_add_descendants(&l->targets, &cfg->scope);
        if (open_all(&l->plan, &l->targets, &l->cpus, &f))
            return true;
        if (!ladder_step(&l->plan, &f, e))
            return false;
    }
}

struct live *live_open(const struct live_config *cfg, struct error *e)
{
    struct live *l = mem_zalloc(sizeof *l);
    plan_init(&l->plan, cfg);
    select_start(&l->plan);
    cpus_watch_init(&l->online);
    l->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    if (l->epoll_fd < 0) {
        error_sys(e, errno, "cannot wait for events: epoll_create1");
        goto fail;
    }
    open_raise_limit();
    if (!open_by_steps(l, e))
        goto fail;
    l->first = plan_first(&l->plan);
    dumps_note(&l->plan);
    plan_note_off_cpu(&l->plan);
    plan_note_switches(&l->plan);
    l->plan.cfg.known = NULL; /* borrowed from the caller */
    l->plan.cfg.n_known = 0;
    l->plan.cfg.selections = NULL;
    l->budget_look.time_ns = clock_now_ns();
    make_layouts(l);
    l->before_exec = l->plan.filter && l->plan.cfg.enable_on_exec && live_attr(l)->comm_exec;
    for (uint32_t i = 0; i < l->cpus.n; i++) {
        select_note_ids(&l->plan, l->cpus.items[i], &l->member_of);
        watch(l, l->cpus.items[i]);
    }
    programs_run(&l->plan, &l->cpus);
    for (uint32_t i = 0; i < l->cpus.n; i++)
        enable(l, l->cpus.items[i]);
    vary_cpus(&l->plan, &l->cpus);
    if (cfg->selections && !live_select(l, cfg->selections)) {
        error_sys(e, errno, "cannot select operations");
        goto fail;
    }
    if (l->plan.filter) /* only now, as FORK records report all tasks that start from now on */
        targets_add_descendants(&l->targets, &l->plan.cfg.scope);
    return l;
fail:
    live_close(l);
    return NULL;
}

void live_close(struct live *l)
{
    if (!l)
        return;
    for (uint32_t i = 0; i < l->cpus.n; i++)
        live_cpu_close(l->cpus.items[i]);
    programs_end(&l->plan);
    if (l->epoll_fd >= 0)
        close(l->epoll_fd);
    mem_free(l->cpus.items);
    mem_free(l->rings.items);
    order_done(&l->order);
    targets_done(&l->targets);
    map_done(&l->member_of);
    mem_free(l->left_ids.items);
    map_done(&l->lost);
    cpus_watch_done(&l->online);
    cpus_done(&l->now);
    readings_done(&l->readings);
    plan_done(&l->plan);
    mem_free(l);
}

bool live_run(struct live *l, struct stackprobe *probe)
{
    l->plan.cfg.probe = probe;
    return programs_run(&l->plan, &l->cpus);
}

const struct live_config *live_config_of(const struct live *l)
{
    return &l->plan.cfg;
}

const struct perf_event_attr *live_attr(const struct live *l)
{
    return plan_attr(&l->plan, l->first);
}

const struct perf_event_attr *live_attr_of(const struct live *l, uint32_t member)
{
    bool there = member <= l->plan.cfg.n_others && !l->plan.without[member];
    return there ? plan_attr(&l->plan, member) : NULL;
}

void live_rate_of(const struct live *l, uint32_t member, uint64_t *freq_hz, uint64_t *period)
{
    plan_rate(&l->plan, member, freq_hz, period);
}

uint32_t live_notes(const struct live *l, const struct live_note **notes)
{
    *notes = l->plan.notes;
    return l->plan.n_notes;
}

int live_fd(const struct live *l)
{
    return l->epoll_fd;
}

void live_wake_by(struct live *l, int fd)
{
    struct epoll_event ev = { .events = EPOLLIN };
    if (epoll_ctl(l->epoll_fd, EPOLL_CTL_ADD, fd, &ev) != 0)
        log_add("wake-ups are delayed until records arrive: %s", strerror(errno));
}

uint32_t live_cpu_count(const struct live *l)
{
    return l->cpus.n;
}

bool live_is_short(const struct live *l, const struct live *before)
{
    return dumps_rings_are_short(&l->plan, &before->plan);
}

static void look_at_rates(struct live *l, uint64_t now_ns)
{
    if (now_ns - l->rated_ns < RATE_NS)
        return;
    for (uint32_t i = 0; i < l->cpus.n; i++)
        live_cpu_rate(l->cpus.items[i], l->rated_ns ? now_ns - l->rated_ns : 0);
    l->rated_ns = now_ns;
}

/* The time until a ring is drained at the latest: a reader that plans to come at until_ns may be late. */
static uint64_t time_left(uint64_t now_ns, uint64_t until_ns)
{
    return (until_ns > now_ns ? until_ns - now_ns : 0) + LATE_NS;
}

bool live_lasts(const struct live *l, uint64_t until_ns)
{
    uint64_t now_ns = clock_now_ns(), past_ns = now_ns - l->rated_ns;
    double left = (double)time_left(now_ns, until_ns);
    for (uint32_t i = 0; i < l->cpus.n; i++)
        if (!live_cpu_lasts(l->cpus.items[i], past_ns >= RATE_NS ? past_ns : 0, left))
            return false;
    return true;
}

/* Uses the highest possible rate, as a CPU that was idle recently may become busy. Events of tasks also
 * report their end through live_fd. */
bool live_is_even(const struct live *l, uint64_t until_ns)
{
    uint64_t time_ns = time_left(clock_now_ns(), until_ns);
    return l->plan.where != PLAN_TASKS && dumps_bytes_in(&l->plan, time_ns) <= l->plan.ring_bytes &&
           live_lasts(l, until_ns);
}

/* True if all events have ended: those of tasks end with them, or when their PMU is removed. */
static bool have_ended(const struct live *l)
{
    if (l->plan.where != PLAN_TASKS)
        return false;
    for (uint32_t i = 0; i < l->cpus.n; i++)
        if (!live_cpu_has_ended(l->cpus.items[i]))
            return false;
    return true;
}

/* With a filter, one drain is not enough: the FORK of a child that outlives its parent may still be in a
 * ring. */
bool live_targets_gone(const struct live *l)
{
    if (l->plan.filter)
        return l->dead_drains >= 2;
    return have_ended(l) && !targets_any_runs(l->plan.cfg.scope.ids, l->plan.cfg.scope.n_ids);
}

bool live_is_wide(const struct live *l)
{
    return l->plan.where != PLAN_TASKS;
}

void live_fix_wide(const struct live *l, char *dst, unsigned cap)
{
    if (l->plan.no_wide)
        advice_permission(dst, cap, 0);
    else if (l->plan.cfg.scope.cpus)
        snprintf(dst, cap, "sample all CPUs: S, CPUs");
    else if (!plan_is_frequency(&l->plan)) /* of time off the CPU, too: a lower frequency changes nothing */
        snprintf(dst, cap, "sample everything (S)");
    else
        snprintf(dst, cap, "sample at a lower frequency (f), or sample everything (S)");
}

uint32_t *live_known(const struct live *l, uint32_t *n)
{
    return targets_ids(&l->targets, n);
}

uint64_t live_ended(const struct live *l)
{
    return l->targets.n_ended;
}

uint32_t live_lost_cpus(const struct live *l)
{
    return l->n_lost;
}

bool live_is_starved(const struct live *l)
{
    return l->starved;
}

/* True if the record belongs to the scope. Tasks are tracked even if the kernel follows them by itself: for
 * CPUs that come online later. */
static bool belongs(struct live *l, const struct record *r)
{
    if (l->plan.filter) {
        bool mine = targets_take(&l->targets, r);
        /* if records were lost, that of the exec may be among them */
        l->before_exec &=
            r->type != PERF_RECORD_LOST && !(mine && r->type == PERF_RECORD_COMM && r->comm.exec);
        return mine && !(l->before_exec && r->type == PERF_RECORD_SAMPLE);
    }
    bool of_targets =
        r->type == PERF_RECORD_FORK || r->type == PERF_RECORD_EXIT || r->type == PERF_RECORD_LOST;
    if (l->targets.kind != SCOPE_USER && of_targets)
        targets_take(&l->targets, r);
    return true;
}

/* With SELECT_COUNTS. */
static uint32_t event_of(const struct live *l, uint64_t id)
{
    uint64_t member = l->first;
    return l->member_of.n && map_get(&l->member_of, id, &member) ? (uint32_t)member : l->first;
}

static uint32_t member_of(const struct live *l, uint64_t id)
{
    return event_of(l, id) & ~SELECT_COUNTS;
}

static bool hand_reading(void *ctx, struct record *one, uint32_t member)
{
    struct live *l = ctx;
    (void)member; /* index among the members that opened */
    one->source = member_of(l, one->id.id);
    l->handed++;
    return l->fn(l->ctx, one);
}

/* The member of a record; a sample begins with the id of its event. */
static uint32_t member_of_bytes(const struct live *l, const void *bytes, uint32_t size)
{
    struct perf_event_header head;
    uint64_t id;
    if (!l->member_of.n || size < sizeof head + sizeof id)
        return l->first;
    memcpy(&head, bytes, sizeof head);
    memcpy(&id, (const char *)bytes + sizeof head, sizeof id);
    return head.type == PERF_RECORD_SAMPLE ? member_of(l, id) : l->first;
}

static bool handle_record(void *ctx, const void *bytes, uint32_t size)
{
    struct live *l = ctx;
    struct record r;
    struct live_cpu *c;
    uint32_t member = member_of_bytes(l, bytes, size);
    const struct record_layout *layout = &l->layouts[member];
    if (!record_parse(bytes, size, layout, &r, NULL)) {
        l->stats.malformed++;
        return true;
    }
    const struct event *ev = plan_event(&l->plan, member);
    /* a thread outside the scope may wake one of the scope, or see the end of its operation */
    bool open = r.type == PERF_RECORD_SAMPLE && (ev->wakers || ev->everywhere), mine = belongs(l, &r);
    if (!mine && !open)
        return true;
    r.foreign = open && !(mine && targets_take(&l->targets, &r));
    r.gap_ns = l->order.gap ? live_cpus_gap_ns(&l->cpus, r.id.cpu) : 0;
    live_cpu_count_record(&l->stats, &r);
    if (r.type == PERF_RECORD_LOST && (c = live_cpus_find(&l->cpus, r.id.cpu)))
        live_cpu_reported(c, &r);
    if (r.type == PERF_RECORD_SAMPLE) {
        l->dump_bytes += r.sample.stack_size;
        if (!(layout->sample_type & PERF_SAMPLE_PERIOD))
            r.sample.period = plan_attr(&l->plan, member)->sample_period;
        if ((r.counting = event_of(l, r.id.id) & SELECT_COUNTS))
            r.sample.period = l->plan.count_periods[member];
    }
    if (readings_in(&r, layout))
        return readings_each(&l->readings, &r, layout, hand_reading, l);
    r.source = member_of(l, r.id.id);
    l->handed++;
    return l->fn(l->ctx, &r);
}

/* Hands the losses of a CPU that no record reports. */
static void hand_unreported(struct live *l, struct live_cpu *c)
{
    struct record r;
    if (!live_cpu_unreported(&l->plan, c, &r))
        return;
    r.source = l->first;
    live_cpu_count_record(&l->stats, &r);
    l->handed++;
    l->fn(l->ctx, &r);
}

/* Close the rings of offline CPUs once they are empty. final: all rings are about to be closed. */
static void close_left(struct live *l, bool final)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < l->cpus.n; i++) {
        struct live_cpu *c = l->cpus.items[i];
        bool empty = c->ring.tail == c->ring.head;
        if (empty && (final || c->leaving))
            hand_unreported(l, c);
        if (empty && c->leaving)
            live_cpu_close(c);
        else
            l->cpus.items[kept++] = c;
    }
    l->cpus.n = kept;
}

size_t live_drain(struct live *l, bool final, live_record_fn *fn, void *ctx)
{
    /* before any head is read: see SLACK_NS */
    uint64_t now_ns = clock_now_ns();
    struct order_rule rule = {
        .layout = &l->layouts[l->first],
        .until_ns = now_ns - SLACK_NS,
        .absurd_ns = now_ns + ABSURD_NS,
        .foreign_clock = !live_attr(l)->use_clockid,
        .all = final,
    };
    struct ring **rings = VEC_RESERVE(&l->rings, l->cpus.n);
    for (uint32_t i = 0; i < l->cpus.n; i++)
        rings[i] = &l->cpus.items[i]->ring;
    l->fn = fn;
    l->ctx = ctx;
    l->handed = 0;
    look_at_rates(l, now_ns);
    order_drain(&l->order, rings, (uint32_t)l->cpus.n, &rule, handle_record, l);
    l->stats.ring_fill = l->order.fill;
    l->stats.drained_ns = final ? clock_now_ns() : rule.until_ns;
    look_for_ends(l);
    close_left(l, final);
    if (l->plan.filter)
        l->dead_drains = targets_alive(&l->targets) ? 0 : l->dead_drains + 1;
    return l->handed;
}

void live_stats(const struct live *l, struct live_stats *out)
{
    *out = l->stats;
    out->malformed += l->order.errors;
    out->lost += out->malformed;
}

uint64_t live_over_budget(struct live *l)
{
    struct dumps_look now = { l->dump_bytes, l->stats.lost, clock_now_ns() };
    return dumps_over_budget(&l->plan, &l->budget_look, &now);
}

bool live_thin(struct live *l, const uint32_t one_in[2])
{
    return thin_cpus(&l->plan, &l->cpus, one_in);
}

uint64_t live_begins(const struct live *l, uint32_t member)
{
    return l->plan.filter ? 0 : select_begins(&l->plan, &l->cpus, member);
}

bool live_select(struct live *l, const struct live_selection *selections)
{
    if (!select_fits(&l->plan, selections) || !open_selected(&l->plan, &l->targets, &l->cpus, selections))
        return false;
    select_adopt(&l->plan, &l->cpus, &l->member_of, &l->left_ids);
    return true;
}

uint32_t live_larger_dumps(const struct live *l, double seen)
{
    return dumps_larger(&l->plan, (uint64_t)(seen / l->plan.n_cpus) + 1);
}

static bool has_cpu(const struct live *l, uint32_t cpu)
{
    const struct live_cpu *c = live_cpus_find(&l->cpus, cpu);
    return c && !c->leaving;
}

/* True if the kernel has retired the CPU's event. A CPU that went offline and came back between two checks
 * is online, but its event is dead: its enabled time does not advance. (That of a cgroup's event also stops
 * while the cgroup is idle.) If its PMU was removed, the event hangs up or reads nothing; so does a pinned
 * event that lost its counter. */
static bool was_retired(struct live *l, struct live_cpu *c)
{
    uint64_t now[3];
    bool ended = live_cpu_has_ended(c), wrote = c->ring.head != c->seen_head;
    c->seen_head = c->ring.head;
    if (l->plan.where == PLAN_TASKS || (wrote && !ended))
        /* it writes records, so it lives; reading its time would interrupt its CPU and wait */
        return false;
    if (ended || !live_cpu_read_times(c->fds.items[0].fd, now)) {
        map_put(&l->lost, c->cpu, 1);
        return true;
    }
    bool stands = l->plan.where == PLAN_CPUS && now[1] == c->enabled_ns;
    c->enabled_ns = now[1];
    return stands;
}

static void leave(struct live *l, struct live_cpu *c)
{
    log_add(map_get(&l->lost, c->cpu, NULL) ? "the event of CPU %u has ended" : "CPU %u went offline",
            c->cpu);
    unwatch(l, c);
    c->watched = c->n_own;
    c->leaving = true;
}

static void join(struct live *l, uint32_t cpu)
{
    struct live_cpu *c = open_cpu(&l->plan, &l->targets, cpu);
    if (!c)
        return;
    log_add("CPU %u is online", cpu);
    map_del(&l->lost, cpu);
    *VEC_PUSH(&l->cpus) = c;
    select_note_ids(&l->plan, c, &l->member_of);
    watch(l, c);
    programs_run(&l->plan, &l->cpus);
    enable(l, c);
}

/* Number of CPUs without an event. Tasks may end during a check, so only two checks in a row count. */
static uint32_t count_lost(struct live *l, const struct cpus *now)
{
    uint64_t cpu;
    uint32_t n = 0;
    l->dead_looks = have_ended(l) && !live_targets_gone(l) ? l->dead_looks + 1 : 0;
    for (size_t pos = 0; map_next(&l->lost, &pos, &cpu, NULL);)
        n += cpus_has(now, (uint32_t)cpu);
    return l->dead_looks >= 2 ? (uint32_t)l->cpus.n : n;
}

void live_check_cpus(struct live *l)
{
    const struct cpus *now = &l->now;
    targets_catch_up(&l->targets, &l->plan.cfg.scope);
    if (cpus_watch_look(&l->online, &l->now))
        open_narrow_cpus(&l->plan, &l->now);
    bool gone = have_ended(l);
    for (uint32_t i = 0; i < l->cpus.n; i++)
        if (!l->cpus.items[i]->leaving &&
            (!cpus_has(now, l->cpus.items[i]->cpu) || was_retired(l, l->cpus.items[i])))
            leave(l, l->cpus.items[i]);
    for (uint32_t cpu = 0; cpu < now->n && !gone; cpu++)
        if (now->in[cpu] && !has_cpu(l, cpu))
            join(l, cpu);
    l->n_lost = count_lost(l, now);
    l->starved = !l->stats.samples && live_cpus_are_starved(&l->cpus);
    vary_cpus(&l->plan, &l->cpus);
}
