// SPDX-License-Identifier: GPL-2.0-or-later
/* Groups of events on the rings of the running kernel. */
#include "live_fixture.h"

#include <sched.h>
#include <sys/mman.h>

#define PAGES 5000

static int go_pipe[2];
static struct counted {
    uint64_t samples[3], periods[3];
    uint64_t again; /* records that repeat the sample of the previous one */
} counted;

static void count_record(const struct record *r)
{
    if (r->type != PERF_RECORD_SAMPLE)
        return;
    assert_true(r->source < 3);
    counted.samples[r->source]++;
    counted.periods[r->source] += r->sample.period;
    counted.again += r->again;
}

/* Counts on a CPU are read by the next sample there: a task that migrates in between would miss some. */
static void stay_on_this_cpu(void)
{
    cpu_set_t here;
    CPU_ZERO(&here);
    CPU_SET(sched_getcpu(), &here);
    sched_setaffinity(0, sizeof here, &here);
}

static bool wait_for_go(void)
{
    char go;
    return read(go_pipe[0], &go, 1) == 1;
}

/* Touches the pages, then computes. A sanitizer would also touch its own memory for these pages. */
__attribute__((no_sanitize("address", "thread"))) static void touch(void)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    stay_on_this_cpu();
    char *pages = mmap(NULL, PAGES * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED)
        return;
    madvise(pages, PAGES * page, MADV_NOHUGEPAGE);
    for (size_t i = 0; i < PAGES; i++)
        pages[i * page] = 1;
    spin();
}

static void touch_on_go(void)
{
    if (wait_for_go())
        touch();
}

static void fork_and_touch_on_go(void)
{
    if (!wait_for_go())
        return;
    pid_t pid = fork();
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        alarm(590);
        touch();
        _exit(0);
    }
    pause();
}

static int setup_group(void **state)
{
    setup(state);
    memset(&counted, 0, sizeof counted);
    closer = count_record;
    cfg.event.members = 2;
    cfg.n_others = 1;
    cfg.event.reads = true;
    cfg.others[0].event = software("page-faults", PERF_COUNT_SW_PAGE_FAULTS);
    return pipe(go_pipe);
}

#define FIXTURE_TEST(name) TEST_WITH(name, setup_group, teardown)

static void signal_go(void)
{
    assert_int_equal(write(go_pipe[1], "g", 1), 1);
    close(go_pipe[0]);
    close(go_pipe[1]);
}

static void expect_pages(void)
{
    RUN_UNTIL(counted.periods[1] >= PAGES);
    uint64_t then = counted.samples[0];
    RUN_UNTIL(counted.samples[0] >= then + 20);
    assert_in_range(counted.periods[1], PAGES, PAGES + PAGES / 4); /* plus the pages copied by fork */
    assert_true(counted.samples[1] <= counted.samples[0]);
    assert_int_equal(counted.samples[1], counted.again);
}

FIXTURE_TEST(the_leader_samples_and_reads_the_other_members)
{
    scope_to(child(touch_on_go));
    open_or_skip();
    signal_go();
    expect_pages();
    /* per task: ThreadSanitizer gives the child a second thread */
    assert_int_equal(open_events() % (2 * live_cpu_count(live)), 0);
    assert_non_null(live_attr_of(live, 1));
    assert_null(live_attr_of(live, 2));
    const struct live_note *notes;
    assert_int_equal(live_notes(live, &notes), 0);
}

/* Uses the kernel's inheritance or, before Linux 6.13, all CPUs. */
FIXTURE_TEST(children_are_read_separately)
{
    scope_to(child(fork_and_touch_on_go));
    open_or_skip();
    signal_go();
    expect_pages();
}

FIXTURE_TEST(each_member_samples_when_the_leader_does_not_read)
{
    cfg.event.reads = false;
    cfg.freq_hz = 0;
    cfg.period = 20; /* few enough samples for the ring, however late it is drained */
    cfg.event = software("page-faults", PERF_COUNT_SW_PAGE_FAULTS);
    cfg.event.members = 2;
    cfg.n_others = 1;
    cfg.others[0].event = software("minor-faults", PERF_COUNT_SW_PAGE_FAULTS_MIN);
    scope_to(child(touch_on_go));
    open_or_skip();
    signal_go();
    RUN_UNTIL(counted.periods[0] >= PAGES / 2 && counted.periods[1] >= PAGES / 2);
    assert_int_equal(counted.again, 0);
}

FIXTURE_TEST(a_member_that_does_not_open_is_dropped_and_named)
{
    const struct live_note *notes;
    cfg.event.members = 3;
    cfg.n_others = 2;
    cfg.others[1] = cfg.others[0];
    cfg.others[0].event = software("no-such-counter", 12345);
    scope_to(child(touch_on_go));
    open_or_skip();
    assert_int_equal(live_notes(live, &notes), 1);
    assert_non_null(strstr(notes[0].what, "continues without no-such-counter"));
    assert_null(live_attr_of(live, 1));
    signal_go();
    RUN_UNTIL(counted.periods[2] >= PAGES);
    assert_int_equal(counted.samples[1], 0);
}

FIXTURE_TEST(events_outside_the_group_sample_at_their_own_rate)
{
    cfg.others[1] =
        (struct live_extra_event){ software("minor-faults", PERF_COUNT_SW_PAGE_FAULTS_MIN), 0, 10 };
    cfg.others[2] = (struct live_extra_event){ software("no-such-counter", 12345), 99, 0 };
    cfg.n_others = 3;
    scope_to(child(touch_on_go));
    open_or_skip();
    const struct live_note *notes;
    assert_int_equal(live_notes(live, &notes), 1);
    assert_non_null(strstr(notes[0].what, "continues without no-such-counter"));
    assert_null(live_attr_of(live, 3));
    uint64_t freq_hz, period;
    live_rate_of(live, 2, &freq_hz, &period);
    assert_int_equal(freq_hz, 0);
    assert_int_equal(period, 10);
    signal_go();
    expect_pages();
    RUN_UNTIL(counted.periods[2] >= PAGES / 2);
    /* counts read by the group are not mixed in */
    assert_int_equal(counted.periods[2], counted.samples[2] * 10);
}

FIXTURE_TEST(a_first_event_that_does_not_open_is_dropped_and_named)
{
    const struct live_note *notes;
    uint8_t members = cfg.event.members;
    cfg.event = software("no-such-counter", 12345);
    cfg.event.members = members;
    cfg.others[1].event = software("minor-faults", PERF_COUNT_SW_PAGE_FAULTS_MIN);
    cfg.others[0].period = cfg.others[1].period = 20;
    cfg.n_others = 2;
    cfg.freq_hz = 0;
    cfg.period = 20;
    scope_to(child(touch_on_go));
    open_or_skip();
    assert_int_equal(live_notes(live, &notes), 1);
    assert_non_null(strstr(notes[0].what, "sampling without no-such-counter"));
    assert_null(live_attr_of(live, 0));
    assert_ptr_equal(live_attr(live), live_attr_of(live, 1));
    signal_go();
    RUN_UNTIL(counted.periods[1] >= PAGES / 2 && counted.periods[2] >= PAGES / 2);
    assert_int_equal(counted.samples[0], 0);
}

FIXTURE_TEST(the_first_event_is_reported_when_none_opens)
{
    cfg.event = software("no-such-counter", 12345);
    cfg.others[0].event = software("nor-such-a-one", 12346);
    scope_to(child(touch_on_go));
    live = live_open(&cfg, &error);
    assert_null(live);
    assert_non_null(strstr(error.text, "no-such-counter"));
}

TEST_MAIN(NULL, NULL)
