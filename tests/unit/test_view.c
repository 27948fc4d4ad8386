// SPDX-License-Identifier: GPL-2.0-or-later
/* The views of a session over a perf.data file with known samples, compared with counting them one by one. */
#include "session_fixture.h"

#include <sys/resource.h>
#include <sys/stat.h>

#include "perfdata/writer.h"
#include "session/samples.h"

#define FIXTURE_TEST(name) TEST_WITH(name, set_up, tear_down)

#define SAMPLES  1000
#define START_NS UINT64_C(1000000000000)
#define STEP_NS  NS_PER_MS
#define KERNEL   UINT64_C(0xffffffff81000000)
#define LIBA     UINT64_C(0x10000000)
#define LIBB     UINT64_C(0x20000000)

struct made {
    uint64_t time_ns, leaf, caller, weight;
    uint32_t pid, tid, cpu, event, cgroup, running;
    bool kernel, idle;
    const char *comm, *module;
};

/* Process 100 is "alpha" with a thread 101 "worker", which is seen first; 200 is "beta". */
static struct made made(uint32_t i)
{
    static const uint32_t tids[] = { 101, 100, 200 };
    static const char *const comms[] = { "worker", "alpha", "beta" };
    struct made m = {
        .time_ns = START_NS + i * STEP_NS, .weight = 1000 + i, .cpu = i % 4, .event = i % 7 == 6
    };
    m.idle = i % 20 == 0;
    m.kernel = m.idle || i % 10 == 5;
    m.tid = m.idle ? 0 : tids[i % 3];
    m.pid = m.tid == 101 ? 100 : m.tid;
    m.comm = m.idle ? "swapper" : comms[i % 3];
    m.cgroup = m.idle ? 0 : m.pid / 100;
    m.module = m.kernel ? "[kernel]" : i % 2 ? "liba.so" : "libb.so";
    m.running = m.idle ? 0 : 1 + i % 3;
    m.leaf = m.kernel ? KERNEL + 16 * (i % 5) : (i % 2 ? LIBA : LIBB) + 16 * (i % 11);
    m.caller = LIBA + 0x1001; /* a return address */
    return m;
}

/* Containers, one in a folder of the other; longer than a zoom can hold. */
#define OUTER                                                                                                \
    "/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod8d5cdf4e_5a1b_4f0e_9d3c_2b1a0f9e8d7c.slice"
#define ONE OUTER "/cri-containerd-0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef.scope"
#define TWO ONE "/two"

static char folder[] = "/tmp/flametop-view-XXXXXX";
static char path[64];

static void write_processes(struct perfdata_writer *w)
{
    static const struct {
        uint32_t pid, tid;
        const char *comm;
    } tasks[] = { { 100, 100, "alpha" }, { 100, 101, "worker" }, { 200, 200, "beta" } };
    for (int i = 0; i < 3; i++)
        perfdata_write_comm(w, START_NS, tasks[i].pid, tasks[i].tid, tasks[i].comm, false);
    for (uint32_t pid = 100; pid <= 200; pid += 100)
        for (int lib = 0; lib < 2; lib++)
            perfdata_write_mmap(w, START_NS,
                                &(struct perfdata_write_map){
                                    .pid = pid,
                                    .tid = pid,
                                    .addr = lib ? LIBB : LIBA,
                                    .len = 0x10000,
                                    .ino = lib ? 12 : 11,
                                    .path = lib ? "/no/such/libb.so" : "/no/such/liba.so",
                                });
    perfdata_write_cgroup(w, START_NS, 1, ONE);
    perfdata_write_cgroup(w, START_NS, 2, TWO);
}

static void write_sample(struct perfdata_writer *w, const struct made *m)
{
    uint64_t chain[] = { m->kernel ? PERF_CONTEXT_KERNEL : PERF_CONTEXT_USER, m->leaf, m->caller,
                         PERF_CONTEXT_USER, m->caller };
    perfdata_write_sample(w, &(struct perfdata_write_sample){
                                 .time_ns = m->time_ns,
                                 .ip = m->leaf,
                                 .period = m->weight,
                                 .cgroup = m->cgroup,
                                 .event = m->event,
                                 .pid = m->pid,
                                 .tid = m->tid,
                                 .cpu = m->cpu,
                                 .misc = m->kernel ? PERF_RECORD_MISC_KERNEL : PERF_RECORD_MISC_USER,
                                 .chain = chain,
                                 .chain_n = m->kernel ? 2 : 3,
                                 .weight = m->running,
                             });
}

static void write_file(uint32_t samples)
{
    struct perf_event_attr clock = {
        .type = PERF_TYPE_SOFTWARE,
        .config = PERF_COUNT_SW_CPU_CLOCK,
        .freq = 1,
        .sample_freq = 99,
        .sample_type = PERF_SAMPLE_WEIGHT, /* the number of running threads */
    };
    struct perf_event_attr faults = { .type = PERF_TYPE_SOFTWARE,
                                      .config = PERF_COUNT_SW_PAGE_FAULTS,
                                      .sample_period = 1 };
    struct perfdata_write_event events[] = { { .name = "cpu-clock", .attr = &clock },
                                             { .name = "page-faults", .attr = &faults } };
    struct perfdata_writer *w = perfdata_writer_open(path, events, 2, true, true, &error);
    assert_non_null(w);
    write_processes(w);
    for (uint32_t i = 0; i < samples; i++) {
        struct made m = made(i);
        write_sample(w, &m);
    }
    assert_true(perfdata_writer_commit(w, NULL, &error));
}

static void open_file(uint32_t samples)
{
    write_file(samples);
    cfg.input = path;
    session = session_open(&cfg, &error);
    assert_non_null(session);
    session_wait(session, 60 * NS_PER_SEC, NULL);
}

static int make_folder(void **state)
{
    if (!mkdtemp(folder))
        return -1;
    snprintf(path, sizeof path, "%s/perf.data", folder);
    return 0;
}

static int remove_folder(void **state)
{
    unlink(path);
    return rmdir(folder);
}

/* Samples of the first event that are not idle and pass. */
#define COUNT(condition)                                                                                     \
    ({                                                                                                       \
        uint64_t count_ = 0;                                                                                 \
        for (uint32_t i_ = 0; i_ < SAMPLES; i_++) {                                                          \
            struct made m = made(i_);                                                                        \
            count_ += !m.event && !m.idle && (condition);                                                    \
        }                                                                                                    \
        count_;                                                                                              \
    })

FIXTURE_TEST(idle_samples_are_counted_separately)
{
    uint64_t idle = 0, weight = 0, idle_weight = 0;
    open_file(SAMPLES);
    for (uint32_t i = 0; i < SAMPLES; i++) {
        struct made m = made(i);
        if (m.event)
            continue;
        *(m.idle ? &idle_weight : &weight) += m.weight;
        idle += m.idle;
    }
    assert_int_equal(run_query(), COUNT(true));
    assert_int_equal(view.result.weight, weight);
    assert_int_equal(view.idle_samples, idle);
    assert_int_equal(view.idle_weight, idle_weight);
    assert_int_equal(view.all_samples, COUNT(true) + idle);
    query.show_idle = true;
    assert_int_equal(run_query(), COUNT(true) + idle);
    assert_int_equal(view.result.weight, weight + idle_weight);
}

FIXTURE_TEST(groups_have_samples_and_names)
{
    char label[32];
    open_file(SAMPLES);
    query.group = VIEW_GROUP_COMM;
    run_query();
    assert_int_equal(samples_of_group("worker"), COUNT(m.tid == 101));
    assert_int_equal(samples_of_group("beta"), COUNT(m.tid == 200));
    query.group = VIEW_GROUP_THREAD;
    run_query();
    assert_int_equal(samples_of_group("worker/101"), COUNT(m.tid == 101));
    assert_int_equal(samples_of_group("alpha/100"), COUNT(m.tid == 100));
    query.group = VIEW_GROUP_CGROUP;
    run_query();
    assert_int_equal(samples_of_group("pod 8d5cdf4e/0123456789ab"), COUNT(m.cgroup == 1));
    assert_int_equal(samples_of_group("pod 8d5cdf4e/0123456789ab/two"), COUNT(m.cgroup == 2));
    query.group = VIEW_GROUP_CPU;
    run_query();
    for (uint32_t cpu = 0; cpu < 4; cpu++) {
        snprintf(label, sizeof label, "cpu %u", cpu);
        assert_int_equal(samples_of_group(label), COUNT(m.cpu == cpu));
    }
    query.group = VIEW_GROUP_MODULE;
    run_query();
    assert_true(function_named("liba.so") && function_named("libb.so"));
    assert_int_equal(view.n_groups, 1);
}

FIXTURE_TEST(a_process_is_named_after_its_first_thread)
{
    open_file(SAMPLES);
    query.group = VIEW_GROUP_PROCESS;
    run_query();
    assert_int_equal(samples_of_group("alpha/100"), COUNT(m.pid == 100));
    assert_int_equal(samples_of_group("beta/200"), COUNT(m.pid == 200));
}

FIXTURE_TEST(a_first_thread_without_samples_names_its_process)
{
    uint32_t other = 1;
    while (made(other).tid != 101)
        other++;
    open_file(SAMPLES);
    query.group = VIEW_GROUP_PROCESS;
    query.from_ns = query.to_ns = made(other).time_ns;
    assert_int_equal(run_query(), 1);
    assert_int_equal(samples_of_group("alpha/100"), 1);
}

FIXTURE_TEST(only_groups_with_samples_in_the_window_are_listed)
{
    open_file(SAMPLES);
    query.group = VIEW_GROUP_THREAD;
    query.from_ns = query.to_ns = START_NS + 1 * STEP_NS;
    assert_int_equal(run_query(), 1);
    assert_int_equal(view.n_groups, 2);
}

FIXTURE_TEST(a_cgroup_is_labelled_by_its_container_and_written_by_its_path)
{
    unsigned found = 0;
    open_file(SAMPLES);
    query.group = VIEW_GROUP_CGROUP;
    run_query();
    for (uint32_t g = 0; g < view.n_groups; g++) {
        if (view.groups[g].number == 1 || view.groups[g].number == 2)
            assert_string_equal(view.groups[g].full, view.groups[g].number == 1 ? ONE : TWO);
        else
            assert_string_equal(view.groups[g].full, view.groups[g].label);
        found += view.groups[g].number == 1 || view.groups[g].number == 2;
    }
    assert_int_equal(found, 2);
}

FIXTURE_TEST(zooms_and_modes_can_be_combined)
{
    open_file(SAMPLES);
    zoom_to(ZOOM_MODULE, 0, "liba.so");
    assert_int_equal(run_query(), COUNT(!strcmp(m.module, "liba.so")));
    query.zooms[1] = (struct zoom){ .kind = ZOOM_THREAD, .number = 200 };
    query.n_zooms = 2;
    assert_int_equal(run_query(), COUNT(!strcmp(m.module, "liba.so") && m.tid == 200));
    query.zooms[2] = (struct zoom){ .kind = ZOOM_CPU, .number = 3 };
    query.n_zooms = 3;
    assert_int_equal(run_query(), COUNT(!strcmp(m.module, "liba.so") && m.tid == 200 && m.cpu == 3));
    zoom_to(ZOOM_CPU, 1, "");
    assert_int_equal(run_query(), COUNT(m.cpu == 1));
    zoom_to(ZOOM_CGROUP, 1, "what it is called");
    assert_int_equal(run_query(), COUNT(m.cgroup == 1 || m.cgroup == 2));
    zoom_to(ZOOM_COMM, 0, "worker");
    query.mode = VIEW_MODE_KERNEL;
    assert_int_equal(run_query(), COUNT(m.tid == 101 && m.kernel));
    query.mode = VIEW_MODE_USER;
    assert_int_equal(run_query(), COUNT(m.tid == 101 && !m.kernel));
}

FIXTURE_TEST(moments_of_some_parallelism_are_a_zoom)
{
    open_file(SAMPLES);
    assert_true(view_zoom_parallelism(&query, 2, 2));
    assert_string_equal(query.zooms[0].text, "2");
    assert_int_equal(run_query(), COUNT(m.running == 2));
    query.zooms[1] = (struct zoom){ .kind = ZOOM_CPU, .number = 3 };
    query.n_zooms = 2;
    assert_true(view_zoom_parallelism(&query, 1, 2)); /* replaces the other */
    assert_int_equal(query.n_zooms, 2);
    assert_string_equal(query.zooms[1].text, "1-2");
    assert_int_equal(run_query(), COUNT(m.running <= 2 && m.cpu == 3));
    assert_true(view_zoom_parallelism(&query, 2, SAMPLE_RUNNING));
    assert_string_equal(query.zooms[1].text, "2 or more");
    assert_int_equal(run_query(), COUNT(m.running >= 2 && m.cpu == 3));
    assert_true(view_zoom_parallelism(&query, 0, 0));
    assert_int_equal(run_query(), COUNT(m.cpu == 3));
    query.n_zooms = VIEW_ZOOMS_MAX;
    assert_false(view_zoom_parallelism(&query, 1, 1));
}

FIXTURE_TEST(latencies_of_a_file_are_shown_on_request)
{
    open_file(SAMPLES);
    query.group_sums = true;
    run_query();
    assert_int_equal(view.result.group_events, 0);
    assert_true(session_set_latency(session, true, &error));
    run_query();
    assert_string_equal(view.group_sums[GROUP_COLUMN_LATENCY].title, "LATENCY%");
    uint64_t latency = 0;
    for (uint32_t i = 0; i < SAMPLES; i++) {
        struct made m = made(i);
        latency += !m.event && !m.idle ? m.weight * QUERY_LATENCY_UNIT / m.running : 0;
    }
    assert_int_equal(view.group_sums[GROUP_COLUMN_LATENCY].all, latency);
    assert_true(session_set_latency(session, false, &error));
    run_query();
    assert_int_equal(view.result.group_events, 0);
}

FIXTURE_TEST(a_function_is_found_by_filter_and_by_zoom)
{
    open_file(SAMPLES);
    snprintf(query.filter, sizeof query.filter, "LIBB.SO+0x30");
    assert_int_equal(run_query(), COUNT(m.leaf == LIBB + 0x30));
    struct view_function f = view.funcs[function_named("libb.so+0x30")];
    *query.filter = '\0';
    zoom_to(ZOOM_FUNCTION, f.key, "");
    assert_int_equal(run_query(), COUNT(m.leaf == LIBB + 0x30));
    /* a function that only calls: user samples have a caller */
    *query.filter = '\0';
    snprintf(query.filter, sizeof query.filter, "liba.so+0x1000");
    query.n_zooms = 0;
    assert_int_equal(run_query(), COUNT(!m.kernel));
}

/* The made samples that pass, one by one in time order. */
#define EACH_SAMPLE_IS_AS_MADE(condition)                                                                    \
    do {                                                                                                     \
        struct session_samples samples = { 0 };                                                              \
        size_t n_ = 0;                                                                                       \
        assert_true(session_samples(session, &query, &view, &samples, &error));                              \
        for (uint32_t i_ = 0; i_ < SAMPLES; i_++) {                                                          \
            struct made m = made(i_);                                                                        \
            if (!(condition))                                                                                \
                continue;                                                                                    \
            assert_true(n_ < samples.n);                                                                     \
            assert_sample(&samples, &samples.list[n_++], &m);                                                \
        }                                                                                                    \
        assert_int_equal(n_, samples.n);                                                                     \
        assert_int_equal(n_, view.result.samples);                                                           \
        session_samples_done(&samples);                                                                      \
    } while (0)

static void assert_sample(const struct session_samples *all, const struct sample *sample,
                          const struct made *m)
{
    const struct world_thread *t = &all->threads[sample->thread];
    const struct view_function *f = &view.funcs[view.frame_func[view.result.frame[sample->stack]]];
    assert_int_equal(sample->time_ns, m->time_ns);
    assert_int_equal(sample->weight, m->weight);
    assert_int_equal(sample->cpu, m->cpu);
    assert_int_equal(sample->event, m->event);
    assert_string_equal(all->events[m->event], m->event ? "page-faults" : "cpu-clock");
    assert_int_equal(t->tid, m->tid);
    assert_int_equal(t->pid, m->pid);
    assert_string_equal(t->comm, m->comm);
    assert_string_equal(f->module, m->module);
}

FIXTURE_TEST(samples_are_delivered_one_by_one_as_shown)
{
    open_file(SAMPLES);
    EACH_SAMPLE_IS_AS_MADE(!m.event && !m.idle);
    query.show_idle = query.all_events = true;
    EACH_SAMPLE_IS_AS_MADE(true);
    query.all_events = query.show_idle = false;
    query.from_ns = START_NS + 100 * STEP_NS;
    query.to_ns = START_NS + 200 * STEP_NS;
    zoom_to(ZOOM_MODULE, 0, "liba.so");
    EACH_SAMPLE_IS_AS_MADE(!m.event && !m.idle && i_ >= 100 && i_ <= 200 && !strcmp(m.module, "liba.so"));
    query.n_zooms = 0;
    snprintf(query.filter, sizeof query.filter, "no such function");
    EACH_SAMPLE_IS_AS_MADE(false);
}

FIXTURE_TEST(windows_end_where_the_file_ends)
{
    open_file(SAMPLES);
    query.window_ns = 100 * STEP_NS;
    assert_int_equal(run_query(), COUNT(m.time_ns >= START_NS + (SAMPLES - 1 - 100) * STEP_NS));
    query.window_ns = UINT64_MAX;
    assert_int_equal(run_query(), COUNT(true));
    query.from_ns = START_NS + 10 * STEP_NS;
    query.to_ns = START_NS + 19 * STEP_NS;
    assert_int_equal(run_query(), COUNT(m.time_ns >= query.from_ns && m.time_ns <= query.to_ns));
    query.from_ns = query.to_ns + 1;
    assert_int_equal(run_query(), 0);
}

FIXTURE_TEST(the_other_event_can_be_selected)
{
    uint64_t faults = 0;
    open_file(SAMPLES);
    for (uint32_t i = 0; i < SAMPLES; i++)
        faults += made(i).event && !made(i).idle;
    assert_true(view.n_funcs == 0 && run_query() > 0 && view.weight_is_time);
    assert_true(session_select_event(session, -1, &error));
    assert_int_equal(run_query(), faults);
    assert_false(view.weight_is_time);
    session_get_status(session, &status);
    assert_string_equal(status.event, "page-faults");
    assert_int_equal(status.period, 1);
    assert_true(session_select_event(session, -1, &error));
    assert_int_equal(run_query(), COUNT(true));
}

FIXTURE_TEST(a_file_cannot_be_sampled)
{
    open_file(SAMPLES);
    uint64_t all = run_query();
    assert_false(session_set_event(session, "cycles", &error));
    assert_false(session_set_freq(session, 1, &error));
    session_freeze(session, true);
    session_clear(session);
    assert_int_equal(run_query(), all);
    session_get_status(session, &status);
    assert_true(status.file && !status.frozen);
    assert_int_equal(status.samples, SAMPLES);
    assert_int_equal(status.elapsed_ns, (SAMPLES - 1) * STEP_NS);
    uint64_t spark = 0;
    for (int i = 0; i < SESSION_SPARK; i++)
        spark += status.spark[i];
    assert_int_equal(spark, SAMPLES);
}

FIXTURE_TEST(a_file_without_samples_is_empty)
{
    open_file(0);
    for (int g = 0; g < VIEW_GROUP_COUNT; g++) {
        query.group = (enum view_group)g;
        query.window_ns = g % 2 ? NS_PER_SEC : 0;
        assert_int_equal(run_query(), 0);
        assert_int_equal(view.result.n_entries, 0);
    }
    session_get_status(session, &status);
    assert_int_equal(status.elapsed_ns, 0);
}

/* A file written from a file has the same samples, of all its events. */
FIXTURE_TEST(a_written_file_reads_the_same)
{
    char copy[80];
    uint64_t written;
    open_file(SAMPLES);
    query.show_idle = true;
    snprintf(copy, sizeof copy, "%s/copy.data", folder);
    assert_true(session_write(session, &query, copy, &written, &error));
    uint64_t all = run_query(), weight = view.result.weight;
    assert_int_equal(written, SAMPLES);
    session_close(session);
    cfg.input = copy;
    session = session_open(&cfg, &error);
    assert_non_null(session);
    session_wait(session, 60 * NS_PER_SEC, NULL);
    unlink(copy);
    assert_int_equal(run_query(), all);
    assert_int_equal(view.result.weight, weight);
    query.show_idle = false;
    query.group = VIEW_GROUP_THREAD;
    run_query();
    assert_int_equal(samples_of_group("worker/101"), COUNT(m.tid == 101));
    zoom_to(ZOOM_MODULE, 0, "libb.so");
    assert_int_equal(run_query(), COUNT(!strcmp(m.module, "libb.so")));
    query.n_zooms = 0;
    snprintf(query.filter, sizeof query.filter, "liba.so+0x1000");
    assert_int_equal(run_query(), COUNT(!m.kernel));
}

FIXTURE_TEST(a_failed_write_leaves_nothing)
{
    char other[96];
    struct rlimit before, low;
    open_file(SAMPLES);
    snprintf(other, sizeof other, "%s/none.data", folder);
    zoom_to(ZOOM_PROCESS, 12345, "");
    assert_false(session_write(session, &query, other, NULL, &error));
    assert_int_equal(error.class, ERROR_MISSING);
    assert_int_not_equal(access(other, F_OK), 0);
    query.n_zooms = 0;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
    low = (struct rlimit){ 4096, before.rlim_max };
    setrlimit(RLIMIT_FSIZE, &low);
    bool ok = session_write(session, &query, other, NULL, &error);
    setrlimit(RLIMIT_FSIZE, &before);
    signal(SIGXFSZ, handler);
    assert_false(ok);
    assert_non_null(strstr(error.text, "none.data"));
    unlink(path);
    assert_int_equal(rmdir(folder), 0); /* no temporary file either */
    assert_int_equal(mkdir(folder, 0700), 0);
    snprintf(other, sizeof other, "%s/no/such/folder.data", folder);
    assert_false(session_write(session, &query, other, NULL, &error));
}

WORKER_TEST_MAIN(make_folder, remove_folder)
