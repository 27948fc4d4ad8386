// SPDX-License-Identifier: GPL-2.0-or-later
/* Recordings of other tools (tests/data): the reader finds the facts about bytes, header, sections and events
 * that their JSON lists. The JSON comes from perf evlist -v, perf report --header and an independent
 * parser. */

#include <inttypes.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/error.h"
#include "perfdata/perfdata_file.h"
#include "unit_test.h"

#include "facts_fixture.h"
#include "sha256.h"

/* clang-format off */
static const char *const sample_names[] = {
    "IP",            "TID",        "TIME",   "ADDR",      "READ",           "CALLCHAIN",
    "ID",            "CPU",        "PERIOD", "STREAM_ID", "RAW",            "BRANCH_STACK",
    "REGS_USER",     "STACK_USER", "WEIGHT", "DATA_SRC",  "IDENTIFIER",     "TRANSACTION",
    "REGS_INTR",     "PHYS_ADDR",  "AUX",    "CGROUP",    "DATA_PAGE_SIZE", "CODE_PAGE_SIZE",
    "WEIGHT_STRUCT",
};
/* clang-format on */
static const char *const read_names[] = { "TOTAL_TIME_ENABLED", "TOTAL_TIME_RUNNING", "ID", "GROUP", "LOST" };

static void put_bits(struct buf *out, uint64_t bits, const char *const names[], size_t n)
{
    const char *between = "";
    for (size_t i = 0; i < n; i++)
        if (bits & 1ull << i) {
            buf_printf(out, "%s%s", between, names[i]);
            between = "|";
        }
}

static void put_number(struct buf *out, const char *name, uint64_t value)
{
    if (value)
        buf_printf(out, ", %s: %" PRIu64, name, value);
}

static void put_hex(struct buf *out, const char *name, uint64_t value)
{
    if (value)
        buf_printf(out, ", %s: 0x%" PRIx64, name, value);
}

static void put_flags(struct buf *out, const struct perf_event_attr *a)
{
    const struct {
        const char *name;
        uint64_t value;
    } flags[] = {
        { "disabled", a->disabled },
        { "inherit", a->inherit },
        { "exclude_kernel", a->exclude_kernel },
        { "exclude_hv", a->exclude_hv },
        { "mmap", a->mmap },
        { "comm", a->comm },
        { "freq", a->freq },
        { "enable_on_exec", a->enable_on_exec },
        { "task", a->task },
        { "precise_ip", a->precise_ip },
        { "mmap_data", a->mmap_data },
        { "sample_id_all", a->sample_id_all },
        { "exclude_guest", a->exclude_guest },
        { "exclude_callchain_user", a->exclude_callchain_user },
        { "mmap2", a->mmap2 },
        { "comm_exec", a->comm_exec },
        { "use_clockid", a->use_clockid },
        { "ksymbol", a->ksymbol },
        { "bpf_event", a->bpf_event },
    };
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
        put_number(out, flags[i].name, flags[i].value);
}

/* Formats an event as perf evlist -v does; it names events of a pipe by their attr. */
static void put_event(struct buf *out, uint32_t number, const struct perfdata_event *event, bool pipe)
{
    const struct perf_event_attr *a = &event->attr;
    char name[128];
    attr_name(a, name, sizeof name);
    buf_printf(out, "perf/evlist[%u]: %s: ", number, pipe ? name : event->name);
    if (a->type)
        buf_printf(out, "type: %u, ", a->type);
    buf_printf(out, "size: %u", event->attr.size);
    put_hex(out, "config", a->config);
    buf_printf(out,
               ", { sample_period, sample_freq }: %" PRIu64 ", sample_type: ", (uint64_t)a->sample_period);
    put_bits(out, a->sample_type, sample_names, sizeof sample_names / sizeof *sample_names);
    buf_puts(out, ", read_format: ");
    put_bits(out, a->read_format, read_names, sizeof read_names / sizeof *read_names);
    put_flags(out, a);
    put_hex(out, "sample_regs_user", a->sample_regs_user);
    put_number(out, "sample_stack_user", a->sample_stack_user);
    put_number(out, "clockid", (uint64_t)a->clockid);
    buf_puts(out, "\n");
}

/* Formats an attr of the header as the independent parser does; pipe-mode files have none. */
static void put_attr(struct buf *out, uint32_t number, const struct perfdata_event *event)
{
    const struct perf_event_attr *a = &event->attr;
    char at[32];
    snprintf(at, sizeof at, "raw/attrs[%u]", number);
    buf_printf(out, "%s/type: %u\n%s/size: %u\n%s/config: 0x%" PRIx64 "\n", at, a->type, at, a->size, at,
               (uint64_t)a->config);
    buf_printf(out, "%s/period_or_freq: %" PRIu64 "\n%s/freq: %s\n", at, (uint64_t)a->sample_period, at,
               a->freq ? "true" : "false");
    buf_printf(out, "%s/sample_type: ", at);
    put_bits(out, a->sample_type, sample_names, sizeof sample_names / sizeof *sample_names);
    buf_printf(out, "\n%s/read_format: 0x%" PRIx64 "\n%s/nr_ids: %u\n", at, (uint64_t)a->read_format, at,
               event->n_ids);
}

static void put_events(struct buf *out, const struct perfdata *p)
{
    const struct perfdata_event *events;
    uint32_t n = perfdata_events(p, &events);
    for (uint32_t i = 0; i < n; i++) {
        put_event(out, i, &events[i], p->pipe);
        if (!p->pipe)
            put_attr(out, i, &events[i]);
    }
}

#define PERF_61_FEATURES_END 32

static bool has(const struct perfdata *p, unsigned feature)
{
    size_t size;
    return perfdata_feature(p, feature, &size);
}

/* In a pipe-mode file the features are records and in no table. */
static void put_features(struct buf *out, const struct perfdata *p)
{
    unsigned n = 0;
    for (unsigned i = 1; i < FORMAT_FEATURES && !p->pipe; i++) {
        const char *name = perfdata_feature_name(i);
        if (has(p, i) && name)
            buf_printf(out, "raw/features[%u]: %s\n", n++, name);
        else if (has(p, i))
            buf_printf(out, "raw/features[%u]: bit%u\n", n++, i);
    }
    for (unsigned i = 1; i < PERF_61_FEATURES_END && !p->pipe; i++)
        if (!has(p, i)) {
            buf_printf(out, "%s%s", n ? "perf/header/missing features: " : " ", perfdata_feature_name(i));
            n = 0;
        }
    buf_puts(out, p->pipe ? "" : "\n");
}

static void put_host(struct buf *out, const struct perfdata *p)
{
    const struct perfdata_info *info = perfdata_info(p);
    const struct {
        enum format_feature feature;
        const char *name, *value;
    } texts[] = {
        { FORMAT_HOSTNAME, "hostname", info->hostname },   { FORMAT_OSRELEASE, "os release", info->release },
        { FORMAT_VERSION, "perf version", info->version }, { FORMAT_ARCH, "arch", info->arch },
        { FORMAT_CPUDESC, "cpudesc", info->cpudesc },      { FORMAT_CMDLINE, "cmdline", info->cmdline },
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (has(p, texts[i].feature))
            buf_printf(out, "perf/header/%s: %s\n", texts[i].name, texts[i].value);
    if (has(p, FORMAT_NRCPUS))
        buf_printf(out, "perf/header/nrcpus online: %u\nperf/header/nrcpus avail: %u\n", info->cpus_online,
                   info->cpus_available);
    if (has(p, FORMAT_TOTAL_MEM))
        buf_printf(out, "perf/header/total memory: %" PRIu64 " kB\n", info->total_mem_kb);
}

static void put_info(struct buf *out, const struct perfdata *p)
{
    const struct perfdata_info *info = perfdata_info(p);
    uint64_t first = info->sample_first_ns, last = info->sample_last_ns;
    if (has(p, FORMAT_SAMPLE_TIME)) {
        buf_printf(out, "perf/header/time of first sample: %" PRIu64 ".%06" PRIu64 "\n", first / 1000000000,
                   first % 1000000000 / 1000);
        buf_printf(out, "perf/header/time of last sample: %" PRIu64 ".%06" PRIu64 "\n", last / 1000000000,
                   last % 1000000000 / 1000);
        buf_printf(out, "perf/header/sample duration: %.3f ms\n", (double)(last - first) / 1e6);
    }
    if (info->compressed_by == 1)
        buf_printf(out, "perf/header/compressed: Zstd, level = %u, ratio = %u\n", info->compressed_level,
                   info->compressed_ratio);
}

/* perf dump prints this for every recording with kernel samples, as it finds no such file. */
static void put_kernel(struct buf *out, const struct perfdata *p)
{
    const struct perfdata_build_id *ids;
    uint32_t n = perfdata_build_ids(p, &ids);
    for (uint32_t i = 0; i < n; i++)
        if (!strcmp(ids[i].path, "[kernel.kallsyms]")) {
            buf_puts(out, "perf/dump_stderr[0]: No kallsyms or vmlinux with build-id ");
            for (unsigned k = 0; k < ids[i].size; k++)
                buf_printf(out, "%02x", ids[i].id[k]);
            buf_puts(out, " was found\n");
        }
}

static void put_targets(struct buf *out, const struct perfdata *p, const char *magic)
{
    buf_printf(out, "raw/magic: %.8s\nraw/endian: %s\nraw/mode: %s\n", magic, p->swap ? "big" : "little",
               p->pipe ? "pipe" : "file");
    buf_printf(out, "raw/size: %" PRIu64 "\nraw/header_size: %" PRIu64 "\n", p->in.size_bytes,
               p->header_bytes);
    if (p->pipe)
        return;
    buf_printf(
        out, "raw/attr_entry_size: %" PRIu64 "\nraw/attrs_offset: %" PRIu64 "\nraw/attrs_size: %" PRIu64 "\n",
        p->attr_bytes, p->attrs.offset, p->attrs.size);
    buf_printf(out, "raw/data_offset: %" PRIu64 "\nraw/data_size: %" PRIu64 "\nraw/nr_attrs: %u\n",
               p->data_start, p->data_end - p->data_start, (uint32_t)p->events.n);
}

/* Counts the records between two locations by type; decompresses compressed ones. */
struct stretch {
    uint64_t packed_bytes, unpacked_bytes;
    struct unpacker *u;
    bool ended; /* a stream of compressed records ended its frame */
};

static void unpack(struct stretch *s, const struct raw_record *r)
{
    static uint8_t piece[65536];
    const uint8_t *src = r->bytes + sizeof(struct perf_event_header);
    size_t n = r->size - sizeof(struct perf_event_header), got = sizeof piece;
    s->packed_bytes += n;
    while (s->u && (n || got == sizeof piece)) {
        s->ended |= unpacker_run(s->u, &src, &n, piece, sizeof piece, &got) == UNPACK_ENDED;
        s->unpacked_bytes += got;
    }
}

/* Returns the number of bytes after the last record. */
static uint64_t put_records(struct buf *out, const char *what, struct perfdata *p, uint64_t from, uint64_t to,
                            struct stretch *s)
{
    struct record_reader w = { .p = p, .pos = from, .end = to };
    struct raw_record r;
    uint64_t of_type[FORMAT_RECORD_USER_END] = { 0 }, end = from;
    while (next_record(&w, &r)) {
        assert_true(r.type < FORMAT_RECORD_USER_END);
        of_type[r.type]++;
        end = w.pos;
        if (r.type == FORMAT_RECORD_COMPRESSED)
            unpack(s, &r);
    }
    for (uint32_t i = 0; i < FORMAT_RECORD_USER_END; i++)
        if (of_type[i])
            buf_printf(out, "raw/%s/%s: %" PRIu64 "\n", what, perfdata_type_name(i), of_type[i]);
    return to - end;
}

static void put_unwind_cache(struct buf *out, struct perfdata *p)
{
    struct stretch s = { .u = unpacker_new(UNPACK_ZSTD, NULL) }, inner = { 0 };
    uint64_t left = put_records(out, "record_counts", p, p->data_start, p->data_end, &s);
    buf_printf(out, "raw/walk_leftover: %" PRIu64 "\n", left);
    if (s.packed_bytes) {
        left =
            put_records(out, "decompressed_record_counts", p, PLACE_PLAIN, PLACE_PLAIN | p->plain_n, &inner);
        buf_printf(out, "raw/compressed_payload_bytes: %" PRIu64 "\nraw/decompressed_bytes: %zu\n",
                   s.packed_bytes, p->plain_n);
        buf_printf(out, "raw/decompressed_leftover: %" PRIu64 "\nraw/zstd_frame_ended: %s\n", left,
                   s.ended ? "true" : "false");
        assert_int_equal(s.unpacked_bytes, p->plain_n);
    }
    unpacker_free(s.u);
}

static bool go_on(void *ctx, const struct record *r)
{
    (void)ctx;
    (void)r;
    return true;
}

static void put_file(struct buf *out, const char *name)
{
    struct buf bytes = { 0 };
    struct error e = { 0 };
    char sum[SHA256_TEXT];
    struct perfdata *p = perfdata_open(facts_data_path(name), &e);
    assert_non_null(p);
    assert_true(perfdata_each(p, go_on, NULL, NULL, &e));
    assert_true(file_read(facts_data_path(name), 1 << 20, &bytes, &e));
    sha256_text(bytes.data, bytes.len, sum);
    buf_printf(out, "file: %s\nraw/sha256: %s\n", name, sum);
    put_targets(out, p, buf_str(&bytes));
    put_features(out, p);
    put_host(out, p);
    put_info(out, p);
    put_events(out, p);
    put_unwind_cache(out, p);
    put_kernel(out, p);
    perfdata_close(p);
    buf_done(&bytes);
}

static void check(void **state)
{
    struct buf ours = { 0 };
    facts_need_libraries();
    put_file(&ours, *state);
    facts_check(*state, &ours, FACTS_OF_HEADER);
    buf_done(&ours);
}

#define OF(file)                                                                                             \
    {                                                                                                        \
        "the_header_of_" file, check, NULL, NULL, (void *)(uintptr_t)file                                    \
    }

int main(void)
{
    const struct CMUnitTest tests[] = {
        OF("google__perf.data.callgraph-3.8"),
        OF("google__perf.data.lost_samples-4.4"),
        OF("google__perf.data.piped.header_features_aligned-6.12"),
        OF("google__perf.data.armv7-3.4"),
        OF("eclipse__tests_multievent-data_perf.data"),
        OF("perfparser__vector_static_gcc__perf.data"),
        OF("perfparser__fork_static_gcc__perf.data.zstd"),
        OF("simpleperf__perf_with_jit_symbol.data"),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
