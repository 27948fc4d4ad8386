// SPDX-License-Identifier: GPL-2.0-or-later
/* Copies a file: its records, events and sections byte for byte in its byte order, but uncompressed, in time
 * order, and without sections that are no longer true. */
#include <string.h>

#include "perfdata/write.h"

#define COPY_ATTR_MIN PERF_ATTR_SIZE_VER0
#define COPY_ATTR_MAX PERF_ATTR_SIZE_VER7 /* of Linux 5.13 */

static void add_padded(struct buf *out, const void *bytes, size_t n, size_t size)
{
    buf_add(out, bytes, n);
    for (; n < size; n++)
        buf_putc(out, '\0');
}

/* An older perf refuses an attr longer than it knows, even if the new bytes are all zero. */
static uint32_t bytes_of(const struct perfdata_event *ev)
{
    const uint8_t *bytes = ev->bytes;
    uint32_t n = ev->n_bytes;
    while (n > COPY_ATTR_MAX && !bytes[n - 1])
        n--;
    return n > COPY_ATTR_MAX ? ev->n_bytes : n;
}

static void add_attr(const struct perfdata_writer *w, const struct perfdata_event *ev, uint32_t size,
                     struct buf *out)
{
    size_t at = out->len;
    uint32_t n = bytes_of(ev), own = write_u32(w, n);
    add_padded(out, ev->bytes, n, size);
    if (n < ev->n_bytes)
        memcpy(out->data + at + offsetof(struct perf_event_attr, size), &own, sizeof own);
}

static uint32_t attr_bytes(const struct perfdata *from)
{
    const struct perfdata_event *events;
    uint32_t n = perfdata_events(from, &events), bytes = COPY_ATTR_MIN;
    for (uint32_t i = 0; i < n; i++)
        bytes = bytes_of(&events[i]) > bytes ? bytes_of(&events[i]) : bytes;
    return bytes;
}

uint64_t write_copy_entry_bytes(const struct perfdata_writer *w)
{
    return attr_bytes(w->from) + sizeof(struct format_section);
}

static uint64_t count_ids(const struct perfdata_writer *w)
{
    const struct perfdata_event *events;
    uint32_t n = perfdata_events(w->from, &events);
    uint64_t ids = 0;
    for (uint32_t i = 0; i < n; i++)
        ids += events[i].n_ids;
    return ids;
}

void write_copy_attrs(const struct perfdata_writer *w, struct buf *out)
{
    const struct perfdata_event *events;
    uint32_t n = perfdata_events(w->from, &events), bytes = attr_bytes(w->from);
    uint64_t at = FORMAT_HEADER_BYTES;
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t j = 0; j < events[i].n_ids; j++)
            write_add_u64(out, write_u64(w, events[i].ids[j]));
    for (uint32_t i = 0; i < n; i++) {
        add_attr(w, &events[i], bytes, out);
        write_add_u64(out, write_u64(w, at));
        write_add_u64(out, write_u64(w, events[i].n_ids * sizeof(uint64_t)));
        at += events[i].n_ids * sizeof(uint64_t);
    }
}

/* For files without this section, from before Linux 2.6.38. */
static void event_desc(const struct perfdata_writer *w, struct buf *out)
{
    const struct perfdata_event *events;
    uint32_t n = perfdata_events(w->from, &events), bytes = attr_bytes(w->from);
    write_add_u32(out, write_u32(w, n));
    write_add_u32(out, write_u32(w, bytes));
    for (uint32_t i = 0; i < n; i++) {
        size_t len = strlen(events[i].name),
               padded = (len + FORMAT_NAME_ALIGN) & ~(size_t)(FORMAT_NAME_ALIGN - 1);
        add_attr(w, &events[i], bytes, out);
        write_add_u32(out, write_u32(w, events[i].n_ids));
        write_add_u32(out, write_u32(w, (uint32_t)padded));
        add_padded(out, events[i].name, len, padded);
        for (uint32_t j = 0; j < events[i].n_ids; j++)
            write_add_u64(out, write_u64(w, events[i].ids[j]));
    }
}

/* Keeps the build-ids of files that the written records map. */
static void build_ids(const struct perfdata_writer *w, const uint8_t *bytes, size_t n, struct buf *out)
{
    const size_t head = sizeof(struct perf_event_header) + sizeof(uint32_t) + FORMAT_BUILD_ID_BYTES + 4;
    if (!w->part) {
        buf_add(out, bytes, n);
        return;
    }
    for (size_t at = 0; n - at > head;) {
        struct perf_event_header h;
        memcpy(&h, bytes + at, sizeof h);
        uint16_t size = write_u16(w, h.size), misc = write_u16(w, h.misc);
        if (size <= head || size > n - at)
            break;
        const char *path = (const char *)bytes + at + head;
        bool kernel = (misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_KERNEL;
        if (kernel || map_get(&w->paths, map_hash_bytes(path, strnlen(path, size - head), 0), NULL))
            buf_add(out, bytes + at, size);
        at += size;
    }
}

/* False: the file has no such section, or its content is no longer true. */
bool write_copy_section(const struct perfdata_writer *w, unsigned feature, struct buf *out)
{
    size_t n;
    const void *bytes = perfdata_feature(w->from, feature, &n);
    switch (feature) {
    case FORMAT_AUXTRACE:
    case FORMAT_DIR_FORMAT:
    case FORMAT_COMPRESSED:
        return false;
    case FORMAT_SAMPLE_TIME:
        if (!w->part)
            break;
        if (bytes && w->sampled) {
            write_add_u64(out, write_u64(w, w->first_ns));
            write_add_u64(out, write_u64(w, w->last_ns));
        }
        return bytes && w->sampled;
    case FORMAT_EVENT_DESC:
        if (!bytes)
            return event_desc(w, out), true;
        break;
    case FORMAT_BUILD_ID:
        if (bytes)
            build_ids(w, bytes, n, out);
        return bytes != NULL;
    }
    if (bytes)
        buf_add(out, bytes, n);
    return bytes != NULL;
}

struct perfdata_writer *perfdata_writer_copy(const char *path, const struct perfdata *from, bool whole,
                                             struct error *e)
{
    struct perfdata_writer *w = write_open(path, e);
    if (!w)
        return NULL;
    w->from = from;
    w->copying = true;
    w->swap = perfdata_swapped(from);
    w->part = !whole;
    const struct perfdata_event *events;
    uint32_t n = perfdata_events(from, &events);
    write_begin(w, FORMAT_HEADER_BYTES + count_ids(w) * sizeof(uint64_t) + n * write_copy_entry_bytes(w));
    return w;
}

/* False for records whose content is in the header, and for compressed records, whose contents are passed
 * separately. */
static bool is_record(uint32_t type)
{
    switch (type) {
    case FORMAT_RECORD_ATTR:
    case FORMAT_RECORD_EVENT_TYPE:
    case FORMAT_RECORD_TRACING_DATA:
    case FORMAT_RECORD_BUILD_ID:
    case FORMAT_RECORD_FINISHED_ROUND:
    case FORMAT_RECORD_AUXTRACE_INFO:
    case FORMAT_RECORD_AUXTRACE:
    case FORMAT_RECORD_AUXTRACE_ERROR:
    case FORMAT_RECORD_FEATURE:
    case FORMAT_RECORD_COMPRESSED:
    case FORMAT_RECORD_COMPRESSED2:
        return false;
    }
    return true;
}

void perfdata_write_record(struct perfdata_writer *w, const struct record *r)
{
    if (!is_record(r->type))
        return;
    if (r->type == PERF_RECORD_SAMPLE && r->id.has & PERF_SAMPLE_TIME)
        write_note_time(w, r->id.time_ns);
    if (w->part && (r->type == PERF_RECORD_MMAP || r->type == PERF_RECORD_MMAP2))
        map_put(&w->paths, map_hash_bytes(r->mmap.path, strlen(r->mmap.path), 0), 1);
    buf_clear(&w->record);
    buf_add(&w->record, (const uint8_t *)r->body - sizeof(struct perf_event_header), r->size);
    write_record(w);
}
