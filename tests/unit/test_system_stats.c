// SPDX-License-Identifier: GPL-2.0-or-later
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "perf/pmu.h"
#include "session/system_stats.h"
#include "unit_test.h"

#define TRIES 3000

/* Until jiffies have passed. */
static void read_until_changed(struct system_stats *b)
{
    uint64_t total = b->total;
    for (int i = 0; i < TRIES && (b->total == total || b->idle_percent < 0); i++) {
        nanosleep(&(struct timespec){ .tv_nsec = 10 * NS_PER_MS }, NULL);
        system_look(b, clock_now_ns());
    }
}

TEST(one_reading_is_not_enough_for_a_rate)
{
    struct system_stats b;
    system_init(&b);
    assert_int_equal(b.cpus, sysconf(_SC_NPROCESSORS_ONLN));
    system_look(&b, clock_now_ns());
    assert_int_equal(b.cpus, sysconf(_SC_NPROCESSORS_ONLN));
    assert_true(b.total > 0);
    assert_true(b.user_percent < 0 && b.idle_percent < 0 && b.switches_per_sec < 0 && b.faults_per_sec < 0);
    system_done(&b);
}

TEST(the_files_are_read_again_each_time)
{
    struct system_stats b;
    system_init(&b);
    system_look(&b, clock_now_ns());
    for (int i = 0; i < 3; i++) {
        uint64_t total = b.total, faults = b.faults, switches = b.switches;
        read_until_changed(&b);
        assert_true(b.total > total);
        assert_true(b.faults >= faults && b.switches > switches);
        assert_true(b.user_percent >= 0 && b.user_percent <= 100);
        assert_true(b.user_percent + b.system_percent + b.idle_percent + b.iowait_percent < 101);
    }
    system_done(&b);
    system_done(&b); /* nothing is left to close */
}

TEST(instructions_per_cycle_are_counted_with_a_pmu)
{
    struct system_stats b;
    system_init(&b);
    read_until_changed(&b);
    if (!b.counters) {
        assert_true(b.ipc < 0);
        assert_false(pmu_has_core() && geteuid() == 0);
        system_done(&b);
        print_message("no hardware counters, or no permission to use them");
        skip();
    }
    for (int i = 0; i < 100 && b.ipc < 0; i++)
        read_until_changed(&b);
    assert_true(b.ipc > 0.001 && b.ipc < 20);
    system_done(&b);
}

TEST_MAIN(NULL, NULL)
