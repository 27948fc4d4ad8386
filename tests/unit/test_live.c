// SPDX-License-Identifier: GPL-2.0-or-later
/* Samples from the rings of the running kernel. */
#include <sys/mman.h>

#include "base/mem.h"
#include "base/procfile.h"
#include "live_fixture.h"
#include "perf_fixture.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>

#define FIXTURE_TEST(name) TEST_WITH(name, setup, teardown)

FIXTURE_TEST(all_cpus_show_a_spinning_child_with_its_callers)
{
    child(spin);
    open_all_or_skip();
    RUN_UNTIL(seen.mine >= 50);
    RUN_UNTIL(seen.chained >= 20);
    struct live_stats stats;
    live_stats(live, &stats);
    assert_int_equal(stats.samples, seen.mine + seen.others);
    assert_int_equal(stats.malformed, 0);
    assert_int_equal(open_events(), live_cpu_count(live));
}

/* Within one ring an interrupt may write its record before the older one that it interrupted, microseconds
 * apart. */
FIXTURE_TEST(records_are_ordered_by_time_across_cpus)
{
    child(fork_storm);
    child(spin);
    cfg.freq_hz = 4000;
    open_all_or_skip();
    run(1000);
    RUN_UNTIL(seen.forks > 100 && seen.mine > 100);
    assert_true(seen.far_back * 100 <= seen.records);
    struct live_stats stats;
    live_stats(live, &stats);
    assert_int_equal(stats.malformed, 0);
}

FIXTURE_TEST(pid_scope_samples_only_that_process)
{
    child(spin);
    pid_t pid = child(spin);
    scope_to(pid);
    open_or_skip();
    RUN_UNTIL(seen.mine >= 50);
    assert_int_equal(seen.others, 0);
    assert_false(live_targets_gone(live));
}

FIXTURE_TEST(an_exited_target_is_noticed_without_busy_polling)
{
    pid_t pid = child(spin);
    scope_to(pid);
    open_or_skip();
    RUN_UNTIL(seen.mine >= 10);
    kill(pid, SIGKILL); /* not reaped: a zombie counts as exited too */
    RUN_UNTIL(live_targets_gone(live));
    struct pollfd p = { .fd = live_fd(live), .events = POLLIN };
    RUN_UNTIL(poll(&p, 1, 50) == 0);
    assert_true(live_drain(live, true, on_record, &seen) < 1000);
}

FIXTURE_TEST(a_wakeup_descriptor_ends_the_wait)
{
    int wake[2];
    scope_to(child(spin));
    open_or_skip();
    assert_int_equal(pipe2(wake, O_CLOEXEC | O_NONBLOCK), 0);
    live_wake_by(live, wake[0]);
    RUN_UNTIL(seen.mine >= 10);
    assert_int_equal(write(wake[1], "", 1), 1);
    struct pollfd p = { .fd = live_fd(live), .events = POLLIN };
    for (int i = 0; i < 3; i++) { /* draining does not read from it */
        assert_int_equal(poll(&p, 1, 60000), 1);
        live_drain(live, false, on_record, &seen);
    }
    assert_int_equal(read(wake[0], &(char){ 0 }, 1), 1);
    close(wake[0]);
    close(wake[1]);
}

static uint64_t drained_ns, late;

static void count_late(const struct record *r)
{
    late += r->id.time_ns && r->id.time_ns <= drained_ns;
}

FIXTURE_TEST(a_drain_passes_what_is_older_than_the_time_that_it_reports)
{
    struct live_stats stats;
    scope_to(child(fork_storm));
    open_or_skip();
    closer = count_late;
    drained_ns = late = 0;
    for (int i = 0; i < 40; i++) {
        usleep(10000);
        live_drain(live, false, on_record, &seen);
        live_stats(live, &stats);
        assert_true(seen.newest_ns <= stats.drained_ns);
        drained_ns = stats.drained_ns;
    }
    closer = NULL;
    assert_true(seen.records > 100);
    assert_int_equal(late, 0);
}

static int go_pipe[2];

static bool wait_for_go(void)
{
    char go;
    return read(go_pipe[0], &go, 1) == 1;
}

static void signal_go(void)
{
    assert_int_equal(write(go_pipe[1], "g", 1), 1);
    close(go_pipe[0]);
    close(go_pipe[1]);
}

static void fork_and_end(void)
{
    if (wait_for_go() && fork() == 0) {
        alarm(120);
        spin();
    }
}

FIXTURE_TEST(a_child_is_sampled_after_its_parent_exited)
{
    assert_int_equal(pipe(go_pipe), 0);
    pid_t pid = child(fork_and_end);
    scope_to(pid);
    open_or_skip();
    signal_go();
    RUN_UNTIL(seen.forks == 1);
    waitpid(pid, NULL, 0);
    n_children = 0;
    seen.pid = seen.last_fork_pid;
    RUN_UNTIL(seen.mine >= 20);
    assert_false(live_targets_gone(live));
    kill((pid_t)seen.last_fork_pid, SIGKILL);
    RUN_UNTIL(live_targets_gone(live));
}

FIXTURE_TEST(children_are_not_sampled_with_following_disabled)
{
    assert_int_equal(pipe(go_pipe), 0);
    pid_t pid = child(fork_and_end);
    scope_to(pid);
    cfg.inherit = false;
    open_or_skip();
    signal_go();
    RUN_UNTIL(live_targets_gone(live));
    waitpid(pid, NULL, 0);
    n_children = 0;
    run(300);
    if (seen.last_fork_pid)
        kill((pid_t)seen.last_fork_pid, SIGKILL);
    assert_int_equal(seen.forks, 1);
    assert_int_equal(seen.others, 0);
}

static void exec_on_go(void)
{
    for (volatile int i = 0; i < 100000000; i++)
        ;
    if (wait_for_go())
        execl("/bin/sh", "sh", "-c", "while :; do :; done", (char *)NULL);
}

static void expect_samples_from_exec(bool wide)
{
    assert_int_equal(pipe(go_pipe), 0);
    pid_t pid = child(exec_on_go);
    scope_to(pid);
    cfg.scope.command = true;
    cfg.enable_on_exec = true;
    cfg.wide = wide;
    open_or_skip();
    run(100);
    assert_int_equal(seen.mine, 0);
    signal_go();
    RUN_UNTIL(seen.mine >= 20);
    assert_int_equal(seen.execs, 1);
}

FIXTURE_TEST(a_command_is_sampled_from_its_exec)
{
    expect_samples_from_exec(false);
}

FIXTURE_TEST(a_command_with_system_wide_scope_is_sampled_from_its_exec)
{
    expect_samples_from_exec(true);
    assert_int_equal(seen.others, 0);
}

/* Forks children so short that the timer started with each child almost never expires. */
static void fork_short_children(void)
{
    pid_t pid;
    if (!wait_for_go())
        return;
    for (;;) {
        pid = fork();
        if (pid == 0)
            _exit(0);
        waitpid(pid, NULL, 0);
    }
}

FIXTURE_TEST(children_shorter_than_a_period_are_sampled_system_wide)
{
    assert_int_equal(pipe(go_pipe), 0);
    pid_t pid = child(fork_short_children);
    scope_to(pid);
    cfg.wide = true;
    open_or_skip();
    if (!live_is_wide(live))
        skip(); /* system-wide scope is not permitted */
    signal_go();
    RUN_UNTIL(seen.others >= 20);
    uint32_t n;
    uint32_t *known = live_known(live, &n);
    assert_true(n >= 1);
    mem_free(known);
}

static uint64_t weight, weight_least = UINT64_MAX, weight_most;

static void note_weight(const struct record *r)
{
    if (r->type != PERF_RECORD_SAMPLE)
        return;
    weight += r->sample.period;
    weight_most = r->sample.period > weight_most ? r->sample.period : weight_most;
    weight_least = r->sample.period < weight_least ? r->sample.period : weight_least;
}

static void sample_existing_child(bool wide, bool inherit)
{
    int ready[2];
    char pid_text[16];
    assert_int_equal(pipe(ready), 0);
    pid_t pid = fork(), spinner;
    if (!pid) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        spinner = fork();
        if (!spinner) {
            alarm(120);
            spin();
        }
        int n = snprintf(pid_text, sizeof pid_text, "%d", (int)spinner);
        if (write(ready[1], pid_text, (size_t)n) == n)
            pause();
        _exit(0);
    }
    children[n_children++] = pid;
    ssize_t n = read(ready[0], pid_text, sizeof pid_text - 1);
    assert_true(n > 0);
    pid_text[n] = '\0';
    close(ready[0]);
    close(ready[1]);
    struct procfile_stat stat;
    do /* until it pauses: it is in the scope, too */
        assert_true(procfile_read_stat((uint32_t)pid, &stat));
    while (stat.state != 'S');
    scope_to(pid);
    seen.pid = (uint32_t)atoi(pid_text);
    cfg.wide = wide;
    cfg.inherit = inherit;
    open_or_skip();
    if (inherit)
        RUN_UNTIL(seen.mine >= 20);
    else
        run(500);
    kill((pid_t)seen.pid, SIGKILL);
}

FIXTURE_TEST(existing_children_are_sampled)
{
    sample_existing_child(false, true);
    assert_int_equal(seen.others, 0);
}

FIXTURE_TEST(existing_children_are_sampled_system_wide)
{
    sample_existing_child(true, true);
    assert_int_equal(seen.others, 0);
}

FIXTURE_TEST(existing_children_are_not_sampled_with_following_disabled)
{
    sample_existing_child(false, false);
    assert_int_equal(seen.mine, 0);
}

/* The kernel reports a varied period for a task's event and the frequency's nominal period for a CPU's
 * event. */
static void expect_weights(uint64_t least, uint64_t most)
{
    assert_true(weight_least >= least);
    assert_true(weight_most <= most);
    assert_true(weight_most > 0);
}

FIXTURE_TEST(sample_weights_follow_the_varied_period)
{
    uint64_t period = NS_PER_SEC / 999;
    scope_to(child(spin));
    closer = note_weight;
    weight_most = 0;
    weight_least = UINT64_MAX;
    open_or_skip();
    RUN_UNTIL(seen.mine >= 20);
    expect_weights(period * 93 / 100, period * 107 / 100);
    assert_true(weight_least < period * 99 / 100 || weight_most > period * 101 / 100);
}

FIXTURE_TEST(system_wide_samples_weigh_the_nominal_period)
{
    uint64_t period = NS_PER_SEC / 999;
    child(spin);
    closer = note_weight;
    weight_most = 0;
    weight_least = UINT64_MAX;
    open_all_or_skip();
    RUN_UNTIL(seen.mine >= 20);
    live_check_cpus(live);
    RUN_UNTIL(seen.mine >= 40);
    expect_weights(period, period);
}

FIXTURE_TEST(a_reopened_source_samples_children_of_its_targets)
{
    assert_int_equal(pipe(go_pipe), 0);
    pid_t pid = child(fork_and_end);
    scope_to(pid);
    open_or_skip();
    signal_go();
    RUN_UNTIL(seen.forks == 1);
    waitpid(pid, NULL, 0);
    n_children = 0;
    uint32_t n;
    uint32_t *known = live_known(live, &n);
    live_close(live);
    cfg.known = known;
    cfg.n_known = n;
    live = live_open(&cfg, &error);
    mem_free(known);
    assert_non_null(live);
    seen.mine = 0;
    seen.pid = seen.last_fork_pid;
    RUN_UNTIL(seen.mine >= 20);
    kill((pid_t)seen.last_fork_pid, SIGKILL);
}

#define PAGES_TOUCHED 20000

/* A sanitizer would also touch its own memory for these pages. */
__attribute__((no_sanitize("address", "thread"))) static void touch_pages(void)
{
    if (!wait_for_go())
        return;
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *pages =
        mmap(NULL, PAGES_TOUCHED * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED)
        return;
    madvise(pages, PAGES_TOUCHED * page, MADV_NOHUGEPAGE); /* none if the kernel refuses */
    for (size_t i = 0; i < PAGES_TOUCHED; i++)
        pages[i * page] = 1;
}

FIXTURE_TEST(software_events_keep_their_period_as_the_sample_weight)
{
    weight = 0;
    weight_least = UINT64_MAX;
    assert_true(event_parse("page-faults", &cfg.event, &error));
    cfg.freq_hz = 0;
    cfg.period = 1000;
    closer = note_weight;
    assert_int_equal(pipe(go_pipe), 0);
    scope_to(child(touch_pages));
    open_or_skip();
    signal_go();
    RUN_UNTIL(live_targets_gone(live));
    live_drain(live, true, on_record, &seen);
    assert_int_equal(weight_least, 1000);
    assert_int_equal(weight, 1000 * seen.mine);
    assert_in_range(seen.mine, 1, PAGES_TOUCHED / 1000 + 20); /* plus faults at the start on each CPU */
}

/* The kernel reports lost records in front of the next one that fits, and here none follows. */
FIXTURE_TEST(losses_at_the_end_of_a_ring_are_counted)
{
    siginfo_t ended;
    struct live_stats stats;
    assert_true(event_parse("page-faults", &cfg.event, &error));
    cfg.freq_hz = 0;
    cfg.period = 1;
    cfg.ring_bytes = 32 * 1024;
    assert_int_equal(pipe(go_pipe), 0);
    pid_t pid = child(touch_pages);
    scope_to(pid);
    open_or_skip();
    if (!(live_attr(live)->read_format & PERF_FORMAT_LOST)) {
        print_message("skipped: this kernel does not count the lost records of an event (Linux 6.0)\n");
        skip();
    }
    signal_go();
    assert_int_equal(waitid(P_PID, (id_t)pid, &ended, WEXITED | WNOWAIT), 0);
    live_drain(live, true, on_record, &seen);
    live_stats(live, &stats);
    assert_in_range(seen.mine, 1, PAGES_TOUCHED / 2);
    assert_in_range(seen.mine + stats.lost, PAGES_TOUCHED, PAGES_TOUCHED + 200);
    live_drain(live, true, on_record, &seen);
    live_stats(live, &stats);
    assert_in_range(seen.mine + stats.lost, PAGES_TOUCHED, PAGES_TOUCHED + 200); /* not again */
}

FIXTURE_TEST(records_that_do_not_fit_in_the_ring_are_counted_as_lost)
{
    child(spin);
    cfg.freq_hz = 20000;
    cfg.ring_bytes = 32 * 1024;
    open_all_or_skip();
    uint64_t frequency = live_config_of(live)->freq_hz;
    struct live_stats stats = { 0 };
    for (int i = 0; i < 300 && stats.lost <= 100; i++) {
        usleep(100000);
        run(100); /* the kernel reports lost records once there is room again */
        live_stats(live, &stats);
    }
    if (stats.lost <= 100 && frequency < 5000) {
        print_message("skipped: the kernel has lowered the rate to %llu\n", (unsigned long long)frequency);
        skip();
    }
    assert_true(stats.lost > 100);
}

/* Waits until a process has used this much more CPU time. */
static void let_run(pid_t pid, uint64_t ns)
{
    clockid_t clock;
    struct timespec t;
    uint64_t start = 0, now = 0, deadline = clock_now_ns() + 60 * NS_PER_SEC;
    assert_int_equal(clock_getcpuclockid(pid, &clock), 0);
    for (bool first = true; now - start < ns && clock_now_ns() < deadline; first = false) {
        assert_int_equal(clock_gettime(clock, &t), 0);
        now = (uint64_t)t.tv_sec * NS_PER_SEC + (uint64_t)t.tv_nsec;
        start = first ? now : start;
        usleep(10000);
    }
    assert_true(now - start >= ns);
}

static bool stop_at_once(void *ctx, const struct record *r)
{
    (void)r;
    ++*(int *)ctx;
    return false;
}

FIXTURE_TEST(stopping_a_drain_loses_nothing)
{
    int calls = 0;
    pid_t pid = child(spin);
    scope_to(pid);
    open_or_skip();
    let_run(pid, 300 * NS_PER_MS);
    assert_int_equal(live_drain(live, true, stop_at_once, &calls), 1);
    assert_int_equal(calls, 1);
    assert_true(live_drain(live, true, on_record, &seen) > 20);
}

FIXTURE_TEST(only_the_listed_cpus_are_sampled)
{
    child(spin);
    child(spin);
    assert_true(scope_set_cpus(&cfg.scope, "0", &error));
    open_all_or_skip();
    RUN_UNTIL(seen.on_cpu[0] >= 50);
    assert_int_equal(live_cpu_count(live), 1);
    for (int i = 1; i < 64; i++)
        assert_int_equal(seen.on_cpu[i], 0);
}

FIXTURE_TEST(user_space_only_sampling_has_no_kernel_samples)
{
    child(fork_storm);
    child(spin);
    cfg.scope.no_kernel = true;
    open_or_skip();
    RUN_UNTIL(seen.mine >= 50);
    assert_int_equal(seen.kernel, 0);
    assert_int_equal(live_attr(live)->exclude_kernel, 1);
}

static void spin_as_nobody(void)
{
    if (setgroups(0, NULL) != 0 || setgid(NOBODY) != 0 || setuid(NOBODY) != 0)
        _exit(1);
    prctl(PR_SET_DUMPABLE, 1);
    spin();
}

static void wait_until_owned_by_nobody(pid_t pid)
{
    char path[32];
    struct stat st = { 0 };
    snprintf(path, sizeof path, "/proc/%d", (int)pid);
    for (int i = 0; i < 1200 && !(stat(path, &st) == 0 && st.st_uid == NOBODY); i++)
        usleep(50000);
    assert_int_equal(st.st_uid, NOBODY);
}

FIXTURE_TEST(user_scope_excludes_other_users)
{
    if (geteuid() != 0) {
        print_message("skipped: needs root, to become another user\n");
        skip();
    }
    pid_t other = child(spin);
    wait_until_owned_by_nobody(child(spin_as_nobody));
    assert_true(scope_set_user(&cfg.scope, "65534", &error));
    open_or_skip();
    RUN_UNTIL(seen.mine >= 50);
    seen.pid = (uint32_t)other;
    seen.mine = 0;
    run(200);
    assert_int_equal(seen.mine, 0);
}

static bool put_into(const char *cgroup, pid_t pid)
{
    char file[600], text[16];
    snprintf(file, sizeof file, "%s/cgroup.procs", cgroup);
    snprintf(text, sizeof text, "%d", pid);
    int fd = open(file, O_WRONLY | O_CLOEXEC);
    bool ok = fd >= 0 && write(fd, text, strlen(text)) > 0;
    if (fd >= 0)
        close(fd);
    return ok;
}

static uint64_t second_of_two;
static uint32_t second_pid;

static void count_second(const struct record *r)
{
    second_of_two += r->type == PERF_RECORD_SAMPLE && r->id.pid == second_pid;
}

FIXTURE_TEST(several_cgroups_are_sampled_at_once)
{
    char names[2][64], paths[2][512], list[1100];
    for (int i = 0; i < 2; i++) {
        snprintf(names[i], sizeof names[i], "flametop-test.%d.%d", (int)getpid(), i);
        if (!make_cgroup(paths[i], sizeof paths[i], names[i])) {
            print_message("skipped: cannot create a cgroup on this system\n");
            skip();
        }
    }
    child(spin); /* in neither cgroup */
    pid_t second = child(spin), first = child(spin);
    bool put = put_into(paths[0], first) && put_into(paths[1], second);
    snprintf(list, sizeof list, "%s,/%s", paths[0], names[1]);
    bool set = scope_set_cgroup(&cfg.scope, list, &error);
    second_of_two = 0;
    second_pid = (uint32_t)second;
    closer = count_second;
    live = put && set ? live_open(&cfg, &error) : NULL;
    if (live)
        for (int i = 0; i < 1200 && (seen.mine < 20 || second_of_two < 20); i++)
            run(50);
    for (int i = 1; i < 3; i++) {
        kill(children[i], SIGKILL);
        waitpid(children[i], NULL, 0);
    }
    rmdir(paths[0]);
    rmdir(paths[1]);
    assert_true(put && set);
    if (!live && (error.class == ERROR_PERMISSION || error.class == ERROR_UNSUPPORTED)) {
        print_message("skipped: %s\n", error.text);
        skip();
    }
    assert_int_equal(scope_cgroups(&cfg.scope), 2);
    assert_true(seen.mine >= 20 && second_of_two >= 20);
    assert_int_equal(seen.others, second_of_two);
}

FIXTURE_TEST(cgroup_scope_samples_only_its_tasks)
{
    char name[64], path[512], file[600], pid_text[16];
    snprintf(name, sizeof name, "/flametop-test.%d", (int)getpid());
    if (!make_cgroup(path, sizeof path, name + 1)) {
        print_message("skipped: cannot create a cgroup on this system\n");
        skip();
    }
    child(spin);
    snprintf(pid_text, sizeof pid_text, "%d", child(spin));
    snprintf(file, sizeof file, "%s/cgroup.procs", path);
    int fd = open(file, O_WRONLY | O_CLOEXEC);
    assert_true(fd >= 0 && write(fd, pid_text, strlen(pid_text)) > 0);
    close(fd);
    assert_true(scope_set_cgroup(&cfg.scope, path, &error));
    assert_string_equal(cfg.scope.cgroup, name);
    live = live_open(&cfg, &error);
    if (live)
        for (int i = 0; i < 1200 && seen.mine < 50; i++)
            run(50);
    uint64_t others = seen.others, mine = seen.mine;
    kill(children[1], SIGKILL);
    waitpid(children[1], NULL, 0);
    rmdir(path);
    if (!live && (error.class == ERROR_PERMISSION || error.class == ERROR_UNSUPPORTED)) {
        print_message("skipped: %s\n", error.text);
        skip();
    }
    assert_true(mine >= 50);
    assert_int_equal(others, 0);
}

#define MANY 40

static void wait_for_threads(pid_t pid, unsigned wanted)
{
    char path[64], line[256];
    unsigned threads = 0;
    snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
    for (int i = 0; i < 1200 && threads < wanted; i++) {
        FILE *f = fopen(path, "r");
        assert_non_null(f);
        while (fgets(line, sizeof line, f))
            sscanf(line, "Threads: %u", &threads);
        fclose(f);
        usleep(50000);
    }
    assert_true(threads >= wanted);
}

static void many_threads(void)
{
    pthread_t t;
    for (int i = 1; i < MANY; i++)
        pthread_create(&t, NULL, spin_thread, NULL);
    spin();
}

/* Opens and samples in a child with changed limits and user. The child returns its verdict through a pipe. */
struct verdict {
    bool opened, own;
    uint64_t mine, others;
    uint32_t fds, notes;
    char text[480];
};

static struct verdict open_with_limits(rlim_t files, bool drop_user)
{
    struct verdict v = { 0 };
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    pid_t pid = fork();
    if (pid == 0) {
        const struct rlimit few = { files, files }, none = { 0, 0 };
        const struct live_note *notes;
        setrlimit(RLIMIT_NOFILE, &few);
        setrlimit(RLIMIT_MEMLOCK, &none);
        if (drop_user && (setgroups(0, NULL) || setgid(NOBODY) || setuid(NOBODY)))
            _exit(1);
        live = live_open(&cfg, &error);
        v.opened = live != NULL;
        snprintf(v.text, sizeof v.text, "%s", error.text);
        if (live) {
            v.fds = open_events();
            v.notes = live_notes(live, &notes);
            v.own = live_config_of(live)->scope.own;
            for (int i = 0; i < 1200 && seen.mine < 20; i++)
                run(50);
        }
        v.mine = seen.mine;
        v.others = seen.others;
        _exit(write(ends[1], &v, sizeof v) == sizeof v ? 0 : 1);
    }
    close(ends[1]);
    bool told = read(ends[0], &v, sizeof v) == sizeof v;
    close(ends[0]);
    waitpid(pid, NULL, 0);
    assert_true(told);
    return v;
}

FIXTURE_TEST(a_process_with_many_threads_is_sampled_under_low_limits)
{
    pid_t pid = child(many_threads);
    scope_to(pid);
    wait_for_threads(pid, MANY);
    struct verdict v = open_with_limits(64, false);
    if (!v.opened) {
        assert_true(strlen(v.text) > 20);
        return;
    }
    assert_true(v.fds < 64);
    assert_true(v.mine >= 20);
    assert_int_equal(v.others, 0);
}

FIXTURE_TEST(unprivileged_users_sample_own_processes_or_get_a_message)
{
    if (geteuid() != 0) {
        print_message("skipped: needs root, to drop privileges\n");
        skip();
    }
    wait_until_owned_by_nobody(child(spin_as_nobody));
    cfg.ring_bytes = 16 << 20;
    struct verdict v = open_with_limits(64, true);
    if (!v.opened) {
        assert_non_null(strstr(v.text, "perf_event_paranoid"));
        assert_non_null(strstr(v.text, "cap_perfmon"));
        return;
    }
    assert_true(v.mine >= 20);
    if (v.own)
        assert_true(v.notes >= 1);
}

/* All limits at once: few files, no locked memory, no privilege, and four events that want rings of 16 MB. */
FIXTURE_TEST(several_events_with_low_limits_are_sampled_or_refused_with_a_reason)
{
    if (geteuid() != 0) {
        print_message("skipped: needs root, to drop privileges\n");
        skip();
    }
    pid_t pid = child(spin_as_nobody);
    wait_until_owned_by_nobody(pid);
    scope_to(pid);
    cfg.event.attr.exclude_kernel = cfg.event.attr.exclude_hv = 1;
    cfg.event.members = 4;
    cfg.n_others = 3;
    cfg.others[0].event = software("page-faults:u", PERF_COUNT_SW_PAGE_FAULTS);
    cfg.others[1].event = software("minor-faults:u", PERF_COUNT_SW_PAGE_FAULTS_MIN);
    cfg.others[2].event = software("major-faults:u", PERF_COUNT_SW_PAGE_FAULTS_MAJ);
    for (int i = 0; i < 3; i++)
        cfg.others[i].event.attr.exclude_kernel = cfg.others[i].event.attr.exclude_hv = 1;
    cfg.ring_bytes = 16 << 20;
    struct verdict v = open_with_limits(64, true);
    if (!v.opened) {
        assert_true(strstr(v.text, "perf_event_paranoid") || strstr(v.text, "ulimit"));
        return;
    }
    assert_true(v.fds < 64);
    assert_true(v.mine >= 20);
}

FIXTURE_TEST(a_process_of_another_user_is_refused_by_name)
{
    if (geteuid() != 0) {
        print_message("skipped: needs root, to drop privileges\n");
        skip();
    }
    scope_to(child(spin));
    struct verdict v = open_with_limits(256, true);
    assert_false(v.opened);
    assert_non_null(strstr(v.text, "uid 0"));
    assert_non_null(strstr(v.text, "cap_perfmon"));
}

FIXTURE_TEST(an_event_that_does_not_exist_is_named)
{
    cfg.event = (struct event){ .name = "no-such-counter", .kind = EVENT_HARDWARE };
    cfg.event.attr.type = PERF_TYPE_HARDWARE;
    cfg.event.attr.config = 9999;
    live = live_open(&cfg, &error);
    assert_null(live);
    assert_non_null(strstr(error.text, "no-such-counter"));
}

FIXTURE_TEST(the_default_hardware_event_falls_back_to_cpu_clock)
{
    const struct live_note *notes;
    cfg.event = (struct event){ .name = "cycles:u", .kind = EVENT_HARDWARE, .precise_max = true };
    cfg.event.attr.type = PERF_TYPE_HARDWARE;
    cfg.event.attr.config = 9999;
    cfg.event.attr.exclude_kernel = 1;
    cfg.named = false;
    open_or_skip();
    assert_int_equal(live_attr(live)->type, PERF_TYPE_SOFTWARE);
    assert_int_equal(live_attr(live)->exclude_kernel, 1);
    assert_string_equal(live_config_of(live)->event.name, "cpu-clock:u");
    assert_true(live_notes(live, &notes) >= 1);
    bool said = false;
    for (uint32_t i = 0; i < live_notes(live, &notes); i++)
        said = said || strstr(notes[i].what, "sampling cpu-clock");
    assert_true(said);
}

FIXTURE_TEST(a_frequency_above_the_limit_is_lowered_with_a_note)
{
    const struct live_note *notes;
    uint64_t limit = 0;
    if (!file_read_u64("/proc/sys/kernel/perf_event_max_sample_rate", &limit)) {
        print_message("skipped: this kernel reports no limit\n");
        skip();
    }
    cfg.freq_hz = limit + 1000000;
    scope_to(getpid());
    open_or_skip();
    assert_true(live_config_of(live)->freq_hz <= limit);
    assert_true(live_notes(live, &notes) >= 1);
    assert_non_null(strstr(notes[0].what, "limit"));
}

FIXTURE_TEST(an_empty_scope_is_refused)
{
    cfg.scope.no_kernel = cfg.scope.no_user = true;
    assert_null(live_open(&cfg, &error));
    assert_int_equal(error.class, ERROR_ARGUMENT);
}

FIXTURE_TEST(an_exited_process_is_named)
{
    char text[64];
    pid_t pid = child(spin);
    scope_to(pid);
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    n_children = 0;
    snprintf(text, sizeof text, "process %d has ended", pid);
    for (int wide = 0; wide < 2; wide++) {
        cfg.wide = wide;
        error_clear(&error);
        assert_null(live_open(&cfg, &error));
        assert_string_equal(error.text, text);
    }
}

static int teardown_hotplug(void **state)
{
    if (access(HOTPLUG, W_OK) == 0)
        switch_cpu(true);
    return teardown(state);
}

TEST_WITH(a_cpu_going_offline_and_online_keeps_sampling, setup, teardown_hotplug)
{
    uint64_t online = 0;
    for (int i = 0; i < 3; i++)
        child(spin);
    if (access(HOTPLUG, W_OK) != 0 || !file_read_u64(HOTPLUG, &online) || online != 1) {
        print_message("skipped: cannot take CPU 1 offline\n");
        skip();
    }
    open_all_or_skip();
    uint32_t cpus = live_cpu_count(live);
    RUN_UNTIL(seen.on_cpu[1] >= 20);
    if (!switch_cpu(false)) {
        print_message("skipped: the kernel keeps CPU 1 online\n");
        skip();
    }
    live_check_cpus(live);
    run(100);
    assert_int_equal(live_cpu_count(live), cpus - 1);
    assert_true(switch_cpu(true));
    live_check_cpus(live);
    assert_int_equal(live_cpu_count(live), cpus);
    memset(seen.on_cpu, 0, sizeof seen.on_cpu);
    RUN_UNTIL(seen.on_cpu[1] >= 20 && seen.on_cpu[0] >= 20);
}

/* Replaces each event by a pipe that is hung up and empty, as an event is whose PMU was removed. */
static void replace_events_by_hung_up_pipes(void)
{
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    close(ends[1]);
    for (int fd = 3; fd < 1024; fd++) {
        if (!is_event_fd(fd))
            continue;
        ioctl(fd, PERF_EVENT_IOC_DISABLE, 0); /* its ring keeps the event open */
        assert_int_equal(dup2(ends[0], fd), fd);
    }
    close(ends[0]);
}

FIXTURE_TEST(an_event_that_hangs_up_is_reopened)
{
    child(spin);
    open_all_or_skip();
    uint32_t cpus = live_cpu_count(live);
    RUN_UNTIL(seen.mine >= 5);
    replace_events_by_hung_up_pipes();
    live_check_cpus(live); /* this check finds new records, the next one finds none */
    live_check_cpus(live);
    assert_int_equal(live_lost_cpus(live), 0);
    RUN_UNTIL(live_cpu_count(live) == cpus);
    seen.mine = 0;
    RUN_UNTIL(seen.mine >= 5);
    assert_false(live_targets_gone(live));
}

/* Replaces each event by a pipe that returns these enabled and running times each time it is read. */
static void replace_events_by_fixed_times(uint64_t enabled_ns, uint64_t running_ns)
{
    const uint64_t answer[3] = { 0, enabled_ns, running_ns };
    for (int fd = 3; fd < 1024; fd++) {
        int ends[2];
        if (!is_event_fd(fd))
            continue;
        ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);                    /* its ring keeps the event open */
        assert_int_equal(pipe2(ends, O_DIRECT | O_NONBLOCK), 0); /* each read returns one packet */
        for (int i = 0; i < 4; i++)
            assert_int_equal(write(ends[1], answer, sizeof answer), sizeof answer);
        assert_int_equal(dup2(ends[0], fd), fd);
        close(ends[0]);
        close(ends[1]);
    }
}

static void sleep_forever(void)
{
    for (;;)
        pause();
}

static bool is_starved_after(uint64_t enabled_ns, uint64_t running_ns)
{
    open_or_skip();
    live_check_cpus(live);
    assert_false(live_is_starved(live));
    replace_events_by_fixed_times(enabled_ns, running_ns);
    live_check_cpus(live);
    bool starves = live_is_starved(live);
    live_close(live);
    live = NULL;
    return starves;
}

FIXTURE_TEST(an_event_that_never_got_a_counter_is_reported)
{
    scope_to(child(sleep_forever));
    assert_true(is_starved_after(10 * NS_PER_SEC, 0));
    assert_false(is_starved_after(10 * NS_PER_SEC, 1));
    assert_false(is_starved_after(0, 0));
}

#define LOW_HALF(field)                                                                                      \
    (offsetof(struct seccomp_data, field) + (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? 4 : 0))

/* Makes perf_event_open() fail with this errno on the CPUs from this one on. */
static bool refuse_events(int sys, uint32_t from_cpu)
{
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_perf_event_open, 0, 3),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, LOW_HALF(args[2])),
        BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, from_cpu, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (uint32_t)sys),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = { sizeof filter / sizeof *filter, filter };
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

#define UNFILTERED 9 /* system calls cannot be filtered */

/* Runs a check in its own process, whose system calls may be refused. It passes if the check returns 0. */
static void assert_in_child(int (*test)(void))
{
    int status;
    pid_t pid = fork();
    if (pid == 0)
        _exit(test());
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    if (WEXITSTATUS(status) == UNFILTERED) {
        print_message("skipped: system calls cannot be filtered\n");
        skip();
    }
    assert_int_equal(WEXITSTATUS(status), 0);
}

/* Returns 0 if the loss is reported, polling blocks, and no running target is reported as exited. */
static int check_lost_event(void)
{
    live = live_open(&cfg, &error); /* rings are not inherited */
    if (!live)
        return 8;
    struct pollfd p = { .fd = live_fd(live), .events = POLLIN };
    replace_events_by_hung_up_pipes();
    if (!refuse_events(ENOENT, 0))
        return UNFILTERED;
    for (int i = 0; i < 3; i++) {
        live_check_cpus(live);
        live_drain(live, false, on_record, &seen);
    }
    if (live_targets_gone(live))
        return 1;
    if (live_lost_cpus(live) == 0)
        return 2;
    return poll(&p, 1, 50) == 0 ? 0 : 3;
}

FIXTURE_TEST(an_event_that_hangs_up_and_cannot_be_reopened_is_reported)
{
    child(spin);
    open_all_or_skip();
    assert_in_child(check_lost_event);
}

/* As on big and little cores, when one CPU type lacks the event. */
static int open_on_the_first_cpu_only(void)
{
    const struct live_note *notes;
    if (!refuse_events(ENOENT, 1))
        return UNFILTERED;
    if (!(live = live_open(&cfg, &error)))
        return 1;
    if (live_cpu_count(live) != 1 || live_notes(live, &notes) != 1)
        return 2;
    if (!strstr(notes[0].what, "cpu-clock exists on 1 of "))
        return 3;
    live_check_cpus(live);
    return live_cpu_count(live) == 1 && live_lost_cpus(live) == 0 ? 0 : 4;
}

FIXTURE_TEST(events_missing_on_some_cpus_are_sampled_on_the_others)
{
    open_all_or_skip();
    if (live_cpu_count(live) < 2) {
        print_message("skipped: needs two CPUs\n");
        skip();
    }
    live_close(live);
    live = NULL;
    assert_in_child(open_on_the_first_cpu_only);
}

static int open_with_all_counters_in_use(void)
{
    if (!refuse_events(EBUSY, 0))
        return UNFILTERED;
    if (live_open(&cfg, &error))
        return 1;
    return error.class == ERROR_LIMIT && strstr(error.text, "another profiler, or the NMI watchdog") ? 0 : 2;
}

FIXTURE_TEST(counters_in_use_by_others_are_reported)
{
    assert_in_child(open_with_all_counters_in_use);
}

TEST_MAIN(NULL, NULL)
