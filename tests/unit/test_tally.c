// SPDX-License-Identifier: GPL-2.0-or-later
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "perf/tally.h"
#include "perf_fixture.h"
#include "unit_test.h"

#define WORK_NS (20 * NS_PER_MS)

static struct scope scope;
static struct event_list events;

static int setup(void **state)
{
    scope_init(&scope);
    return 0;
}

static int teardown(void **state)
{
    scope_done(&scope);
    event_list_done(&events);
    return 0;
}

#define FIXTURE_TEST(name) TEST_WITH(name, setup, teardown)

static struct tally *open_or_skip(const char *text)
{
    struct error e = { 0 };
    if (!event_list_parse(&events, text, &e))
        fail_msg("%s", e.text);
    struct tally *t = tally_open(&events, &scope, &e);
    if (!t)
        fail_msg("%s", e.text);
    if (tally_read(t, 0, 0).state != COUNT_NOT_SUPPORTED)
        return t;
    print_message("skipped: %s\n", tally_read(t, 0, 0).why);
    tally_close(t);
    skip();
    return NULL;
}

static uint64_t cpu_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (uint64_t)t.tv_sec * NS_PER_SEC + (uint64_t)t.tv_nsec;
}

#define PAGES 2000

/* Touches new memory on one CPU, page by page; returns the number of faults. */
static uint64_t fault_on(int cpu)
{
    struct rusage before, after;
    cpu_set_t set;
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    assert_int_equal(sched_setaffinity(0, sizeof set, &set), 0);
    volatile char *p = mmap(NULL, PAGES * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(p != MAP_FAILED);
    (void)madvise((void *)(uintptr_t)p, PAGES * page, MADV_NOHUGEPAGE);
    getrusage(RUSAGE_SELF, &before);
    for (size_t i = 0; i < PAGES; i++)
        p[i * page] = 1;
    getrusage(RUSAGE_SELF, &after);
    munmap((void *)(uintptr_t)p, PAGES * page);
    return (uint64_t)(after.ru_minflt - before.ru_minflt);
}

static bool two_cpus(int cpus[2])
{
    cpu_set_t mine;
    int n = 0;
    assert_int_equal(sched_getaffinity(0, sizeof mine, &mine), 0);
    for (int cpu = 0; cpu < CPU_SETSIZE && n < 2; cpu++)
        if (CPU_ISSET(cpu, &mine))
            cpus[n++] = cpu;
    return n == 2;
}

/* While it runs on another CPU the counter of this one is enabled as well, which is no share that it
 * missed. */
FIXTURE_TEST(a_task_is_counted_on_the_chosen_cpus_only)
{
    int cpus[2];
    char list[32];
    cpu_set_t before;
    sched_getaffinity(0, sizeof before, &before);
    if (!two_cpus(cpus)) {
        print_message("skipped: needs two CPUs\n");
        skip();
    }
    scope_to_myself(&scope);
    snprintf(list, sizeof list, "%d", cpus[0]);
    assert_true(scope_set_cpus(&scope, list, NULL));
    struct tally *t = open_or_skip("page-faults:u");
    tally_start(t);
    uint64_t there = fault_on(cpus[0]);
    for (int i = 0; i < 3; i++)
        (void)fault_on(cpus[1]);
    struct tally_result r = tally_read(t, 0, 0);
    sched_setaffinity(0, sizeof before, &before);
    tally_close(t);
    assert_int_equal(r.state, COUNT_OK);
    assert_true(r.running_ns == r.enabled_ns);
    assert_in_range((uint64_t)r.value, there / 2, there * 2);
}

static uint64_t count_child(bool no_inherit)
{
    scope_to_myself(&scope);
    scope.no_inherit = no_inherit;
    struct tally *t = open_or_skip("task-clock:u");
    tally_start(t);
    pid_t pid = fork();
    if (!pid) {
        while (cpu_ns() < 5 * WORK_NS)
            ;
        _exit(0);
    }
    waitpid(pid, NULL, 0);
    uint64_t ns = (uint64_t)tally_read(t, 0, 0).value;
    tally_close(t);
    event_list_done(&events);
    return ns;
}

FIXTURE_TEST(children_are_counted_unless_excluded)
{
    assert_true(count_child(false) > 4 * WORK_NS);
    assert_true(count_child(true) < 4 * WORK_NS);
}

/* Replaces the first n counters by a descriptor that reads nothing, like counters ended by the kernel. */
static void end_counters(unsigned n)
{
    int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
    assert_true(nothing >= 0);
    for (int fd = 3; fd < 4096 && n; fd++) {
        if (!is_event_fd(fd))
            continue;
        assert_int_equal(dup2(nothing, fd), fd);
        n--;
    }
    close(nothing);
}

FIXTURE_TEST(a_counter_ended_by_the_kernel_is_reported)
{
    scope_to_myself(&scope);
    struct tally *t = open_or_skip("task-clock:u");
    tally_start(t);
    end_counters(UINT32_MAX);
    struct tally_result r = tally_read(t, 0, 0);
    assert_int_equal(r.state, COUNT_NOT_COUNTED);
    assert_non_null(r.why);
    assert_non_null(strstr(r.why, "the kernel stopped it: pinned"));
    tally_close(t);
}

FIXTURE_TEST(a_partly_ended_counter_counts_the_rest)
{
    char list[40];
    pid_t pid = paused_child();
    snprintf(list, sizeof list, "%d,%d", pid, getpid());
    assert_true(scope_set_pids(&scope, list, false, NULL));
    struct tally *t = open_or_skip("task-clock:u");
    tally_start(t);
    end_counters(1);
    for (uint64_t end = cpu_ns() + WORK_NS; cpu_ns() < end;)
        ;
    struct tally_result r = tally_read(t, 0, 0);
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    assert_int_equal(r.state, COUNT_OK);
    assert_true(r.value > 0);
    assert_non_null(strstr(r.why, "part of it"));
    tally_close(t);
}

FIXTURE_TEST(a_counter_that_never_ran_has_no_count)
{
    char list[16];
    int hold[2];
    assert_int_equal(pipe(hold), 0);
    pid_t pid = fork();
    if (!pid) {
        char go;
        close(hold[1]);
        _exit(read(hold[0], &go, 1) != 0);
    }
    char stat[64], text[512] = "";
    snprintf(stat, sizeof stat, "/proc/%d/stat", pid);
    for (const char *state = ""; *state != 'S';) { /* it waits */
        int fd = open(stat, O_RDONLY);
        ssize_t n = fd >= 0 ? read(fd, text, sizeof text - 1) : 0;
        text[n > 0 ? n : 0] = '\0';
        close(fd);
        state = strrchr(text, ')') ? strrchr(text, ')') + 2 : "";
    }
    snprintf(list, sizeof list, "%d", pid);
    assert_true(scope_set_pids(&scope, list, false, NULL));
    struct tally *t = open_or_skip("task-clock:u");
    tally_start(t);
    struct tally_result r = tally_read(t, 0, 0);
    close(hold[1]);
    close(hold[0]);
    waitpid(pid, NULL, 0);
    assert_int_equal(r.state, COUNT_NOT_COUNTED);
    assert_string_equal(r.why, "the target never ran");
    tally_close(t);
}

TEST_MAIN(NULL, NULL)
