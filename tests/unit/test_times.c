// SPDX-License-Identifier: GPL-2.0-or-later
/* Samples over time of a perf.data file with known samples, and of a growing one, compared with counting
 * them. */
#include "session_fixture.h"

#include "perfdata/writer.h"
#include "session/session_state.h"
#include "session/timeline_query.h"

#define SAMPLES  1000
#define START_NS UINT64_C(1000000000000)
#define STEP_NS  NS_PER_MS
#define LIB      UINT64_C(0x10000000)
#define BUCKET   (7 * NS_PER_MS)
#define BUCKETS  (SAMPLES * STEP_NS / BUCKET + 1)

static char path[64];
static struct session_times *times;
static struct times_counts counts;
static struct times_chart chart;

struct made {
    uint64_t time_ns;
    uint32_t pid, tid, cpu, leaf;
    bool event, kernel;
};

static struct made made(uint32_t i)
{
    struct made m = {
        .time_ns = START_NS + i * STEP_NS, .tid = 100 + i % 3, .cpu = i / 50 % 2, .leaf = i / 100 % 2
    };
    m.pid = m.tid == 102 ? 102 : 100;
    m.event = i % 9 == 8;
    m.kernel = i % 5 == 4;
    return m;
}

static void write_file(void)
{
    struct perf_event_attr clock = {
        .type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_CPU_CLOCK, .freq = 1, .sample_freq = 1000
    };
    struct perf_event_attr faults = { .type = PERF_TYPE_SOFTWARE,
                                      .config = PERF_COUNT_SW_PAGE_FAULTS,
                                      .sample_period = 1 };
    struct perfdata_write_event events[] = { { .name = "cpu-clock", .attr = &clock },
                                             { .name = "page-faults", .attr = &faults } };
    struct perfdata_writer *w = perfdata_writer_open(path, events, 2, true, true, &error);
    assert_non_null(w);
    for (uint32_t tid = 100; tid < 103; tid++) {
        char comm[16];
        snprintf(comm, sizeof comm, "t%u", tid);
        perfdata_write_comm(w, START_NS, tid == 102 ? 102 : 100, tid, comm, false);
    }
    for (uint32_t pid = 100; pid <= 102; pid += 2)
        for (int lib = 0; lib < 2; lib++)
            perfdata_write_mmap(
                w, START_NS,
                &(struct perfdata_write_map){ .pid = pid,
                                              .tid = pid,
                                              .len = 0x1000,
                                              .addr = LIB + (uint64_t)lib * 0x10000,
                                              .ino = 11 + lib,
                                              .path = lib ? "/no/such/libb.so" : "/no/such/liba.so" });
    for (uint32_t i = 0; i < SAMPLES; i++) {
        struct made m = made(i);
        uint64_t ip = m.kernel ? UINT64_C(0xffffffff81000000) : LIB + m.leaf * 0x10000u;
        uint64_t chain[] = { m.kernel ? PERF_CONTEXT_KERNEL : PERF_CONTEXT_USER, ip };
        perfdata_write_sample(w, &(struct perfdata_write_sample){ .time_ns = m.time_ns,
                                                                  .ip = ip,
                                                                  .period = 1,
                                                                  .event = m.event,
                                                                  .pid = m.pid,
                                                                  .tid = m.tid,
                                                                  .cpu = m.cpu,
                                                                  .chain = chain,
                                                                  .chain_n = 2,
                                                                  .misc = m.kernel ? PERF_RECORD_MISC_KERNEL
                                                                                   : PERF_RECORD_MISC_USER });
    }
    assert_true(perfdata_writer_commit(w, NULL, &error));
}

static void open_file(void)
{
    snprintf(path, sizeof path, "/tmp/flametop-times-%d.data", (int)getpid());
    write_file();
    cfg.input = path;
    session = session_open(&cfg, &error);
    assert_non_null(session);
    session_wait(session, 60 * NS_PER_SEC, NULL);
    times = session_times_new();
}

static int close_file(void **state)
{
    session_times_free(times);
    times = NULL;
    times_counts_done(&counts);
    times_chart_done(&chart);
    unlink(path);
    return tear_down(state);
}

#define FIXTURE_TEST(name) TEST_WITH(name, set_up, close_file)

static void count_times(enum times_kind kind, uint64_t from_ns, uint64_t to_ns)
{
    session_times_look(times, session, &query);
    assert_true(session_times_count(
        times, session,
        &(struct times_ask){ .kind = kind, .from_ns = from_ns, .to_ns = to_ns, .bucket_ns = BUCKET },
        &counts));
}

/* Compares every row and bucket with the samples for which `condition` holds; the row's key is `which`. */
#define CHECK(which, condition, from, to)                                                                    \
    do {                                                                                                     \
        uint64_t all_ = 0;                                                                                   \
        for (uint32_t row_ = 0; row_ < counts.timeline.n_rows; row_++) {                                     \
            uint32_t naive_[BUCKETS] = { 0 }, sums_[BUCKETS];                                                \
            for (uint32_t i_ = 0; i_ < SAMPLES; i_++) {                                                      \
                struct made m = made(i_);                                                                    \
                if (m.event || m.time_ns < (from) || m.time_ns > (to) || !(condition) ||                     \
                    counts.timeline.rows[row_].key != (which))                                               \
                    continue;                                                                                \
                naive_[(m.time_ns - (from)) / BUCKET]++;                                                     \
                all_++;                                                                                      \
            }                                                                                                \
            timeline_sums(&counts.timeline.rows[row_], 0, 1, sums_, BUCKETS);                                \
            assert_memory_equal(naive_, sums_, sizeof naive_);                                               \
        }                                                                                                    \
        assert_true(all_ > 0);                                                                               \
        assert_int_equal(counts.timeline.samples, all_);                                                     \
    } while (0)
#define END (START_NS + SAMPLES * STEP_NS)

FIXTURE_TEST(all_samples_of_the_event_are_counted)
{
    open_file();
    count_times(TIMES_ALL, START_NS, END);
    assert_int_equal(counts.timeline.n_rows, 1);
    CHECK(0, true, START_NS, END);
}

FIXTURE_TEST(zooms_filter_and_mode_apply_but_the_range_does_not)
{
    open_file();
    query.from_ns = START_NS + 10;
    query.to_ns = START_NS + 20;
    query.window_ns = 5;
    zoom_to(ZOOM_THREAD, 101, "t101");
    count_times(TIMES_ALL, START_NS, END);
    CHECK(0, m.tid == 101, START_NS, END);
    zoom_to(ZOOM_MODULE, 0, "libb.so");
    count_times(TIMES_ALL, START_NS, END);
    CHECK(0, !m.kernel && m.leaf == 1, START_NS, END);
    query.mode = VIEW_MODE_KERNEL;
    query.n_zooms = 0;
    count_times(TIMES_ALL, START_NS, END);
    CHECK(0, m.kernel, START_NS, END);
}

FIXTURE_TEST(threads_and_cpus_have_a_row_each)
{
    open_file();
    count_times(TIMES_THREADS, START_NS, END);
    assert_int_equal(counts.timeline.n_rows, 3);
    CHECK(m.tid, true, START_NS, END);
    for (uint32_t i = 0; i < 3; i++) {
        char label[32];
        snprintf(label, sizeof label, "t%u/%u", (unsigned)counts.timeline.rows[i].key,
                 (unsigned)counts.timeline.rows[i].key);
        assert_string_equal(counts.labels.items[i].text, label);
    }
    count_times(TIMES_CPUS, START_NS, END);
    assert_int_equal(counts.timeline.n_rows, 2);
    CHECK(m.cpu, true, START_NS, END);
    assert_string_equal(counts.labels.items[1].text, "cpu 1");
}

FIXTURE_TEST(a_part_of_the_range_has_its_own_buckets)
{
    uint64_t from = START_NS + 100 * STEP_NS + 5, to = START_NS + 333 * STEP_NS;
    open_file();
    count_times(TIMES_ALL, from, to);
    CHECK(0, true, from, to);
    count_times(TIMES_ALL, END, END + 5);
    assert_int_equal(counts.timeline.samples, 0);
}

FIXTURE_TEST(a_chart_shows_one_thread)
{
    struct times_ask ask = {
        .kind = TIMES_THREADS, .id = 100, .from_ns = START_NS, .to_ns = END, .bucket_ns = 100 * STEP_NS
    };
    uint64_t samples = 0;
    open_file();
    query.mode = VIEW_MODE_USER;
    session_times_look(times, session, &query);
    assert_true(session_times_chart(times, session, &ask, &chart));
    for (uint32_t i = 0; i < SAMPLES; i++) {
        struct made m = made(i);
        samples += m.tid == 100 && !m.event && !m.kernel;
    }
    assert_int_equal(chart.chart.samples, samples);
    session_times_lay_out(times, &chart, 1, 10);
    assert_int_equal(chart.chart.rows, 1);
    for (uint32_t x = 0; x < 10; x++) { /* every tenth of a second is in the other library */
        int box = chart_box_at(&chart.chart, 0, x);
        assert_true(box >= 0);
        const struct view_function *f = &session_times_view(times)->funcs[chart.chart.boxes[box].func];
        assert_string_equal(f->module, x % 2 ? "libb.so" : "liba.so");
    }
    ask.kind = TIMES_CPUS;
    ask.id = 7;
    assert_true(session_times_chart(times, session, &ask, &chart));
    assert_int_equal(chart.chart.samples, 0);
}

static uint64_t count_module(const char *name)
{
    query.n_zooms = 0;
    zoom_to(ZOOM_MODULE, 0, name);
    count_times(TIMES_ALL, START_NS, END);
    return counts.timeline.samples;
}

/* A sample of liba turns out to be one of libb. */
FIXTURE_TEST(a_stack_known_later_is_counted_in_its_bucket)
{
    open_file();
    uint64_t of_a = count_module("liba.so"), of_b = count_module("libb.so");
    history_set_stack(session->store.history, 0, history_sample(session->store.history, 100)->stack,
                      SAMPLE_USER);
    assert_false(session_times_count(times, session, &counts.done.asked, &counts));
    assert_int_equal(count_module("libb.so"), of_b + 1);
    assert_int_equal(count_module("liba.so"), of_a - 1);
    history_set_stack(session->store.history, 1, history_sample(session->store.history, 100)->stack,
                      SAMPLE_USER);
    assert_int_equal(count_module("liba.so"), of_a - 2);
}

/* Only new samples are read: the sums must equal those of all samples. */
FIXTURE_TEST(counts_of_a_growing_range_equal_a_full_count)
{
    uint64_t before = 0;
    open_on(session_test_spin);
    times = session_times_new();
    session_get_status(session, &status);
    uint64_t from = status.now_ns - status.elapsed_ns;
    struct times_ask ask = { .kind = TIMES_THREADS, .from_ns = from, .bucket_ns = 20 * NS_PER_MS };
    for (int round = 0; round < 4; round++) {
        WAIT_UNTIL(
            (session_times_look(times, session, &query),
             session_times_count(times, session, &ask, &counts) && counts.timeline.samples > before + 20));
        before = counts.timeline.samples;
    }
    session_freeze(session, true);
    struct times_counts anew = { 0 };
    WAIT_UNTIL(
        (session_times_look(times, session, &query), session_times_count(times, session, &ask, &counts) &&
                                                         session_times_count(times, session, &ask, &anew)));
    assert_int_equal(counts.timeline.samples, session_times_view(times)->result.samples);
    assert_int_equal(anew.timeline.samples, counts.timeline.samples);
    assert_int_equal(anew.timeline.rows[0].n, counts.timeline.rows[0].n);
    assert_memory_equal(anew.timeline.rows[0].cells, counts.timeline.rows[0].cells,
                        counts.timeline.rows[0].n * sizeof *counts.timeline.rows[0].cells);
    times_counts_done(&anew);
}

WORKER_TEST_MAIN(NULL, NULL)
