// SPDX-License-Identifier: GPL-2.0-or-later
/* Writes the file header, the attrs with their ids, and the feature sections after the records. */
#include <string.h>

#include "base/mem.h"
#include "perfdata/write.h"

uint64_t write_header_bytes(uint32_t n_events)
{
    uint64_t each = sizeof(uint64_t) + WRITE_ATTR_BYTES + sizeof(struct format_section);
    return FORMAT_HEADER_BYTES + n_events * each;
}

static void event_desc(const struct perfdata_writer *w, struct buf *out)
{
    write_add_u32(out, w->n_events);
    write_add_u32(out, WRITE_ATTR_BYTES);
    for (uint32_t i = 0; i < w->n_events; i++) {
        const struct written_event *ev = &w->events[i];
        buf_add(out, &ev->attr, WRITE_ATTR_BYTES);
        write_add_u32(out, 1);
        write_string(out, ev->name);
        write_add_u64(out, ev->id);
    }
}

static void group_desc(const struct perfdata_writer *w, struct buf *out)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < w->n_events; i++)
        n += w->events[i].members > 1;
    if (n)
        write_add_u32(out, n);
    for (uint32_t i = 0; i < w->n_events; i++) {
        if (w->events[i].members < 2)
            continue;
        write_string(out, "{anon_group}"); /* perf's name for unnamed groups */
        write_add_u32(out, i);
        write_add_u32(out, w->events[i].members);
    }
}

static void sample_time(const struct perfdata_writer *w, struct buf *out)
{
    if (!w->sampled)
        return;
    write_add_u64(out, w->first_ns);
    write_add_u64(out, w->last_ns);
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
    case FORMAT_GROUP_DESC:
        group_desc(w, out);
        break;
    case FORMAT_SAMPLE_TIME:
        sample_time(w, out);
        break;
    default:
        write_host_fact(w, feature, out);
    }
}

/* Sections of a new file; facts come from its origin, if it has one. */
static const uint8_t own_features[] = {
    FORMAT_TRACING_DATA, FORMAT_BUILD_ID,   FORMAT_HOSTNAME,        FORMAT_OSRELEASE,     FORMAT_VERSION,
    FORMAT_ARCH,         FORMAT_NRCPUS,     FORMAT_CPUDESC,         FORMAT_CPUID,         FORMAT_TOTAL_MEM,
    FORMAT_CMDLINE,      FORMAT_EVENT_DESC, FORMAT_CPU_TOPOLOGY,    FORMAT_NUMA_TOPOLOGY, FORMAT_PMU_MAPPINGS,
    FORMAT_GROUP_DESC,   FORMAT_CACHE,      FORMAT_SAMPLE_TIME,     FORMAT_MEM_TOPOLOGY,  FORMAT_CLOCKID,
    FORMAT_CPU_PMU_CAPS, FORMAT_CLOCK_DATA, FORMAT_HYBRID_TOPOLOGY, FORMAT_PMU_CAPS,      FORMAT_JIT_NAMES,
};

/* Describes the compression: zstd, at its default level. */
static bool packing(const struct perfdata_writer *w, struct buf *out)
{
    const uint32_t words[] = { 1, 1, 3, w->packed_bytes ? (uint32_t)(w->plain_bytes / w->packed_bytes) : 1,
                               2 * WRITE_PLAIN_BYTES };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        write_add_u32(out, write_u32(w, words[i]));
    return true;
}

static bool section_made(const struct perfdata_writer *w, unsigned feature, struct buf *out)
{
    size_t before = out->len;
    if (feature == FORMAT_COMPRESSED && w->packs)
        return packing(w, out);
    if (w->copying)
        return write_copy_section(w, feature, out);
    if (memchr(own_features, (int)feature, sizeof own_features))
        section_of(w, (enum format_feature)feature, out);
    return out->len > before;
}

/* The table of sections precedes them, in the order of their numbers. */
static void write_sections(struct perfdata_writer *w, struct format_header *h)
{
    struct buf sections = { 0 };
    struct format_section table[FORMAT_FEATURES];
    uint32_t n = 0;
    for (unsigned i = 1; i < FORMAT_FEATURES; i++) {
        size_t before = sections.len;
        if (i == FORMAT_JIT_NAMES || !section_made(w, i, &sections))
            continue;
        h->features[i / 64] |= UINT64_C(1) << i % 64;
        table[n++] = (struct format_section){ before, sections.len - before };
    }
    uint64_t start = w->out.size_bytes + n * sizeof *table;
    for (uint32_t i = 0; i < n; i++)
        table[i] =
            (struct format_section){ write_u64(w, start + table[i].offset), write_u64(w, table[i].size) };
    outfile_write(&w->out, table, n * sizeof *table);
    outfile_write(&w->out, sections.data, sections.len);
    buf_done(&sections);
}

static void write_tail(struct perfdata_writer *w)
{
    struct buf names = { 0 };
    if (section_made(w, FORMAT_JIT_NAMES, &names)) {
        struct format_tail tail = { .size = write_u64(w, names.len) };
        memcpy(tail.magic, FORMAT_TAIL_MAGIC, sizeof tail.magic);
        outfile_write(&w->out, names.data, names.len);
        outfile_write(&w->out, &tail, sizeof tail);
    }
    buf_done(&names);
}

static void attrs(const struct perfdata_writer *w, struct buf *out)
{
    for (uint32_t i = 0; i < w->n_events; i++)
        write_add_u64(out, w->events[i].id);
    for (uint32_t i = 0; i < w->n_events; i++) {
        struct format_section ids = { FORMAT_HEADER_BYTES + i * sizeof(uint64_t), sizeof(uint64_t) };
        buf_add(out, &w->events[i].attr, WRITE_ATTR_BYTES);
        buf_add(out, &ids, sizeof ids);
    }
}

/* All of the header after the magic is 64-bit numbers. */
static void swap_header(struct format_header *h)
{
    uint64_t words[sizeof *h / sizeof(uint64_t)];
    memcpy(words, h, sizeof *h);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        words[i] = __builtin_bswap64(words[i]);
    memcpy(h, words, sizeof *h);
}

bool write_header(struct perfdata_writer *w)
{
    const struct perfdata_event *events;
    uint32_t n = w->copying ? perfdata_events(w->from, &events) : w->n_events;
    uint64_t entry =
        w->copying ? write_copy_entry_bytes(w) : WRITE_ATTR_BYTES + sizeof(struct format_section);
    struct format_header h = {
        .size = FORMAT_HEADER_BYTES,
        .attr_size = entry,
        .attrs = { w->data_start - n * entry, n * entry },
        .data = { w->data_start, w->out.size_bytes - w->data_start },
    };
    struct buf front = { 0 };
    _Static_assert(sizeof h == FORMAT_HEADER_BYTES, "the header has no padding");
    memcpy(h.magic, FORMAT_MAGIC_V2, sizeof h.magic);
    write_sections(w, &h);
    write_tail(w);
    if (w->swap)
        swap_header(&h);
    buf_add(&front, &h, sizeof h);
    if (w->copying)
        write_copy_attrs(w, &front);
    else
        attrs(w, &front);
    bool ok = outfile_rewrite(&w->out, 0, front.data, front.len);
    buf_done(&front);
    return ok;
}
