// SPDX-License-Identifier: GPL-2.0-or-later
#include "session/collect/interpreted.h"
#include "session/session.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "process/memory_limit.h"
#include "base/text.h"
#include "session/listing.h"
#include "session/session_state.h"

#define FILE_BUDGET_BYTES (UINT64_C(16) << 30) /* a file is bounded by its own size */
#define CLOSE_WAIT_NS     (500 * NS_PER_MS)
#define CATCH_UP_NS       (50 * NS_PER_MS) /* how long a freeze waits for the collector */
#define RECENT_NS         (20 * NS_PER_MS)
#define MEMORY_PARTS      12 /* where a cgroup has a limit, the history gets one of 12 parts */
/* with less, flametop or its symbol worker is killed: tests/live/test_overload.py */
#define MEMORY_LEAST (16u << 20)
#define BUDGET_LEAST (UINT64_C(1) << 20)

static void *resolver_main(void *session)
{
    struct session *s = session;
    symbolizer_run(s->store.symbolizer);
    return NULL;
}

static void *fetcher_main(void *session)
{
    struct session *s = session;
    symbolizer_fetch(s->store.symbolizer);
    return NULL;
}

static bool open_names(struct session *s, struct error *e)
{
    struct symbolizer_config cfg = {
        .live = !s->load.file,
        .symfs = s->cfg.symfs,
        .kallsyms = s->cfg.kallsyms,
        .vmlinux = s->cfg.vmlinux,
        .other_machine = s->load.file && !load_is_of_this_machine(s),
        .keep_tables = !s->cfg.no_cache && !s->cfg.as_perf,
        .as_perf = s->cfg.as_perf,
        .debuginfod = s->cfg.debuginfod,
    };
    cfg.supplied = s->load.bundle ? s->load.bundle->supplied : NULL;
    if (s->load.file) {
        cfg.embedded = s->load.embedded = s->cfg.as_perf ? NULL : embedded_symbols(s->load.file);
        cfg.kernel_build_id_size = load_build_ids(s, cfg.kernel_build_id);
        jit_open(s, &cfg);
    }
    s->store.symbolizer = symbolizer_new(&cfg, e);
    if (!s->store.symbolizer || !(s->resolver_runs = session_start_thread(&s->resolver, resolver_main, s, e)))
        return false;
    if (s->load.file)
        jit_open_scripts(s);
    s->fetcher_runs = cfg.debuginfod && session_start_thread(&s->fetcher, fetcher_main, s, e);
    return s->fetcher_runs || !cfg.debuginfod;
}

static bool open_command(struct session *s, struct error *e)
{
    if (!command_spawn(s, e))
        return false;
    char pid[16];
    snprintf(pid, sizeof pid, "%d", (int)s->command.pid);
    bool opened = scope_set_pids(&s->cfg.scope, pid, false, e);
    s->cfg.scope.command = true;
    /* it was forked before the events were opened, and may end before /proc is read */
    world_set_parent(s->store.world, (uint32_t)s->command.pid, (uint32_t)getpid(),
                     program_invocation_short_name);
    return opened && source_open(s, e) && command_release(s, e);
}

static bool open_source(struct session *s, struct error *e)
{
    if (s->cfg.input)
        return load_open(s, e);
    return s->command.argv ? open_command(s, e) : source_open(s, e);
}

/* Limits the history to a twelfth of the cgroup's memory, as each query copies a part of it. The rest is
 * for tables, rings and the symbol worker. */
static bool fit_memory(struct session *s, struct error *e)
{
    char text[32];
    uint64_t limit = memory_limit(),
             most = limit / MEMORY_PARTS > BUDGET_LEAST ? limit / MEMORY_PARTS : BUDGET_LEAST;
    if (limit < MEMORY_LEAST)
        return error_set(
            e, ERROR_LIMIT,
            "the cgroup of flametop allows %s of memory, and it needs %uM: give it more, or start it in "
            "another cgroup",
            text_bytes(text, sizeof text, limit), MEMORY_LEAST >> 20);
    if (s->collect.budget_bytes <= most)
        return true;
    s->collect.budget_bytes = most;
    s->collect.memory_limit = limit;
    mem_be_frugal();
    return true;
}

struct session *session_open(const struct session_config *cfg, struct error *e)
{
    struct session *s = mem_zalloc(sizeof *s);
    s->cfg = *cfg;
    if (s->cfg.budget_percent <= 0)
        s->cfg.budget_percent = RATE_BUDGET_PERCENT;
    s->command.argv = cfg->command;
    scope_init(&s->cfg.scope);
    scope_init(&s->source.scope);
    s->command.pipe = s->command.hold_fd = s->command.failure_fd = -1;
    s->command.status = -1;
    pthread_mutex_init(&s->source.lock, NULL);
    pthread_mutex_init(&s->store.lock, NULL);
    pthread_cond_init(&s->store.drained, NULL);
    s->collect.wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    s->store.world = world_new(!cfg->input);
    if (cfg->as_perf)
        world_set_as_perf(s->store.world);
    s->containers = cfg->input ? NULL : containers_new("/");
    s->store.stacks = stacks_new();
    s->store.history = history_new();
    s->unwind.user.arch = unwind_arch_native();
    s->unwind.cache_shift = cfg->input ? FILE_CACHE_SHIFT : 0;
    s->unwind.locations =
        mem_lines((size_t)LOCATION_CACHE_SLOTS << s->unwind.cache_shift, sizeof *s->unwind.locations);
    s->unwind.callers = mem_lines(CALLERS_CACHE_SLOTS, sizeof *s->unwind.callers);
    unwind_cache_open(&s->unwind.user.unwind_cache, s->unwind.cache_shift);
    s->collect.budget_bytes = cfg->input ? FILE_BUDGET_BYTES : cfg->history_bytes;
    s->collect.world_floor_bytes = world_bytes(s->store.world);
    system_init(&s->collect.system_stats);
    if (s->collect.wake_fd < 0) {
        error_sys(e, errno, "cannot make an eventfd");
        goto fail;
    }
    /* a command runs before the names are opened */
    s->store.start_ns = s->store.clear_ns = cfg->input ? 0 : clock_now_ns();
    if (!fit_memory(s, e))
        goto fail;
    if (!cfg->input)
        crowd_start(s, s->store.start_ns);
    if (!cfg->input && !cfg->no_interpreted)
        interpreted_open(s);
    if (!scope_copy(&s->cfg.scope, &cfg->scope))
        goto fail;
    interpreted_prepare(s);
    if (!open_source(s, e) || !open_names(s, e))
        goto fail;
    s->load.loaded = !s->load.file;
    s->collect.runs =
        session_start_thread(&s->collect.thread, s->load.file ? load_main : collector_main, s, e);
    if (!s->collect.runs || (s->command.argv && !command_runs(s, e)))
        goto fail;
    return s;
fail:
    session_close(s);
    return NULL;
}

static bool joined(bool *runs, pthread_t thread, bool in_time, const struct timespec *until)
{
    *runs = *runs && (in_time ? pthread_timedjoin_np(thread, NULL, until) : pthread_join(thread, NULL));
    return !*runs;
}

/* Stops the threads. A process that hangs in the kernel may block a thread that reads its /proc: that must
 * not keep flametop from exiting, and a user at a screen must not wait at all. All threads are stopped at
 * once, as each may have to wait for a CPU. */
static bool end_threads(struct session *s)
{
    bool in_time = s->cfg.leaves_in_time;
    struct timespec until = clock_deadline(CLOCK_REALTIME, CLOSE_WAIT_NS);
    s->stop = true;
    collector_wake(s);
    if (s->store.symbolizer)
        symbolizer_stop(s->store.symbolizer);
    bool ended = joined(&s->collect.runs, s->collect.thread, true, &until);
    if (!ended) { /* the other threads may still end */
        in_time = true;
        until = clock_deadline(CLOCK_REALTIME, CLOSE_WAIT_NS);
    }
    ended &= joined(&s->ask_started, s->ask, in_time, &until);
    ended &= joined(&s->resolver_runs, s->resolver, in_time, &until);
    ended &= joined(&s->fetcher_runs, s->fetcher, in_time, &until);
    return ended;
}

void session_close(struct session *s)
{
    if (!s)
        return;
    for (int i = 0; i < SESSION_LISTS; i++)
        listing_leave(s->listings[i]);
    threads_job_forget(s->threads);
    session_rates_drop(s);
    bool ended = end_threads(s);
    command_end(s);
    if (!ended) /* a remaining thread may wake up at any time: its data stays */
        return;
    if (s->source.live)
        live_close(s->source.live);
    if (s->load.file)
        perfdata_close(s->load.file);
    if (s->store.symbolizer)
        symbolizer_free(s->store.symbolizer);
    supplied_free(s->load.embedded);
    bundle_free(s->load.bundle); /* the symbolizer uses its names */
    containers_free(s->containers);
    aside_done(s);
    idle_cpus_done(s);
    offcpu_done(s);
    mem_free(s->load.offcpu.switched.items);
    operations_done(s);
    running_done(&s->collect.latency.running);
    userstack_done(s); /* holds mappings of the world */
    world_free(s->store.world);
    stacks_free(s->store.stacks);
    coverage_members_done(&s->collect.coverage.members);
    history_free(s->store.history);
    jit_done(s);
    interpreted_done(s);
    map_done(&s->unwind.file_scripts);
    system_done(&s->collect.system_stats);
    mem_free(s->unwind.locations);
    mem_free(s->unwind.callers);
    mem_free(s->store.events);
    mem_free(s->store.thread_scope.items);
    scope_done(&s->cfg.scope);
    scope_done(&s->source.scope);
    if (s->collect.wake_fd >= 0)
        close(s->collect.wake_fd);
    pthread_cond_destroy(&s->store.drained);
    pthread_mutex_destroy(&s->store.lock);
    pthread_mutex_destroy(&s->source.lock);
    mem_free(s);
}

void session_clear(struct session *s)
{
    pthread_mutex_lock(&s->store.lock);
    if (!s->load.file) {
        bounds_forget_all(s);
        memset(s->collect.spark, 0, sizeof s->collect.spark);
        s->store.forgotten = s->store.samples;
        for (uint32_t i = 0; i < s->store.n_events; i++)
            s->store.events[i].samples = 0;
        s->store.clear_ns = clock_now_ns();
        s->store.frozen_ns = 0;
        history_pin(s->store.history, 0, 0);
        s->store.generation++;
    }
    pthread_mutex_unlock(&s->store.lock);
}

/* Collects recent samples that are still in the rings: a freeze includes them. Under lock. */
static void catch_up(struct session *s)
{
    uint64_t now_ns = clock_now_ns();
    struct timespec until = clock_deadline(CLOCK_REALTIME, CATCH_UP_NS);
    if (s->store.drained_ns >= now_ns - RECENT_NS)
        return;
    collector_wake(s);
    while (s->store.drained_ns < now_ns - RECENT_NS &&
           pthread_cond_timedwait(&s->store.drained, &s->store.lock, &until) == 0)
        ;
}

/* Time of the freeze. It is not "now", since the last records are not complete yet. If all samples are
 * later than the first drain's end, they are frozen anyway: better than nothing. */
static uint64_t freezing_ns(const struct session *s)
{
    uint64_t until = s->store.drained_ns > s->store.clear_ns ? s->store.drained_ns : s->store.clear_ns;
    return history_first_ns(s->store.history) > until ? history_last_ns(s->store.history) : until;
}

void session_freeze(struct session *s, bool on)
{
    pthread_mutex_lock(&s->store.lock);
    if (!s->load.file) {
        if (on) {
            catch_up(s);
            offcpu_flush(s, s->store.drained_ns, true);
        }
        s->store.frozen_ns = on ? freezing_ns(s) : 0;
        history_pin(s->store.history, on ? s->store.clear_ns : 0, s->store.frozen_ns);
        s->store.generation++;
    }
    pthread_mutex_unlock(&s->store.lock);
}

uint64_t session_report_waits(struct session *s)
{
    uint64_t until_ns = 0;
    pthread_mutex_lock(&s->store.lock);
    if (!s->load.file && !s->store.frozen_ns) {
        until_ns = s->store.drained_ns;
        offcpu_flush(s, until_ns, true);
        s->store.generation++;
    }
    pthread_mutex_unlock(&s->store.lock);
    return until_ns;
}

void session_looks(struct session *s, uint64_t at_ns, uint64_t every_ns)
{
    s->collect.look_ns = at_ns;
    s->collect.look_every_ns = every_ns;
}

void session_wait(struct session *s, uint64_t ns, bool (*stop)(void))
{
    uint64_t end = clock_now_ns() + ns;
    for (;;) {
        uint64_t now = clock_now_ns();
        pthread_mutex_lock(&s->store.lock);
        bool over = *s->fatal || (s->command.argv ? s->command.status >= 0 : s->source.targets_gone);
        pthread_mutex_unlock(&s->store.lock);
        if (now >= end || (stop && stop()) || over || (s->load.file && s->load.loaded))
            return;
        uint64_t left = end - now < 50 * NS_PER_MS ? end - now : 50 * NS_PER_MS;
        nanosleep(&(struct timespec){ .tv_nsec = (long)left }, NULL);
    }
}

bool session_has_latency(const struct session *s)
{
    return s->cfg.latency;
}

const struct scope *session_scope(struct session *s)
{
    return &s->cfg.scope;
}

const struct scope *session_running_scope(struct session *s)
{
    return &s->source.scope;
}
