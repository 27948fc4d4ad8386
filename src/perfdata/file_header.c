// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads the file header, the events with their ids, and the locations of the feature sections. */
#include <byteswap.h>
#include <stdio.h>
#include <string.h>

#include "perfdata/perfdata_file.h"

#define ATTR_ENTRY_MIN (PERF_ATTR_SIZE_VER0 + sizeof(struct format_section))
#define ATTR_ENTRY_MAX 4096
#define EVENTS_MAX     65536
#define SECTION_MAX    (256u << 20) /* of a feature: tracing data with all formats has about 10 MiB */

static bool magic_is(const uint8_t *head, const char *magic)
{
    return !memcmp(head, magic, 8);
}

/* Refuses other file formats by their first bytes. */
static bool refuse_magic(const uint8_t *head, const char *path, struct error *e)
{
    static const struct {
        const char *magic, *what;
    } others[] = {
        { "\x1f\x8b", "compressed twice with gzip: decompress it once (gzip -d)" },
        { "\x28\xb5\x2f\xfd", "compressed twice with zstd: decompress it once (zstd -d)" },
        { "\xfd"
          "7zXZ",
          "compressed twice with xz: decompress it once (xz -d)" },
        { "BZh", "compressed with bzip2: decompress it first (bzip2 -d)" },
        { "PK\3\4", "a zip archive: extract it first (unzip)" },
        { "SIMPLEPERF", "simpleperf's report protobuf: convert it to perf.data" },
        { "\177ELF", "an ELF file" },
        { "\027\010\104tracing", "a trace.dat of trace-cmd" },
    };
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (!memcmp(head, others[i].magic, strlen(others[i].magic)))
            return error_set(e, ERROR_FORMAT, "%s is no perf.data file, but %s", path, others[i].what);
    return error_set(e, ERROR_FORMAT, "%s is no perf.data file (it does not start with PERFILE2 or PERFFILE)",
                     path);
}

bool header_is_ours(const uint8_t *head, const char *path, struct error *e)
{
    return magic_is(head, FORMAT_MAGIC_V1) || magic_is(head, FORMAT_MAGIC_V2) ||
           magic_is(head, FORMAT_MAGIC_V2_SWAPPED) || refuse_magic(head, path, e);
}

static bool read_magic(struct perfdata *p, const char *path, struct error *e)
{
    uint8_t head[16] = { 0 };
    uint64_t size;
    if (p->in.size_bytes < sizeof head)
        return error_set(e, ERROR_FORMAT, "%s has only %llu byte%s: too few for a perf.data file", path,
                         (unsigned long long)p->in.size_bytes, p->in.size_bytes == 1 ? "" : "s");
    if (!input_copy(&p->in, 0, head, sizeof head))
        return error_set(e, ERROR_SYSTEM, "cannot read %s", path);
    if (!header_is_ours(head, path, e))
        return false;
    memcpy(&size, head + 8, sizeof size);
    if (magic_is(head, FORMAT_MAGIC_V2_SWAPPED))
        p->swap = true;
    else if (magic_is(head, FORMAT_MAGIC_V1)) /* a string: only the size shows the byte order */
        p->swap = size > UINT32_MAX;
    if (p->swap)
        size = bswap_64(size);
    p->pipe = size == FORMAT_PIPE_BYTES;
    return true;
}

static struct format_section read_section(struct cursor *c)
{
    struct format_section s;
    s.offset = cursor_u64(c);
    s.size = cursor_u64(c);
    return s;
}

/* The bits were written as an array of long: 8 bytes, or 4 on a 32-bit machine. Big-endian 32-bit machines
 * swap the halves. The HOSTNAME bit, which perf always sets, shows which layout it is. */
static void read_features(struct perfdata *p, struct cursor *c)
{
    uint64_t bits[FORMAT_FEATURES / 64];
    for (size_t i = 0; i < FORMAT_FEATURES / 64; i++)
        bits[i] = cursor_u64(c);
    bool halves = p->swap && !(bits[0] & 1u << FORMAT_HOSTNAME) && bits[0] >> 32 & 1u << FORMAT_HOSTNAME;
    for (unsigned i = 0; i < FORMAT_FEATURES; i++) {
        uint64_t word = bits[i / 64];
        if (halves)
            word = word << 32 | word >> 32;
        p->has_feature[i] = word >> i % 64 & 1;
    }
}

/* The table of sections follows the records. */
static void locate_features(struct perfdata *p, uint64_t table)
{
    for (unsigned i = 0; i < FORMAT_FEATURES; i++) {
        uint8_t bytes[16];
        if (!p->has_feature[i])
            continue;
        if (!input_copy(&p->in, table, bytes, sizeof bytes)) {
            damage_note(p, DAMAGE_SECTION, 1);
            return;
        }
        struct cursor c = cursor_of(bytes, sizeof bytes, p->swap);
        p->features[i] = read_section(&c);
        table += sizeof bytes;
    }
}

static void apply_features(struct perfdata *p)
{
    for (unsigned i = 0; i < FORMAT_FEATURES; i++) {
        struct format_section s = p->features[i];
        if (p->has_feature[i] && s.offset && !s.size)
            feature_keep(p, i, NULL, 0);
        if (!s.size)
            continue;
        bool inside = s.offset <= p->in.size_bytes && s.size <= p->in.size_bytes - s.offset;
        uint8_t *bytes = inside && s.size <= SECTION_MAX ? mem_try_array((size_t)s.size, 1) : NULL;
        if (bytes && input_copy(&p->in, s.offset, bytes, (size_t)s.size))
            feature_apply(p, i, bytes, (size_t)s.size);
        else
            damage_note(p, DAMAGE_SECTION, 1);
        mem_free(bytes);
    }
}

static void read_tail(struct perfdata *p)
{
    struct format_tail tail;
    uint64_t end = p->in.size_bytes - sizeof tail;
    if (p->in.size_bytes < sizeof tail || end < p->data_end || !input_copy(&p->in, end, &tail, sizeof tail) ||
        memcmp(tail.magic, FORMAT_TAIL_MAGIC, sizeof tail.magic))
        return;
    uint64_t size = p->swap ? __builtin_bswap64(tail.size) : tail.size;
    bool inside = size <= end - p->data_end && size <= SECTION_MAX;
    uint8_t *bytes = inside ? mem_try_array((size_t)size + 1, 1) : NULL;
    if (bytes && input_copy(&p->in, end - size, bytes, (size_t)size))
        feature_keep(p, FORMAT_JIT_NAMES, bytes, (size_t)size);
    else
        damage_note(p, DAMAGE_SECTION, 1);
    mem_free(bytes);
}

static void read_ids(struct perfdata *p, uint32_t event, struct format_section s)
{
    if (!s.size)
        return;
    bool inside = s.offset <= p->in.size_bytes && s.size <= p->in.size_bytes - s.offset;
    uint8_t *bytes = inside ? mem_try_array((size_t)s.size, 1) : NULL;
    if (bytes && input_copy(&p->in, s.offset, bytes, (size_t)s.size))
        header_add_ids(p, event, cursor_of(bytes, (size_t)s.size, p->swap));
    else
        damage_note(p, DAMAGE_SECTION, 1);
    mem_free(bytes);
}

static bool read_events(struct perfdata *p, const char *path, struct error *e)
{
    uint8_t entry[ATTR_ENTRY_MAX];
    uint64_t entry_n = p->attr_bytes;
    if (entry_n < ATTR_ENTRY_MIN || entry_n > ATTR_ENTRY_MAX || p->attrs.size / entry_n > EVENTS_MAX)
        return error_set(e, ERROR_FORMAT, "%s: impossible sizes in the header (events of %llu bytes)", path,
                         (unsigned long long)entry_n);
    for (uint64_t i = 0; i < p->attrs.size / entry_n; i++) {
        if (!input_copy(&p->in, p->attrs.offset + i * entry_n, entry, (size_t)entry_n)) {
            damage_note(p, DAMAGE_SECTION, 1);
            break;
        }
        size_t attr_n = (size_t)entry_n - sizeof(struct format_section);
        struct cursor c = cursor_of(entry + attr_n, sizeof(struct format_section), p->swap);
        header_add_event(p, entry, attr_n);
        read_ids(p, (uint32_t)p->events.n - 1, read_section(&c));
    }
    return p->events.n ||
           error_set(e, ERROR_FORMAT, "%s has no events: the file is truncated or damaged", path);
}

static struct id_target place_of_id(const struct perf_event_attr *a)
{
    uint64_t t = a->sample_type;
    struct id_target place = { 0 };
    uint32_t before = 0, behind = 1;
    if (t & PERF_SAMPLE_IDENTIFIER)
        return (struct id_target){ 1, a->sample_id_all ? 1 : 0 };
    if (!(t & PERF_SAMPLE_ID))
        return place;
    for (uint64_t bit = PERF_SAMPLE_IP; bit <= PERF_SAMPLE_ADDR; bit <<= 1)
        before += t & bit & (PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR) ? 1 : 0;
    behind += (t & PERF_SAMPLE_CPU ? 1 : 0) + (t & PERF_SAMPLE_STREAM_ID ? 1 : 0);
    return (struct id_target){ before + 1, a->sample_id_all ? behind : 0 };
}

static void finish_events(struct perfdata *p)
{
    p->layouts = mem_array(p->events.n, sizeof *p->layouts);
    p->event_class = mem_array(p->events.n, sizeof *p->event_class);
    p->id_targets = mem_array(p->events.n, sizeof *p->id_targets);
    for (uint32_t i = 0; i < p->events.n; i++) {
        struct id_target place = place_of_id(&p->events.items[i].attr);
        uint32_t class = 0;
        record_layout_of(&p->events.items[i].attr, p->swap, &p->layouts[i]);
        while (class < p->n_id_targets && memcmp(&p->id_targets[class], &place, sizeof place))
            class ++;
        if (class == p->n_id_targets)
            p->id_targets[p->n_id_targets++] = place;
        p->event_class[i] = class;
    }
}

static void name_events(struct perfdata *p)
{
    for (uint32_t i = 0; i < p->events.n; i++) {
        struct perfdata_event *ev = &p->events.items[i];
        if (*ev->name)
            continue;
        if (ev->attr.type != PERF_TYPE_TRACEPOINT ||
            !tracing_name(p, ev->attr.config, ev->name, sizeof ev->name))
            attr_name(&ev->attr, ev->name, sizeof ev->name);
    }
}

/* Bounds the records: a killed perf never wrote their size, and a truncated file has fewer. */
static bool bound_data(struct perfdata *p, struct format_section data)
{
    p->data_start = data.offset;
    p->data_end = p->in.size_bytes;
    if (!data.size) {
        damage_note(p, DAMAGE_NOT_FINISHED, 1);
        return false;
    }
    if (data.offset > p->in.size_bytes || data.size > p->in.size_bytes - data.offset) {
        uint64_t end = data.offset + data.size;
        damage_note(p, DAMAGE_FILE_CUT, end > p->in.size_bytes ? end - p->in.size_bytes : UINT64_MAX);
        return false;
    }
    p->data_end = data.offset + data.size;
    return true;
}

static bool read_file_header(struct perfdata *p, const char *path, struct error *e)
{
    uint8_t head[FORMAT_HEADER_BYTES] = { 0 };
    size_t n = p->in.size_bytes < sizeof head ? (size_t)p->in.size_bytes : sizeof head;
    if (!input_copy(&p->in, 0, head, n))
        return error_set(e, ERROR_SYSTEM, "cannot read the header of %s", path);
    if (n < FORMAT_HEADER_BYTES)
        return error_set(e, ERROR_FORMAT, "%s is truncated: its header is incomplete", path);
    struct cursor c = cursor_of(head, sizeof head, p->swap);
    cursor_skip(&c, 8);
    p->header_bytes = cursor_u64(&c);
    p->attr_bytes = cursor_u64(&c);
    p->attrs = read_section(&c);
    struct format_section data = read_section(&c);
    read_section(&c); /* event types: their names are in EVENT_DESC */
    if (!read_events(p, path, e))
        return false;
    if (p->header_bytes >= FORMAT_HEADER_BYTES)
        read_features(p, &c);
    if (bound_data(p, data)) {
        locate_features(p, p->data_end);
        apply_features(p);
        read_tail(p);
        if (!p->kept[FORMAT_TRACING_DATA].n)
            setup_read(p);
    }
    return true;
}

bool header_read(struct perfdata *p, const char *path, struct error *e)
{
    if (!read_magic(p, path, e))
        return false;
    if (p->pipe) {
        p->header_bytes = p->data_start = FORMAT_PIPE_BYTES;
        p->data_end = p->in.size_bytes;
        setup_read(p);
        if (!p->events.n)
            return error_set(e, ERROR_FORMAT,
                             "%s (written to a pipe) has no events: it is truncated or damaged", path);
    } else if (!read_file_header(p, path, e)) {
        return false;
    }
    name_events(p);
    finish_events(p);
    return true;
}
