// SPDX-License-Identifier: GPL-2.0-or-later
#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "perf/cpus.h"
#include "perf/scope.h"
#include "perf/targets.h"
#include "unit_test.h"

static struct scope scope;
static struct error error;

static int setup(void **state)
{
    scope_init(&scope);
    error_clear(&error);
    return 0;
}

static int teardown(void **state)
{
    scope_done(&scope);
    return 0;
}

#define FIXTURE_TEST(name) TEST_WITH(name, setup, teardown)

static void check_error(enum error_class class, const char *word)
{
    assert_int_equal(error.class, class);
    assert_non_null(strstr(error.text, word));
}

static void check_described(const char *expected)
{
    char text[128];
    scope_describe(&scope, text, sizeof text);
    assert_string_equal(text, expected);
}

FIXTURE_TEST(repeated_pids_are_listed_once)
{
    char list[64], expected[32];
    snprintf(list, sizeof list, "%d, %d,%d", getpid(), getppid(), getpid());
    assert_true(scope_set_pids(&scope, list, false, &error));
    assert_int_equal(scope.kind, SCOPE_PIDS);
    assert_int_equal(scope.n_ids, 2);
    assert_int_equal(scope.ids[0], getpid());
    check_described("2 processes");
    snprintf(list, sizeof list, "%d", getpid());
    assert_true(scope_set_pids(&scope, list, true, &error));
    assert_int_equal(scope.kind, SCOPE_TIDS);
    snprintf(expected, sizeof expected, "thread %d", getpid());
    check_described(expected);
}

FIXTURE_TEST(wrong_pids_are_named_and_leave_the_scope_unchanged)
{
    static const char *const bad[] = { "", "-5", "0", "1,,2", "99999999999" };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_false(scope_set_pids(&scope, bad[i], false, &error));
        check_error(ERROR_ARGUMENT, "process id");
    }
    assert_int_equal(scope.kind, SCOPE_ALL);
}

FIXTURE_TEST(processes_are_found_by_name)
{
    char list[64];
    pid_t pids[2];
    for (int i = 0; i < 2; i++) {
        pids[i] = fork();
        if (pids[i] == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL); /* or a later run of this test would find it */
            prctl(PR_SET_NAME, "scope test name");
            for (;;)
                pause();
        }
    }
    for (;;) { /* until both have their name */
        scope_done(&scope);
        scope_init(&scope);
        if (scope_set_pids(&scope, "scope test name", false, &error) && scope.n_ids == 2)
            break;
        usleep(1000);
    }
    assert_int_equal(scope.kind, SCOPE_PIDS);
    assert_true(scope.ids[0] == (uint32_t)pids[0] || scope.ids[1] == (uint32_t)pids[0]);
    snprintf(list, sizeof list, "%d, scope test name ,%d", getpid(), pids[1]);
    assert_true(scope_set_pids(&scope, list, false, &error));
    assert_int_equal(scope.n_ids, 3);
    /* by the file that they run, which this process runs too: it is excluded, as flametop excludes itself */
    assert_true(scope_set_pids(&scope, "test_scope", false, &error));
    assert_true(scope.n_ids >= 2);
    for (uint32_t i = 0; i < scope.n_ids; i++)
        assert_int_not_equal(scope.ids[i], getpid());
    static const char *const bad[] = { "scope test nam", "scope test name2", "12x", "no such process" };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_false(scope_set_pids(&scope, bad[i], false, &error));
        check_error(ERROR_MISSING, "there is no process called");
    }
    assert_false(scope_set_pids(&scope, "scope test name", true, &error));
    check_error(ERROR_ARGUMENT, "thread id");
    for (int i = 0; i < 2; i++) {
        kill(pids[i], SIGKILL);
        waitpid(pids[i], NULL, 0);
    }
}

FIXTURE_TEST(an_ended_pid_is_named)
{
    char list[32], text[32];
    pid_t pid = fork();
    if (pid == 0)
        _exit(0);
    waitpid(pid, NULL, 0);
    snprintf(list, sizeof list, "%d,%d", getpid(), pid);
    snprintf(text, sizeof text, "no process %d", pid);
    assert_false(scope_set_pids(&scope, list, false, &error));
    check_error(ERROR_MISSING, text);
}

FIXTURE_TEST(users_are_found_by_name_or_number)
{
    assert_true(scope_set_user(&scope, "root", &error));
    assert_int_equal(scope.kind, SCOPE_USER);
    assert_int_equal(scope.uid, 0);
    check_described("user root");
    assert_true(scope_set_user(&scope, "4123456789", &error));
    assert_int_equal(scope.uid, 4123456789u);
    check_described("user 4123456789");
    assert_false(scope_set_user(&scope, "no-such-user", &error));
    check_error(ERROR_MISSING, "no-such-user");
    assert_false(scope_set_user(&scope, "", &error));
    assert_int_equal(scope.uid, 4123456789u);
}

FIXTURE_TEST(cpu_lists_may_have_ranges)
{
    struct cpus c;
    assert_true(cpus_parse("0-3,8\n", &c));
    assert_int_equal(c.n, 9);
    for (uint32_t i = 0; i < 12; i++)
        assert_int_equal(cpus_has(&c, i), i <= 3 || i == 8);
    cpus_done(&c);
    static const char *const bad[] = { "", "a", "1-", "-1", "3-1", "1,,2", "1,", "0-99999999", "1 2" };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_false(cpus_parse(bad[i], &c));
        cpus_done(&c);
    }
}

FIXTURE_TEST(cpus_must_exist)
{
    struct cpus possible;
    char list[32], text[32];
    assert_true(scope_set_cpus(&scope, "0", &error));
    assert_true(scope.cpus[0]);
    assert_int_equal(scope.kind, SCOPE_ALL);
    cpus_read("possible", &possible);
    snprintf(list, sizeof list, "0-%u", possible.n);
    snprintf(text, sizeof text, "no CPU %u", possible.n);
    cpus_done(&possible);
    assert_false(scope_set_cpus(&scope, list, &error));
    check_error(ERROR_MISSING, text);
    assert_false(scope_set_cpus(&scope, "0-", &error));
    check_error(ERROR_ARGUMENT, "0-3,8");
    assert_int_equal(scope.n_cpus, 1);
}

FIXTURE_TEST(cgroups_are_found_by_either_path)
{
    char root[512];
    bool v2;
    if (!scope_cgroup_root(root, sizeof root, &v2, &error)) {
        print_message("skipped: no cgroup hierarchy for perf is mounted here\n");
        skip();
    }
    assert_int_equal(root[0], '/');
    assert_true(scope_set_cgroup(&scope, root, &error));
    assert_int_equal(scope.kind, SCOPE_CGROUP);
    check_described("cgroup /");
    assert_true(scope_set_cgroup(&scope, "/", &error));
    assert_string_equal(scope.cgroup, "/");
    assert_false(scope_set_cgroup(&scope, "/no/such//group/", &error));
    check_error(ERROR_MISSING, "/no/such/group");
    static const char *const bad[] = { "", "../..", "/a/../..", "/./x" };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_false(scope_set_cgroup(&scope, bad[i], &error));
        check_error(ERROR_ARGUMENT, root);
    }
    assert_string_equal(scope.cgroup, "/");
}

/* Needs no right to create one: the root cgroup has all processes. */
FIXTURE_TEST(some_processes_of_cgroups_are_listed)
{
    uint32_t all, some, none;
    if (!scope_cgroup_root((char[512]){ 0 }, 512, NULL, &error)) {
        print_message("skipped: no cgroup hierarchy for perf is mounted here\n");
        skip();
    }
    assert_true(scope_set_cgroup(&scope, "/", &error));
    uint32_t *pids = targets_pids_of_cgroups(&scope, 1u << 16, &all);
    mem_free(pids);
    assert_true(all > 2);
    pids = targets_pids_of_cgroups(&scope, 2, &some);
    assert_int_equal(some, 2);
    assert_true(pids[0] != pids[1] && !kill((pid_t)pids[0], 0));
    mem_free(pids);
    mem_free(targets_pids_of_cgroups(&scope, 0, &none));
    assert_int_equal(none, 0);
}

FIXTURE_TEST(nested_cgroups_are_refused)
{
    char root[512], list[1100];
    DIR *d = scope_cgroup_root(root, sizeof root, NULL, &error) ? opendir(root) : NULL;
    struct dirent *entry = NULL;
    struct stat st;
    do
        entry = d ? readdir(d) : NULL;
    while (entry &&
           (entry->d_name[0] == '.' || fstatat(dirfd(d), entry->d_name, &st, 0) || !S_ISDIR(st.st_mode)));
    if (entry)
        snprintf(list, sizeof list, "/,/%s", entry->d_name);
    if (d)
        closedir(d);
    if (!entry) {
        print_message("skipped: there are no cgroups here\n");
        skip();
    }
    assert_false(scope_set_cgroup(&scope, list, &error));
    check_error(ERROR_ARGUMENT, "twice");
    assert_true(scope_set_cgroup(&scope, "/,/", &error));
    assert_int_equal(scope_cgroups(&scope), 1);
    assert_false(scope_set_cgroup(&scope, "/,", &error));
    assert_false(scope_set_cgroup(&scope, "/,/no/such/group", &error));
}

FIXTURE_TEST(descriptions_name_cpus_and_unfollowed_children)
{
    char list[16], text[64];
    assert_true(scope_set_cpus(&scope, "0", &error));
    check_described("all on cpu 0");
    snprintf(list, sizeof list, "%d", getpid());
    snprintf(text, sizeof text, "only pid %d on cpu 0", getpid());
    assert_true(scope_set_pids(&scope, list, false, &error));
    scope.no_inherit = true;
    check_described(text);
}

FIXTURE_TEST(new_processes_can_be_left_out_of_tasks_only)
{
    for (int kind = SCOPE_ALL; kind <= SCOPE_CGROUP; kind++) {
        scope.kind = (enum scope_kind)kind;
        bool tasks = kind == SCOPE_PIDS || kind == SCOPE_TIDS;
        assert_int_equal(scope_may_stop_inheriting(&scope, &error), tasks);
    }
}

FIXTURE_TEST(copies_share_nothing)
{
    struct scope copy;
    char list[16];
    snprintf(list, sizeof list, "%d", getpid());
    assert_true(scope_set_pids(&scope, list, false, &error));
    assert_true(scope_set_cpus(&scope, "0", &error));
    scope_init(&copy);
    assert_true(scope_copy(&copy, &scope));
    assert_ptr_not_equal(copy.ids, scope.ids);
    assert_ptr_not_equal(copy.cpus, scope.cpus);
    assert_int_equal(copy.ids[0], getpid());
    assert_true(copy.cpus[0]);
    scope_done(&copy);
    assert_int_equal(scope.ids[0], getpid());
}

/* Targets: the members of a scope over time. */

static struct record fork_of(uint32_t pid, uint32_t tid, uint32_t ppid, uint32_t ptid)
{
    return (struct record){ .type = PERF_RECORD_FORK,
                            .task = { .pid = pid, .tid = tid, .ppid = ppid, .ptid = ptid } };
}

static struct record sample_of(uint32_t pid, uint32_t tid)
{
    return (struct record){ .type = PERF_RECORD_SAMPLE, .id = { .pid = pid, .tid = tid } };
}

/* Numbers above pid_max: no such process can exist. */
#define GHOST 4194400

FIXTURE_TEST(targets_follow_forks)
{
    uint32_t id = GHOST;
    struct scope s = { .kind = SCOPE_PIDS, .ids = &id, .n_ids = 1 };
    struct targets t;
    struct record r;
    targets_init(&t, &s, true);
    r = sample_of(GHOST, GHOST + 5); /* any thread of it */
    assert_true(targets_take(&t, &r));
    r = sample_of(GHOST + 1, GHOST + 1);
    assert_false(targets_take(&t, &r));
    r = fork_of(GHOST + 1, GHOST + 1, GHOST, GHOST);
    assert_true(targets_take(&t, &r));
    r = sample_of(GHOST + 1, GHOST + 1);
    assert_true(targets_take(&t, &r));
    r.type = PERF_RECORD_EXIT;
    r.task.pid = r.task.tid = GHOST + 1;
    assert_true(targets_take(&t, &r));
    r = sample_of(GHOST + 1, GHOST + 1);
    assert_false(targets_take(&t, &r));
    r = sample_of(0, 0);
    assert_false(targets_take(&t, &r));
    assert_false(targets_alive(&t));
    targets_done(&t);
}

FIXTURE_TEST(targets_without_follow_leave_children_out)
{
    uint32_t id = GHOST;
    struct scope s = { .kind = SCOPE_TIDS, .ids = &id, .n_ids = 1 };
    struct targets t;
    struct record r;
    targets_init(&t, &s, false);
    r = sample_of(7, GHOST);
    assert_true(targets_take(&t, &r));
    r = sample_of(GHOST, 7);
    assert_false(targets_take(&t, &r));
    r = fork_of(GHOST + 1, GHOST + 1, GHOST, GHOST);
    targets_take(&t, &r);
    r = sample_of(GHOST + 1, GHOST + 1);
    assert_false(targets_take(&t, &r));
    targets_done(&t);
}

FIXTURE_TEST(tasks_of_a_user_are_distinguished_from_others)
{
    struct scope s = { .kind = SCOPE_USER, .uid = geteuid() };
    struct targets t;
    struct record r = sample_of((uint32_t)getpid(), (uint32_t)getpid());
    targets_init(&t, &s, true);
    assert_true(targets_take(&t, &r));
    r = sample_of(0, 0);
    assert_false(targets_take(&t, &r));
    r = fork_of(GHOST, GHOST, (uint32_t)getpid(), (uint32_t)getpid()); /* too short-lived for /proc */
    assert_true(targets_take(&t, &r));
    r = sample_of(GHOST, GHOST);
    assert_true(targets_take(&t, &r));
    targets_done(&t);
    s.uid = geteuid() + 12345;
    targets_init(&t, &s, true);
    r = sample_of((uint32_t)getpid(), (uint32_t)getpid());
    assert_false(targets_take(&t, &r));
    targets_done(&t);
}

FIXTURE_TEST(targets_stay_bounded_in_a_fork_storm)
{
    uint32_t id = (uint32_t)getpid();
    struct scope s = { .kind = SCOPE_PIDS, .ids = &id, .n_ids = 1 };
    struct targets t;
    targets_init(&t, &s, true);
    for (uint32_t i = 0; i < 50000; i++) {
        struct record r = fork_of(GHOST + i, GHOST + i, id, id);
        assert_true(targets_take(&t, &r));
        assert_true(t.known.n <= 8192);
    }
    assert_true(targets_alive(&t));
    targets_done(&t);
}

FIXTURE_TEST(a_zombie_is_not_alive)
{
    struct targets t;
    siginfo_t info;
    pid_t pid = fork();
    if (pid == 0)
        _exit(0);
    uint32_t id = (uint32_t)pid;
    struct scope s = { .kind = SCOPE_PIDS, .ids = &id, .n_ids = 1 };
    assert_int_equal(waitid(P_PID, id, &info, WEXITED | WNOWAIT), 0);
    targets_init(&t, &s, true);
    assert_false(targets_alive(&t));
    targets_done(&t);
    waitpid(pid, NULL, 0);
}

FIXTURE_TEST(scopes_are_equal_if_everything_in_them_is)
{
    struct scope other;
    char list[32];
    scope_init(&other);
    assert_true(scope_equal(&scope, &other));
    snprintf(list, sizeof list, "%d", (int)getpid());
    assert_true(scope_set_pids(&scope, list, false, &error));
    assert_false(scope_equal(&scope, &other));
    assert_true(scope_set_pids(&other, "1", false, &error)); /* as many, but another */
    assert_false(scope_equal(&scope, &other));
    scope_done(&other);
    assert_true(scope_copy(&other, &scope) && scope_equal(&scope, &other));
    assert_true(scope_set_cpus(&other, "0", &error));
    assert_false(scope_equal(&scope, &other));
    scope_done(&other);
    assert_true(scope_copy(&other, &scope));
    other.no_kernel = true;
    assert_false(scope_equal(&scope, &other));
    scope_done(&other);
    assert_true(scope_set_all(&scope, "", NULL));
    scope.kind = other.kind = SCOPE_CGROUP;
    snprintf(scope.cgroup, sizeof scope.cgroup, "/a");
    snprintf(other.cgroup, sizeof other.cgroup, "/b");
    assert_false(scope_equal(&scope, &other));
    snprintf(other.cgroup, sizeof other.cgroup, "/a");
    assert_true(scope_equal(&scope, &other));
    scope_done(&other);
}

TEST_MAIN(NULL, NULL)
