// SPDX-License-Identifier: GPL-2.0-or-later
/* Recordings of other tools (tests/data): the reader finds all facts about records that their JSON lists. */

#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/unpack.h"
#include "export/export.h"
#include "perfdata/perfdata_file.h"
#include "process/world.h"
#include "unit_test.h"

#include "facts_fixture.h"

#define WORDS_MAX   4096
#define EVENTS_MAX  8
#define THREADS_MAX 64

/* Counts such as "perf/per/comm/swapper" or "0/dso/rows/libc.so.6/samples". */
struct tally {
    char *word[WORDS_MAX];
    uint64_t n[WORDS_MAX];
    size_t words;
};

struct known {
    const struct perfdata_event *events;
    uint32_t n_events;
    struct world *world;
    struct tally tally;
    struct buf text;
    struct {
        uint64_t samples, period, lost_records;
    } of_event[EVENTS_MAX];
    struct {
        uint32_t tid;
        char comm[16];
    } thread[THREADS_MAX];
    uint32_t n_threads;
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
    struct location at;
    bool kernel = (r->misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_KERNEL;
    world_resolve(k->world, thread, r->sample.ip, kernel, &at);
    return world_module(k->world, at.module);
}

/* Returns the number of an event among those with samples, in the order of the file. */
static unsigned event_number(const struct known *k, uint32_t event)
{
    unsigned n = 0;
    for (uint32_t i = 0; i < event; i++)
        n += k->of_event[i].samples != 0;
    return n;
}

static void count_row(struct known *k, const struct record *r, const char *by, const char *row)
{
    count(k, 1, "%u/%s/rows/%s/samples", r->source, by, row);
    count(k, r->sample.period, "%u/%s/rows/%s/period", r->source, by, row);
}

/* Counts the rows of perf report --sort comm, dso and pid. The last ones are per thread, under its last
 * name. */
static void count_rows(struct known *k, const struct record *r, const char *comm, const char *dso)
{
    char thread[16];
    uint32_t i = 0;
    while (i < k->n_threads && k->thread[i].tid != r->id.tid)
        i++;
    assert_true(i < THREADS_MAX);
    k->n_threads += i == k->n_threads;
    k->thread[i].tid = r->id.tid;
    snprintf(k->thread[i].comm, sizeof k->thread[i].comm, "%s", comm);
    snprintf(thread, sizeof thread, "%u", i);
    count_row(k, r, "comm", comm);
    count_row(k, r, "dso", dso);
    count_row(k, r, "pid_comm", thread);
}

/* Formats a callchain as folded: root first, without context markers. */
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

/* perf names a module by its path, in rows by the path's base name, or by the kernel's name for a kernel
 * module. */
static void count_module(struct known *k, const struct record *r, const char *comm, const struct module *m)
{
    char made[64];
    const char *path = export_module_path(m, made, sizeof made), *slash = strrchr(path, '/');
    count(k, 1, "perf/per/dso/%s", strcmp(path, "[unknown]") ? path : "<not found>");
    count_rows(k, r, comm, m->kind == MODULE_KMOD ? m->name : slash ? slash + 1 : path);
}

static void count_sample(struct known *k, const struct record *r)
{
    uint32_t thread = world_thread_of(k->world, r->id.pid, r->id.tid, r->id.time_ns, 0);
    const char *comm = world_thread(k->world, thread)->comm;
    bool kernel = (r->misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_KERNEL;
    k->of_event[r->source].samples++;
    k->of_event[r->source].period += r->sample.period;
    count(k, 1, "perf/per/comm/%s", comm);
    count(k, r->sample.period, "perf/per/comm_period/%s", comm);
    count(k, 1, "perf/per/pid/%u", r->id.pid);
    count(k, 1, "perf/per/tid/%u", r->id.tid);
    if (r->id.has & PERF_SAMPLE_CPU)
        count(k, 1, "perf/per/cpu/%u", r->id.cpu);
    count(k, 1, "perf/per/mode/%s", kernel ? "kernel" : "user");
    count_module(k, r, comm, module_of(k, r, thread));
    count_parts(k, r, comm);
    k->samples++;
    k->period += r->sample.period;
    if (!k->first_ns || r->id.time_ns < k->first_ns)
        k->first_ns = r->id.time_ns;
    if (r->id.time_ns > k->last_ns)
        k->last_ns = r->id.time_ns;
}

static bool count_record(void *ctx, const struct record *r)
{
    struct known *k = ctx;
    if (r->type == PERF_RECORD_SAMPLE)
        count_sample(k, r);
    else
        world_apply(k->world, r);
    k->lost += r->type == PERF_RECORD_LOST ? r->lost.lost : 0;
    k->lost_samples += r->type == PERF_RECORD_LOST_SAMPLES ? r->lost.lost : 0;
    k->of_event[r->source].lost_records += r->type == PERF_RECORD_LOST_SAMPLES;
    return true;
}

static void add_numbers(const struct known *k, struct buf *out)
{
    const struct {
        const char *name;
        uint64_t value;
    } numbers[] = {
        { "perf/samples", k->samples },
        { "perf/total_period", k->period },
        { "perf/time_ns/first", k->first_ns },
        { "perf/time_ns/last", k->last_ns },
        { "perf/time_ns/span", k->last_ns - k->first_ns },
        { "perf/lost_events_sum", k->lost },
        { "perf/lost_samples_sum", k->lost_samples },
        { "perf/callchain/samples_with_chain", k->chains },
        { "perf/callchain/max_nr_entries_incl_markers", k->chain_max },
        { "perf/callchain/total_entries_incl_markers", k->chain_entries },
        { "perf/branch_stack/samples", k->branches },
        { "perf/branch_stack/max_nr", k->branch_max },
        { "perf/branch_stack/total_entries", k->branch_entries },
        { "perf/user_stack/samples", k->dumps },
        { "perf/user_stack/bytes_dumped", k->dumped },
        { "perf/user_regs_samples", k->registers },
        { "crosscheck/raw_SAMPLE", k->samples },
        { "crosscheck/dump_SAMPLE", k->samples },
        { "crosscheck/stats_SAMPLE", k->samples },
        { "crosscheck/sum_report_comm", k->samples },
    };
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        buf_printf(out, "%s: %" PRIu64 "\n", numbers[i].name, numbers[i].value);
}

/* Adds a report's row: event, report, name and count. */
static void add_row(const struct known *k, const char *word, struct buf *out)
{
    const char *sort = strchr(word, '/') + 1, *what = strrchr(word, '/');
    const char *row = strstr(word, "/rows/") + strlen("/rows/");
    buf_printf(out, "perf/report/%.*s[%u]/rows/", (int)strcspn(sort, "/"), sort,
               event_number(k, (uint32_t)strtoul(word, NULL, 10)));
    if (!strncmp(sort, "pid_comm/", strlen("pid_comm/"))) {
        unsigned long i = strtoul(row, NULL, 10);
        buf_printf(out, "%u:%s%s", k->thread[i].tid, k->thread[i].comm, what);
    } else {
        buf_puts(out, row);
    }
}

static void add_tally(const struct known *k, struct buf *out)
{
    for (size_t i = 0; i < k->tally.words; i++) {
        const char *word = k->tally.word[i];
        if (strstr(word, "/rows/"))
            add_row(k, word, out);
        else
            buf_puts(out, word);
        buf_printf(out, ": %" PRIu64 "\n", k->tally.n[i]);
    }
}

/* perf report names an event as the file does; perf evlist and perf report --stats name those of a pipe by
 * their attr. */
static void add_event(const struct known *k, uint32_t event, bool pipe, struct buf *out)
{
    static const char *const sorts[] = { "comm", "dso", "pid_comm" };
    unsigned n = event_number(k, event);
    const struct perfdata_event *ev = &k->events[event];
    char name[128];
    attr_name(&ev->attr, name, sizeof name);
    buf_printf(out, "perf/per_event_stats[%u]/event: %s\n", n, pipe ? name : ev->name);
    buf_printf(out, "perf/per_event_stats[%u]/counts/SAMPLE: %" PRIu64 "\n", n, k->of_event[event].samples);
    if (k->of_event[event].lost_records)
        buf_printf(out, "perf/per_event_stats[%u]/counts/LOST_SAMPLES: %" PRIu64 "\n", n,
                   k->of_event[event].lost_records);
    for (size_t i = 0; i < sizeof sorts / sizeof *sorts; i++) {
        buf_printf(out, "perf/report/%s[%u]/event: %s\n", sorts[i], n, ev->name);
        buf_printf(out, "perf/report/%s[%u]/event_count_approx: %" PRIu64 "\n", sorts[i], n,
                   k->of_event[event].period);
    }
}

static void add_records(struct perfdata *p, struct buf *out)
{
    const struct perfdata_count *counts;
    uint32_t n = perfdata_counts(p, &counts);
    uint64_t total = 0;
    for (uint32_t i = 0; i < n; i++) {
        buf_printf(out, "perf/aggregated/%s: %" PRIu64 "\n", counts[i].name ? counts[i].name : "?",
                   counts[i].n);
        total += counts[i].n;
    }
    buf_printf(out, "perf/aggregated/TOTAL: %" PRIu64 "\n", total);
}

static void read_all(struct known *k, const char *name, struct buf *ours)
{
    struct error e = { 0 };
    struct perfdata *p = perfdata_open(facts_data_path(name), &e);
    if (!p)
        print_message("%s\n", e.text);
    assert_non_null(p);
    k->n_events = perfdata_events(p, &k->events);
    assert_true(k->n_events <= EVENTS_MAX);
    k->world = world_new(false);
    assert_true(perfdata_each(p, count_record, k, NULL, &e));
    add_records(p, ours);
    add_numbers(k, ours);
    add_tally(k, ours);
    for (uint32_t i = 0; i < k->n_events; i++)
        if (k->of_event[i].samples)
            add_event(k, i, p->pipe, ours);
    world_free(k->world);
    perfdata_close(p);
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Returns the sorted lines of a text; they stay in the text. */
static char **sorted(struct buf *text, size_t *n)
{
    char **lines = mem_array(text->len + 1, sizeof *lines);
    *n = 0;
    for (char *line = text->len ? strtok(text->data, "\n") : NULL; line; line = strtok(NULL, "\n"))
        lines[(*n)++] = line;
    qsort(lines, *n, sizeof *lines, by_text);
    return lines;
}

/* Writes one line for each distinct chain, with its number of samples. */
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
    if (!file_read(facts_data_path(name), 1 << 20, &packed, &e))
        fail_msg("%s", e.text);
    const uint8_t *src = (const uint8_t *)packed.data;
    for (size_t n = packed.len; n || got == sizeof piece;) {
        enum unpack_state state = unpacker_run(u, &src, &n, piece, sizeof piece, &got);
        assert_true(state == UNPACK_GOES_ON || state == UNPACK_ENDED);
        buf_add(out, piece, got);
    }
    buf_done(&packed);
}

/* The JSON lists chains only if there are any. */
static void check_chains(struct known *k, const char *name, struct buf *out)
{
    struct unpacker *u = unpacker_new(UNPACK_GZIP, NULL);
    struct buf theirs = { 0 }, ours = { 0 };
    char file[256];
    size_t n, m;
    snprintf(file, sizeof file, "%s.chains.gz", name);
    if (access(facts_data_path(file), F_OK)) {
        unpacker_free(u);
        return;
    }
    unpack(file, u, &theirs);
    fold(&k->text, &ours);
    char **wanted = sorted(&theirs, &n), **got = sorted(&ours, &m);
    assert_int_equal(n, m);
    buf_printf(out, "perf/chains_file: %s\nperf/distinct_chains: %zu\n", file, m);
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
    struct buf ours = { 0 };
    facts_need_libraries();
    struct known *k = mem_zalloc(sizeof *k);
    read_all(k, name, &ours);
    check_chains(k, name, &ours);
    facts_check(name, &ours, FACTS_OF_RECORDS);
    while (k->tally.words)
        mem_free(k->tally.word[--k->tally.words]);
    buf_done(&ours);
    buf_done(&k->text);
    mem_free(k);
}

TEST(frame_pointer_chains_of_seventeen_programs)
{
    check("google__perf.data.callgraph-3.8");
}

TEST(a_group_of_events_that_lost_samples)
{
    check("google__perf.data.lost_samples-4.4");
}

TEST(a_recording_through_a_pipe)
{
    check("google__perf.data.piped.header_features_aligned-6.12");
}

TEST(six_events_from_a_32_bit_machine)
{
    check("google__perf.data.armv7-3.4");
}

TEST(the_first_format)
{
    check("eclipse__tests_multievent-data_perf.data");
}

TEST(dumps_of_stacks_and_registers)
{
    check("perfparser__vector_static_gcc__perf.data");
}

TEST(compressed_records)
{
    check("perfparser__fork_static_gcc__perf.data.zstd");
}

TEST(simpleperfs_dialect)
{
    check("simpleperf__perf_with_jit_symbol.data");
}

TEST_MAIN(NULL, NULL)
