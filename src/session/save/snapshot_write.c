// SPDX-License-Identifier: GPL-2.0-or-later
/* Writes a snapshot: the addresses of its frames, and the records from which other tools see the same
 * profile. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "perfdata/writer.h"
#include "process/namespaces.h"
#include "profile/operation_data.h"
#include "session/save/snapshot.h"

static bool is_kernel(const struct snapshot *sn, uint32_t frame)
{
    const struct module *m = snapshot_module(sn, sn->frame_module[frame]);
    return m && (m->kind == MODULE_KERNEL || m->kind == MODULE_KMOD || m->kind == MODULE_KSYM ||
                 (m->kind == MODULE_UNKNOWN && (int64_t)sn->frame_offset[frame] < 0));
}

/* Range of the kernel's text. If its symbols are hidden, or it is not the running kernel, the range of the
 * sampled addresses. */
static void kernel_range(const struct snapshot *sn, bool running, uint64_t *start, uint64_t *len)
{
    uint64_t low = UINT64_MAX, high = 0;
    if (running && kernel_text_range(&low, &high)) {
        *start = low;
        *len = high - low;
        return;
    }
    for (uint32_t i = 1; i < sn->n_frames; i++) {
        const struct module *m = snapshot_module(sn, sn->frame_module[i]);
        if (!m || m->kind != MODULE_KERNEL)
            continue;
        low = sn->frame_offset[i] < low ? sn->frame_offset[i] : low;
        high = sn->frame_offset[i] > high ? sn->frame_offset[i] : high;
    }
    *start = low & ~UINT64_C(0xfff);
    *len = high >= low ? high + 4096 - *start : 0;
}

static void write_kernel_module(struct snapshot *sn, uint64_t time_ns, const struct module *m)
{
    struct perfdata_write_map map = { .pid = ~0u, .kernel = true, .addr = m->start, .len = m->size };
    if (m->kind == MODULE_KSYM) {
        perfdata_write_ksymbol(sn->w, time_ns, m->start, (uint32_t)m->size, m->path);
        return;
    }
    map.path = m->path;
    if (m->kind == MODULE_KERNEL) {
        if (!m->size)
            kernel_range(sn, m->live, &map.addr, &map.len);
        map.path = "[kernel.kallsyms]_text";
        map.pgoff = map.addr;
    }
    if (map.len)
        perfdata_write_mmap(sn->w, time_ns, &map);
}

static void write_modules(struct snapshot *sn, uint64_t time_ns)
{
    size_t pos = 0;
    uint64_t id, v;
    for (int kernel_core = 1; kernel_core >= 0; kernel_core--)
        for (pos = 0; map_next(&sn->modules, &pos, &id, &v);) {
            const struct module *m = (struct module *)(uintptr_t)v;
            if (!m || (m->kind == MODULE_KERNEL) != kernel_core)
                continue;
            if (m->kind == MODULE_KERNEL || m->kind == MODULE_KMOD || m->kind == MODULE_KSYM)
                write_kernel_module(sn, time_ns, m);
        }
}

static void write_build_ids(struct snapshot *sn)
{
    size_t pos = 0;
    uint64_t id, v;
    while (map_next(&sn->modules, &pos, &id, &v)) {
        struct module *m = (struct module *)(uintptr_t)v;
        uint8_t build_id[20];
        unsigned size = m ? symbolizer_build_id(sn->s->store.symbolizer, m, build_id) : 0;
        bool kernel = m && (m->kind == MODULE_KERNEL || m->kind == MODULE_KMOD);
        if (size && (kernel || m->kind == MODULE_FILE || m->kind == MODULE_VDSO))
            perfdata_write_build_id(sn->w, m->kind == MODULE_KERNEL ? "[kernel.kallsyms]" : m->path, kernel,
                                    build_id, size);
    }
}

static void write_namespaces(struct snapshot *sn, uint64_t time_ns, uint32_t thread)
{
    const struct world_thread *t = &sn->samples.threads[thread];
    struct perf_ns_link_info links[NAMESPACES_KINDS];
    if (!t->namespaces)
        return;
    for (unsigned i = 0; i < NAMESPACES_KINDS; i++)
        links[i] = (struct perf_ns_link_info){ sn->namespaces[thread].links[i].dev,
                                               sn->namespaces[thread].links[i].ino };
    perfdata_write_namespaces(sn->w, time_ns, t->pid, t->tid, links, NAMESPACES_KINDS);
}

/* Runs of processes are shown with the parents. */
static bool has_runs(const struct snapshot *sn)
{
    for (uint32_t i = 0; i < sn->n_events; i++)
        if (sn->events[i].event.latency && sn->events[i].event.pair && sn->events[i].event.pair->by_process)
            return true;
    return false;
}

static void write_parent(struct snapshot *sn, uint64_t time_ns, const struct world_thread *t)
{
    if (!t->ppid)
        return;
    if (*t->parent && !map_get(&sn->pid_image, t->ppid, NULL))
        perfdata_write_comm(sn->w, time_ns, t->ppid, t->ppid, t->parent, false);
    perfdata_write_parent(sn->w, time_ns, t->pid, t->ppid);
}

/* Writes the records that precede a thread's first sample: its comm, marked as exec if the process has
 * another image than the last one written for this pid. */
static void introduce(struct snapshot *sn, uint64_t time_ns, uint32_t thread)
{
    const struct world_thread *t = &sn->samples.threads[thread];
    bool created;
    uint64_t *image = map_at(&sn->pid_image, t->pid, 0, &created);
    bool exec = !created && *image != t->image;
    if (created && has_runs(sn))
        write_parent(sn, time_ns, t);
    if (exec || (created && t->tid != t->pid))
        perfdata_write_comm(sn->w, time_ns, t->pid, t->pid, t->comm, exec);
    if (created || exec) {
        *image = t->image;
        snapshot_maps_restart(sn, thread);
    }
    perfdata_write_comm(sn->w, time_ns, t->pid, t->tid, t->comm, false);
    write_namespaces(sn, time_ns, thread);
    sn->thread_told[thread] = 1;
}

static bool is_wait(const struct snapshot *sn, uint32_t node)
{
    return node && sn->frame_module[sn->frame[node]] == MODULE_ID_WAIT;
}

static bool is_operation(const struct snapshot *sn, uint32_t node)
{
    return node && sn->frame_module[sn->frame[node]] == MODULE_ID_OPERATION;
}

/* Rebuilds the callchain of the frames before `end`, an ancestor of the sample's stack. Puts a context marker
 * before each exact address, also one that a signal interrupted, since readers take the first address after a
 * marker as exact. */
static uint32_t rebuild_chain(struct snapshot *sn, const struct sample *sample, uint32_t end, uint64_t *chain,
                              uint32_t max)
{
    uint32_t n = 0, leaf = sample->stack;
    int kernel_before = -1;
    if (leaf != end &&
        (is_wait(sn, leaf) || is_operation(sn, leaf))) /* written as weight, or in the AUX data */
        leaf = sn->parent[leaf];
    for (uint32_t node = leaf; node != end && n + 2 < max; node = sn->parent[node]) {
        uint32_t frame = sn->frame[node];
        int kernel = is_kernel(sn, frame);
        bool exact = kernel != kernel_before || sn->frame_interrupted[frame];
        bool broken = sn->frame_module[frame] == MODULE_ID_BROKEN;
        bool script = sn->frame_module[frame] == MODULE_ID_SCRIPT;
        if (exact)
            chain[n++] = kernel ? PERF_CONTEXT_KERNEL : PERF_CONTEXT_USER;
        kernel_before = kernel;
        uint64_t addr = snapshot_address(sn, sample, frame);
        if (broken) /* the reason, as an address without code: samplestack.c recognises it */
            chain[n++] = sn->frame_offset[frame];
        else if (script)
            chain[n++] = snapshot_script(sn, frame);
        else /* callers were stored one byte before the return address */
            chain[n++] = exact ? addr : addr + 1;
    }
    return n;
}

/* What the record's field weight has: the reason of a wait, or how many threads ran. */
static uint64_t weight_of(const struct snapshot *sn, const struct sample *sample)
{
    if (sn->events[sample->event].event.latency)
        return 0;
    return is_wait(sn, sample->stack) ? sn->frame_offset[sn->frame[sample->stack]] + 1 : sample->running;
}

/* member_periods: see perfdata/writer.h. */
static void write_sample_with(struct snapshot *sn, const struct sample *sample, uint32_t event,
                              const uint64_t *member_periods, const void *raw, uint32_t raw_size)
{
    uint64_t chain[2048];
    uint32_t n = rebuild_chain(sn, sample, 0, chain, sizeof chain / sizeof *chain);
    const struct world_thread *t = &sn->samples.threads[sample->thread];
    perfdata_write_sample(sn->w, &(struct perfdata_write_sample){
                                     .time_ns = sample->time_ns,
                                     .ip = n > 1 ? chain[1] : 0,
                                     .period = sample->weight,
                                     .cgroup = t->cgroup,
                                     .event = event,
                                     .pid = t->pid,
                                     .tid = t->tid,
                                     .cpu = sample->cpu,
                                     .misc = sample->flags & SAMPLE_USER    ? PERF_RECORD_MISC_USER
                                             : sample->flags & SAMPLE_GUEST ? PERF_RECORD_MISC_GUEST_KERNEL
                                                                            : PERF_RECORD_MISC_KERNEL,
                                     .chain = chain,
                                     .chain_n = n,
                                     .raw = raw,
                                     .raw_size = raw_size,
                                     .weight = weight_of(sn, sample),
                                     .member_periods = member_periods,
                                 });
}

static void write_sample(struct snapshot *sn, const struct sample *sample, uint32_t event,
                         const uint64_t *member_periods)
{
    uint32_t raw_size;
    const void *raw = session_sample_raw(&sn->samples, sample, &raw_size);
    write_sample_with(sn, sample, event, member_periods, raw, raw_size);
}

/* Writes the records that must precede a sample of the frames before `end`. */
static void write_owner(struct snapshot *sn, const struct sample *sample, uint32_t end)
{
    if (!sn->thread_told[sample->thread])
        introduce(sn, sample->time_ns, sample->thread);
    snapshot_maps_until(sn, sample->time_ns, sample->thread);
    snapshot_jit_sample(sn, sample, end);
}

static void write_woken(struct snapshot *sn, const struct woken *w, uint32_t event)
{
    uint64_t chain[WAIT_WAKER_CHAIN];
    uint32_t n = 0, size;
    write_owner(sn, &w->wait, 0);
    if (w->waker.thread) {
        write_owner(sn, &w->waker, w->boundary);
        n = rebuild_chain(sn, &w->waker, w->boundary, chain, WAIT_WAKER_CHAIN);
    }
    const void *aux = snapshot_wakers_aux(sn, w, chain, n, &size);
    write_sample_with(sn, &w->wait, event, NULL, aux, size);
}

/* The AUX data has the name of the operation, which is its leaf frame. */
static void write_operation(struct snapshot *sn, const struct sample *sample, uint32_t event)
{
    struct operation_data data = { .magic = OPERATION_MAGIC };
    char name[OPERATION_NAME_MAX];
    struct symbol sym = { .name = "" };
    uint32_t raw_size, frame = sn->frame[sample->stack];
    const void *raw = session_sample_raw(&sn->samples, sample, &raw_size);
    struct module *m = sample->stack ? snapshot_module(sn, sn->frame_module[frame]) : NULL;
    (void)operation_data_read(raw, raw_size, &data, name);
    data.magic = OPERATION_MAGIC;
    if (m)
        symbolizer_lookup(sn->s->store.symbolizer, m, sn->frame_offset[frame], &sym);
    size_t n = strlen(sym.name);
    data.name_size = (uint16_t)(n < OPERATION_NAME_MAX ? n : OPERATION_NAME_MAX - 1);
    buf_clear(&sn->aux);
    buf_add(&sn->aux, &data, sizeof data);
    buf_add(&sn->aux, sym.name, data.name_size);
    write_sample_with(sn, sample, event, NULL, sn->aux.data, (uint32_t)sn->aux.len);
}

/* An event whose leader did not open leads itself. */
static uint32_t leader_of(const struct snapshot *sn, uint32_t event)
{
    uint32_t leader = sn->events[event].leader;
    return sn->events[leader].left_out ? event : leader;
}

/* Chooses the events to write: the sampled ones with those sampled at the same time; for a file all, since
 * its metadata counts them. */
static uint32_t choose_events(const struct snapshot *sn, struct perfdata_write_event *events,
                              uint32_t *numbers)
{
    /* by the first of the events sampled together */
    bool *sampled = mem_array(sn->n_events + 1, sizeof *sampled);
    uint32_t n = 0;
    for (size_t i = 0; i < sn->samples.n; i++)
        sampled[sn->events[sn->samples.list[i].event].first] = true;
    for (uint32_t i = 0; i < sn->n_events; i++) {
        const struct session_event *ev = &sn->events[i];
        bool running = session_is_on_cpu(sn->s, i);
        if ((!sampled[ev->first] || (ev->left_out && !running) || ev->event.of_pair) && !sn->s->load.file)
            continue;
        numbers[i] = n;
        events[n++] =
            (struct perfdata_write_event){ .name = ev->event.name,
                                           .tracepoint =
                                               event_is_made(&ev->event) ? NULL : ev->event.tracepoint,
                                           .attr = &ev->attr,
                                           .group = numbers[leader_of(sn, i)] + 1 };
    }
    mem_free(sampled);
    return n;
}

/* True if the leader of the sample's event reads the group (perf/readings.h). */
static bool is_read(const struct snapshot *sn, const struct sample *sample)
{
    uint32_t leader = sn->events[sample->event].leader;
    const struct perf_event_attr *attr = &sn->events[leader].attr;
    bool grouped = leader + 1 < sn->n_events && sn->events[leader + 1].leader == leader;
    return grouped && attr->sample_type & PERF_SAMPLE_READ && attr->read_format & PERF_FORMAT_GROUP;
}

static bool is_same_reading(const struct snapshot *sn, const struct sample *a, const struct sample *b)
{
    return a->time_ns == b->time_ns && a->thread == b->thread && a->cpu == b->cpu && a->stack == b->stack &&
           sn->events[a->event].leader == sn->events[b->event].leader && a->event != b->event;
}

/* Writes the samples that came from one group sample as one again. Returns their number. */
static size_t write_reading(struct snapshot *sn, const struct sample *first, size_t n,
                            const uint32_t *event_numbers)
{
    uint64_t *periods = mem_array(sn->n_events + 1, sizeof *periods);
    uint32_t leader = event_numbers[sn->events[first->event].leader];
    size_t same = 1;
    while (same < n && is_same_reading(sn, first, &first[same]) &&
           !periods[event_numbers[first[same].event] - leader]) {
        periods[event_numbers[first[same].event] - leader] = first[same].weight;
        same++;
    }
    periods[event_numbers[first->event] - leader] = first->weight;
    write_sample(sn, first, leader, periods);
    mem_free(periods);
    return same;
}

static void write_records(struct snapshot *sn, const uint32_t *event_numbers)
{
    size_t pos = 0;
    uint64_t id, path;
    uint64_t first_ns = sn->samples.n ? sn->samples.list[0].time_ns : 0;
    write_modules(sn, first_ns);
    while (map_next(&sn->cgroups, &pos, &id, &path))
        if (*(const char *)(uintptr_t)path)
            perfdata_write_cgroup(sn->w, first_ns, id, (const char *)(uintptr_t)path);
    sn->thread_told = mem_array(sn->samples.n_threads + 1, 1);
    for (size_t i = 0; i < sn->samples.n; i++) {
        const struct sample *sample = &sn->samples.list[i];
        struct woken woken;
        if (snapshot_wakers_split(sn, sample, &woken)) {
            write_woken(sn, &woken, event_numbers[sample->event]);
            continue;
        }
        write_owner(sn, sample, 0);
        if (sn->events[sample->event].event.latency)
            write_operation(sn, sample, event_numbers[sample->event]);
        else if (is_read(sn, sample))
            i += write_reading(sn, sample, sn->samples.n - i, event_numbers) - 1;
        else
            write_sample(sn, sample, event_numbers[sample->event], NULL);
    }
    if (sn->lost && sn->samples.n)
        perfdata_write_lost(sn->w, sn->samples.list[sn->samples.n - 1].time_ns, sn->lost);
}

bool snapshot_write(struct snapshot *sn, const char *path, int *fd, uint64_t *bytes, struct error *e)
{
    struct perfdata_write_event *events = mem_array(sn->n_events + 1, sizeof *events);
    uint32_t *numbers = mem_array(sn->n_events + 1, sizeof *numbers), n = choose_events(sn, events, numbers);
    sn->w = perfdata_writer_open(path, events, n, true, sn->cgroups.n > 0, e);
    mem_free(events);
    if (!sn->w) {
        mem_free(numbers);
        return false;
    }
    char stacks[24];
    pthread_mutex_lock(&sn->s->store.lock);
    status_stacks(sn->s, stacks, sizeof stacks);
    pthread_mutex_unlock(&sn->s->store.lock);
    perfdata_write_stacks(sn->w, stacks);
    if (sn->s->cfg.compress && !fd) /* a bundle is compressed as a whole */
        perfdata_write_packed(sn->w);
    if (sn->s->load.file)
        perfdata_write_origin(sn->w, sn->s->load.file); /* the file's metadata, not this system's */
    samples_sort(&sn->samples);
    snapshot_jit_begin(sn);
    write_records(sn, numbers);
    mem_free(numbers);
    snapshot_jit_write(sn);
    write_build_ids(sn);
    return fd ? perfdata_writer_take(sn->w, fd, bytes, e) : perfdata_writer_commit(sn->w, bytes, e);
}
