// SPDX-License-Identifier: GPL-2.0-or-later
/* The collector: applies records in time order to world, stacks and history. It uses no terminal and no
 * disk. */
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "base/child.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "session/collect/interpreted.h"
#include "session/session_state.h"
#include "symbols/jitdump.h"

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
#define FETCH_FROM    100 /* records, from which prefetching the whole address cache pays */
/* At first: interpreters are found by the first samples, whose frames cannot be read yet. */
#define BEGIN_INTERVAL_MS 10
#define BEGIN_NS          (400 * NS_PER_MS) /* duration of BEGIN_INTERVAL_MS */
#define FLOOD_INTERVAL_MS 4                 /* for a command that prints all the time */
/* a drain includes everything that is older than this when it begins */
#define DRAIN_SLACK_NS (10 * NS_PER_MS)

static struct frame_owner owner_of(struct session *s, uint32_t thread)
{
    const struct world_thread *t = world_thread(s->store.world, thread);
    return (struct frame_owner){ .thread = thread,
                                 .image = t ? t->image : 0,
                                 .version = t ? world_image_version(s->store.world, t->image) : 0 };
}

bool collector_unwind_again(struct session *s, const struct user_aside *aside, bool give_up)
{
    const struct sample *sample = history_sample(s->store.history, aside->number);
    if (!sample)
        return true;
    struct frame_owner owner = owner_of(s, sample->thread);
    /* other files may be mapped there by now */
    if ((owner.maps = aside->maps))
        owner.version = world_held_version(aside->maps);
    owner.other = &aside->other;
    owner.frames = aside->frames;
    struct stack_result a = samplestack_of(s, &aside->r, &owner, give_up);
    if (a.awaits)
        return false;
    uint8_t flags = (uint8_t)((sample->flags & ~SAMPLE_BROKEN) | (a.broken ? SAMPLE_BROKEN : 0));
    for (uint32_t i = 0; i <= aside->n_again; i++)
        history_set_stack(s->store.history, aside->number + i, a.stack, flags);
    return true;
}

static uint8_t sample_flags_of(const struct record *r, uint32_t pid)
{
    uint8_t flags = 0;
    switch (r->misc & PERF_RECORD_MISC_CPUMODE_MASK) {
    case PERF_RECORD_MISC_USER:
        flags = SAMPLE_USER;
        break;
    case PERF_RECORD_MISC_GUEST_KERNEL:
    case PERF_RECORD_MISC_GUEST_USER:
        flags = SAMPLE_GUEST;
        break;
    default:
        flags = SAMPLE_KERNEL;
    }
    return pid == 0 ? flags | SAMPLE_IDLE : flags;
}

/* Advances the sparkline to the second of time_ns. False: that second is older than the sparkline. */
static bool reach_second(struct session *s, uint64_t time_ns)
{
    uint64_t sec = time_ns / NS_PER_SEC;
    if (sec > s->collect.spark_sec) {
        uint64_t gap = sec - s->collect.spark_sec;
        for (uint64_t i = 0; i < gap && i < SESSION_SPARK; i++)
            s->collect.spark[(sec - i) % SESSION_SPARK] = 0;
        s->collect.spark_sec = sec;
    }
    return s->collect.spark_sec - sec < SESSION_SPARK;
}

static void note_thread_scope(struct session *s, uint32_t thread)
{
    if (thread >= s->store.thread_scope_cap) {
        size_t old = s->store.thread_scope_cap;
        MEM_GROW(s->store.thread_scope, s->store.thread_scope_cap, thread + 1);
        memset(s->store.thread_scope + old, 0,
               (s->store.thread_scope_cap - old) * sizeof *s->store.thread_scope);
    }
    s->store.thread_scope[thread] = s->store.scope_number;
}

/* Time of a sample. Samples of a file without times are spaced by one nanosecond. */
static uint64_t sample_time(struct session *s, const struct record *r)
{
    if (!s->load.file)
        return r->id.time_ns ? r->id.time_ns : clock_now_ns();
    uint64_t time_ns = r->id.time_ns ? r->id.time_ns : s->load.last_ns + 1;
    if (!s->load.first_ns || time_ns < s->load.first_ns)
        s->load.first_ns = time_ns;
    if (time_ns > s->load.last_ns)
        s->load.last_ns = time_ns;
    return time_ns;
}

/* Adds the same sample for another event of the group. */
static void collect_again(struct session *s, const struct record *r)
{
    struct sample sample = s->collect.sampled.sample;
    sample.event = (uint8_t)session_event_of(s, r);
    sample.weight = r->sample.period ? r->sample.period : 1;
    history_append(s->store.history, &sample, NULL, 0);
    coverage_count(s, &sample);
    userstack_again(s, s->collect.sampled.number);
}

/* False: its stack waits, and nothing was done (over a file). */
static bool collect_sample(struct session *s, const struct record *r)
{
    if (r->again) {
        collect_again(s, r);
        return true;
    }
    /* scan the process, and a parent that started before flametop and whose mappings it shares */
    if (!s->load.file)
        scan_proc_of(s, r->id.pid);
    uint64_t time_ns = sample_time(s, r);
    uint32_t thread = world_thread_of(s->store.world, r->id.pid, r->id.tid, time_ns, r->sample.cgroup);
    struct frame_owner owner = owner_of(s, thread);
    struct stack_result a = samplestack_of(s, r, &owner, false);
    if (s->load.file && (s->unwind.user.awaits = a.awaits))
        return false;
    struct sample sample = {
        .time_ns = time_ns,
        .weight = r->sample.period ? r->sample.period : 1,
        .thread = thread,
        .stack = a.stack,
        .cpu = r->id.cpu % SAMPLE_CPUS,
        .event = session_event_of(s, r) % SAMPLE_EVENTS,
    };
    unsigned flags =
        sample_flags_of(r, r->id.pid) | (a.broken ? SAMPLE_BROKEN : 0u) | (r->partly ? SAMPLE_PARTLY : 0u);
    sample.flags = flags & SAMPLE_FLAGS;
    uint64_t number = history_append(s->store.history, &sample, r->sample.raw, r->sample.raw_size);
    s->collect.sampled.sample = sample;
    s->collect.sampled.number = number;
    if (a.awaits)
        userstack_put_aside(s, r, thread, number);
    s->store.samples++;
    coverage_count(s, &sample);
    s->store.events[sample.event].samples++;
    s->store.forgotten +=
        !s->load.file && time_ns < s->store.clear_ns; /* arrived after the clear, but is older */
    if (reach_second(s, time_ns))
        s->collect.spark[time_ns / NS_PER_SEC % SESSION_SPARK]++;
    note_thread_scope(s, thread);
    return true;
}

static void note_lost_of_event(struct session *s, const struct record *r)
{
    uint32_t event = session_event_of(s, r);
    if (event < s->store.n_events)
        s->store.events[event].lost += r->lost.lost;
}

bool collector_record(struct session *s, const struct record *r)
{
    uint32_t number;
    switch (r->type) {
    case PERF_RECORD_SAMPLE:
        return collect_sample(s, r);
    case PERF_RECORD_MMAP:
    case PERF_RECORD_MMAP2:
        if (jitdump_is_name(r->mmap.path, &number))
            symbolizer_jit_dump(s->store.symbolizer, r->mmap.pid, r->mmap.path, r->mmap.ino);
        if ((r->misc & PERF_RECORD_MISC_CPUMODE_MASK) != PERF_RECORD_MISC_KERNEL)
            break; /* images have versions, the kernel has none */
        /* fall through */
    case PERF_RECORD_KSYMBOL:
        samplestack_forget(s);
        break;
    case PERF_RECORD_LOST:
    case PERF_RECORD_LOST_SAMPLES:
        s->source.lost_recent_ns = clock_now_ns();
        if (s->load.file)
            s->source.stats.lost += r->lost.lost;
        note_lost_of_event(s, r);
        break;
    }
    world_apply(s->store.world, r);
    return true;
}

static bool on_record(void *ctx, const struct record *r)
{
    struct session *s = ctx;
    if (r->type < SESSION_RECORD_TYPES)
        s->source.records[r->type]++;
    collector_record(s, r);
    return !s->stop;
}

static void drain(struct session *s, bool final)
{
    uint64_t now_ns = clock_now_ns();
    pthread_mutex_lock(&s->store.lock);
    if (s->collect.drained_records >= FETCH_FROM) {
        /* otherwise each address would be a separate cache miss */
        mem_fetch_all(s->unwind.locations,
                      ((size_t)LOCATION_CACHE_SLOTS << s->unwind.cache_shift) * sizeof *s->unwind.locations);
        unwind_cache_fetch(&s->unwind.user.unwind_cache);
    }
    s->collect.drained_records = live_drain(s->source.live, final, on_record, s);
    if (s->collect.drained_records)
        s->store.generation++;
    live_stats(s->source.live, &s->source.stats);
    s->store.drained_ns = final ? now_ns : now_ns - DRAIN_SLACK_NS;
    pthread_cond_broadcast(&s->store.drained);
    s->source.targets_gone = live_targets_gone(s->source.live);
    userstack_retry(s, false);
    jit_renew(s);
    bounds_enforce(s);
    pthread_mutex_unlock(&s->store.lock);
    otherstack_read(s);
    jitframe_read(s);
    interpreted_read(s);
    if (!final)
        stacktouch_read(s);
}

void collector_final_drain(struct session *s)
{
    if (!s->source.live)
        return;
    drain(s, true);
    pthread_mutex_lock(&s->store.lock);
    s->source.lost_before += s->source.stats.lost;
    s->source.throttled_before += s->source.stats.throttled;
    memset(&s->source.stats, 0, sizeof s->source.stats);
    pthread_mutex_unlock(&s->store.lock);
}

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
    uint64_t samples = s->source.stats.samples + s->source.stats.lost;
    bool same =
        s->source.cost.time_ns && samples >= s->source.cost.samples && now_ns > s->source.cost.time_ns;
    double per_second = same ? (double)(samples - s->source.cost.samples) * NS_PER_SEC /
                                   (double)(now_ns - s->source.cost.time_ns)
                             : 0;
    bool expensive =
        source_by_period(s) && per_second > rate_budget(s->source.callchain, s->collect.system_stats.cpus);
    s->source.cost.per_second = expensive ? per_second : 0;
    s->source.cost.samples = samples;
    s->source.cost.time_ns = now_ns;
}

/* Once a second: system statistics, flametop's own CPU time, CPU hotplug. */
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
    pthread_mutex_lock(&s->store.lock);
    s->source.lost_cpus = s->source.live ? live_lost_cpus(s->source.live) : 0;
    s->source.starved = s->source.live && live_is_starved(s->source.live);
    if (p->time_ns && now_ns > p->time_ns && cpu_ns >= p->cpu_ns) {
        double now_percent = 100.0 * (cpu_ns - p->cpu_ns) / (now_ns - p->time_ns);
        s->collect.self_percent =
            s->collect.self_percent > 0 ? 0.5 * s->collect.self_percent + 0.5 * now_percent : now_percent;
    }
    reach_second(s, now_ns);
    look_at_cost(s, now_ns);
    crowd_look(s, now_ns);
    jit_follow(s, false);
    pthread_mutex_unlock(&s->store.lock);
    s->store.generation++;
    p->next_ns = now_ns + NS_PER_SEC;
    p->cpu_ns = cpu_ns;
    p->time_ns = now_ns;
}

/* Recently started programs: more are expected. */
struct starts {
    uint64_t records, until_ns;
};

/* Under source.lock, since a thread that stops the source counts records as well. */
static void look_for_starts(struct starts *starts, const struct session *s, uint64_t now_ns)
{
    uint64_t n = s->source.records[PERF_RECORD_COMM] + s->source.records[PERF_RECORD_MMAP] +
                 s->source.records[PERF_RECORD_MMAP2];
    if (n != starts->records)
        *starts = (struct starts){ n, now_ns + STARTS_NS };
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

void collector_wake(struct session *s)
{
    uint64_t one = 1;
    if (s->collect.wake_fd >= 0 && write(s->collect.wake_fd, &one, sizeof one) < 0)
        log_add("the collector's counter is full");
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
            drain(s, false);
        coverage_look(s, false);
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
