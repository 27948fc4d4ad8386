// SPDX-License-Identifier: GPL-2.0-or-later
/* Measures how much of the scope's CPU time the samples cover.
 *
 * The collector reads /proc right after a drain, so that both sides cover the same time. It reads one
 * small file per process, and then waits a thousand times as long as the reading took, so that coverage
 * costs at most 0.1 % of a CPU with any number of processes. */
#include "session/coverage.h"

#include <stdio.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "perf/targets.h"
#include "session/session_state.h"

#define UNSEEN_MIN 50 /* fewest threads without a sample for a note */
#define COST_SHARE 1000
#define LEAST_NS   (50 * NS_PER_MS) /* between two reads */
/* of CPU time: with less, the kernel's 10 ms tick is too coarse */
#define ENOUGH_NS (200 * NS_PER_MS)

/* ---- members ---- */

void coverage_begin(struct coverage_members *m)
{
    for (size_t i = 0; i < m->n; i++)
        m->items[i].seen = false;
}

static struct coverage_member *find(const struct coverage_members *m, uint32_t id)
{
    uint64_t location;
    return map_get(&m->index, id, &location) ? &m->items[location] : NULL;
}

void coverage_see(struct coverage_members *m, const struct coverage_member *now, uint64_t since_ns)
{
    struct coverage_member *old = find(m, now->id);
    if (old && old->start_ns == now->start_ns) {
        uint64_t base_ns = old->base_ns;
        *old = *now;
        old->base_ns = base_ns;
        old->seen = true;
        return;
    }
    if (old) /* the id was reused: the previous member stays in the list until the end of the read */
        map_del(&m->index, now->id);
    map_put(&m->index, now->id, m->n);
    struct coverage_member *new = VEC_PUSH(m);
    *new = *now;
    new->base_ns = now->start_ns >= since_ns ? 0 : now->now_ns;
    new->seen = true;
}

/* True if a running ancestor has waited for the ended member: an ended parent passes its waited-for time
 * to its own parent. */
static bool was_waited_for(const struct coverage_members *m, const struct coverage_member *ended)
{
    const struct coverage_member *parent = find(m, ended->ppid);
    for (size_t steps = 0; parent && steps < m->n; steps++, parent = find(m, parent->ppid)) {
        if (parent->drops_children)
            return false;
        if (parent->seen)
            return true;
    }
    return false;
}

static void settle(struct coverage_members *m, const struct coverage_member *ended, bool waits)
{
    m->ended_ns -= (int64_t)ended->base_ns;
    if (waits && was_waited_for(m, ended))
        return;
    m->ended_ns += (int64_t)ended->now_ns;
    m->n_lost++;
}

static void drop_ended(struct coverage_members *m)
{
    size_t kept = 0;
    map_done(&m->index);
    for (size_t i = 0; i < m->n; i++)
        if (m->items[i].seen) {
            map_put(&m->index, m->items[i].id, kept);
            m->items[kept++] = m->items[i];
        }
    m->n = kept;
}

int64_t coverage_end(struct coverage_members *m, bool waits)
{
    int64_t sum = 0;
    bool any = false;
    for (size_t i = 0; i < m->n; i++) {
        if (!m->items[i].seen)
            settle(m, &m->items[i], waits);
        else
            sum += (int64_t)(m->items[i].now_ns - m->items[i].base_ns);
        any |= !m->items[i].seen;
    }
    if (any)
        drop_ended(m);
    return sum + m->ended_ns;
}

void coverage_members_done(struct coverage_members *m)
{
    map_done(&m->index);
    mem_free(m->items);
    *m = (struct coverage_members){ 0 };
}

/* ---- one read ---- */

static void give_up(struct session *s, const char *why)
{
    pthread_mutex_lock(&s->store.lock);
    s->collect.coverage.unknown = why;
    pthread_mutex_unlock(&s->store.lock);
}

/* The part of the CPU time that the event samples (user, kernel, or both). */
static uint64_t part_of(const struct perf_event_attr *a, const struct cputime *t)
{
    return (a->exclude_user ? 0 : t->user_ns) + (a->exclude_kernel ? 0 : t->system_ns);
}

static void see(struct session *s, const struct perf_event_attr *a, uint32_t id, bool threads, bool waits)
{
    struct cputime_task t;
    if (!(threads ? cputime_of_thread(id, &t) : cputime_of_process(id, &t)))
        return;
    struct coverage_member now = {
        .id = id, .ppid = t.ppid, .start_ns = t.start_ns, .drops_children = t.drops_children
    };
    now.now_ns = part_of(a, &t.own) + (waits ? part_of(a, &t.waited) : 0);
    coverage_see(&s->collect.coverage.members, &now, s->collect.coverage.since_boot_ns);
}

static uint32_t *list_threads(const struct scope *scope, uint32_t *n)
{
    struct targets t;
    targets_init(&t, scope, false);
    uint32_t *tids = targets_threads(&t, n);
    targets_done(&t);
    return tids;
}

/* The processes or threads that are sampled now. Without inheritance: always those of the first read. */
static uint32_t *list_members(const struct session *s, bool first, bool *threads, bool *waits, uint32_t *n)
{
    const struct scope *scope = &s->source.scope;
    const struct coverage_members *m = &s->collect.coverage.members;
    *threads = scope->kind == SCOPE_TIDS || scope->no_inherit;
    *waits = !*threads;
    if (scope->kind == SCOPE_USER)
        return targets_pids_of_user(scope->uid, n);
    if (!scope->no_inherit)
        return live_known(s->source.live, n);
    if (first)
        return list_threads(scope, n);
    uint32_t *ids = mem_array(m->n + 1, sizeof *ids);
    for (size_t i = 0; i < m->n; i++)
        ids[i] = m->items[i].id;
    *n = (uint32_t)m->n;
    return ids;
}

/* Adds the ended command. flametop has waited for it, so that its CPU time, including its waited-for
 * children, is complete. */
static void see_ended_command(struct session *s)
{
    struct coverage_member *command =
        s->command.pid ? find(&s->collect.coverage.members, (uint32_t)s->command.pid) : NULL;
    if (!command || command->seen || s->command.status < 0)
        return;
    command->now_ns = s->command.cpu_ns;
    command->seen = true;
}

static bool look_at_members(struct session *s, const struct perf_event_attr *a, bool first, int64_t *cpu_ns)
{
    struct coverage_members *m = &s->collect.coverage.members;
    bool threads, waits;
    uint32_t n, *ids = list_members(s, first, &threads, &waits, &n), self = (uint32_t)getpid();
    coverage_begin(m);
    for (uint32_t i = 0; i < n; i++)
        see(s, a, ids[i], threads, waits);
    if (s->source.scope.kind == SCOPE_USER && s->source.runs_wide && s->source.scope.uid == geteuid())
        see(s, a, self, threads, waits);
    mem_free(ids);
    bool any = first;
    see_ended_command(s);
    for (size_t i = 0; i < m->n && !any; i++)
        any = m->items[i].seen;
    if (!any) /* all have ended since the last read, whose result stays valid */
        return false;
    uint64_t lost = m->n_lost;
    *cpu_ns = coverage_end(m, waits);
    /* most threads that start and end between two reads appear in neither; only their EXIT records show
     * them */
    if (threads && (m->n_lost != lost || live_ended(s->source.live) != s->collect.coverage.base_ended))
        give_up(s, "threads have ended, and the kernel does not keep their CPU time");
    return true;
}

static bool look_at_cgroups(struct session *s, const struct perf_event_attr *a, int64_t *cpu_ns)
{
    struct cputime t;
    *cpu_ns = 0;
    for (uint32_t i = 0; i < scope_cgroups(&s->source.scope); i++) {
        int fd = scope_open_cgroup(&s->source.scope, i);
        bool ok = fd >= 0 && cputime_of_cgroup(fd, &t);
        if (fd >= 0)
            close(fd);
        if (!ok) {
            give_up(s, "the cgroup has no cpu.stat");
            return false;
        }
        *cpu_ns += (int64_t)part_of(a, &t);
    }
    return true;
}

static bool look_at_cpus(struct session *s, const struct perf_event_attr *a, int64_t *cpu_ns)
{
    struct cputime t;
    uint64_t busy_ns;
    if (!cputime_of_cpus(s->source.scope.cpus, s->source.scope.n_cpus, &t, &busy_ns)) {
        give_up(s, "/proc/stat has no CPU time");
        return false;
    }
    *cpu_ns = (int64_t)(a->exclude_user || a->exclude_kernel ? part_of(a, &t) : busy_ns);
    return true;
}

static bool read_cpu_time(struct session *s, bool first, int64_t *cpu_ns)
{
    const struct perf_event_attr *a = &s->store.events[s->collect.coverage.event].attr;
    switch (s->source.scope.kind) {
    case SCOPE_ALL:
        return look_at_cpus(s, a, cpu_ns);
    case SCOPE_CGROUP:
        return look_at_cgroups(s, a, cpu_ns);
    default:
        return look_at_members(s, a, first, cpu_ns);
    }
}

/* ---- schedule ---- */

/* The first running event that counts time; UINT32_MAX: none. */
static uint32_t clock_of(const struct session *s)
{
    uint32_t n = chosen_together(s, s->store.live_event);
    for (uint32_t i = s->store.live_event; i < s->store.live_event + n; i++) {
        struct event ev = { .attr = s->store.events[i].attr };
        if (!s->store.events[i].left_out && event_is_clock(&ev))
            return i;
    }
    return UINT32_MAX;
}

static const char *why_unknown(const struct session *s, uint32_t event)
{
    if (event == UINT32_MAX && s->collect.offcpu.runs)
        return "only time off the CPU is sampled (--wall samples both)";
    if (event == UINT32_MAX)
        return "the event does not count time";
    if (s->source.scope.cpus && s->source.scope.kind != SCOPE_ALL)
        return "the kernel does not count the CPU time of tasks per CPU";
    return NULL;
}

static void start_again(struct session *s, uint32_t event, uint64_t now_ns)
{
    struct coverage *c = &s->collect.coverage;
    coverage_members_done(&c->members);
    c->scope_number = s->store.scope_number;
    c->since_ns = now_ns;
    c->since_boot_ns = clock_read_ns(CLOCK_BOOTTIME);
    pthread_mutex_lock(&s->store.lock);
    c->event = event;
    c->unknown = why_unknown(s, event);
    c->sampled_ns = c->cpu_ns = c->n_lost = 0;
    c->base_weight_ns = c->weight_ns;
    c->base_ended = live_ended(s->source.live);
    pthread_mutex_unlock(&s->store.lock);
    if (!c->unknown)
        read_cpu_time(s, true, &c->base_cpu_ns);
}

static void look_again(struct session *s)
{
    struct coverage *c = &s->collect.coverage;
    uint64_t weight_ns = c->weight_ns;
    int64_t cpu_ns;
    if (!read_cpu_time(s, false, &cpu_ns))
        return;
    bool members = s->source.scope.kind != SCOPE_ALL && s->source.scope.kind != SCOPE_CGROUP;
    cpu_ns -= members ? 0 : c->base_cpu_ns;
    pthread_mutex_lock(&s->store.lock);
    c->sampled_ns = weight_ns - c->base_weight_ns;
    c->n_lost = c->members.n_lost;
    c->cpu_ns = cpu_ns > 0 ? (uint64_t)cpu_ns : 0;
    pthread_mutex_unlock(&s->store.lock);
}

/* Time until the next read. Reads are frequent after the start, as a short-lived target may end soon. */
static uint64_t wait_ns(uint64_t passed_ns, uint64_t cost_ns)
{
    uint64_t wait = passed_ns / 4 < NS_PER_SEC ? passed_ns / 4 : NS_PER_SEC;
    wait = wait < LEAST_NS ? LEAST_NS : wait;
    return wait > cost_ns * COST_SHARE ? wait : cost_ns * COST_SHARE;
}

void coverage_look(struct session *s, bool now)
{
    struct coverage *c = &s->collect.coverage;
    uint64_t start_ns = clock_now_ns();
    uint32_t event = s->source.live ? clock_of(s) : UINT32_MAX;
    if (!s->source.live)
        return;
    if (c->scope_number != s->store.scope_number || c->event != event)
        start_again(s, event, start_ns);
    else if (!c->unknown && (now || start_ns >= c->next_ns))
        look_again(s);
    else
        return;
    c->next_ns = start_ns + wait_ns(start_ns - c->since_ns, clock_now_ns() - start_ns);
}

/* ---- texts ---- */

void coverage_get(const struct session *s, struct session_coverage *out)
{
    const struct coverage *c = &s->collect.coverage;
    *out = (struct session_coverage){ .sampled_ns = c->sampled_ns, .cpu_ns = c->cpu_ns, .n_lost = c->n_lost };
    out->percent = c->cpu_ns ? 100 * (double)c->sampled_ns / (double)c->cpu_ns : 0;
    if (s->load.file)
        out->unknown = "a file does not contain it";
    else if (c->unknown || c->cpu_ns < ENOUGH_NS)
        out->unknown = c->unknown ? c->unknown : "too little CPU time so far";
    if (!out->unknown && c->event < s->store.n_events) {
        out->user_only = s->store.events[c->event].attr.exclude_kernel;
        out->kernel_only = s->store.events[c->event].attr.exclude_user;
        out->period_ns = s->store.events[c->event].freq_hz ? NS_PER_SEC / s->store.events[c->event].freq_hz
                                                           : s->store.events[c->event].period;
    }
}

void session_get_coverage(struct session *s, struct session_coverage *out)
{
    pthread_mutex_lock(&s->store.lock);
    coverage_get(s, out);
    pthread_mutex_unlock(&s->store.lock);
}

void session_coverage_text(const struct session_coverage *c, char *dst, unsigned cap)
{
    const char *kind = c->user_only ? "user " : c->kernel_only ? "kernel " : "";
    if (c->unknown) {
        snprintf(dst, cap, "coverage of the CPU time is unknown: %s", c->unknown);
        return;
    }
    int n = snprintf(dst, cap, "samples cover %.1f%% of %.1f %sCPU seconds", c->percent,
                     (double)c->cpu_ns / (double)NS_PER_SEC, kind);
    if (n < 0 || (unsigned)n >= cap)
        return;
    if (c->n_lost)
        snprintf(dst + n, cap - (unsigned)n, ", not counting the last moments of %llu process%s that ended",
                 (unsigned long long)c->n_lost, c->n_lost == 1 ? "" : "es");
}

bool session_coverage_is_short(const struct session_coverage *c)
{
    double expected = (double)c->cpu_ns, short_of = 0.95 * expected - (double)c->sampled_ns;
    double samples = c->period_ns ? expected / (double)c->period_ns : 0;
    return !c->unknown && c->cpu_ns >= NS_PER_SEC && short_of > 0 &&
           short_of * short_of * samples > 9 * expected * expected;
}

uint64_t source_unseen(const struct session *s)
{
    uint64_t unseen = world_unseen(s->store.world) - s->source.opened.unseen;
    bool matters = !period_find_event(s) && unseen >= UNSEEN_MIN &&
                   unseen > (s->store.samples - s->source.opened.samples) / 10;
    return !s->load.file && !s->source.runs_wide && matters ? unseen : 0;
}
