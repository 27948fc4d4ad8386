// SPDX-License-Identifier: GPL-2.0-or-later
/* Recordings by others (tests/data): what is known of each is what we read. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/unpack.h"
#include "export/export.h"
#include "perfdata/reader.h"
#include "process/world.h"

#define WORDS_MAX 4096

/* "comm swapper" → how many. */
struct tally {
    char *word[WORDS_MAX];
    uint64_t n[WORDS_MAX];
    size_t words;
};

struct known_row {
    const char *by, *what;
};

struct known {
    const struct perfdata_event *events;
    uint32_t n_events;
    struct world *world;
    struct tally tally;
    struct buf text;
    uint64_t samples, period, first_ns, last_ns, lost, lost_samples;
    uint64_t chains, chain_max, chain_entries, branches, branch_max, branch_entries, dumps, dumped, registers;
};

static void count(struct known *k, uint64_t n, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
static void count(struct known *k, uint64_t n, const char *fmt, ...)
{
    char word[512];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(word, sizeof word, fmt, ap);
    va_end(ap);
    struct tally *t = &k->tally;
    for (size_t i = 0; i < t->words; i++)
        if (!strcmp(t->word[i], word)) {
            t->n[i] += n;
            return;
        }
    assert_true(t->words < WORDS_MAX);
    t->word[t->words] = mem_strdup(word);
    t->n[t->words++] = n;
}

static const struct module *module_of(struct known *k, const struct record *r, uint32_t thread)
{
    struct place at;
    bool kernel = (r->misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_KERNEL;
    world_resolve(k->world, thread, r->sample.ip, kernel, &at);
    return world_module(k->world, at.module);
}

/* The rows of perf report --sort comm, dso and pid, which are by threads. */
static void count_rows(struct known *k, const struct record *r, const char *comm, const char *dso)
{
    const char *event = k->events[r->source].name;
    const struct known_row rows[] = { { "comm", comm }, { "dso", dso } };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        count(k, 1, "row %s of %s %s", rows[i].by, event, rows[i].what);
        count(k, r->sample.period, "row %s_period of %s %s", rows[i].by, event, rows[i].what);
    }
    count(k, 1, "row thread of %s %u", event, r->id.tid);
    count(k, r->sample.period, "row thread_period of %s %u", event, r->id.tid);
}

/* As a callchain is folded: root first, without the markers of contexts. */
static void count_chain(struct known *k, const struct record *r, const char *comm)
{
    struct buf line = { 0 };
    uint64_t entries = r->sample.chain_n;
    for (uint32_t i = r->sample.chain_n; i-- > 0;) {
        uint64_t addr = record_u64(r->sample.chain, i, r->swap);
        if (addr < PERF_CONTEXT_MAX)
            buf_printf(&line, ";%" PRIx64, addr);
    }
    k->chains++;
    k->chain_entries += entries;
    k->chain_max = entries > k->chain_max ? entries : k->chain_max;
    buf_printf(&k->text, "%s%s\n", comm, line.len ? buf_str(&line) : ";");
    buf_done(&line);
}

static void count_parts(struct known *k, const struct record *r, const char *comm)
{
    uint64_t type = k->events[r->source].attr.sample_type;
    if (type & PERF_SAMPLE_CALLCHAIN)
        count_chain(k, r, comm);
    k->branches += r->sample.branch != NULL;
    k->branch_entries += r->sample.branch_n;
    k->branch_max = r->sample.branch_n > k->branch_max ? r->sample.branch_n : k->branch_max;
    k->dumps += (type & PERF_SAMPLE_STACK_USER) != 0;
    k->dumped += r->sample.stack_dyn_size;
    k->registers += r->sample.user_abi != PERF_SAMPLE_REGS_ABI_NONE;
}

/* perf knows a module by its path, and in rows by the last word of that, or what the kernel calls one of its own. */
static void count_module(struct known *k, const struct record *r, const char *comm, const struct module *m)
{
    char made[64];
    const char *path = export_module_path(m, made, sizeof made), *slash = strrchr(path, '/');
    count(k, 1, "dso %s", strcmp(path, "[unknown]") ? path : "<not found>");
    count_rows(k, r, comm, m->kind == MODULE_KMOD ? m->name : slash ? slash + 1 : path);
}

static void count_sample(struct known *k, const struct record *r)
{
    uint32_t thread = world_thread_of(k->world, r->id.pid, r->id.tid, r->id.time_ns, 0);
    const char *comm = world_thread(k->world, thread)->comm, *event = k->events[r->source].name;
    bool kernel = (r->misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_KERNEL;
    count(k, 1, "event %s", event);
    count(k, r->sample.period, "event_period %s", event);
    count(k, 1, "comm %s", comm);
    count(k, r->sample.period, "comm_period %s", comm);
    count(k, 1, "pid %u", r->id.pid);
    count(k, 1, "tid %u", r->id.tid);
    if (r->id.has & PERF_SAMPLE_CPU)
        count(k, 1, "cpu %u", r->id.cpu);
    count(k, 1, "mode %s", kernel ? "kernel" : "user");
    count_module(k, r, comm, module_of(k, r, thread));
    count_parts(k, r, comm);
    k->samples++;
    k->period += r->sample.period;
    if (!k->first_ns || r->id.time_ns < k->first_ns)
        k->first_ns = r->id.time_ns;
    if (r->id.time_ns > k->last_ns)
        k->last_ns = r->id.time_ns;
}

static bool on_record(void *ctx, const struct record *r)
{
    struct known *k = ctx;
    if (r->type == PERF_RECORD_SAMPLE)
        count_sample(k, r);
    else
        world_apply(k->world, r);
    k->lost += r->type == PERF_RECORD_LOST ? r->lost.lost : 0;
    k->lost_samples += r->type == PERF_RECORD_LOST_SAMPLES ? r->lost.lost : 0;
    if (r->type == PERF_RECORD_LOST_SAMPLES)
        count(k, 1, "event_lost_records %s", k->events[r->source].name);
    return true;
}

static void add_host(const struct perfdata_info *info, struct buf *out)
{
    buf_printf(out, "header hostname %s\nheader release %s\nheader version %s\nheader arch %s\n", info->hostname,
               info->release, info->version, info->arch);
    buf_printf(out, "header online %u\nheader available %u\n", info->cpus_online, info->cpus_available);
    buf_printf(out, "header cpudesc %s\nheader cmdline %s\nheader memory %" PRIu64 " kB\n", info->cpudesc, info->cmdline,
               info->total_mem_kb);
}

static void add_numbers(const struct known *k, struct buf *out)
{
    buf_printf(out, "samples %" PRIu64 "\nperiod %" PRIu64 "\n", k->samples, k->period);
    buf_printf(out, "first %" PRIu64 "\nlast %" PRIu64 "\n", k->first_ns, k->last_ns);
    buf_printf(out, "lost %" PRIu64 " %" PRIu64 "\n", k->lost, k->lost_samples);
    buf_printf(out, "chains %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", k->chains, k->chain_max, k->chain_entries);
    buf_printf(out, "branches %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", k->branches, k->branch_max, k->branch_entries);
    buf_printf(out, "dumps %" PRIu64 " %" PRIu64 "\nregisters %" PRIu64 "\n", k->dumps, k->dumped, k->registers);
    for (size_t i = 0; i < k->tally.words; i++)
        buf_printf(out, "%s %" PRIu64 "\n", k->tally.word[i], k->tally.n[i]);
}

static void add_records(struct perfdata *p, struct buf *out)
{
    const struct perfdata_count *counts;
    uint32_t n = perfdata_counts(p, &counts);
    for (uint32_t i = 0; i < n; i++)
        buf_printf(out, "records %s %" PRIu64 "\n", counts[i].name ? counts[i].name : "?", counts[i].n);
}

static bool has_line(const struct buf *text, const char *line, size_t n)
{
    for (const char *at = buf_str(text); *at; at += strcspn(at, "\n") + 1)
        if (!strncmp(at, line, n) && at[n] == '\n')
            return true;
    return false;
}

static unsigned missing(const struct buf *facts, const struct buf *ours)
{
    unsigned n = 0;
    for (const char *line = buf_str(facts); *line; line += strcspn(line, "\n") + 1) {
        size_t length = strcspn(line, "\n");
        if (!has_line(ours, line, length)) {
            print_message("not so: %.*s\n", (int)length, line);
            n++;
        }
    }
    return n;
}

static const char *data_path(const char *name)
{
    static char path[4096];
    const char *source = getenv("FLAMETOP_SOURCE");
    snprintf(path, sizeof path, "%s/tests/data/%s", source ? source : ".", name);
    return path;
}

static void read_all(struct known *k, const char *name, struct buf *ours)
{
    struct error e = { 0 };
    struct perfdata *p = perfdata_open(data_path(name), &e);
    if (!p)
        print_message("%s\n", e.text);
    assert_non_null(p);
    k->n_events = perfdata_events(p, &k->events);
    k->world = world_new(false);
    assert_true(perfdata_each(p, on_record, k, NULL, &e));
    add_host(perfdata_info(p), ours);
    add_records(p, ours);
    add_numbers(k, ours);
    world_free(k->world);
    perfdata_close(p);
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The lines of a text in their order, which stay in it. */
static char **sorted(struct buf *text, size_t *n)
{
    char **lines = mem_array(text->len + 1, sizeof *lines);
    *n = 0;
    for (char *line = text->len ? strtok(text->data, "\n") : NULL; line; line = strtok(NULL, "\n"))
        lines[(*n)++] = line;
    qsort(lines, *n, sizeof *lines, by_text);
    return lines;
}

/* One line for each different chain, with how many samples had it. */
static void fold(struct buf *chains, struct buf *out)
{
    size_t n, same;
    char **lines = sorted(chains, &n);
    for (size_t i = 0; i < n; i += same) {
        for (same = 1; i + same < n && !strcmp(lines[i], lines[i + same]); same++)
            ;
        buf_printf(out, "%s %zu\n", lines[i], same);
    }
    mem_free(lines);
}

static void unpack(const char *name, struct unpacker *u, struct buf *out)
{
    struct buf packed = { 0 };
    struct error e = { 0 };
    uint8_t piece[4096];
    size_t got = sizeof piece;
    if (!file_read(data_path(name), 1 << 20, &packed, &e))
        fail_msg("%s", e.text);
    const uint8_t *src = (const uint8_t *)packed.data;
    for (size_t n = packed.len; n || got == sizeof piece;) {
        enum unpack_state state = unpacker_run(u, &src, &n, piece, sizeof piece, &got);
        assert_true(state == UNPACK_GOES_ON || state == UNPACK_ENDED);
        buf_add(out, piece, got);
    }
    buf_done(&packed);
}

static void check_chains(struct known *k, const char *name)
{
    struct unpacker *u = unpacker_new(UNPACK_GZIP, NULL);
    struct buf theirs = { 0 }, ours = { 0 };
    char file[256];
    size_t n, m;
    snprintf(file, sizeof file, "%s.chains.gz", name);
    if (!u || access(data_path(file), F_OK)) {
        unpacker_free(u);
        return;
    }
    unpack(file, u, &theirs);
    fold(&k->text, &ours);
    char **wanted = sorted(&theirs, &n), **got = sorted(&ours, &m);
    assert_int_equal(n, m);
    for (size_t i = 0; i < n; i++)
        assert_string_equal(got[i], wanted[i]);
    mem_free(wanted);
    mem_free(got);
    buf_done(&theirs);
    buf_done(&ours);
    unpacker_free(u);
}

static void check(const char *name)
{
    struct known *k = mem_zalloc(sizeof *k);
    struct buf facts = { 0 }, ours = { 0 };
    struct error e = { 0 };
    char file[256];
    snprintf(file, sizeof file, "%s.facts", name);
    assert_true(file_read(data_path(file), 1 << 20, &facts, &e));
    read_all(k, name, &ours);
    unsigned wrong = missing(&facts, &ours);
    if (wrong)
        print_message("%s is read as\n%s", name, buf_str(&ours));
    assert_int_equal(wrong, 0);
    check_chains(k, name);
    while (k->tally.words)
        mem_free(k->tally.word[--k->tally.words]);
    buf_done(&facts);
    buf_done(&ours);
    buf_done(&k->text);
    mem_free(k);
}

static void frame_pointer_chains_of_seventeen_programs(void **state)
{
    (void)state;
    check("google__perf.data.callgraph-3.8");
}

static void a_group_of_events_that_lost_samples(void **state)
{
    (void)state;
    check("google__perf.data.lost_samples-4.4");
}

static void a_recording_through_a_pipe(void **state)
{
    (void)state;
    check("google__perf.data.piped.header_features_aligned-6.12");
}

static void six_events_of_a_32_bit_machine(void **state)
{
    (void)state;
    check("google__perf.data.armv7-3.4");
}

static void the_first_format(void **state)
{
    (void)state;
    check("eclipse__tests_multievent-data_perf.data");
}

static void dumps_of_stacks_and_registers(void **state)
{
    (void)state;
    check("perfparser__vector_static_gcc__perf.data");
}

static void compressed_records(void **state)
{
    (void)state;
    check("perfparser__fork_static_gcc__perf.data.zstd");
}

static void simpleperfs_dialect(void **state)
{
    (void)state;
    check("simpleperf__perf_with_jit_symbol.data");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(frame_pointer_chains_of_seventeen_programs),
        cmocka_unit_test(a_group_of_events_that_lost_samples),
        cmocka_unit_test(a_recording_through_a_pipe),
        cmocka_unit_test(six_events_of_a_32_bit_machine),
        cmocka_unit_test(the_first_format),
        cmocka_unit_test(dumps_of_stacks_and_registers),
        cmocka_unit_test(compressed_records),
        cmocka_unit_test(simpleperfs_dialect),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
