// SPDX-License-Identifier: GPL-2.0-or-later
/* The collector: applies records in time order to world, stacks and history. It uses no terminal and no
 * disk. */
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "session/collect/interpreted.h"
#include "session/session_state.h"
#include "symbols/jitdump.h"

/* A drain holds the lock for this time, if records of many switches wait. */
#define SLICE_NS      (5 * NS_PER_MS)
#define SLICE_RECORDS 128 /* records between two looks at the clock */
#define DRAIN_MOST_NS NS_PER_SEC
#define PAUSE_NS      (100 * NS_PER_US)

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
    sample.weight = sample_weight(r->sample.period ? r->sample.period : 1);
    history_append(s->store.history, &sample, NULL, 0);
    coverage_count(s, &sample);
    aside_again(s, s->collect.sampled.number);
}

/* False: its stack waits, and nothing was done (over a file). */
static bool collect_sample(struct session *s, const struct record *r)
{
    if (r->again) {
        collect_again(s, r);
        return true;
    }
    if (offcpu_wake(s, r) || operations_sample(s, r))
        return true;
    /* scan the process, and a parent that started before flametop and whose mappings it shares */
    if (!s->load.file)
        scan_proc_of(s, r->id.pid);
    uint64_t time_ns = sample_time(s, r);
    uint32_t thread = world_thread_of(s->store.world, r->id.pid, r->id.tid, time_ns, r->sample.cgroup);
    struct frame_owner owner = locate_owner(s, thread);
    struct stack_result a = samplestack_of(s, r, &owner, false);
    if (s->load.file && (s->unwind.user.awaits = a.awaits))
        return false;
    struct sample sample = {
        .time_ns = time_ns,
        .weight = sample_weight(r->sample.period ? r->sample.period : 1),
        .thread = thread,
        .stack = a.stack,
        .cpu = r->id.cpu % SAMPLE_CPUS,
        .event = session_event_of(s, r) % SAMPLE_EVENTS,
        .running = latency_of_sample(s, r) % SAMPLE_RUNNING,
    };
    unsigned flags =
        sample_flags_of(r, r->id.pid) | (a.broken ? SAMPLE_BROKEN : 0u) | (r->partly ? SAMPLE_PARTLY : 0u);
    sample.flags = flags & SAMPLE_FLAGS;
    if (offcpu_sample(s, r, &sample, &a))
        return true;
    uint64_t wall = wall_sampled(s, r, &sample);
    bool waits = false; /* the sample is a wait that flametop or perf saved */
    bool operation = s->load.file && s->store.events[sample.event].event.latency;
    if (s->load.file) {
        offcpu_file_sample(s, r, thread, &a);
        operations_file_sample(s, r, a.stack);
        if (!session_reads_event(s, sample.event))
            return true;
        waits =
            offcpu_is_time(s, sample.event) || (s->store.events[sample.event].event.wall && r->sample.weight);
    }
    uint64_t number = operation ? operations_load(s, r, &sample)
                      : waits   ? offcpu_load(s, r, &sample)
                                : append_sample(s, &sample, r->sample.raw, r->sample.raw_size);
    bool twice = wall != WALL_NO_SAMPLE;
    s->collect.sampled.sample = sample;
    s->collect.sampled.number = twice ? wall : number;
    if (a.awaits)
        aside_put(s, r, thread, s->collect.sampled.number);
    if (a.awaits && twice)
        aside_again(s, wall);
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
    offcpu_apply_found(s, r->id.time_ns);
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
        locate_forget(s);
        break;
    case PERF_RECORD_LOST:
    case PERF_RECORD_LOST_SAMPLES:
        s->source.lost_recent_ns = clock_now_ns();
        if (s->load.file)
            s->source.stats.lost += r->lost.lost;
        note_lost_of_event(s, r);
        break;
    }
    offcpu_record(s, r);
    operations_record(s, r);
    latency_record(s, r);
    world_apply(s->store.world, r);
    return true;
}

/* True if the drain is to be interrupted after this record. Not after a sample, which may be one of a
 * group. */
static bool slice_is_over(struct session *s, const struct record *r)
{
    if (r->type == PERF_RECORD_SAMPLE || ++s->collect.slice.records % SLICE_RECORDS)
        return false;
    return s->collect.slice.over = clock_now_ns() >= s->collect.slice.end_ns;
}

/* True if the previous source has delivered the record, too. Those of a CPU are in order. Each source has its
 * own losses. */
static bool is_twice(struct session *s, const struct record *r)
{
    uint32_t cpu = r->id.cpu % SAMPLE_CPUS;
    if (r->type == PERF_RECORD_LOST || r->type == PERF_RECORD_LOST_SAMPLES)
        return false;
    if (r->id.time_ns && r->id.time_ns <= s->collect.twice_ns[cpu])
        return true;
    if (r->id.time_ns > s->collect.applied_ns[cpu])
        s->collect.applied_ns[cpu] = r->id.time_ns;
    return false;
}

static bool on_record(void *ctx, const struct record *r)
{
    struct session *s = ctx;
    if (is_twice(s, r))
        return !s->stop;
    if (r->type < SESSION_RECORD_TYPES)
        s->source.records[r->type]++;
    waits_set_gap(&s->collect.offcpu.waits, r->gap_ns, r->id.time_ns);
    collector_record(s, r);
    return !s->stop && !slice_is_over(s, r);
}

/* Drains the rings. Queries wait for the lock, so it is released between slices. Records may come faster than
 * they are processed: then some are left for the next drain. */
static size_t drain_by_slices(struct session *s, bool final)
{
    size_t records = 0;
    uint64_t until_ns = clock_now_ns() + DRAIN_MOST_NS;
    s->collect.slice.over = false;
    do {
        if (s->collect.slice.over) {
            pthread_mutex_unlock(&s->store.lock);
            nanosleep(&(struct timespec){ .tv_nsec = PAUSE_NS }, NULL); /* or no other thread would get it */
            pthread_mutex_lock(&s->store.lock);
        }
        s->collect.slice.over = false;
        s->collect.slice.end_ns = clock_now_ns() + SLICE_NS;
        records += live_drain(s->source.live, final, on_record, s);
    } while (s->collect.slice.over && (final || clock_now_ns() < until_ns));
    return records;
}

void collector_drain(struct session *s, bool final)
{
    pthread_mutex_lock(&s->store.lock);
    if (drain_by_slices(s, final))
        s->store.generation++;
    live_stats(s->source.live, &s->source.stats);
    if (final) {
        operations_settle_ends(s, UINT64_MAX);
        selection_end(s);
    }
    if (!s->collect.slice.over)
        s->store.drained_ns = s->source.stats.drained_ns;
    operations_settle_ends(s, s->store.drained_ns);
    offcpu_check(s, s->store.drained_ns, final);
    offcpu_apply_found(s, s->store.drained_ns);
    offcpu_apply_names(s, s->store.drained_ns);
    offcpu_flush(s, s->store.drained_ns, final);
    latency_drained(s);
    pthread_cond_broadcast(&s->store.drained);
    s->source.targets_gone = live_targets_gone(s->source.live);
    aside_retry(s, false);
    jit_renew(s);
    bounds_enforce(s);
    pthread_mutex_unlock(&s->store.lock);
    otherstack_read(s);
    jitframe_read(s);
    interpreted_read(s);
    if (!final) {
        offcpu_scan(s);
        offcpu_name(s);
        stacktouch_read(s);
    }
}

void collector_final_drain(struct session *s)
{
    if (!s->source.live)
        return;
    collector_drain(s, true);
    pthread_mutex_lock(&s->store.lock);
    s->source.lost_before += s->source.stats.lost;
    s->source.throttled_before += s->source.stats.throttled;
    memset(&s->source.stats, 0, sizeof s->source.stats);
    pthread_mutex_unlock(&s->store.lock);
}

void collector_wake(struct session *s)
{
    uint64_t one = 1;
    if (s->collect.wake_fd >= 0 && write(s->collect.wake_fd, &one, sizeof one) < 0)
        log_add("the collector's counter is full");
}
