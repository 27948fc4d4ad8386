// SPDX-License-Identifier: GPL-2.0-or-later
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "session/coverage.h"

#define SINCE 1000 /* the scope is sampled since then */
#define SHELL 10
#define CHILD 11

static void saw(struct coverage_members *m, uint32_t id, uint32_t ppid, uint64_t start_ns, uint64_t cpu_ns)
{
    struct coverage_member now = { .id = id, .ppid = ppid, .start_ns = start_ns, .now_ns = cpu_ns };
    coverage_see(m, &now, SINCE);
}

/* A shell that had 500 before, and a child of it that had 200. */
static void first_look(struct coverage_members *m)
{
    coverage_begin(m);
    saw(m, SHELL, 1, 5, 500);
    saw(m, CHILD, SHELL, 7, 200);
    assert_int_equal(coverage_end(m, true), 0);
}

static void cpu_time_from_before_the_first_look_does_not_count(void **state)
{
    struct coverage_members m = { 0 };
    (void)state;
    first_look(&m);
    coverage_begin(&m);
    saw(&m, SHELL, 1, 5, 530);
    saw(&m, CHILD, SHELL, 7, 204);
    saw(&m, 12, SHELL, SINCE, 8); /* it has started since */
    saw(&m, 13, 1, 20, 9000);     /* it was there, and has come into the scope since */
    assert_int_equal(coverage_end(&m, true), 30 + 4 + 8);
    assert_int_equal(m.n_lost, 0);
    coverage_members_done(&m);
}

/* Its 260 are part of what the shell has waited for. */
static void time_of_a_child_that_was_waited_for_counts_once(void **state)
{
    struct coverage_members m = { 0 };
    (void)state;
    first_look(&m);
    coverage_begin(&m);
    saw(&m, SHELL, 1, 5, 500 + 260);
    assert_int_equal(coverage_end(&m, true), 60);
    assert_int_equal(m.n_lost, 0);
    coverage_begin(&m);
    saw(&m, SHELL, 1, 5, 500 + 260 + 3);
    assert_int_equal(coverage_end(&m, true), 63);
    coverage_members_done(&m);
}

static void a_parent_that_ended_too_has_handed_on_what_it_waited_for(void **state)
{
    struct coverage_members m = { 0 };
    (void)state;
    first_look(&m);
    coverage_begin(&m);
    saw(&m, SHELL, 1, 5, 500);
    saw(&m, CHILD, SHELL, 7, 200);
    saw(&m, 12, CHILD, SINCE, 50);
    assert_int_equal(coverage_end(&m, true), 50);
    coverage_begin(&m);
    saw(&m, SHELL, 1, 5, 500 + 200 + 70);
    assert_int_equal(coverage_end(&m, true), 70);
    assert_int_equal(m.n_lost, 0);
    coverage_members_done(&m);
}

static void end_that_nobody_tells_of_is_counted_and_the_last_look_holds(void **state)
{
    struct coverage_members m = { 0 };
    struct coverage_member drops = {
        .id = SHELL, .ppid = 1, .start_ns = 5, .now_ns = 500, .drops_children = true
    };
    (void)state;
    first_look(&m);
    coverage_begin(&m);
    coverage_see(&m, &drops, SINCE); /* nobody waits for the child */
    saw(&m, CHILD, SHELL, 7, 240);
    assert_int_equal(coverage_end(&m, true), 40);
    coverage_begin(&m);
    coverage_see(&m, &drops, SINCE);
    assert_int_equal(coverage_end(&m, true), 40);
    assert_int_equal(m.n_lost, 1);
    coverage_begin(&m);
    saw(&m, 12, 1, SINCE, 5);
    assert_int_equal(coverage_end(&m, true),
                     45); /* of the shell nobody tells either: its parent is no member */
    assert_int_equal(m.n_lost, 2);
    coverage_members_done(&m);
}

static void threads_are_waited_for_by_nobody(void **state)
{
    struct coverage_members m = { 0 };
    (void)state;
    first_look(&m);
    coverage_begin(&m);
    saw(&m, SHELL, 1, 5, 510);
    assert_int_equal(coverage_end(&m, false), 10);
    assert_int_equal(m.n_lost, 1);
    coverage_members_done(&m);
}

static void another_process_with_the_same_number_is_another(void **state)
{
    struct coverage_members m = { 0 };
    (void)state;
    first_look(&m);
    coverage_begin(&m);
    saw(&m, SHELL, 1, 5, 500 + 210); /* the first child's 210 */
    saw(&m, CHILD, SHELL, SINCE + 1, 4);
    assert_int_equal(coverage_end(&m, true), 10 + 4);
    coverage_begin(&m);
    saw(&m, SHELL, 1, 5, 500 + 210);
    saw(&m, CHILD, SHELL, SINCE + 1, 6);
    assert_int_equal(coverage_end(&m, true), 10 + 6);
    assert_int_equal(m.n, 2);
    coverage_members_done(&m);
}

static void stat_of_a_process_is_taken_apart(void **state)
{
    struct cputime_task t;
    (void)state;
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

static uint64_t sum(const struct cputime *t)
{
    return t->user_ns + t->system_ns;
}

static void burn(uint64_t ns)
{
    for (uint64_t end = clock_self_cpu_ns() + ns; clock_self_cpu_ns() < end;)
        ;
}

static void the_kernel_tells_of_us_and_of_a_child_that_we_waited_for(void **state)
{
    struct cputime_task before, after, thread;
    (void)state;
    assert_true(cputime_of_process((uint32_t)getpid(), &before));
    assert_false(before.drops_children);
    pid_t pid = fork();
    if (!pid) {
        burn(300 * NS_PER_MS);
        _exit(0);
    }
    waitpid(pid, NULL, 0);
    burn(200 * NS_PER_MS);
    assert_true(cputime_of_process((uint32_t)getpid(), &after));
    assert_int_equal(after.ppid, getppid());
    assert_int_equal(after.start_ns, before.start_ns);
    assert_true(sum(&after.waited) - sum(&before.waited) >= 280 * NS_PER_MS);
    assert_true(sum(&after.own) - sum(&before.own) >= 180 * NS_PER_MS);
    assert_true(cputime_of_thread((uint32_t)getpid(), &thread));
    assert_int_equal(sum(&thread.waited), 0);
    signal(SIGCHLD, SIG_IGN);
    assert_true(cputime_of_process((uint32_t)getpid(), &after));
    signal(SIGCHLD, SIG_DFL);
    assert_true(after.drops_children);
}

static void the_kernel_tells_how_busy_the_cpus_were(void **state)
{
    struct cputime before, after;
    uint64_t busy_before, busy_after, wall = clock_now_ns(), own = clock_self_cpu_ns();
    (void)state;
    assert_true(cputime_of_cpus(NULL, 0, &before, &busy_before));
    burn(500 * NS_PER_MS);
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

static void coverage_in_words(void **state)
{
    struct session_coverage c = { .sampled_ns = 986 * NS_PER_SEC,
                                  .cpu_ns = 1000 * NS_PER_SEC,
                                  .percent = 98.6 };
    (void)state;
    assert_string_equal(text_of(c), "samples cover 98.6% of 1000.0 CPU seconds");
    c.user_only = true;
    assert_string_equal(text_of(c), "samples cover 98.6% of 1000.0 user CPU seconds");
    c.n_lost = 2;
    assert_non_null(
        strstr(text_of(c), "user CPU seconds, not counting the last moments of 2 processes that ended"));
    c.unknown = "the event does not count time";
    assert_string_equal(text_of(c), "coverage of the CPU time is unknown: the event does not count time");
}

static bool is_short(double percent, uint64_t seconds)
{
    struct session_coverage c = { .cpu_ns = seconds * NS_PER_SEC, .period_ns = 10 * NS_PER_MS };
    c.sampled_ns = (uint64_t)((double)c.cpu_ns * percent / 100);
    return session_coverage_is_short(&c);
}

static void chance_is_no_shortage(void **state)
{
    (void)state;
    assert_false(is_short(100, 10000));
    assert_false(is_short(94, 100)); /* 10,000 samples: 3 % by chance */
    assert_true(is_short(90, 100));
    assert_false(is_short(70, 1)); /* 100 samples: 30 % */
    assert_true(is_short(50, 1));
    struct session_coverage unknown = { .cpu_ns = 100 * NS_PER_SEC, .period_ns = NS_PER_MS, .unknown = "" };
    assert_false(session_coverage_is_short(&unknown));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cpu_time_from_before_the_first_look_does_not_count),
        cmocka_unit_test(time_of_a_child_that_was_waited_for_counts_once),
        cmocka_unit_test(a_parent_that_ended_too_has_handed_on_what_it_waited_for),
        cmocka_unit_test(end_that_nobody_tells_of_is_counted_and_the_last_look_holds),
        cmocka_unit_test(threads_are_waited_for_by_nobody),
        cmocka_unit_test(another_process_with_the_same_number_is_another),
        cmocka_unit_test(stat_of_a_process_is_taken_apart),
        cmocka_unit_test(the_kernel_tells_of_us_and_of_a_child_that_we_waited_for),
        cmocka_unit_test(the_kernel_tells_how_busy_the_cpus_were),
        cmocka_unit_test(coverage_in_words),
        cmocka_unit_test(chance_is_no_shortage),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
