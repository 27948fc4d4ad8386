// SPDX-License-Identifier: GPL-2.0-or-later
/* Recordings by others (tests/data): their sections and events are those that perf evlist -v and perf report --header
 * tell of. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <inttypes.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/file.h"
#include "perfdata/format.h"
#include "perfdata/reader.h"

static const char *const sample_names[] = {
    "IP",         "TID",          "TIME",      "ADDR",       "READ",   "CALLCHAIN",   "ID",         "CPU",
    "PERIOD",     "STREAM_ID",    "RAW",       "BRANCH_STACK", "REGS_USER", "STACK_USER", "WEIGHT",    "DATA_SRC",
    "IDENTIFIER", "TRANSACTION",  "REGS_INTR", "PHYS_ADDR",  "AUX",    "CGROUP",      "DATA_PAGE_SIZE", "CODE_PAGE_SIZE",
    "WEIGHT_STRUCT",
};
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

/* A line as perf evlist -v writes it. */
static void put_event(struct buf *out, const struct perfdata_event *event)
{
    const struct perf_event_attr *a = &event->attr;
    buf_printf(out, "event %s: ", event->name);
    if (a->type)
        buf_printf(out, "type: %u, ", a->type);
    buf_printf(out, "size: %u", event->attr.size);
    put_hex(out, "config", a->config);
    buf_printf(out, ", { sample_period, sample_freq }: %" PRIu64 ", sample_type: ", (uint64_t)a->sample_period);
    put_bits(out, a->sample_type, sample_names, sizeof sample_names / sizeof *sample_names);
    buf_puts(out, ", read_format: ");
    put_bits(out, a->read_format, read_names, sizeof read_names / sizeof *read_names);
    put_flags(out, a);
    put_hex(out, "sample_regs_user", a->sample_regs_user);
    put_number(out, "sample_stack_user", a->sample_stack_user);
    put_number(out, "clockid", (uint64_t)a->clockid);
    buf_puts(out, "\n");
}

static void put_events(struct buf *out, const struct perfdata *p)
{
    const struct perfdata_event *events;
    uint32_t n = perfdata_events(p, &events);
    for (uint32_t i = 0; i < n; i++)
        put_event(out, &events[i]);
    for (uint32_t i = 0; i < n; i++)
        buf_printf(out, "ids %u %u\n", i, events[i].n_ids);
}

#define PERF_61_FEATURES_END 32

static void put_features(struct buf *out, const struct perfdata *p)
{
    size_t size;
    for (unsigned i = 1; i < FORMAT_FEATURES; i++) {
        const char *name = perfdata_feature_name(i);
        bool there = perfdata_feature(p, i, &size);
        if (there && !name)
            buf_printf(out, "feature bit%u\n", i);
        else if (there || i < PERF_61_FEATURES_END)
            buf_printf(out, "%s %s\n", there ? "feature" : "missing", name);
    }
}

static void put_info(struct buf *out, const struct perfdata *p)
{
    const struct perfdata_info *info = perfdata_info(p);
    uint64_t first = info->sample_first_ns, last = info->sample_last_ns;
    buf_printf(out, "time of first sample %" PRIu64 ".%06" PRIu64 "\n", first / 1000000000, first % 1000000000 / 1000);
    buf_printf(out, "time of last sample %" PRIu64 ".%06" PRIu64 "\n", last / 1000000000, last % 1000000000 / 1000);
    buf_printf(out, "sample duration %.3f ms\n", (double)(last - first) / 1e6);
    if (info->compressed_by == 1)
        buf_printf(out, "compressed Zstd, level = %u, ratio = %u\n", info->compressed_level, info->compressed_ratio);
}

static bool go_on(void *ctx, const struct record *r)
{
    (void)ctx;
    (void)r;
    return true;
}

static void check_at(const char *path)
{
    char facts_path[4200];
    struct buf facts = { 0 }, ours = { 0 };
    struct error e = { 0 };
    unsigned wrong = 0;
    snprintf(facts_path, sizeof facts_path, "%s.header", path);
    assert_true(file_read(facts_path, 1 << 20, &facts, &e));
    struct perfdata *p = perfdata_open(path, &e);
    assert_non_null(p);
    assert_true(perfdata_each(p, go_on, NULL, NULL, &e));
    put_features(&ours, p);
    put_events(&ours, p);
    put_info(&ours, p);
    for (char *line = strtok(facts.data, "\n"); line; line = strtok(NULL, "\n")) {
        char whole[4096];
        snprintf(whole, sizeof whole, "%s\n", line);
        if (!strstr(buf_str(&ours), whole)) {
            print_message("not so: %s", whole);
            wrong++;
        }
    }
    if (wrong)
        print_message("%s is read as\n%s", path, buf_str(&ours));
    assert_int_equal(wrong, 0);
    perfdata_close(p);
    buf_done(&facts);
    buf_done(&ours);
}

static void check(void **state)
{
    char path[4096];
    const char *source = getenv("FLAMETOP_SOURCE");
    snprintf(path, sizeof path, "%s/tests/data/%s", source ? source : ".", (const char *)*state);
    check_at(path);
}

#define OF(file)                                                                                               \
    {                                                                                                          \
        "the_header_of_" file, check, NULL, NULL, (void *)(uintptr_t)file                                       \
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
