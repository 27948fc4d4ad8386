// SPDX-License-Identifier: GPL-2.0-or-later
/* The collector: records in time order → world → stacks → history. It never touches a terminal or a disk. */
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "session/state.h"

#define COLLECT_INTERVAL_MS 250 /* rings wake us before they are full: this is how old samples get that are few */
#define PROMPT_INTERVAL_MS  100 /* while somebody waits for the first of them, or for a command to end */
#define PROMPT_NS           (3 * NS_PER_SEC)
#define FLOOD_INTERVAL_MS   4  /* a command that prints all the time */
#define DRAIN_SLACK_NS      (10 * NS_PER_MS) /* what is older than this when a drain begins comes out of it */
#define CHAIN_MAX 1024 /* kernel.perf_event_max_stack is 127 by default; files may hold more */

/* A chain entry in its context. Return addresses point behind the call, maybe into the next function: all but the
 * first entry of a context are looked up one byte before, but for as_perf: perf takes them as they are. */
struct entry {
    uint64_t addr;
    bool kernel, exact;
};

struct place_slot *collector_place(struct session *s, const struct frame_owner *o, uint64_t addr, bool kernel)
{
    uint32_t version = kernel ? 0 : o->version, image = kernel ? 0 : o->image;
    size_t mask = ((size_t)PLACE_CACHE_SLOTS << s->cache_shift) - 1;
    struct place_slot *slot = &s->places[map_mix(addr ^ (uint64_t)image << 48) & mask];
    if (slot->frame && slot->addr == addr && slot->image == image && slot->version == version)
        return slot;
    struct place place;
    bool known = o->maps && !kernel ? world_resolve_held(o->maps, addr, &place)
                                    : world_resolve(s->world, o->thread, addr, kernel, &place);
    if (!known)
        return NULL;
    *slot = (struct place_slot){ .addr = addr,
                                 .image = image,
                                 .version = version,
                                 .frame = stacks_frame(s->stacks, place.module, place.offset) };
    s->caches_hold = true;
    return slot;
}

uint32_t collector_unmapped(struct session *s, const struct frame_owner *o, uint64_t addr, bool kernel)
{
    struct place place = { MODULE_ID_UNKNOWN, addr };
    if (!kernel && !o->maps)
        world_resolve_before(s->world, o->thread, addr, &place);
    return stacks_frame(s->stacks, place.module, place.offset);
}

static uint32_t frame_of(struct session *s, const struct frame_owner *o, const struct entry *en, bool *known)
{
    const struct place_slot *slot = collector_place(s, o, en->addr - !en->exact, en->kernel);
    *known = slot != NULL;
    return slot ? slot->frame : 0;
}

/* The CPU's own record of calls in place of the callers in a chain: from where each was called, innermost first. As perf
 * does, but that the sample's own address stays. */
static uint32_t branch_entries(const struct record *r, struct entry *out, uint32_t n)
{
    const unsigned words = sizeof(struct perf_branch_entry) / sizeof(uint64_t);
    for (uint32_t i = 0; i < r->sample.branch_n && n < CHAIN_MAX; i++)
        out[n++] = (struct entry){ record_u64(r->sample.branch, i * words, r->swap), false, true };
    return n;
}

#define CONTEXT_USER_DEFERRED ((uint64_t)-640) /* PERF_CONTEXT_USER_DEFERRED since Linux 6.18 */

/* Words of user space may look like a context: AT_FDCWD is -100. */
static bool is_context(uint64_t v)
{
    return v == PERF_CONTEXT_USER || v == PERF_CONTEXT_KERNEL || v == PERF_CONTEXT_HV || v == PERF_CONTEXT_GUEST ||
           v == PERF_CONTEXT_GUEST_KERNEL || v == PERF_CONTEXT_GUEST_USER || v == CONTEXT_USER_DEFERRED;
}

/* perf shows nothing of a chain with what could be a context, but is none that it knows; nor of one without an entry. */
static bool perf_drops(const struct record *r, bool has_chain)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < r->sample.chain_n; i++) {
        uint64_t v = record_u64(r->sample.chain, i, r->swap);
        if (v >= PERF_CONTEXT_MAX && v != PERF_CONTEXT_HV && v != PERF_CONTEXT_KERNEL && v != PERF_CONTEXT_USER)
            return true;
        n += v < PERF_CONTEXT_MAX;
    }
    return has_chain && !n;
}

static uint32_t chain_entries(const struct session *s, const struct record *r, bool by_branches, struct entry *out)
{
    unsigned mode = r->misc & PERF_RECORD_MISC_CPUMODE_MASK;
    bool kernel = mode == PERF_RECORD_MISC_KERNEL;
    uint32_t n = 0;
    bool exact = true;
    for (uint32_t i = 0; i < r->sample.chain_n && n < CHAIN_MAX; i++) {
        uint64_t v = record_u64(r->sample.chain, i, r->swap);
        if (is_context(v)) {
            kernel = v == PERF_CONTEXT_KERNEL || v == PERF_CONTEXT_HV;
            exact = true;
            continue;
        }
        out[n++] = (struct entry){ v, kernel, exact };
        if (by_branches && !kernel)
            break;
        exact = s->cfg.as_perf;
    }
    if (!n)
        out[n++] = (struct entry){ r->sample.ip, mode == PERF_RECORD_MISC_KERNEL, true };
    return by_branches ? branch_entries(r, out, n) : n;
}

/* Why a chain was cut, as flametop writes it: a number that is no address of code. */
static bool tells_cut(const struct session *s, const struct entry *en)
{
    return s->file_cuts && !en->kernel && en->addr < BROKEN_REASONS;
}

/* The stack of all entries but the first. A chain that runs into memory that is no code is cut there, and rooted in
 * [broken]: what lies beyond is garbage that a frame pointer used as a plain register led to. whole_chains keeps it, for
 * what is to be the same as perf's own tools make of the file. */
static uint32_t callers_stack(struct session *s, const struct frame_owner *o, const struct entry *entries, uint32_t n,
                              bool *broken)
{
    uint32_t frames[CHAIN_MAX], n_frames = 0, stack = 0;
    *broken = false;
    for (uint32_t i = 1; i < n; i++) {
        bool known;
        uint32_t frame = frame_of(s, o, &entries[i], &known);
        if (known) {
            frames[n_frames++] = frame;
        } else if (tells_cut(s, &entries[i])) {
            frames[n_frames++] = stacks_frame(s->stacks, MODULE_ID_BROKEN, entries[i].addr);
            *broken = true;
            break;
        } else if (s->cfg.whole_chains) {
            frames[n_frames++] = entries[i].exact ? collector_unmapped(s, o, entries[i].addr, entries[i].kernel)
                                                  : stacks_frame(s->stacks, MODULE_ID_UNKNOWN, entries[i].addr - 1);
        } else if (entries[i].exact) {
            frames[n_frames++] = collector_unmapped(s, o, entries[i].addr, entries[i].kernel);
            if (!entries[i].kernel)
                break;
        } else {
            frames[n_frames++] = stacks_frame(s->stacks, MODULE_ID_BROKEN, 0);
            *broken = true;
            break;
        }
    }
    while (n_frames)
        stack = stacks_child(s->stacks, stack, frames[--n_frames]);
    return stack;
}

static uint64_t callers_hash(const struct frame_owner *o, const struct entry *entries, uint32_t n)
{
    uint64_t h = map_mix((uint64_t)o->image << 32 | o->version); /* as they are they would cancel bits of an address */
    for (uint32_t i = 1; i < n; i++) {
        h ^= entries[i].addr + ((uint64_t)entries[i].kernel << 62) + ((uint64_t)entries[i].exact << 61);
        h *= UINT64_C(0x9e3779b97f4a7c15);
        h ^= h >> 32;
    }
    return map_mix(h) | 1; /* 0 is an empty slot */
}

static struct callers_slot *callers_slot(struct session *s, uint64_t hash)
{
    s->caches_hold = true;
    return &s->callers[hash >> 32 & (((size_t)CALLERS_CACHE_SLOTS << s->cache_shift) - 1)];
}

/* Hot paths come again and again with another leaf address: their callers are looked up as a whole. Two chains with one
 * 64-bit hash are less likely than a flipped bit in memory. */
static uint32_t callers_of(struct session *s, const struct frame_owner *o, const struct entry *entries, uint32_t n,
                           bool *broken)
{
    if (n < 2)
        return *broken = false, 0;
    uint64_t hash = callers_hash(o, entries, n);
    struct callers_slot *slot = callers_slot(s, hash);
    if (slot->hash != hash) {
        slot->stack = callers_stack(s, o, entries, n, &slot->broken);
        slot->hash = hash;
    }
    *broken = slot->broken;
    return slot->stack;
}

static uint32_t event_of(const struct session *s, const struct record *r)
{
    return s->file ? r->source : s->live_event + r->source;
}

struct stack_answer {
    uint32_t stack;
    bool broken;
    uint32_t awaits; /* module whose unwind table is still to come, 0: none */
};

/* Puts the caller of a leaf between the first two of the user's part, where frame pointers have left it out. */
static uint32_t add_link(struct session *s, const struct record *r, const struct frame_owner *owner, bool give_up,
                         struct entry *entries, uint32_t n, uint32_t *awaits)
{
    uint64_t caller;
    uint32_t at = 0;
    while (at < n && entries[at].kernel)
        at++;
    if (at == n || n == CHAIN_MAX || !userstack_link(s, owner, r, entries[at].addr, give_up, &caller, awaits))
        return n;
    if (++at < n && entries[at].addr == caller)
        return n;
    memmove(&entries[at + 1], &entries[at], (n - at) * sizeof *entries);
    entries[at] = (struct entry){ caller, false, s->cfg.as_perf };
    return n + 1;
}

static struct stack_answer stack_of_chain(struct session *s, const struct record *r, const struct frame_owner *owner,
                                          bool give_up)
{
    struct entry entries[CHAIN_MAX];
    struct stack_answer a = { 0 };
    const struct perf_event_attr *attr = &s->events[event_of(s, r)].attr;
    if (s->cfg.as_perf && perf_drops(r, attr->sample_type & PERF_SAMPLE_CALLCHAIN))
        return a;
    bool calls = r->sample.branch_n && attr->branch_sample_type & PERF_SAMPLE_BRANCH_CALL_STACK;
    uint32_t n = chain_entries(s, r, calls, entries);
    if (!calls)
        n = add_link(s, r, owner, give_up, entries, n, &a.awaits);
    bool known;
    uint32_t leaf = frame_of(s, owner, &entries[0], &known);
    if (!known)
        leaf = collector_unmapped(s, owner, entries[0].addr, entries[0].kernel);
    if (!known && !entries[0].kernel && !s->cfg.whole_chains)
        a.stack = stacks_child(s->stacks, 0, leaf); /* nor are its callers to be believed */
    else
        a.stack = stacks_child(s->stacks, callers_of(s, owner, entries, n, &a.broken), leaf);
    return a;
}

/* The frames of the kernel's part of a chain; the user's part of it, if there is one, is no better than ours. */
static uint32_t kernel_frames(struct session *s, const struct record *r, const struct frame_owner *owner, uint32_t *frames)
{
    struct entry entries[CHAIN_MAX];
    uint32_t n = chain_entries(s, r, false, entries), n_frames = 0;
    for (uint32_t i = 0; i < n && entries[i].kernel; i++) {
        bool known;
        uint32_t frame = frame_of(s, owner, &entries[i], &known);
        frames[n_frames++] = known ? frame : stacks_frame(s->stacks, MODULE_ID_UNKNOWN, entries[i].addr);
    }
    return n_frames;
}

/* The stack of frames, leaf first. As with chains, callers that were seen lately are found as a whole. */
static uint32_t stack_of_frames(struct session *s, const uint32_t *frames, uint32_t n)
{
    uint64_t hash = ~UINT64_C(0);
    for (uint32_t i = 1; i < n; i++)
        hash = map_mix(hash + frames[i]);
    struct callers_slot *slot = callers_slot(s, hash);
    if (slot->hash != (hash | 1)) {
        uint32_t stack = 0;
        for (uint32_t i = n; i-- > 1;)
            stack = stacks_child(s->stacks, stack, frames[i]);
        *slot = (struct callers_slot){ .hash = hash | 1, .stack = stack };
    }
    return stacks_child(s->stacks, slot->stack, frames[0]);
}

static struct stack_answer stack_of_dump(struct session *s, const struct record *r, const struct frame_owner *owner,
                                         bool give_up)
{
    uint32_t frames[CHAIN_MAX + USER_FRAMES_MAX];
    struct stack_answer a = { 0 };
    uint32_t n = kernel_frames(s, r, owner, frames);
    n += userstack_walk(s, owner, r, give_up, frames + n, USER_FRAMES_MAX, &a.awaits);
    if (!n)
        return stack_of_chain(s, r, owner, give_up);
    a.broken = stacks_frame_modules(s->stacks)[frames[n - 1]] == MODULE_ID_BROKEN;
    a.stack = stack_of_frames(s, frames, n);
    return a;
}

static struct stack_answer stack_of(struct session *s, const struct record *r, const struct frame_owner *owner,
                                    bool give_up)
{
    unsigned mode = r->misc & PERF_RECORD_MISC_CPUMODE_MASK;
    struct stack_answer a = { 0 };
    if (mode == PERF_RECORD_MISC_GUEST_KERNEL || mode == PERF_RECORD_MISC_GUEST_USER)
        a.stack = stacks_child(s->stacks, 0, stacks_frame(s->stacks, MODULE_ID_GUEST, r->sample.ip));
    else if (userstack_taken(s, r))
        return stack_of_dump(s, r, owner, give_up);
    else
        return stack_of_chain(s, r, owner, give_up);
    return a;
}

static struct frame_owner owner_of(struct session *s, uint32_t thread)
{
    const struct world_thread *t = world_thread(s->world, thread);
    return (struct frame_owner){ .thread = thread,
                                 .image = t ? t->image : 0,
                                 .version = t ? world_image_version(s->world, t->image) : 0 };
}

bool collector_unwind_again(struct session *s, const struct user_aside *aside, bool give_up)
{
    const struct sample *sample = history_sample(s->history, aside->number);
    if (!sample)
        return true;
    struct frame_owner owner = owner_of(s, sample->thread);
    /* other files may lie there by now */
    if ((owner.maps = aside->maps))
        owner.version = world_held_version(aside->maps);
    struct stack_answer a = stack_of(s, &aside->r, &owner, give_up);
    if (a.awaits)
        return false;
    uint8_t flags = (uint8_t)((sample->flags & ~SAMPLE_BROKEN) | (a.broken ? SAMPLE_BROKEN : 0));
    for (uint32_t i = 0; i <= aside->n_again; i++)
        history_set_stack(s->history, aside->number + i, a.stack, flags);
    return true;
}

void collector_forget_places(struct session *s)
{
    if (!s->caches_hold)
        return;
    memset(s->places, 0, ((size_t)PLACE_CACHE_SLOTS << s->cache_shift) * sizeof *s->places);
    memset(s->callers, 0, ((size_t)CALLERS_CACHE_SLOTS << s->cache_shift) * sizeof *s->callers);
    s->caches_hold = false;
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

/* Moves the sparkline on to the second of time_ns; false when that second has left it. */
static bool reach_second(struct session *s, uint64_t time_ns)
{
    uint64_t sec = time_ns / NS_PER_SEC;
    if (sec > s->spark_sec) {
        uint64_t gap = sec - s->spark_sec;
        for (uint64_t i = 0; i < gap && i < SESSION_SPARK; i++)
            s->spark[(sec - i) % SESSION_SPARK] = 0;
        s->spark_sec = sec;
    }
    return s->spark_sec - sec < SESSION_SPARK;
}

static void note_thread_scope(struct session *s, uint32_t thread)
{
    if (thread >= s->thread_scope_cap) {
        size_t old = s->thread_scope_cap;
        MEM_GROW(s->thread_scope, s->thread_scope_cap, thread + 1);
        memset(s->thread_scope + old, 0, (s->thread_scope_cap - old) * sizeof *s->thread_scope);
    }
    s->thread_scope[thread] = s->scope_number;
}

/* Samples of a file that was recorded without times come one nanosecond after the other. */
static uint64_t sample_time(struct session *s, const struct record *r)
{
    if (!s->file)
        return r->id.time_ns ? r->id.time_ns : clock_now_ns();
    uint64_t time_ns = r->id.time_ns ? r->id.time_ns : s->file_last_ns + 1;
    if (!s->file_first_ns || time_ns < s->file_first_ns)
        s->file_first_ns = time_ns;
    if (time_ns > s->file_last_ns)
        s->file_last_ns = time_ns;
    return time_ns;
}

/* The same sample for another event of the group. */
static void collect_again(struct session *s, const struct record *r)
{
    struct sample sample = s->sampled.sample;
    sample.event = (uint8_t)event_of(s, r);
    sample.weight = r->sample.period ? r->sample.period : 1;
    history_append(s->history, &sample, NULL, 0);
    userstack_again(s, s->sampled.number);
}

/* False: nothing was done, its stack waits (over a file). */
static bool collect_sample(struct session *s, const struct record *r)
{
    if (r->again) {
        collect_again(s, r);
        return true;
    }
    /* the process, and a parent that ran before us and whose maps it shares */
    if (!s->file)
        readproc_of(s, r->id.pid);
    uint64_t time_ns = sample_time(s, r);
    uint32_t thread = world_thread_of(s->world, r->id.pid, r->id.tid, time_ns, r->sample.cgroup);
    struct frame_owner owner = owner_of(s, thread);
    struct stack_answer a = stack_of(s, r, &owner, false);
    if (s->file && (s->user.awaits = a.awaits))
        return false;
    struct sample sample = {
        .time_ns = time_ns,
        .weight = r->sample.period ? r->sample.period : 1,
        .thread = thread,
        .stack = a.stack,
        .cpu = (uint16_t)r->id.cpu,
        .event = (uint8_t)event_of(s, r),
    };
    sample.flags = sample_flags_of(r, r->id.pid) | (a.broken ? SAMPLE_BROKEN : 0) | (r->partly ? SAMPLE_PARTLY : 0);
    uint64_t number = history_append(s->history, &sample, r->sample.raw, r->sample.raw_size);
    s->sampled.sample = sample;
    s->sampled.number = number;
    if (a.awaits)
        userstack_put_aside(s, r, thread, number);
    s->samples++;
    if (reach_second(s, time_ns))
        s->spark[time_ns / NS_PER_SEC % SESSION_SPARK]++;
    note_thread_scope(s, thread);
    return true;
}

static void note_lost_of_event(struct session *s, const struct record *r)
{
    uint32_t event = event_of(s, r);
    if (event < s->n_events)
        s->events[event].lost += r->lost.lost;
}

bool collector_record(struct session *s, const struct record *r)
{
    switch (r->type) {
    case PERF_RECORD_SAMPLE:
        return collect_sample(s, r);
    case PERF_RECORD_MMAP:
    case PERF_RECORD_MMAP2:
        if ((r->misc & PERF_RECORD_MISC_CPUMODE_MASK) != PERF_RECORD_MISC_KERNEL)
            break; /* images have versions, the kernel has none */
        /* fall through */
    case PERF_RECORD_KSYMBOL:
        collector_forget_places(s);
        break;
    case PERF_RECORD_LOST:
    case PERF_RECORD_LOST_SAMPLES:
        s->lost_recent_ns = clock_now_ns();
        if (s->file)
            s->stats.lost += r->lost.lost;
        note_lost_of_event(s, r);
        break;
    }
    world_apply(s->world, r);
    return true;
}

static bool on_record(void *ctx, const struct record *r)
{
    struct session *s = ctx;
    if (r->type < SESSION_RECORD_TYPES)
        s->records[r->type]++;
    collector_record(s, r);
    return !s->stop;
}

static void drain(struct session *s, bool final)
{
    uint64_t now_ns = clock_now_ns();
    pthread_mutex_lock(&s->lock);
    if (live_drain(s->live, final, on_record, s))
        s->generation++;
    live_stats(s->live, &s->stats);
    s->drained_ns = final ? now_ns : now_ns - DRAIN_SLACK_NS;
    s->targets_gone = live_targets_gone(s->live);
    userstack_retry(s, false);
    jit_renew(s);
    bounds_enforce(s);
    pthread_mutex_unlock(&s->lock);
    jitframe_read(s);
}

void collector_final_drain(struct session *s)
{
    if (!s->live)
        return;
    drain(s, true);
    pthread_mutex_lock(&s->lock);
    s->lost_before += s->stats.lost;
    s->throttled_before += s->stats.throttled;
    memset(&s->stats, 0, sizeof s->stats);
    pthread_mutex_unlock(&s->lock);
}

/* The symbol worker's time counts too, once it has ended; that of the command is not ours. */
static uint64_t own_cpu_ns(const struct session *s)
{
    struct rusage ru;
    getrusage(RUSAGE_CHILDREN, &ru);
    uint64_t children_ns = (uint64_t)(ru.ru_utime.tv_sec + ru.ru_stime.tv_sec) * NS_PER_SEC +
                           (uint64_t)(ru.ru_utime.tv_usec + ru.ru_stime.tv_usec) * 1000;
    return clock_self_cpu_ns() + (children_ns > s->command_cpu_ns ? children_ns - s->command_cpu_ns : 0);
}

struct pulse {
    uint64_t next_ns, cpu_ns, time_ns;
};

/* What is sampled by a period, and costs more than the budget. Under lock, once a second. */
static void look_at_cost(struct session *s, uint64_t now_ns)
{
    uint64_t samples = s->stats.samples + s->stats.lost;
    bool same = s->dear.time_ns && samples >= s->dear.samples && now_ns > s->dear.time_ns;
    double per_second = same ? (double)(samples - s->dear.samples) * NS_PER_SEC / (double)(now_ns - s->dear.time_ns) : 0;
    bool by_period = s->n_events && !s->events[s->live_event].freq_hz;
    bool dear = by_period && rate_is_dear(per_second, s->running_callchain, s->box.cpus);
    s->dear.per_second = dear ? per_second : 0;
    s->dear.samples = samples;
    s->dear.time_ns = now_ns;
}

/* Once a second: the box, our own cost, CPUs that came or went. */
static void collect_pulse(struct session *s, struct pulse *p, uint64_t now_ns)
{
    if (now_ns < p->next_ns)
        return;
    struct box box = s->box;
    box_look(&box, now_ns);
    uint64_t cpu_ns = own_cpu_ns(s);
    if (s->live)
        live_check_cpus(s->live);
    pthread_mutex_lock(&s->lock);
    s->box = box;
    s->lost_cpus = s->live ? live_lost_cpus(s->live) : 0;
    if (p->time_ns && now_ns > p->time_ns && cpu_ns >= p->cpu_ns) {
        double now_percent = 100.0 * (cpu_ns - p->cpu_ns) / (now_ns - p->time_ns);
        s->self_percent = s->self_percent > 0 ? 0.5 * s->self_percent + 0.5 * now_percent : now_percent;
    }
    reach_second(s, now_ns);
    look_at_cost(s, now_ns);
    jit_follow(s, false);
    pthread_mutex_unlock(&s->lock);
    s->generation++;
    *p = (struct pulse){ now_ns + NS_PER_SEC, cpu_ns, now_ns };
}

static int wait_ms(const struct session *s)
{
    bool prompt = (s->command_pid && s->command_status < 0) || clock_now_ns() - s->start_ns < PROMPT_NS;
    if (s->command_floods)
        return FLOOD_INTERVAL_MS;
    return prompt ? PROMPT_INTERVAL_MS : COLLECT_INTERVAL_MS;
}

void *collector_main(void *session)
{
    struct session *s = session;
    struct pulse pulse = { 0 };
    while (!s->stop) {
        pthread_mutex_lock(&s->source_lock);
        readproc_of_targets(s);
        if (s->live)
            drain(s, false);
        source_keep_budget(s);
        collect_pulse(s, &pulse, clock_now_ns());
        int fd = s->live ? live_fd(s->live) : -1;
        pthread_mutex_unlock(&s->source_lock);
        command_poll(s);
        /* the source may be closed by a switch while we wait: the wake-up comes with it */
        struct pollfd fds[] = { { .fd = s->wake_fd, .events = POLLIN },
                                { .fd = fd, .events = POLLIN },
                                { .fd = s->command_floods ? -1 : s->command_pipe, .events = POLLIN } };
        poll(fds, sizeof fds / sizeof *fds, wait_ms(s));
        if (fds[0].revents & POLLIN) {
            uint64_t n;
            if (read(s->wake_fd, &n, sizeof n) < 0)
                continue;
        }
    }
    return NULL;
}
