// SPDX-License-Identifier: GPL-2.0-or-later
/* Rewrites an open perf.data: copies the selected samples, and the other records of their processes, byte
 * for byte, so perf shows the same for the copy as for the original. */
#include <string.h>

#include "base/cursor.h"
#include "base/mem.h"
#include "perf/readings.h"
#include "perfdata/writer.h"
#include "session/save/snapshot.h"

#define ANCESTORS_MAX 64

struct copying {
    struct snapshot *sn;
    struct perfdata_writer *w;
    uint8_t *selected; /* one bit per sample, in the order of the file */
    uint64_t n_samples, next;
    bool whole;
    uint64_t last; /* location of the last sample: a sample of a group comes once per member */
    uint64_t n_seen;
    struct map pids;    /* of the selected samples, and their ancestors, which their mappings come from */
    struct map parents; /* pid → parent's pid */
    uint64_t first_ns, last_ns;
    struct map counted, told; /* Counters in samples, by readings_key: as recorded, and as written. */
    struct buf record;
};

bool snapshot_is_whole(const struct snapshot *sn)
{
    return sn->s->load.loaded && sn->s->load.progress >= 1 && sn->samples.n == sn->n_held &&
           !history_dropped(sn->s->store.history) && !sn->s->cfg.n_chosen;
}

static void select_samples_of(struct copying *c)
{
    const struct snapshot *sn = c->sn;
    c->n_samples = history_dropped(sn->s->store.history) + history_count(sn->s->store.history);
    c->selected = mem_array((size_t)c->n_samples / 8 + 1, 1);
    c->first_ns = UINT64_MAX;
    for (size_t i = 0; i < sn->samples.n; i++) {
        const struct sample *s = &sn->samples.list[i];
        c->selected[s->raw / 8] |= (uint8_t)(1u << s->raw % 8);
        c->first_ns = s->time_ns < c->first_ns ? s->time_ns : c->first_ns;
        c->last_ns = s->time_ns > c->last_ns ? s->time_ns : c->last_ns;
        map_put(&c->pids, sn->samples.threads[s->thread].pid, 1);
    }
}

static bool is_selected(struct copying *c, const struct record *r)
{
    if (c->whole)
        return true;
    if (!session_reads_event(c->sn->s, r->source))
        return false; /* an event beyond what the history can distinguish */
    uint64_t n = c->next++;
    return n < c->n_samples && c->selected[n / 8] >> n % 8 & 1;
}

/* Before the copy: notes what it must know of later records. */
static bool note_processes(void *ctx, const struct record *r)
{
    struct copying *c = ctx;
    struct wait_waker waker;
    if (r->type == PERF_RECORD_SAMPLE && is_selected(c, r) && c->sn->events[r->source].event.wakers &&
        wait_waker_at(&waker, r->sample.aux, r->sample.aux_size))
        map_put(&c->pids, waker.pid, 1);
    if (r->type == PERF_RECORD_FORK && r->known && r->task.pid != r->task.ppid)
        map_put(&c->parents, r->task.pid, r->task.ppid);
    return true;
}

static void add_ancestors(struct copying *c)
{
    struct map found = { 0 };
    size_t pos = 0;
    uint64_t pid, parent;
    while (map_next(&c->pids, &pos, &pid, NULL)) {
        parent = pid;
        for (int i = 0; i < ANCESTORS_MAX && map_get(&c->parents, parent, &parent); i++)
            map_put(&found, parent, 1);
    }
    for (pos = 0; map_next(&found, &pos, &pid, NULL);)
        map_put(&c->pids, pid, 1);
    map_done(&found);
}

static bool pid_wanted(const struct copying *c, uint32_t pid)
{
    return pid == UINT32_MAX || map_get(&c->pids, pid, NULL);
}

static bool cgroup_wanted(const struct copying *c, uint64_t id)
{
    return map_get(&c->sn->cgroups, id, NULL);
}

/* True if a part of the file needs the record: it led to the selected samples, and is not about other
 * processes. */
static bool stack_subset_wants(const struct copying *c, const struct record *r)
{
    bool timed = r->id.has & PERF_SAMPLE_TIME;
    if (r->type >= 64) /* perf's own */
        return true;
    if (timed && r->id.time_ns > c->last_ns)
        return false;
    switch (r->known ? r->type : 0) {
    case PERF_RECORD_COMM:
        return pid_wanted(c, r->comm.pid);
    case PERF_RECORD_MMAP:
    case PERF_RECORD_MMAP2:
        return pid_wanted(c, r->mmap.pid);
    case PERF_RECORD_FORK:
    case PERF_RECORD_EXIT:
        return pid_wanted(c, r->task.pid);
    case PERF_RECORD_NAMESPACES:
        return pid_wanted(c, r->namespaces.pid);
    case PERF_RECORD_CGROUP:
        return cgroup_wanted(c, r->cgroup.id);
    case PERF_RECORD_KSYMBOL:
    case PERF_RECORD_BPF_EVENT:
        return true;
    }
    if (timed && r->id.time_ns < c->first_ns)
        return false;
    return !(r->id.has & PERF_SAMPLE_TID) || !r->id.pid || pid_wanted(c, r->id.pid);
}

/* The written value of a counter. Counters are cumulative, and a sample counts the difference from the
 * previous one: without the omitted samples, the written values must continue from the last written one. */
static uint64_t go_on(struct copying *c, uint64_t key, uint64_t value, bool selected)
{
    uint64_t *counted = map_at(&c->counted, key, 0, NULL), *told = map_at(&c->told, key, 0, NULL);
    if (selected)
        *told += value >= *counted ? value - *counted : value;
    *counted = value;
    return *told;
}

static void put_value(struct copying *c, const struct record *r, const void *at, uint64_t value)
{
    size_t offset =
        (size_t)((const uint8_t *)at - (const uint8_t *)r->body) + sizeof(struct perf_event_header);
    value = r->swap ? __builtin_bswap64(value) : value;
    memcpy(c->record.data + offset, &value, sizeof value);
}

/* The record with adjusted counters. */
static struct record counted_on(struct copying *c, const struct record *r, const struct perf_event_attr *a,
                                bool selected)
{
    uint64_t format = a->read_format;
    struct cursor cur = cursor_of(r->sample.read, r->sample.read_size, r->swap);
    bool group = format & PERF_FORMAT_GROUP;
    uint64_t n = group ? cursor_u64(&cur) : 1;
    unsigned times =
        !!(format & PERF_FORMAT_TOTAL_TIME_ENABLED) + !!(format & PERF_FORMAT_TOTAL_TIME_RUNNING);
    buf_clear(&c->record);
    buf_add(&c->record, (const uint8_t *)r->body - sizeof(struct perf_event_header), r->size);
    if (group)
        cursor_skip(&cur, times * sizeof(uint64_t));
    for (uint64_t i = 0; i < n && !cur.bad; i++) {
        const void *at = cur.p;
        uint64_t value = cursor_u64(&cur);
        if (!group)
            cursor_skip(&cur, times * sizeof(uint64_t));
        uint64_t id = cursor_u64(&cur);
        if (format & PERF_FORMAT_LOST)
            cursor_skip(&cur, sizeof(uint64_t));
        if (!cur.bad)
            put_value(c, r, at, go_on(c, readings_key(r, a->inherit, id), value, selected));
    }
    struct record changed = *r;
    changed.body = c->record.data + sizeof(struct perf_event_header);
    return changed;
}

static void copy_sample(struct copying *c, const struct record *r, bool selected)
{
    const struct perfdata_event *events;
    perfdata_events(c->sn->s->load.file, &events);
    const struct perf_event_attr *a = &events[r->source].attr;
    bool first = r->place != c->last || !c->n_seen;
    bool counts =
        !c->whole && r->sample.read && a->sample_type & PERF_SAMPLE_READ && a->read_format & PERF_FORMAT_ID;
    c->last = r->place;
    c->n_seen++;
    if (counts && first) {
        struct record changed = counted_on(c, r, a, selected);
        if (selected)
            perfdata_write_record(c->w, &changed);
    } else if (selected && first) {
        perfdata_write_record(c->w, r);
    }
}

static bool copy_record(void *ctx, const struct record *r)
{
    struct copying *c = ctx;
    if (r->type != PERF_RECORD_SAMPLE) {
        if (c->whole || stack_subset_wants(c, r))
            perfdata_write_record(c->w, r);
    } else {
        copy_sample(c, r, is_selected(c, r));
    }
    return true;
}

bool snapshot_copy_file(struct snapshot *sn, const char *path, struct error *e)
{
    struct perfdata *file = sn->s->load.file;
    struct copying c = { .sn = sn, .whole = snapshot_is_whole(sn) };
    if (!c.whole)
        select_samples_of(&c);
    bool ok = (c.whole || perfdata_each(file, note_processes, &c, NULL, e)) &&
              (c.w = perfdata_writer_copy(path, file, c.whole, e));
    if (ok) {
        c.next = 0;
        add_ancestors(&c);
        if (sn->s->cfg.compress)
            perfdata_write_packed(c.w);
        ok = perfdata_each(file, copy_record, &c, NULL, e);
        if (ok)
            ok = perfdata_writer_commit(c.w, NULL, e);
        else
            perfdata_writer_abort(c.w);
    }
    map_done(&c.pids);
    map_done(&c.parents);
    map_done(&c.counted);
    map_done(&c.told);
    buf_done(&c.record);
    mem_free(c.selected);
    return ok;
}
