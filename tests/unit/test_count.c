// SPDX-License-Identifier: GPL-2.0-or-later
#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "perf/count.h"
#include "perf/pmu.h"
#include "perf/targets.h"
#include "perf_fixture.h"
#include "unit_test.h"

#define COUNT(a) (sizeof(a) / sizeof *(a))
#define PAGES    2000

TEST(multiplexed_counts_are_scaled_by_their_running_time)
{
    static const struct {
        uint64_t value, enabled, running;
        struct count_value out;
    } rows[] = {
        { 500, 1000, 1000, { COUNT_OK, 500, 1 } },
        { 500, 1000, 500, { COUNT_OK, 1000, 0.5 } },
        { 3, 1000, 10, { COUNT_OK, 300, 0.01 } },
        { 0, 1000, 0, { COUNT_NOT_COUNTED, 0, 0 } },
        { 0, 0, 0, { COUNT_OK, 0, 1 } },
        { 7, 1000, 1001, { COUNT_OK, 7, 1 } },
        { UINT64_C(1) << 60, 4, 1, { COUNT_OK, 4.0 * (UINT64_C(1) << 60), 0.25 } },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct count_value v = count_scale(rows[i].value, rows[i].enabled, rows[i].running);
        assert_int_equal(v.state, rows[i].out.state);
        assert_true(v.value == rows[i].out.value);
        assert_true(v.running == rows[i].out.running);
    }
}

static struct count_value count_ok(double value)
{
    return (struct count_value){ COUNT_OK, value, 1 };
}

TEST(metrics_match_the_numbers_and_units_of_perf_stat)
{
    static const struct {
        enum count_event event;
        const char *value, *unit;
    } rows[] = {
        { COUNT_CLOCK, "2.000", "CPUs utilized" },
        { COUNT_CONTEXT_SWITCHES, "6.000", "K/sec" },
        { COUNT_CPU_MIGRATIONS, "2.500", "/sec" },
        { COUNT_PAGE_FAULTS, "1.500", "M/sec" },
        { COUNT_CYCLES, "3.000", "GHz" },
        { COUNT_INSTRUCTIONS, "1.41", "IPC, 0.18 stalled/insn" },
        { COUNT_STALLED_FRONTEND, "10.00%", "frontend cycles idle" },
        { COUNT_STALLED_BACKEND, "25.00%", "backend cycles idle" },
        { COUNT_BRANCHES, "1.000", "G/sec" },
        { COUNT_BRANCH_MISSES, "1.25%", "of all branches" },
        { COUNT_L1_LOADS, "500.000", "M/sec" },
        { COUNT_L1_MISSES, "4.00%", "of all L1-dcache accesses" },
        { COUNT_LLC_MISSES, "50.00%", "of all LL-cache accesses" },
    };
    struct count_value v[COUNT_EVENTS] = {
        [COUNT_CLOCK] = count_ok(2e9),
        [COUNT_CONTEXT_SWITCHES] = count_ok(12000),
        [COUNT_CPU_MIGRATIONS] = count_ok(5),
        [COUNT_PAGE_FAULTS] = count_ok(3e6),
        [COUNT_CYCLES] = count_ok(6e9),
        [COUNT_STALLED_FRONTEND] = count_ok(6e8),
        [COUNT_STALLED_BACKEND] = count_ok(1.5e9),
        [COUNT_INSTRUCTIONS] = count_ok(8.46e9),
        [COUNT_BRANCHES] = count_ok(2e9),
        [COUNT_BRANCH_MISSES] = count_ok(2.5e7),
        [COUNT_L1_LOADS] = count_ok(1e9),
        [COUNT_L1_MISSES] = count_ok(4e7),
        [COUNT_LLC_LOADS] = count_ok(4e7),
        [COUNT_LLC_MISSES] = count_ok(2e7),
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct count_metric m;
        assert_true(count_metric_of(v, 1000000000, rows[i].event, &m));
        assert_string_equal(m.value, rows[i].value);
        assert_string_equal(m.unit, rows[i].unit);
    }
}

TEST(detailed_metrics_match_perf_stat_and_its_metric_groups)
{
    static const struct {
        enum count_event event;
        const char *value, *unit;
    } rows[] = {
        { COUNT_INSTRUCTIONS, "2.00", "IPC" },
        { COUNT_L1I_MISSES, "10.00%", "of all L1-icache accesses" },
        { COUNT_DTLB_MISSES, "0.50%", "of all dTLB accesses" },
        { COUNT_ITLB_MISSES, "200.00%", "of all iTLB accesses" },
        { COUNT_PREFETCH_MISSES, "25.00%", "of all prefetches" },
        { COUNT_RETIRING, "40.00%", "retiring" },
        { COUNT_BAD_SPECULATION, "10.00%", "bad speculation" },
        { COUNT_FRONTEND_BOUND, "20.00%", "frontend bound" },
        { COUNT_BACKEND_BOUND, "30.00%", "backend bound" },
        { COUNT_TSC, "2.000", "GHz nominal" },
        { COUNT_APERF, "1.50", "of the nominal clock (turbo)" },
        { COUNT_MPERF, "50.00%", "not halted" },
        { COUNT_ENERGY_PKG, "50.00", "W" },
        { COUNT_MEMORY_READS, "12.500", "GB/s" },
    };
    struct count_value v[COUNT_EVENTS] = {
        [COUNT_CLOCK] = count_ok(1e9),
        [COUNT_CYCLES] = count_ok(1e9),
        [COUNT_INSTRUCTIONS] = count_ok(2e9),
        [COUNT_L1I_LOADS] = count_ok(100),
        [COUNT_L1I_MISSES] = count_ok(10),
        [COUNT_DTLB_LOADS] = count_ok(1000),
        [COUNT_DTLB_MISSES] = count_ok(5),
        [COUNT_ITLB_LOADS] = count_ok(5),
        [COUNT_ITLB_MISSES] = count_ok(10),
        [COUNT_PREFETCHES] = count_ok(4),
        [COUNT_PREFETCH_MISSES] = count_ok(1),
        [COUNT_SLOTS] = count_ok(1000),
        [COUNT_RETIRING] = count_ok(400),
        [COUNT_BAD_SPECULATION] = count_ok(100),
        [COUNT_FRONTEND_BOUND] = count_ok(200),
        [COUNT_BACKEND_BOUND] = count_ok(300),
        [COUNT_TSC] = count_ok(2e9),
        [COUNT_APERF] = count_ok(1.5e9),
        [COUNT_MPERF] = count_ok(1e9),
        [COUNT_ENERGY_PKG] = count_ok(100),
        [COUNT_MEMORY_READS] = count_ok(25e9),
        [COUNT_STALLED_FRONTEND] = { COUNT_NOT_SUPPORTED, 0, 0 },
        [COUNT_STALLED_BACKEND] = { COUNT_NOT_SUPPORTED, 0, 0 },
        [COUNT_TEMPERATURE] = count_ok(54),
    };
    struct count_metric m;
    for (size_t i = 0; i < COUNT(rows); i++) {
        assert_true(count_metric_of(v, 2000000000, rows[i].event, &m));
        assert_string_equal(m.value, rows[i].value);
        assert_string_equal(m.unit, rows[i].unit);
    }
    assert_false(count_metric_of(v, 2000000000, COUNT_TEMPERATURE, &m));
}

/* A task ran a quarter of the time on one CPU type and three quarters on the other: no count is scaled. */
TEST(counts_of_a_task_on_hybrid_cpus_are_summed)
{
    const struct count_raw whole[] = { { 100, 1000, 250 }, { 600, 1000, 750 } };
    struct count_value v = count_merge(whole, 2);
    assert_true(v.state == COUNT_OK && v.value == 700 && v.running == 1);
    const struct count_raw shared[] = { { 100, 1000, 125 },
                                        { 600, 1000, 375 } }; /* counted for half of the time */
    v = count_merge(shared, 2);
    assert_true(v.value == 1400 && v.running == 0.5);
    const struct count_raw never[] = { { 0, 1000, 0 }, { 0, 1000, 0 } };
    assert_int_equal(count_merge(never, 2).state, COUNT_NOT_COUNTED);
}

TEST(counts_are_written_with_their_units)
{
    static const struct {
        enum count_event event;
        struct count_value v;
        const char *text;
    } rows[] = {
        { COUNT_CLOCK, { COUNT_OK, 4e9, 1 }, "2000.0 ms" },
        { COUNT_CYCLES, { COUNT_OK, 6e9, 1 }, "3 G" },
        { COUNT_ENERGY_RAM, { COUNT_OK, 5, 1 }, "2.50 J" },
        { COUNT_MEMORY_WRITES, { COUNT_OK, 5e9, 1 }, "2.5 GB" },
        { COUNT_TEMPERATURE, { COUNT_OK, 54, 1 }, "54 C" },
        { COUNT_CYCLES, { COUNT_NOT_SUPPORTED, 0, 0 }, "<not supported>" },
        { COUNT_CYCLES, { COUNT_NOT_COUNTED, 0, 0 }, "<not counted>" },
    };
    char text[40];
    for (size_t i = 0; i < COUNT(rows); i++)
        assert_string_equal(count_text(text, sizeof text, rows[i].event, &rows[i].v, 2), rows[i].text);
}

TEST(metrics_are_absent_when_an_input_is_missing)
{
    struct count_metric m;
    struct count_value v[COUNT_EVENTS] = {
        [COUNT_CLOCK] = count_ok(1e9), [COUNT_INSTRUCTIONS] = count_ok(5)
    };
    assert_false(count_metric_of(v, 1000000000, COUNT_INSTRUCTIONS, &m)); /* without cycles: 5/0 */
    v[COUNT_CYCLES] = (struct count_value){ COUNT_NOT_SUPPORTED, 0, 0 };
    assert_false(count_metric_of(v, 1000000000, COUNT_INSTRUCTIONS, &m));
    assert_false(count_metric_of(v, 1000000000, COUNT_CYCLES, &m));
    assert_false(count_metric_of(v, 0, COUNT_CLOCK, &m));
}

/* Skips the test if the kernel permits no counting. */
static struct count_set *open_or_skip(const struct scope *scope)
{
    struct error e = { 0 };
    struct count_set *c = count_open(scope, NULL, &e);
    if (!c)
        fail_msg("%s", e.text);
    if (count_total(c, 0).state == COUNT_NOT_SUPPORTED) {
        print_message("%s\n", count_why_not(c, 0));
        count_close(c);
        skip();
    }
    return c;
}

static struct count_set *open_self_or_skip(void)
{
    struct scope scope;
    scope_init(&scope);
    scope_to_myself(&scope);
    struct count_set *c = open_or_skip(&scope);
    scope_done(&scope);
    return c;
}

static struct count_value total_of(const struct count_set *c, const char *name)
{
    int row = count_find(c, name);
    assert_true(row >= 0);
    return count_total(c, (uint32_t)row);
}

static void assert_within_percent(double value, double expected, double percent)
{
    if (value < expected * (1 - percent / 100) || value > expected * (1 + percent / 100))
        fail_msg("%.0f is not within %.0f %% of %.0f", value, percent, expected);
}

static void *touch_pages(void *unused)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *p = mmap(NULL, PAGES * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(p != MAP_FAILED);
    madvise(p, PAGES * page, MADV_NOHUGEPAGE);
    for (size_t i = 0; i < PAGES; i++)
        ((volatile char *)p)[i * page] = 1;
    munmap(p, PAGES * page);
    return unused;
}

/* Page faults by getrusage: a sanitizer adds its own faults to those of the test's pages. */
static long faults_of_self(void)
{
    struct rusage use;
    getrusage(RUSAGE_SELF, &use);
    return use.ru_minflt + use.ru_majflt;
}

TEST(page_faults_of_a_known_workload_are_counted)
{
    struct count_set *c = open_self_or_skip();
    assert_true(count_read(c, NULL));
    long faults = faults_of_self();
    touch_pages(NULL);
    faults = faults_of_self() - faults;
    assert_true(count_read(c, NULL));
    struct count_value v = total_of(c, "page-faults");
    assert_int_equal(v.state, COUNT_OK);
    assert_true(v.value >= PAGES);
    assert_within_percent(v.value, (double)faults, 1);
    assert_true(count_read(c, NULL)); /* the next interval starts at zero */
    assert_true(total_of(c, "page-faults").value < PAGES / 100.0);
    count_close(c);
}

TEST(threads_started_later_are_counted)
{
    struct count_set *c = open_self_or_skip();
    pthread_t thread;
    assert_true(count_read(c, NULL));
    long faults = faults_of_self();
    assert_int_equal(pthread_create(&thread, NULL, touch_pages, NULL), 0);
    pthread_join(thread, NULL);
    faults = faults_of_self() - faults;
    assert_true(count_read(c, NULL));
    assert_true(total_of(c, "page-faults").value >= PAGES);
    assert_within_percent(total_of(c, "page-faults").value, (double)faults, 2);
    count_close(c);
}

static long switches_of(int who)
{
    struct rusage use;
    getrusage(who, &use);
    return use.ru_nvcsw + use.ru_nivcsw;
}

/* Sends a byte back and forth between the test and a child. */
static void play_ping_pong(int rounds)
{
    int there[2], back[2];
    char ball = 'o';
    assert_int_equal(pipe(there) | pipe(back), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (!child) {
        for (int i = 0; i < rounds; i++)
            if (read(there[0], &ball, 1) != 1 || write(back[1], &ball, 1) != 1)
                _exit(1);
        _exit(0);
    }
    for (int i = 0; i < rounds; i++)
        assert_true(write(there[1], &ball, 1) == 1 && read(back[0], &ball, 1) == 1);
    waitpid(child, NULL, 0);
    for (int i = 0; i < 2; i++) {
        close(there[i]);
        close(back[i]);
    }
}

TEST(context_switches_agree_with_getrusage)
{
    struct count_set *c = open_self_or_skip();
    struct count_value before = total_of(c, "context-switches");
    if (before.state == COUNT_NOT_SUPPORTED) {
        print_message("%s\n", count_why_not(c, COUNT_CONTEXT_SWITCHES));
        count_close(c);
        skip();
    }
    cpu_set_t old, one;
    sched_getaffinity(0, sizeof old, &old);
    CPU_ZERO(&one);
    CPU_SET(sched_getcpu(), &one);
    sched_setaffinity(0, sizeof one, &one);
    long switches = switches_of(RUSAGE_SELF) + switches_of(RUSAGE_CHILDREN);
    assert_true(count_read(c, NULL));
    play_ping_pong(3000);
    assert_true(count_read(c, NULL));
    switches = switches_of(RUSAGE_SELF) + switches_of(RUSAGE_CHILDREN) - switches;
    sched_setaffinity(0, sizeof old, &old);
    assert_true(switches > 3000);
    assert_within_percent(total_of(c, "context-switches").value, (double)switches, 1);
    count_close(c);
}

static uint64_t process_cpu_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (uint64_t)t.tv_sec * NS_PER_SEC + (uint64_t)t.tv_nsec;
}

/* Allows some percent because the two clocks differ. */
static void assert_between(double value, double least, double most)
{
    if (value < least * 0.98 || value > most * 1.02)
        fail_msg("%.0f is not between %.0f and %.0f", value, least, most);
}

/* The count is between the time elapsed inside the two reads and the time elapsed around them, however long
 * the machine delays the test between them. For this clock a paused virtual machine is running. */
TEST(the_task_clock_agrees_with_the_process_cpu_time)
{
    struct count_set *c = open_self_or_skip();
    uint64_t around = clock_now_ns();
    assert_true(count_read(c, NULL));
    uint64_t within = process_cpu_ns();
    while (process_cpu_ns() - within < 50 * NS_PER_MS)
        ;
    within = process_cpu_ns() - within;
    assert_true(count_read(c, NULL));
    around = clock_now_ns() - around;
    assert_between(total_of(c, "task-clock").value, (double)within, (double)around);
    assert_int_equal(count_cpus(c), 0);
    count_close(c);
}

TEST(the_cpu_clock_of_all_cpus_is_their_number_times_the_interval)
{
    struct scope scope;
    struct count_metric m;
    scope_init(&scope);
    struct count_set *c = open_or_skip(&scope);
    uint64_t around = clock_now_ns();
    assert_true(count_read(c, NULL));
    uint64_t within = clock_now_ns();
    usleep(100000);
    within = clock_now_ns() - within;
    assert_true(count_read(c, NULL));
    around = clock_now_ns() - around;
    uint32_t cpus = count_cpus(c);
    double least = (double)within, most = (double)around, sum = 0;
    uint32_t n;
    struct count_part *parts = count_split(c, COUNT_BY_CPU, &n);
    assert_int_equal(n, cpus);
    assert_between((double)count_interval_ns(c), least, most);
    assert_int_equal(cpus, sysconf(_SC_NPROCESSORS_ONLN));
    for (uint32_t i = 0; i < n; i++) {
        assert_between(parts[i].values[COUNT_CLOCK].value, least, most);
        sum += parts[i].values[COUNT_CLOCK].value;
    }
    mem_free(parts);
    assert_string_equal(count_name(c, 0), "cpu-clock");
    assert_true(sum == count_total(c, 0).value);
    assert_true(count_metric(c, 0, &m));
    assert_between(atof(m.value), cpus * least / most, cpus * most / least);
    assert_null(count_scope_note(c));
    count_close(c);
}

TEST(counts_per_cpu_core_and_socket_sum_to_the_total)
{
    static const enum count_by kinds[] = { COUNT_BY_CPU, COUNT_BY_CORE, COUNT_BY_SOCKET };
    struct scope scope;
    scope_init(&scope);
    struct count_set *c = open_or_skip(&scope);
    assert_false(count_can_split(c, COUNT_BY_PROCESS));
    assert_false(count_can_split(c, COUNT_BY_CGROUP));
    touch_pages(NULL);
    assert_true(count_read(c, NULL));
    for (size_t i = 0; i < COUNT(kinds); i++) {
        uint32_t n;
        struct count_part *parts = count_split(c, kinds[i], &n);
        double faults = 0;
        assert_true(n >= 1 && count_can_split(c, kinds[i]));
        for (uint32_t p = 0; p < n; p++) {
            bool any = false;
            for (uint32_t cpu = 0; cpu < count_cpus(c); cpu++)
                any |= count_part_has_cpu(c, kinds[i], &parts[p], cpu);
            assert_true(any && *parts[p].name);
            faults += parts[p].values[COUNT_PAGE_FAULTS].value;
        }
        assert_true(faults == total_of(c, "page-faults").value);
        assert_true(faults >= PAGES);
        mem_free(parts);
    }
    count_close(c);
}

/* ThreadSanitizer has a thread of its own, from the first pthread_create() on. */
TEST(counts_are_split_by_process_and_thread)
{
    uint32_t n, threads;
    struct count_set *c = open_self_or_skip();
    mem_free(targets_threads_of((uint32_t)getpid(), &threads));
    assert_true(count_read(c, NULL));
    touch_pages(NULL);
    assert_true(count_read(c, NULL));
    assert_false(count_can_split(c, COUNT_BY_CPU));
    for (int by = COUNT_BY_PROCESS; by <= COUNT_BY_THREAD; by++) {
        struct count_part *parts = count_split(c, by, &n), *own = parts;
        assert_int_equal(n, by == COUNT_BY_PROCESS ? 1 : threads);
        while (own->number != (uint32_t)getpid())
            assert_true(++own < parts + n);
        assert_non_null(strstr(own->name, "test_count"));
        assert_true(own->values[COUNT_PAGE_FAULTS].value >= PAGES);
        mem_free(parts);
    }
    count_close(c);
}

TEST(higher_detail_adds_rows)
{
    struct scope scope;
    uint32_t rows[3];
    scope_init(&scope);
    for (unsigned detail = 1; detail <= 3; detail++) {
        struct count_set *c = count_open(&scope, &(struct count_options){ .detail = detail }, NULL);
        assert_non_null(c);
        rows[detail - 1] = count_rows(c);
        assert_int_equal(count_find(c, "iTLB-load-misses") >= 0, detail >= 2);
        assert_int_equal(count_find(c, "L1-dcache-prefetches") >= 0, detail >= 3);
        count_close(c);
    }
    assert_int_equal(rows[1], rows[0] + 6);
    assert_int_equal(rows[2], rows[1] + 2);
}

TEST(rows_match_perf_stat)
{
    static const char *const names[] = {
        "cpu-clock",       "context-switches",      "cpu-migrations", "page-faults",
        "cycles",          "instructions",          "branches",       "branch-misses",
        "L1-dcache-loads", "L1-dcache-load-misses", "LLC-loads",      "LLC-load-misses"
    };
    struct scope scope;
    struct error e = { 0 };
    scope_init(&scope);
    struct count_set *c = count_open(&scope, NULL, &e);
    assert_non_null(c);
    int last = -1;
    for (size_t i = 0; i < COUNT(names); i++) {
        int row = count_find(c, names[i]);
        assert_true(row > last);
        last = row;
    }
    assert_int_equal(count_find(c, "cycels"), -1);
    for (uint32_t row = 0; row < count_rows(c); row++) {
        bool open = count_total(c, row).state != COUNT_NOT_SUPPORTED;
        assert_int_equal(open, count_why_not(c, row) == NULL);
        if (!open)
            assert_true(strlen(count_why_not(c, row)) > 10);
    }
    count_close(c);
}

TEST(rows_are_not_supported_without_hardware_counters)
{
    if (pmu_has_core()) {
        print_message("this machine has hardware counters\n");
        skip();
    }
    struct count_set *c = open_self_or_skip();
    double ipc;
    assert_true(count_read(c, NULL));
    int row = count_find(c, "cycles");
    assert_int_equal(count_total(c, (uint32_t)row).state, COUNT_NOT_SUPPORTED);
    assert_non_null(strstr(count_why_not(c, (uint32_t)row), "no hardware counters"));
    assert_false(count_ratio(count_totals(c), COUNT_INSTRUCTIONS, COUNT_CYCLES, &ipc));
    assert_int_equal(count_find(c, "stalled-cycles-frontend"), -1);
    count_close(c);
}

TEST(hardware_counters_count_where_available)
{
    struct count_set *c = open_self_or_skip();
    int row = count_find(c, "instructions");
    if (count_total(c, (uint32_t)row).state == COUNT_NOT_SUPPORTED) {
        print_message("%s\n", count_why_not(c, (uint32_t)row));
        count_close(c);
        skip();
    }
    double ipc;
    assert_true(count_read(c, NULL));
    for (volatile int i = 0; i < 10000000; i++)
        ;
    assert_true(count_read(c, NULL));
    assert_true(count_total(c, (uint32_t)row).value > 1e7);
    assert_true(count_ratio(count_totals(c), COUNT_INSTRUCTIONS, COUNT_CYCLES, &ipc) && ipc > 0.01 &&
                ipc < 20);
    count_close(c);
}

/* Counts the open descriptors, and those that would survive an exec. */
static int count_descriptors(int *inheritable)
{
    int n = 0;
    DIR *d = opendir("/proc/self/fd");
    assert_non_null(d);
    *inheritable = 0;
    for (struct dirent *entry; (entry = readdir(d));) {
        int fd = atoi(entry->d_name);
        if (entry->d_name[0] == '.' || fd == dirfd(d))
            continue;
        n++;
        *inheritable += !(fcntl(fd, F_GETFD) & FD_CLOEXEC);
    }
    closedir(d);
    return n;
}

TEST(descriptors_close_on_exec_and_at_the_end)
{
    int kept, kept_open;
    int before = count_descriptors(&kept);
    struct count_set *c = open_self_or_skip();
    assert_true(count_descriptors(&kept_open) > before);
    assert_int_equal(kept_open, kept);
    count_close(c);
    assert_int_equal(count_descriptors(&kept), before);
}

TEST(a_low_descriptor_limit_leaves_descriptors_for_other_uses)
{
    struct rlimit old, low;
    struct scope scope;
    struct error e = { 0 };
    scope_init(&scope);
    getrlimit(RLIMIT_NOFILE, &old);
    low = old;
    low.rlim_cur = 16;
    setrlimit(RLIMIT_NOFILE, &low);
    struct count_set *c = count_open(&scope, NULL, &e);
    int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    setrlimit(RLIMIT_NOFILE, &old);
    assert_non_null(c);
    assert_true(fd >= 0);
    close(fd);
    int row = count_find(c, "cpu-clock");
    if (count_total(c, (uint32_t)row).state == COUNT_NOT_SUPPORTED)
        assert_true(strstr(count_why_not(c, (uint32_t)row), "ulimit -n") ||
                    strstr(count_why_not(c, (uint32_t)row), "perf_event_paranoid"));
    count_close(c);
}

/* Replaces each counter by a descriptor at end of file, as a counter is whose PMU was removed. */
static void replace_counters_by_ended_ones(void)
{
    int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
    assert_true(nothing >= 0);
    for (int fd = 3; fd < 4096; fd++)
        if (is_event_fd(fd))
            assert_int_equal(dup2(nothing, fd), fd);
    close(nothing);
}

TEST(counters_that_hang_up_are_reopened)
{
    struct scope scope;
    struct error e = { 0 };
    scope_init(&scope);
    struct count_set *c = open_or_skip(&scope);
    assert_true(count_read(c, &e));
    assert_int_equal(count_total(c, 0).state, COUNT_OK);
    replace_counters_by_ended_ones();
    assert_true(count_read(c, &e)); /* detects it */
    assert_true(count_read(c, &e));
    assert_int_equal(count_total(c, 0).state, COUNT_OK);
    count_close(c);
}

TEST(a_missing_target_is_reported)
{
    struct scope scope;
    struct error e = { 0 };
    char text[16];
    pid_t pid = paused_child();
    snprintf(text, sizeof text, "%d", pid);
    scope_init(&scope);
    assert_true(scope_set_pids(&scope, text, false, &e));
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    assert_null(count_open(&scope, NULL, &e));
    assert_int_equal(e.class, ERROR_MISSING);
    scope_done(&scope);
}

TEST(counters_with_user_scope_note_that_all_users_are_counted)
{
    struct scope scope;
    struct error e = { 0 };
    scope_init(&scope);
    scope.kind = SCOPE_USER;
    struct count_set *c = count_open(&scope, NULL, &e);
    assert_non_null(c);
    assert_non_null(strstr(count_scope_note(c), "all users"));
    count_close(c);
}

TEST(a_cgroup_is_counted_per_cpu)
{
    struct scope scope;
    struct error e = { 0 };
    char root[4096];
    bool v2;
    if (!scope_cgroup_root(root, sizeof root, &v2, &e)) {
        print_message("%s\n", e.text);
        skip();
    }
    scope_init(&scope);
    scope.kind = SCOPE_CGROUP;
    strcpy(scope.cgroup, "/");
    struct count_set *c = open_or_skip(&scope);
    assert_true(count_read(c, NULL));
    usleep(20000);
    assert_true(count_read(c, NULL));
    assert_int_equal(count_cpus(c), sysconf(_SC_NPROCESSORS_ONLN));
    assert_true(count_total(c, 0).value > 0);
    count_close(c);
    strcpy(scope.cgroup, "/there-is-no-such-cgroup");
    assert_null(count_open(&scope, NULL, &e));
    assert_non_null(strstr(e.text, "there-is-no-such-cgroup"));
}

#define ONLINE "/sys/devices/system/cpu/online"

/* In a child with its own mounts, CPUs go offline and online. Returns 0 if the counters follow. */
static int check_hotplugged_cpus(void)
{
    char path[] = "/tmp/test_count.XXXXXX";
    struct scope scope;
    struct error e = { 0 };
    int fd = mkstemp(path);
    bool ready = fd >= 0 && write(fd, "0\n", 2) == 2 && !unshare(CLONE_NEWNS) &&
                 !mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL);
    if (!ready) {
        unlink(path);
        return 77;
    }
    scope_init(&scope);
    struct count_set *c = count_open(&scope, NULL, &e);
    uint32_t all = c ? count_cpus(c) : 0;
    bool mounted = !mount(path, ONLINE, NULL, MS_BIND, NULL);
    unlink(path);
    if (!mounted || all < 2)
        return 77;
    if (!count_read(c, &e) || count_cpus(c) != 1 || count_interval_ns(c) || count_total(c, 0).value != 0)
        return 1;
    if (!count_read(c, &e) || count_total(c, 0).value <= 0 || umount(ONLINE))
        return 2;
    if (!count_read(c, &e) || count_cpus(c) != all)
        return 3;
    count_close(c);
    return 0;
}

TEST(cpus_going_offline_and_online_are_followed)
{
    int status;
    pid_t pid = fork();
    if (!pid)
        _exit(check_hotplugged_cpus());
    waitpid(pid, &status, 0);
    assert_true(WIFEXITED(status));
    if (WEXITSTATUS(status) == 77) {
        print_message("needs root, mounts and two CPUs\n");
        skip();
    }
    assert_int_equal(WEXITSTATUS(status), 0);
}

TEST_MAIN(NULL, NULL)
