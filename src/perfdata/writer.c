// SPDX-License-Identifier: GPL-2.0-or-later
/* Writes a file: its events, the buffered records, and the data for the header. */
#include "perfdata/writer.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "perfdata/write.h"

#define SAMPLE_BASE                                                                                          \
    (PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU |        \
     PERF_SAMPLE_PERIOD)

/* ---- events ---- */

static uint64_t sample_type_of(const struct perfdata_writer *w, const struct perf_event_attr *a)
{
    return SAMPLE_BASE | (w->chains ? PERF_SAMPLE_CALLCHAIN : 0) | (w->cgroups ? PERF_SAMPLE_CGROUP : 0) |
           (a->type == PERF_TYPE_TRACEPOINT ? PERF_SAMPLE_RAW : 0) |
           (a->sample_type & (PERF_SAMPLE_WEIGHT | PERF_SAMPLE_AUX));
}

static void clean_attr(const struct perfdata_writer *w, const struct perf_event_attr *from,
                       struct perf_event_attr *to)
{
    *to = (struct perf_event_attr){
        .type = from->type,
        .size = WRITE_ATTR_BYTES,
        .config = from->config,
        .config1 = from->config1,
        .config2 = from->config2,
        .bp_type = from->bp_type,
        .sample_period = from->sample_period,
        .sample_type = sample_type_of(w, from),
        .read_format = PERF_FORMAT_ID,
        .freq = from->freq,
        .precise_ip = from->precise_ip,
        .exclude_user = from->exclude_user,
        .exclude_kernel = from->exclude_kernel,
        .exclude_hv = from->exclude_hv,
        .exclude_idle = from->exclude_idle,
        .exclude_host = from->exclude_host,
        .exclude_guest = from->exclude_guest,
        .use_clockid = from->use_clockid,
        .clockid = from->clockid,
        .sample_id_all = 1,
    };
}

static bool is_read(const struct perf_event_attr *attr)
{
    return attr->sample_type & PERF_SAMPLE_READ && attr->read_format & PERF_FORMAT_GROUP;
}

/* As in perf: all members of a group have the leader's sample layout, and only the leader samples. */
static void set_reading(struct written_event *ev, bool leads)
{
    ev->attr.sample_type |= PERF_SAMPLE_READ;
    ev->attr.read_format = PERF_FORMAT_GROUP | PERF_FORMAT_ID;
    if (leads)
        return;
    ev->attr.freq = 0;
    ev->attr.sample_period = 0;
}

static void set_groups(struct perfdata_writer *w, const struct perfdata_write_event *events)
{
    for (uint32_t i = 0; i < w->n_events; i++) {
        uint32_t leader = events[i].group ? events[i].group - 1 : i;
        w->events[i].leader = leader <= i ? leader : i;
        w->events[w->events[i].leader].members++;
    }
    for (uint32_t i = 0; i < w->n_events; i++) {
        uint32_t leader = w->events[i].leader;
        if (w->events[leader].members > 1 && is_read(events[leader].attr))
            set_reading(&w->events[i], i == leader);
    }
}

static void add_events(struct perfdata_writer *w, const struct perfdata_write_event *events, uint32_t n)
{
    w->events = mem_array(n, sizeof *w->events);
    w->n_events = n;
    for (uint32_t i = 0; i < n; i++) {
        struct written_event *ev = &w->events[i];
        snprintf(ev->name, sizeof ev->name, "%s", events[i].name);
        snprintf(ev->tracepoint, sizeof ev->tracepoint, "%s",
                 events[i].tracepoint ? events[i].tracepoint : "");
        clean_attr(w, events[i].attr, &ev->attr);
        ev->id = i + 1;
    }
    set_groups(w, events);
    /* As in perf, side-band records belong to the first event. */
    struct perf_event_attr *first = &w->events[0].attr;
    first->mmap = first->mmap2 = first->comm = first->comm_exec = first->task = 1;
    first->cgroup = w->cgroups;
}

struct perfdata_writer *perfdata_writer_open(const char *path, const struct perfdata_write_event *events,
                                             uint32_t n_events, bool chains, bool cgroups, struct error *e)
{
    if (!n_events) {
        error_set(e, ERROR_ARGUMENT, "nothing to write to %s: no event", path);
        return NULL;
    }
    struct perfdata_writer *w = write_open(path, e);
    if (!w)
        return NULL;
    w->chains = chains;
    w->cgroups = cgroups;
    add_events(w, events, n_events);
    write_begin(w, write_header_bytes(n_events));
    return w;
}

static void writer_free(struct perfdata_writer *w)
{
    buf_done(&w->build_ids);
    buf_done(&w->jit_names);
    buf_done(&w->record);
    buf_done(&w->plain);
    map_done(&w->paths);
    mem_free(w->events);
    mem_free(w->host);
    mem_free(w);
}

/* False: the records could not be compressed. */
static bool finish(struct perfdata_writer *w, struct error *e)
{
    write_flush(w);
    write_header(w);
    if (w->trouble.class && e)
        *e = w->trouble;
    return !w->trouble.class;
}

bool perfdata_writer_commit(struct perfdata_writer *w, uint64_t *size_bytes, struct error *e)
{
    bool packed = finish(w, e);
    if (size_bytes)
        *size_bytes = w->out.size_bytes;
    bool ok = packed && outfile_commit(&w->out, e);
    if (!packed)
        outfile_abort(&w->out);
    writer_free(w);
    return ok;
}

bool perfdata_writer_take(struct perfdata_writer *w, int *fd, uint64_t *size_bytes, struct error *e)
{
    bool packed = finish(w, e);
    *size_bytes = w->out.size_bytes;
    bool ok = packed && outfile_take(&w->out, fd, e);
    if (!packed)
        outfile_abort(&w->out);
    writer_free(w);
    return ok;
}

void perfdata_writer_abort(struct perfdata_writer *w)
{
    if (!w)
        return;
    outfile_abort(&w->out);
    writer_free(w);
}

void perfdata_write_stacks(struct perfdata_writer *w, const char *stacks)
{
    snprintf(w->stacks, sizeof w->stacks, "%s", stacks);
}

void perfdata_write_packed(struct perfdata_writer *w)
{
    w->packs = true;
}

/* ---- header data ---- */

void perfdata_write_build_id(struct perfdata_writer *w, const char *path, bool kernel, const uint8_t *id,
                             unsigned size)
{
    uint8_t bytes[FORMAT_BUILD_ID_BYTES + 4] = { 0 };
    struct perf_event_header h = { .type = FORMAT_RECORD_BUILD_ID };
    uint32_t all_of_the_host = WRITE_KERNEL_PID;
    if (size > FORMAT_BUILD_ID_BYTES)
        size = FORMAT_BUILD_ID_BYTES;
    memcpy(bytes, id, size);
    bytes[FORMAT_BUILD_ID_BYTES] = (uint8_t)size;
    size_t len = strnlen(path, WRITE_TEXT_MAX),
           padded = (len + FORMAT_NAME_ALIGN) & ~(size_t)(FORMAT_NAME_ALIGN - 1);
    h.misc = (kernel ? PERF_RECORD_MISC_KERNEL : PERF_RECORD_MISC_USER) | FORMAT_MISC_BUILD_ID_SIZE;
    h.size = (uint16_t)(sizeof h + sizeof all_of_the_host + sizeof bytes + padded);
    buf_add(&w->build_ids, &h, sizeof h);
    buf_add(&w->build_ids, &all_of_the_host, sizeof all_of_the_host);
    buf_add(&w->build_ids, bytes, sizeof bytes);
    buf_add(&w->build_ids, path, len);
    while (len++ < padded)
        buf_putc(&w->build_ids, '\0');
}

void perfdata_write_host(struct perfdata_writer *w, const struct perfdata_info *info)
{
    if (!w->host)
        w->host = mem_alloc(sizeof *w->host);
    *w->host = *info;
}

void perfdata_write_origin(struct perfdata_writer *w, const struct perfdata *from)
{
    w->from = from;
    if (perfdata_swapped(from)) /* its numbers do not fit a file of this byte order */
        perfdata_write_host(w, perfdata_info(from));
}

void perfdata_write_jit_names(struct perfdata_writer *w, const char *text, size_t size)
{
    buf_clear(&w->jit_names);
    buf_add(&w->jit_names, text, size);
}
