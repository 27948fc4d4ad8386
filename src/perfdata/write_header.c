// SPDX-License-Identifier: GPL-2.0-or-later
/* The file header, the attrs with their ids, and the feature sections behind the records. */
#include <string.h>

#include "base/mem.h"
#include "perfdata/write.h"

uint64_t write_header_bytes(uint32_t n_events)
{
    uint64_t each = sizeof(uint64_t) + WRITE_ATTR_BYTES + sizeof(struct format_section);
    return FORMAT_HEADER_BYTES + n_events * each;
}

static void add_u32(struct buf *b, uint32_t v)
{
    buf_add(b, &v, sizeof v);
}

static void add_u64(struct buf *b, uint64_t v)
{
    buf_add(b, &v, sizeof v);
}

static void event_desc(const struct perfdata_writer *w, struct buf *out)
{
    add_u32(out, w->n_events);
    add_u32(out, WRITE_ATTR_BYTES);
    for (uint32_t i = 0; i < w->n_events; i++) {
        const struct written_event *ev = &w->events[i];
        buf_add(out, &ev->attr, WRITE_ATTR_BYTES);
        add_u32(out, 1);
        write_string(out, ev->name);
        add_u64(out, ev->id);
    }
}

static void sample_time(const struct perfdata_writer *w, struct buf *out)
{
    if (!w->sampled)
        return;
    add_u64(out, w->first_ns);
    add_u64(out, w->last_ns);
}

static void section_of(const struct perfdata_writer *w, enum format_feature feature, struct buf *out)
{
    switch (feature) {
    case FORMAT_TRACING_DATA:
        write_tracing(w, out);
        break;
    case FORMAT_BUILD_ID:
        buf_add(out, w->build_ids.data, w->build_ids.len);
        break;
    case FORMAT_JIT_NAMES:
        buf_add(out, w->jit_names.data, w->jit_names.len);
        break;
    case FORMAT_EVENT_DESC:
        event_desc(w, out);
        break;
    case FORMAT_SAMPLE_TIME:
        sample_time(w, out);
        break;
    default:
        write_host_fact(w, feature, out);
    }
}

/* The table of sections comes first, in the order of their numbers. */
static void write_sections(struct perfdata_writer *w, struct format_header *h)
{
    static const enum format_feature features[] = {
        FORMAT_TRACING_DATA, FORMAT_BUILD_ID,   FORMAT_HOSTNAME,    FORMAT_OSRELEASE, FORMAT_VERSION,
        FORMAT_ARCH,         FORMAT_NRCPUS,     FORMAT_CPUDESC,     FORMAT_CPUID,     FORMAT_TOTAL_MEM,
        FORMAT_CMDLINE,      FORMAT_EVENT_DESC, FORMAT_SAMPLE_TIME, FORMAT_CLOCKID,   FORMAT_CLOCK_DATA,
        FORMAT_JIT_NAMES,
    };
    enum { N = sizeof features / sizeof *features };
    struct buf sections = { 0 };
    struct format_section table[N];
    uint32_t n = 0;
    for (int i = 0; i < N; i++) {
        size_t before = sections.len;
        section_of(w, features[i], &sections);
        if (sections.len == before)
            continue;
        h->features[features[i] / 64] |= UINT64_C(1) << features[i] % 64;
        table[n++] = (struct format_section){ before, sections.len - before };
    }
    uint64_t start = w->out.size_bytes + n * sizeof *table;
    for (uint32_t i = 0; i < n; i++)
        table[i].offset += start;
    outfile_write(&w->out, table, n * sizeof *table);
    outfile_write(&w->out, sections.data, sections.len);
    buf_done(&sections);
}

static void attrs(const struct perfdata_writer *w, struct buf *out)
{
    for (uint32_t i = 0; i < w->n_events; i++)
        add_u64(out, w->events[i].id);
    for (uint32_t i = 0; i < w->n_events; i++) {
        struct format_section ids = { FORMAT_HEADER_BYTES + i * sizeof(uint64_t), sizeof(uint64_t) };
        buf_add(out, &w->events[i].attr, WRITE_ATTR_BYTES);
        buf_add(out, &ids, sizeof ids);
    }
}

bool write_header(struct perfdata_writer *w)
{
    uint64_t entry = WRITE_ATTR_BYTES + sizeof(struct format_section);
    struct format_header h = {
        .size = FORMAT_HEADER_BYTES,
        .attr_size = entry,
        .attrs = { FORMAT_HEADER_BYTES + w->n_events * sizeof(uint64_t), w->n_events * entry },
        .data = { w->data_start, w->out.size_bytes - w->data_start },
    };
    struct buf front = { 0 };
    _Static_assert(sizeof h == FORMAT_HEADER_BYTES, "the header has no padding");
    memcpy(h.magic, FORMAT_MAGIC_V2, sizeof h.magic);
    write_sections(w, &h);
    buf_add(&front, &h, sizeof h);
    attrs(w, &front);
    bool ok = outfile_rewrite(&w->out, 0, front.data, front.len);
    buf_done(&front);
    return ok;
}
