// SPDX-License-Identifier: GPL-2.0-or-later
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "session/coverage.h"
#include "unit_test.h"

#define SINCE 1000 /* sampling of the scope starts here */
#define SHELL 10
#define CHILD 11

static void see_process(struct coverage_members *m, uint32_t id, uint32_t ppid, uint64_t start_ns,
                        uint64_t cpu_ns)
{
    struct coverage_member now = { .id = id, .ppid = ppid, .start_ns = start_ns, .now_ns = cpu_ns };
    coverage_see(m, &now, SINCE);
}

/* Begins with a shell that has used 500 and its child that has used 200. */
static void begin_with_two_known_processes(struct coverage_members *m)
{
    coverage_begin(m);
    see_process(m, SHELL, 1, 5, 500);
    see_process(m, CHILD, SHELL, 7, 200);
    assert_int_equal(coverage_end(m, true), 0);
}

TEST(cpu_time_before_the_first_scan_does_not_count)
{
    struct coverage_members m = { 0 };
    begin_with_two_known_processes(&m);
    coverage_begin(&m);
    see_process(&m, SHELL, 1, 5, 530);
    see_process(&m, CHILD, SHELL, 7, 204);
    see_process(&m, 12, SHELL, SINCE, 8); /* started after sampling began */
    see_process(&m, 13, 1, 20, 9000);     /* existed before, and entered the scope later */
    assert_int_equal(coverage_end(&m, true), 30 + 4 + 8);
    assert_int_equal(m.n_lost, 0);
    coverage_members_done(&m);
}

/* The shell's reaped time includes the child's 260. */
TEST(cpu_time_of_a_reaped_child_counts_once)
{
    struct coverage_members m = { 0 };
    begin_with_two_known_processes(&m);
    coverage_begin(&m);
    see_process(&m, SHELL, 1, 5, 500 + 260);
    assert_int_equal(coverage_end(&m, true), 60);
    assert_int_equal(m.n_lost, 0);
    coverage_begin(&m);
    see_process(&m, SHELL, 1, 5, 500 + 260 + 3);
    assert_int_equal(coverage_end(&m, true), 63);
    coverage_members_done(&m);
}

TEST(an_exited_parent_passes_on_the_cpu_time_of_its_reaped_children)
{
    struct coverage_members m = { 0 };
    begin_with_two_known_processes(&m);
    coverage_begin(&m);
    see_process(&m, SHELL, 1, 5, 500);
    see_process(&m, CHILD, SHELL, 7, 200);
    see_process(&m, 12, CHILD, SINCE, 50);
    assert_int_equal(coverage_end(&m, true), 50);
    coverage_begin(&m);
    see_process(&m, SHELL, 1, 5, 500 + 200 + 70);
    assert_int_equal(coverage_end(&m, true), 70);
    assert_int_equal(m.n_lost, 0);
    coverage_members_done(&m);
}

TEST(an_unreported_exit_is_counted_with_the_last_seen_cpu_time)
{
    struct coverage_members m = { 0 };
    struct coverage_member drops = {
        .id = SHELL, .ppid = 1, .start_ns = 5, .now_ns = 500, .drops_children = true
    };
    begin_with_two_known_processes(&m);
    coverage_begin(&m);
    coverage_see(&m, &drops, SINCE); /* the child is not reaped */
    see_process(&m, CHILD, SHELL, 7, 240);
    assert_int_equal(coverage_end(&m, true), 40);
    coverage_begin(&m);
    coverage_see(&m, &drops, SINCE);
    assert_int_equal(coverage_end(&m, true), 40);
    assert_int_equal(m.n_lost, 1);
    coverage_begin(&m);
    see_process(&m, 12, 1, SINCE, 5);
    assert_int_equal(coverage_end(&m, true), 45); /* the shell's time is lost too */
    assert_int_equal(m.n_lost, 2);
    coverage_members_done(&m);
}

TEST(an_exited_thread_counts_as_lost_and_not_as_reaped)
{
    struct coverage_members m = { 0 };
    begin_with_two_known_processes(&m);
    coverage_begin(&m);
    see_process(&m, SHELL, 1, 5, 510);
    assert_int_equal(coverage_end(&m, false), 10);
    assert_int_equal(m.n_lost, 1);
    coverage_members_done(&m);
}

TEST(a_reused_pid_is_another_process)
{
    struct coverage_members m = { 0 };
    begin_with_two_known_processes(&m);
    coverage_begin(&m);
    see_process(&m, SHELL, 1, 5, 500 + 210); /* 210 of the first child */
    see_process(&m, CHILD, SHELL, SINCE + 1, 4);
    assert_int_equal(coverage_end(&m, true), 10 + 4);
    coverage_begin(&m);
    see_process(&m, SHELL, 1, 5, 500 + 210);
    see_process(&m, CHILD, SHELL, SINCE + 1, 6);
    assert_int_equal(coverage_end(&m, true), 10 + 6);
    assert_int_equal(m.n, 2);
    coverage_members_done(&m);
}

TEST(proc_pid_stat_is_parsed)
{
    struct cputime_task t;
    assert_true(cputime_parse(
        "4711 (a ) R (1 2) S 42 4711 4711 0 -1 4194560 1 2 3 4 100 20 3000 400 20 0 8 0 500 1 2 3 4 5 6 7 8 "
        "0 0 65536 0 0 0 0\n",
        100, &t));
    assert_int_equal(t.ppid, 42);
    assert_int_equal(t.own.user_ns, NS_PER_SEC);
    assert_int_equal(t.own.system_ns, NS_PER_SEC / 5);
    assert_int_equal(t.waited.user_ns, 30 * NS_PER_SEC);
    assert_int_equal(t.waited.system_ns, 4 * NS_PER_SEC);
    assert_int_equal(t.start_ns, 5 * NS_PER_SEC);
    assert_true(t.drops_children);
    assert_false(cputime_parse("4711 (sh) S 42 4711", 100, &t));
    assert_false(cputime_parse("", 100, &t));
}

static uint64_t total_cpu_ns(const struct cputime *t)
{
    return t->user_ns + t->system_ns;
}

static void burn_cpu(uint64_t ns)
{
    for (uint64_t end = clock_self_cpu_ns() + ns; clock_self_cpu_ns() < end;)
        ;
}

TEST(the_kernel_reports_own_and_reaped_child_cpu_time)
{
    struct cputime_task before, after, thread;
    assert_true(cputime_of_process((uint32_t)getpid(), &before));
    assert_false(before.drops_children);
    pid_t pid = fork();
    if (!pid) {
        burn_cpu(300 * NS_PER_MS);
        _exit(0);
    }
    waitpid(pid, NULL, 0);
    burn_cpu(200 * NS_PER_MS);
    assert_true(cputime_of_process((uint32_t)getpid(), &after));
    assert_int_equal(after.ppid, getppid());
    assert_int_equal(after.start_ns, before.start_ns);
    assert_true(total_cpu_ns(&after.waited) - total_cpu_ns(&before.waited) >= 280 * NS_PER_MS);
    assert_true(total_cpu_ns(&after.own) - total_cpu_ns(&before.own) >= 180 * NS_PER_MS);
    assert_true(cputime_of_thread((uint32_t)getpid(), &thread));
    assert_int_equal(total_cpu_ns(&thread.waited), 0);
    signal(SIGCHLD, SIG_IGN);
    assert_true(cputime_of_process((uint32_t)getpid(), &after));
    signal(SIGCHLD, SIG_DFL);
    assert_true(after.drops_children);
}

TEST(the_kernel_reports_how_busy_the_cpus_were)
{
    struct cputime before, after;
    uint64_t busy_before, busy_after, wall = clock_now_ns(), own = clock_self_cpu_ns();
    assert_true(cputime_of_cpus(NULL, 0, &before, &busy_before));
    burn_cpu(500 * NS_PER_MS);
    assert_true(cputime_of_cpus(NULL, 0, &after, &busy_after));
    own = clock_self_cpu_ns() - own;
    wall = (clock_now_ns() - wall) * (uint64_t)sysconf(_SC_NPROCESSORS_CONF);
    assert_in_range(busy_after - busy_before, own * 9 / 10, wall + wall / 10);
    assert_false(cputime_of_cpus((bool[]){ false }, 1, &after, &busy_after));
}

static const char *text_of(struct session_coverage c)
{
    static char text[200];
    session_coverage_text(&c, text, sizeof text);
    return text;
}

TEST(coverage_is_formatted_as_text)
{
    struct session_coverage c = { .sampled_ns = 986 * NS_PER_SEC,
                                  .cpu_ns = 1000 * NS_PER_SEC,
                                  .percent = 98.6 };
    assert_string_equal(text_of(c), "samples cover 98.6% of 1000.0 CPU seconds");
    c.user_only = true;
    assert_string_equal(text_of(c), "samples cover 98.6% of 1000.0 user CPU seconds");
    c.n_lost = 2;
    assert_non_null(
        strstr(text_of(c), "user CPU seconds, not counting the last moments of 2 processes that ended"));
    c.n_lost = 1;
    assert_non_null(strstr(text_of(c), "the last moments of 1 process that ended"));
    c.unknown = "the event does not count time";
    assert_string_equal(text_of(c), "coverage of the CPU time is unknown: the event does not count time");
}

static bool is_short(double percent, uint64_t seconds)
{
    struct session_coverage c = { .cpu_ns = seconds * NS_PER_SEC, .period_ns = 10 * NS_PER_MS };
    c.sampled_ns = (uint64_t)((double)c.cpu_ns * percent / 100);
    return session_coverage_is_short(&c);
}

TEST(random_variation_is_not_reported_as_a_shortage)
{
    assert_false(is_short(100, 10000));
    assert_false(is_short(94, 100)); /* 10,000 samples: 3 % variation */
    assert_true(is_short(90, 100));
    assert_false(is_short(70, 1)); /* 100 samples: 30 % variation */
    assert_true(is_short(50, 1));
    struct session_coverage unknown = { .cpu_ns = 100 * NS_PER_SEC, .period_ns = NS_PER_MS, .unknown = "" };
    assert_false(session_coverage_is_short(&unknown));
}

TEST_MAIN(NULL, NULL)
