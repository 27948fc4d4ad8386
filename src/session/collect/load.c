// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads a perf.data as the source: all records, in time order, through the same pipeline as live ones. */
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/text.h"
#include "perfdata/format.h"
#include "perfdata/spool.h"
#include "session/session_state.h"

#define LOAD_BATCH    4096 /* records per locking */
#define LOAD_PAUSE_US 50
#define TABLE_WAIT_NS (20 * NS_PER_SEC)

/* Owns the descriptor. */
static bool open_bundle(struct session *s, int fd, const char *name, struct error *e)
{
    struct spool profile = { .name = name };
    s->load.bundle = bundle_open(fd, name, e);
    close(fd);
    if (!s->load.bundle)
        return false;
    profile.fd = s->load.bundle->fd;
    s->load.bundle->fd = -1;
    return (s->load.file = perfdata_open_spooled(&profile, e)) != NULL;
}

static bool open_file(struct session *s, struct error *e)
{
    struct spool spool;
    int archive = bundle_find(s->cfg.input);
    if (archive >= 0)
        return open_bundle(s, archive, s->cfg.input, e);
    if (!spool_open(&spool, s->cfg.input, s->cfg.wait, e))
        return false;
    if (!spool.archive)
        return (s->load.file = perfdata_open_spooled(&spool, e)) != NULL;
    return open_bundle(s, spool.fd, spool.name, e);
}

bool load_open(struct session *s, struct error *e)
{
    const struct perfdata_event *events;
    struct utsname u;
    if (!open_file(s, e))
        return false;
    world_set_limit(s->store.world, WORLD_BYTES + WORLD_TIMES * perfdata_bytes(s->load.file));
    uint32_t n = perfdata_events(s->load.file, &events);
    for (uint32_t i = 0; i < n && i < SAMPLE_EVENTS; i++) {
        struct session_event *ev = session_add_event(s);
        ev->first = i;
        ev->leader = events[i].leader < i ? events[i].leader : i;
        snprintf(ev->event.name, sizeof ev->event.name, "%s", events[i].name);
        ev->event.attr = ev->attr = events[i].attr;
        ev->event.off_cpu = offcpu_is_saved(ev->event.name, &ev->attr);
        ev->event.wakers = wakers_are_saved(ev->event.name, &ev->attr);
        ev->event.wall = wall_is_saved(ev->event.name, &ev->attr);
        ev->event.latency = operations_are_saved(ev->event.name, &ev->attr);
        if (i && offcpu_is_saved_running(ev->event.name, &ev->attr))
            s->collect.offcpu.running = i;
        ev->freq_hz = events[i].attr.freq ? events[i].attr.sample_freq : 0;
        ev->period = events[i].attr.freq ? 0 : events[i].attr.sample_period;
        if (events[i].attr.sample_type & PERF_SAMPLE_CALLCHAIN || ev->event.off_cpu || ev->event.latency)
            s->cfg.callchain = CALLCHAIN_FP;
        if (events[i].attr.sample_type & PERF_SAMPLE_STACK_USER)
            s->cfg.callchain = CALLCHAIN_DWARF;
    }
    s->load.info = *perfdata_info(s->load.file);
    s->load.cuts = !strncmp(perfdata_info(s->load.file)->version, "flametop ", 9);
    const char *stacks = s->load.cuts ? strstr(perfdata_info(s->load.file)->version, FORMAT_STACKS) : NULL;
    if (stacks)
        text_clean(s->load.stacks, sizeof s->load.stacks, stacks + strlen(FORMAT_STACKS),
                   strlen(stacks + strlen(FORMAT_STACKS)));
    s->unwind.user.arch = unwind_arch_named(perfdata_info(s->load.file)->arch);
    s->cfg.events[0] = s->store.events[0].event;
    s->load.elsewhere = !load_is_of_this_machine(s);
    s->load.other_arch = *s->load.info.arch && (uname(&u) != 0 || strcmp(u.machine, s->load.info.arch) != 0);
    operations_file_open(s);
    offcpu_file_open(s);
    if (!chosen_events(s, e) || !latency_open_file(s, e))
        return false;
    if (s->collect.offcpu.running) /* never listed, always read */
        s->store.events[s->collect.offcpu.running].removed =
            s->store.events[s->collect.offcpu.running].left_out = true;
    offcpu_file_chosen(s);
    return true;
}

bool load_is_of_this_machine(const struct session *s)
{
    const struct perfdata_info *info = perfdata_info(s->load.file);
    struct utsname u;
    return *info->hostname && uname(&u) == 0 && !strcmp(u.nodename, info->hostname) &&
           (!*info->arch || !strcmp(u.machine, info->arch));
}

unsigned load_build_ids(struct session *s, uint8_t kernel_id[20])
{
    const struct perfdata_build_id *ids;
    uint32_t n = perfdata_build_ids(s->load.file, &ids);
    unsigned kernel_size = 0;
    for (uint32_t i = 0; i < n; i++) {
        bool kernel = (ids[i].misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_KERNEL;
        world_set_build_id(s->store.world, ids[i].path, ids[i].id, ids[i].size, kernel);
        if (kernel && !strncmp(ids[i].path, "[kernel", 7))
            memcpy(kernel_id, ids[i].id, kernel_size = ids[i].size);
    }
    return kernel_size;
}

struct load {
    struct session *s;
    uint32_t in_batch;
};

/* Waits for a missing unwind table, since a file's numbers are not shown before they are complete. */
static void await_table(struct session *s)
{
    struct module *m = world_module(s->store.world, s->unwind.user.awaits);
    const struct unwind_rows *rows = NULL;
    if (!m || s->stop) {
        userstack_give_up(s, s->unwind.user.awaits);
        return;
    }
    module_get(m);
    pthread_mutex_unlock(&s->store.lock);
    symbolizer_unwind_wait(s->store.symbolizer, m, TABLE_WAIT_NS, &rows);
    pthread_mutex_lock(&s->store.lock);
    if (!rows)
        userstack_give_up(s, s->unwind.user.awaits);
    module_put(m);
}

static bool on_record(void *ctx, const struct record *r)
{
    struct load *l = ctx;
    struct session *s = l->s;
    jit_advance(s, r->id.time_ns);
    offcpu_file_record(s, r);
    if (r->type == PERF_RECORD_SAMPLE && !session_reads_event(s, r->source) &&
        !offcpu_file_reads(s, r->source) && !operations_file_reads(s, r->source))
        s->load.left_out += r->source >= s->store.n_events;
    else
        while (!collector_record(s, r))
            await_table(s);
    offcpu_file_append(s);
    if (++l->in_batch == LOAD_BATCH) {
        l->in_batch = 0;
        bounds_enforce(s);
        s->store.generation++;
        pthread_mutex_unlock(&s->store.lock);
        usleep(LOAD_PAUSE_US); /* a lock that is locked again at once never goes to another thread */
        pthread_mutex_lock(&s->store.lock);
    }
    return !s->stop && !s->load.stop;
}

/* Progress of the first pass. It runs without the lock: no other thread uses the file before its end. */
static bool keep_on_indexing(void *session, double share)
{
    struct session *s = session;
    pthread_mutex_lock(&s->store.lock);
    s->load.progress = 0.25 * share;
    pthread_mutex_unlock(&s->store.lock);
    return !s->stop && !s->load.stop;
}

void session_stop_reading(struct session *s)
{
    s->load.stop = true;
}

/* Reads the records, under lock. After a stopped first pass, the indexed part of the file is still read. */
static bool read_records(struct load *l, struct error *e)
{
    struct session *s = l->s;
    uint8_t kernel_id[20];
    s->load.info = *perfdata_info(s->load.file);
    load_build_ids(s, kernel_id); /* also those that came as records */
    s->load.stopped = atomic_exchange(&s->load.stop, false);
    s->load.stopped_at = s->load.stopped ? 4 * s->load.progress : 1;
    bool whole = perfdata_each(s->load.file, on_record, l, &s->load.progress, e);
    if (s->load.stop && !whole) {
        s->load.stopped = true;
        s->load.stopped_at *= s->load.progress > 0.25 ? (s->load.progress - 0.25) / 0.75 : 0;
    }
    return whole || s->load.stop;
}

/* Selects the event that a user wants to see first: the one with the most samples. The scheduler's events are
 * recorded for the time off the CPU that follows from them. */
static void select_first_event(struct session *s)
{
    uint64_t *counts = chosen_counts(s);
    uint32_t *shown = &s->store.current_event, waits = s->collect.offcpu.event;
    for (uint32_t i = 0; i < s->store.n_events; i++) {
        const struct session_event *ev = &s->store.events[i];
        bool more = counts[i] > counts[*shown] && !ev->event.wakers; /* they tell more of the other samples */
        if (!offcpu_file_is_apart(s, i) && !ev->removed && (more || s->store.events[*shown].left_out))
            *shown = i;
    }
    if (offcpu_file_is_apart(s, waits) && counts[waits] &&
        !strncmp(s->store.events[*shown].event.name, "sched:", 6))
        *shown = waits;
    mem_free(counts);
}

void *load_main(void *session)
{
    struct load l = { .s = session };
    struct session *s = session;
    struct error e = { 0 };
    perfdata_index(s->load.file, keep_on_indexing, s);
    pthread_mutex_lock(&s->store.lock);
    bool whole = read_records(&l, &e);
    if (!whole && !s->stop && *e.text)
        snprintf(s->fatal, sizeof s->fatal, "%.150s", e.text);
    offcpu_file_end(s);
    operations_settle_ends(s, UINT64_MAX);
    if (!s->load.event_chosen)
        select_first_event(s);
    s->load.loaded = true;
    s->store.generation++;
    pthread_mutex_unlock(&s->store.lock);
    return NULL;
}
