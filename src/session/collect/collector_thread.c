// SPDX-License-Identifier: GPL-2.0-or-later
/* The collector's thread: when it drains the rings, and what it checks in between. */
#include <fcntl.h>
#include <poll.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "base/child.h"
#include "base/clock.h"
#include "session/session_state.h"

/* Rings wake the collector before they are full: this limits the age of few samples. */
#define COLLECT_INTERVAL_MS 250
/* Samples that are collected together cost less: what the first one looks up is in the CPU's cache for the
 * others. If the time of the next redraw is known, they are collected right before it, otherwise once a
 * second. But not while programs are being started: an ended process is no longer in /proc. */
#define LOOK_INTERVAL_NS   NS_PER_SEC
#define LOOK_AHEAD_NS      (15 * NS_PER_MS)
#define STARTS_NS          NS_PER_SEC /* how long another start is expected */
#define PROMPT_INTERVAL_MS 100        /* while a user waits for the first samples, or for a command to end */
/* The header shows the system's CPU use; before this, flametop's own overhead would be unknown. */
#define FIRST_LOOK_NS (250 * NS_PER_MS)
#define PROMPT_NS     (3 * NS_PER_SEC)
#define BOX_NS        (2 * NS_PER_SEC)
/* At first: interpreters are found by the first samples, whose frames cannot be read yet. */
#define BEGIN_INTERVAL_MS 10
#define BEGIN_NS          (400 * NS_PER_MS) /* duration of BEGIN_INTERVAL_MS */
#define FLOOD_INTERVAL_MS 4                 /* for a command that prints all the time */

/* CPU time of flametop, without the command's. */
static uint64_t own_cpu_ns(const struct session *s)
{
    uint64_t all_ns = child_total_cpu_ns();
    return all_ns > s->command.cpu_ns ? all_ns - s->command.cpu_ns : 0;
}

struct pulse {
    uint64_t next_ns, box_ns, cpu_ns, time_ns;
    bool looked;
};

static void look_at_box(struct session *s, uint64_t now_ns)
{
    struct system_stats system_stats = s->collect.system_stats;
    system_look(&system_stats, now_ns);
    pthread_mutex_lock(&s->store.lock);
    s->collect.system_stats = system_stats;
    pthread_mutex_unlock(&s->store.lock);
    s->store.generation++;
}

/* Checks whether sampling by a period costs more than the budget. Under lock, once a second. */
static void look_at_cost(struct session *s, uint64_t now_ns)
{
    uint64_t others =
                 s->collect.offcpu.stacks[0] + s->collect.offcpu.stacks[1] + s->collect.operations.records,
             lost = s->collect.operations.rows.n ? 0 : s->source.stats.lost,
             all = s->source.stats.samples + lost;
    /* waits and operations have a budget of their own (thin.c, selection.c) */
    uint64_t samples = all - (others < all ? others : all);
    bool same =
        s->source.cost.time_ns && samples >= s->source.cost.samples && now_ns > s->source.cost.time_ns;
    double per_second = same ? (double)(samples - s->source.cost.samples) * NS_PER_SEC /
                                   (double)(now_ns - s->source.cost.time_ns)
                             : 0;
    double most = rate_budget(s->source.callchain, s->collect.system_stats.cpus, s->cfg.budget_percent);
    bool expensive = period_find_event(s) && per_second > most;
    s->source.cost.per_second = expensive ? per_second : 0;
    s->source.cost.samples = samples;
    s->source.cost.time_ns = now_ns;
}

/* Once a second: system statistics, flametop's own CPU time, CPU hotplug, kernel modules. */
static void collect_pulse(struct session *s, struct pulse *p, uint64_t now_ns)
{
    bool first = p->time_ns && !p->looked && now_ns >= p->time_ns + FIRST_LOOK_NS;
    if (first || now_ns >= p->box_ns) {
        look_at_box(s, now_ns);
        p->box_ns = now_ns + BOX_NS;
    }
    p->looked |= first;
    if (now_ns < p->next_ns)
        return;
    uint64_t cpu_ns = own_cpu_ns(s);
    if (s->source.live)
        live_check_cpus(s->source.live);
    limits_look(s, now_ns);
    pthread_mutex_lock(&s->store.lock);
    s->source.lost_cpus = s->source.live ? live_lost_cpus(s->source.live) : 0;
    s->source.starved = s->source.live && live_is_starved(s->source.live);
    if (p->time_ns && now_ns > p->time_ns && cpu_ns >= p->cpu_ns) {
        double now_percent = 100.0 * (cpu_ns - p->cpu_ns) / (now_ns - p->time_ns);
        s->collect.self_percent =
            s->collect.self_percent > 0 ? 0.5 * s->collect.self_percent + 0.5 * now_percent : now_percent;
    }
    append_reach_second(s, now_ns);
    look_at_cost(s, now_ns);
    crowd_look(s, now_ns);
    idle_cpus_look(s, now_ns);
    jit_follow(s, false);
    if (s->source.live && world_read_kernel_modules(s->store.world))
        symbolizer_kernel_modified(s->store.symbolizer);
    pthread_mutex_unlock(&s->store.lock);
    s->store.generation++;
    p->next_ns = now_ns + NS_PER_SEC;
    p->cpu_ns = cpu_ns;
    p->time_ns = now_ns;
}

/* What the collector saw of the source, for how long it may wait without source.lock. */
struct starts {
    uint64_t records, until_ns; /* recently started programs: more are expected */
    bool selects;               /* the selection of operations is to be changed all the time */
};

/* Under source.lock, since a thread that stops the source counts records as well. */
static void look_for_starts(struct starts *starts, const struct session *s, uint64_t now_ns)
{
    uint64_t n = s->source.records[PERF_RECORD_COMM] + s->source.records[PERF_RECORD_MMAP] +
                 s->source.records[PERF_RECORD_MMAP2];
    if (n != starts->records)
        *starts = (struct starts){ .records = n, .until_ns = now_ns + STARTS_NS };
    starts->selects = s->source.selection.runs;
}

/* Time until the next redraw, or a whole fraction of the interval between two redraws. */
static int look_wait_ms(const struct session *s, uint64_t now_ns)
{
    uint64_t every_ns = s->collect.look_every_ns;
    int64_t step_ns = (int64_t)(every_ns / ((every_ns + LOOK_INTERVAL_NS - 1) / LOOK_INTERVAL_NS));
    int64_t left_ns = (int64_t)(s->collect.look_ns - LOOK_AHEAD_NS - now_ns) % step_ns;
    return (int)((left_ns + (left_ns <= 0 ? step_ns : 0)) / (int64_t)NS_PER_MS) + 1;
}

static int wait_ms(const struct session *s, const struct starts *starts, uint64_t now_ns)
{
    if (s->unwind.interpreted && now_ns - s->store.start_ns < BEGIN_NS)
        return BEGIN_INTERVAL_MS;
    if (starts->selects)
        return SELECTION_TURN_MS;
    bool prompt = (s->command.pid && s->command.status < 0) || now_ns - s->store.start_ns < PROMPT_NS;
    if (s->command.floods)
        return FLOOD_INTERVAL_MS;
    if (prompt)
        return PROMPT_INTERVAL_MS;
    return now_ns < starts->until_ns || !s->collect.look_every_ns ? COLLECT_INTERVAL_MS
                                                                  : look_wait_ms(s, now_ns);
}

/* The descriptor at which the collector waits: its own duplicate of the source's, because a switch may
 * close the source meanwhile. The closed source's duplicate still delivers the wake-up. */
struct waiting {
    int fd; /* -1: only wake_fd */
    uint64_t source;
};

/* Updates the descriptor for the current source. Under source.lock. */
static void wait_at_source(struct waiting *w, const struct session *s)
{
    if (w->source == s->source.n_sources)
        return;
    if (w->fd >= 0)
        close(w->fd);
    w->fd = s->source.live ? fcntl(live_fd(s->source.live), F_DUPFD_CLOEXEC, 0) : -1;
    w->source = s->source.n_sources;
}

/* True if it was woken by records, and by nothing else. */
static bool wait_once(struct session *s, int fd, int ms)
{
    struct pollfd fds[] = { { .fd = fd < 0 ? s->collect.wake_fd : fd, .events = POLLIN },
                            { .fd = s->command.floods ? -1 : s->command.pipe, .events = POLLIN } };
    struct epoll_event ev;
    uint64_t n;
    /* the usual case: epoll_wait costs less than half as much in the kernel as poll */
    bool only_source = fd >= 0 && fds[1].fd < 0;
    int woken = only_source ? epoll_wait(fd, &ev, 1, ms) : poll(fds, 2, ms);
    bool by_records = woken > 0 && read(s->collect.wake_fd, &n, sizeof n) < 0;
    /* an event that has ended reports so until it is removed */
    return by_records && only_source && ev.events == EPOLLIN;
}

/* True if the rings need no attention until until_ns: then the collector ignores needless wake-ups of the
 * kernel. The kernel's watermark counts bytes written, not bytes waiting, so it wakes the collector for
 * nothing when events come by frequency. With a fixed period, or when events report the end of a target,
 * the collector always polls the rings. */
static bool source_is_even(struct session *s, uint64_t until_ns)
{
    pthread_mutex_lock(&s->source.lock);
    bool even = s->source.live && live_is_even(s->source.live, until_ns);
    pthread_mutex_unlock(&s->source.lock);
    return even;
}

static bool source_lasts(struct session *s, uint64_t until_ns)
{
    pthread_mutex_lock(&s->source.lock);
    bool lasts = s->source.live && live_lasts(s->source.live, until_ns);
    pthread_mutex_unlock(&s->source.lock);
    return lasts;
}

static void wait_for_work(struct session *s, int fd, const struct starts *starts)
{
    uint64_t now_ns = clock_now_ns(), until_ns = now_ns + (uint64_t)wait_ms(s, starts, now_ns) * NS_PER_MS;
    if (s->collect.look_every_ns && source_is_even(s, until_ns))
        fd = -1;
    while (now_ns < until_ns && wait_once(s, fd, (int)((until_ns - now_ns + NS_PER_MS - 1) / NS_PER_MS)) &&
           source_lasts(s, until_ns))
        now_ns = clock_now_ns();
}

void *collector_main(void *session)
{
    struct session *s = session;
    struct pulse pulse = { 0 };
    struct starts starts = { 0 };
    struct waiting waiting = { .fd = -1 };
    while (!s->stop) {
        pthread_mutex_lock(&s->source.lock);
        scan_proc_of_targets(s);
        if (s->source.live)
            collector_drain(s, false);
        coverage_look(s, false);
        crowd_keep_real_time(s, clock_now_ns());
        source_keep_budget(s, clock_now_ns());
        source_keep_periods(s, clock_now_ns());
        collect_pulse(s, &pulse, clock_now_ns());
        look_for_starts(&starts, s, clock_now_ns());
        wait_at_source(&waiting, s);
        pthread_mutex_unlock(&s->source.lock);
        command_poll(s);
        wait_for_work(s, waiting.fd, &starts);
    }
    if (waiting.fd >= 0)
        close(waiting.fd);
    return NULL;
}
