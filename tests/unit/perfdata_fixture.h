// SPDX-License-Identifier: GPL-2.0-or-later
/* Writes a perf.data file of known content, keeps its bytes for damage tests, and collects the reader's
 * results. */
#ifndef FLAMETOP_TESTS_PERFDATA_FIXTURE_H
#define FLAMETOP_TESTS_PERFDATA_FIXTURE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "files.h"
#include "perfdata/format.h"
#include "perfdata/reader.h"
#include "perfdata/writer.h"
#include "unit_test.h"

#define FIXTURE_SAMPLES  200
#define FIXTURE_START_NS UINT64_C(1000000000000)
#define FIXTURE_STEP_NS  UINT64_C(10000000)
#define FIXTURE_KERNEL   UINT64_C(0xffffffff81000000)
#define FIXTURE_TEXT     UINT64_C(0x400000)
#define FIXTURE_JIT      "= 64 1\n1000 10 hot\n"

static char fixture_dir[64];

static inline int fixture_setup(void **state)
{
    snprintf(fixture_dir, sizeof fixture_dir, "/tmp/flametop-perfdata-XXXXXX");
    return mkdtemp(fixture_dir) ? 0 : -1;
}

static inline int fixture_teardown(void **state)
{
    return remove_tree(fixture_dir);
}

static inline const char *fixture_path(const char *name)
{
    static char paths[4][128];
    static unsigned next;
    char *path = paths[next++ % 4];
    snprintf(path, sizeof paths[0], "%s/%s", fixture_dir, name);
    return path;
}

static inline void fixture_chain(uint32_t i, uint64_t chain[5], uint64_t *ip, bool *kernel)
{
    *kernel = i % 3 == 0;
    chain[0] = *kernel ? PERF_CONTEXT_KERNEL : PERF_CONTEXT_USER;
    chain[1] = (*kernel ? FIXTURE_KERNEL : FIXTURE_TEXT) + 0x100 + i % 7;
    chain[2] = *kernel ? FIXTURE_KERNEL + 0x800 : FIXTURE_TEXT + 0x900;
    chain[3] = PERF_CONTEXT_USER;
    chain[4] = FIXTURE_TEXT + 0xa00;
    *ip = chain[1];
}

/* Writes two events; every fourth sample is of the second. tracepoint: the second event's attr; NULL: another
 * clock. */
static inline bool fixture_write(const char *path, const struct perf_event_attr *tracepoint, struct error *e)
{
    struct perf_event_attr cpu = { .type = PERF_TYPE_SOFTWARE,
                                   .config = PERF_COUNT_SW_CPU_CLOCK,
                                   .freq = 1,
                                   .sample_freq = 99,
                                   .exclude_guest = 1,
                                   .use_clockid = 1,
                                   .clockid = CLOCK_MONOTONIC };
    struct perf_event_attr task = cpu;
    task.config = PERF_COUNT_SW_TASK_CLOCK;
    struct perfdata_write_event events[] = {
        { .name = "cpu-clock", .attr = &cpu },
        { .name = tracepoint ? "sched:sched_switch" : "task-clock", .attr = tracepoint ? tracepoint : &task },
    };
    static const uint8_t id[20] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20 };
    struct perfdata_writer *w = perfdata_writer_open(path, events, 2, true, true, e);
    if (!w)
        return false;
    uint64_t t = FIXTURE_START_NS;
    perfdata_write_mmap(w, t,
                        &(struct perfdata_write_map){ .pid = ~0u,
                                                      .kernel = true,
                                                      .addr = FIXTURE_KERNEL,
                                                      .len = 0x1000000,
                                                      .pgoff = FIXTURE_KERNEL,
                                                      .path = "[kernel.kallsyms]_text" });
    perfdata_write_cgroup(w, t, 42, "/system.slice/some.service");
    perfdata_write_comm(w, t, 100, 100, "parent", true);
    perfdata_write_mmap(w, t,
                        &(struct perfdata_write_map){ .pid = 100,
                                                      .tid = 100,
                                                      .addr = FIXTURE_TEXT,
                                                      .len = 0x10000,
                                                      .pgoff = 0x1000,
                                                      .maj = 8,
                                                      .min = 1,
                                                      .ino = 12,
                                                      .ino_generation = 3,
                                                      .path = "/usr/bin/parent" });
    perfdata_write_parent(w, t, 101, 100);
    perfdata_write_comm(w, t, 101, 101, "child", false);
    for (uint32_t i = 0; i < FIXTURE_SAMPLES; i++) {
        uint64_t chain[5], ip;
        bool kernel;
        char raw[60] = "";
        fixture_chain(i, chain, &ip, &kernel);
        memcpy(raw, &(uint16_t){ tracepoint ? (uint16_t)tracepoint->config : 0 }, 2);
        perfdata_write_sample(w, &(struct perfdata_write_sample){
                                     .time_ns = FIXTURE_START_NS + i * FIXTURE_STEP_NS,
                                     .ip = ip,
                                     .period = i % 4 == 3 ? 1 : 1000 + i,
                                     .cgroup = 42,
                                     .event = i % 4 == 3,
                                     .pid = 100 + i % 2,
                                     .tid = 100 + i % 2,
                                     .cpu = i % 8,
                                     .misc = kernel ? PERF_RECORD_MISC_KERNEL : PERF_RECORD_MISC_USER,
                                     .chain = chain,
                                     .chain_n = 5,
                                     .raw = raw,
                                     .raw_size = i % 4 == 3 ? sizeof raw : 0,
                                 });
    }
    t = FIXTURE_START_NS + FIXTURE_SAMPLES * FIXTURE_STEP_NS;
    perfdata_write_ksymbol(w, t, FIXTURE_KERNEL + 0x2000000, 64, "bpf_prog_0123456789abcdef_x");
    perfdata_write_build_id(w, "[kernel.kallsyms]", true, id, 20);
    perfdata_write_build_id(w, "/usr/bin/parent", false, id + 1, 16);
    perfdata_write_jit_names(w, FIXTURE_JIT, strlen(FIXTURE_JIT));
    return perfdata_writer_commit(w, NULL, e);
}

/* Results of reading a file. */
struct seen {
    uint64_t types[128], samples, per_event[8], period, chain_entries, wrong, out_of_order, last_ns;
    uint64_t first_sample_ns;
    bool check; /* samples must be those of fixture_write, all of them */
};

static inline bool see_record(void *ctx, const struct record *r)
{
    struct seen *s = ctx;
    if (r->type < 128)
        s->types[r->type]++;
    if (r->id.time_ns && r->id.time_ns < s->last_ns)
        s->out_of_order++;
    if (r->id.time_ns)
        s->last_ns = r->id.time_ns;
    if (r->type != PERF_RECORD_SAMPLE)
        return true;
    uint64_t chain[5], ip;
    bool kernel;
    uint32_t i = (uint32_t)((r->id.time_ns - FIXTURE_START_NS) / FIXTURE_STEP_NS);
    fixture_chain(i, chain, &ip, &kernel);
    bool same = r->sample.ip == ip && r->sample.chain_n == 5 && r->id.pid == 100 + i % 2 &&
                r->id.tid == r->id.pid && r->id.cpu == i % 8 && r->source == (i % 4 == 3) &&
                r->sample.period == (i % 4 == 3 ? 1 : 1000 + i) && r->sample.cgroup == 42;
    for (uint32_t k = 0; k < 5 && same; k++)
        same = record_u64(r->sample.chain, k, r->swap) == chain[k];
    s->wrong += s->check && (!same || i != s->samples);
    if (!s->samples)
        s->first_sample_ns = r->id.time_ns;
    s->samples++;
    s->per_event[r->source % 8]++;
    s->period += r->sample.period;
    s->chain_entries += r->sample.chain_n;
    return true;
}

/* Opens, reads all and closes; stores the damage lines in damage (may be NULL). */
static inline bool fixture_read(const char *path, struct seen *s, struct buf *damage, struct error *e)
{
    struct perfdata *p = perfdata_open(path, e);
    const char *const *lines;
    if (!p)
        return false;
    bool ok = perfdata_each(p, see_record, s, NULL, e);
    uint32_t n = perfdata_damage(p, &lines);
    for (uint32_t i = 0; i < n && damage; i++)
        buf_printf(damage, "%s\n", lines[i]);
    perfdata_close(p);
    return ok;
}

static inline void fixture_save(const char *path, const void *bytes, size_t n)
{
    FILE *f = fopen(path, "w");
    if (!f || (n && fwrite(bytes, 1, n, f) != n) || fclose(f))
        abort();
}

#endif
