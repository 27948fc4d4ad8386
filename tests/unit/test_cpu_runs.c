// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdlib.h>

#include "profile/cpu_runs.h"
#include "unit_test.h"

static struct cpu_thread thread(uint32_t tid)
{
    return (struct cpu_thread){ .pid = tid, .tid = tid, .name = tid };
}

/* A switch as records of all CPUs tell it, from one thread to another, which takes 2 ns. */
static void switch_to(struct cpu_runs *c, uint32_t cpu, uint64_t time_ns, uint32_t tid)
{
    cpu_runs_leave(c, cpu, time_ns - 2, thread(tid));
    cpu_runs_come(c, cpu, time_ns, thread(tid));
}

/* The share of a thread; the shares must add up to the time. */
static uint64_t share(const struct cpu_runs *c, uint32_t cpu, uint64_t from_ns, uint64_t to_ns, uint32_t tid)
{
    struct cpu_share shares[CPU_SHARES_MAX];
    uint64_t sum = 0, own = 0;
    size_t n = cpu_runs_between(c, cpu, from_ns, to_ns, shares);
    for (size_t i = 0; i < n; i++) {
        sum += shares[i].ns;
        own += shares[i].thread.tid == tid ? shares[i].ns : 0;
    }
    assert_int_equal(sum, to_ns - from_ns);
    return own;
}

TEST(the_time_is_shared_among_those_who_ran)
{
    struct cpu_runs c = { 0 };
    switch_to(&c, 3, 100, 1);
    switch_to(&c, 3, 200, 2);
    switch_to(&c, 3, 250, 0);
    switch_to(&c, 3, 300, 1);
    switch_to(&c, 5, 150, 7);
    assert_int_equal(share(&c, 3, 150, 350, 1), 50 + 50);
    assert_int_equal(share(&c, 3, 150, 350, 2), 50);
    assert_int_equal(share(&c, 3, 150, 350, 0), 50);
    assert_int_equal(share(&c, 3, 210, 220, 2), 10);
    assert_int_equal(share(&c, 5, 160, 200, 7), 40);
    assert_int_equal(share(&c, 3, 0, 150, CPU_UNSEEN), 100); /* before the first record */
    assert_int_equal(share(&c, 4, 0, 150, CPU_UNSEEN), 150);
    cpu_runs_done(&c);
}

TEST(a_thread_without_records_is_known_by_its_neighbours)
{
    struct cpu_runs c = { 0 };
    switch_to(&c, 0, 100, 1);
    cpu_runs_leave(&c, 0, 200, thread(9));
    assert_int_equal(cpu_runs_now(&c, 0).tid, 9);
    cpu_runs_come(&c, 0, 300, thread(1));
    assert_int_equal(share(&c, 0, 100, 400, 9), 100);
    assert_int_equal(share(&c, 0, 100, 400, 1), 200);
    cpu_runs_done(&c);
}

/* Records of single processes: PERF_RECORD_SWITCH. */
TEST(what_no_record_says_is_unseen)
{
    struct cpu_runs c = { 0 };
    const struct cpu_thread unseen = { .tid = CPU_UNSEEN };
    cpu_runs_come(&c, 0, 100, thread(1));
    cpu_runs_leave(&c, 0, 200, unseen);
    cpu_runs_come(&c, 0, 500, thread(2));
    assert_int_equal(share(&c, 0, 100, 600, CPU_UNSEEN), 300);
    assert_int_equal(share(&c, 0, 100, 600, 1), 100);
    assert_int_equal(share(&c, 0, 100, 600, 2), 100);
    cpu_runs_come(&c, 0, 700, thread(3));
    assert_int_equal(share(&c, 0, 600, 800, 3), 100);
    cpu_runs_come(&c, 0, 650, thread(4)); /* the overlap of two sources */
    cpu_runs_leave(&c, 0, 660, thread(5));
    assert_int_equal(share(&c, 0, 600, 800, 3), 100);
    cpu_runs_come(&c, 1, 100, thread(6));
    cpu_runs_forget(&c, 0);
    assert_int_equal(share(&c, 0, 100, 800, CPU_UNSEEN), 700);
    assert_int_equal(share(&c, 1, 100, 800, 6), 700);
    cpu_runs_forget_all(&c);
    assert_int_equal(share(&c, 1, 100, 800, CPU_UNSEEN), 700);
    cpu_runs_done(&c);
}

TEST(old_runs_make_room)
{
    struct cpu_runs c = { 0 };
    uint64_t time_ns = 1000;
    uint32_t n = 3 * CPU_RUNS_MAX;
    for (uint32_t i = 0; i < n; i++, time_ns += 10)
        switch_to(&c, 0, time_ns, 1 + i % 2);
    assert_int_equal(c.cpus.items[0].cap, CPU_RUNS_MAX);
    uint64_t known_ns = 10 * (uint64_t)CPU_RUNS_MAX;
    assert_int_equal(share(&c, 0, time_ns - known_ns, time_ns, CPU_UNSEEN), 0);
    assert_in_range(share(&c, 0, time_ns - 2 * known_ns, time_ns, CPU_UNSEEN), known_ns - 20, known_ns);
    /* runs that are too old to be needed do not make the ring grow */
    for (uint32_t i = 0; i < n; i++, time_ns += CPU_RUNS_KEPT_NS / 10)
        switch_to(&c, 1, time_ns, 1 + i % 2);
    assert_true(c.cpus.items[1].cap < CPU_RUNS_MAX);
    assert_int_equal(share(&c, 1, time_ns - CPU_RUNS_KEPT_NS, time_ns, CPU_UNSEEN), 0);
    cpu_runs_done(&c);
}

TEST(too_many_threads_are_unseen_in_part)
{
    struct cpu_runs c = { 0 };
    struct cpu_share shares[CPU_SHARES_MAX];
    for (uint32_t i = 0; i < 200; i++)
        switch_to(&c, 0, 1000 + i * 10, 1 + i);
    assert_int_equal(cpu_runs_between(&c, 0, 1000, 3000, shares), CPU_SHARES_MAX);
    assert_int_equal(share(&c, 0, 1000, 3000, CPU_UNSEEN), 2000 - 10 * (CPU_SHARES_MAX - 1));
    cpu_runs_done(&c);
}

TEST(threads_of_the_same_name_are_one)
{
    struct cpu_runs c = { 0 };
    struct cpu_share shares[CPU_SHARES_MAX];
    for (uint32_t i = 0; i < 1000; i++) {
        struct cpu_thread t = { .pid = 1 + i, .tid = 1 + i, .name = 1 + i / 10 % 2 };
        cpu_runs_leave(&c, 0, 998 + i * 10, t);
        cpu_runs_come(&c, 0, 1000 + i * 10, t);
    }
    assert_int_equal(c.cpus.items[0].n, 100); /* ten threads each */
    assert_int_equal(cpu_runs_between(&c, 0, 1000, 11000, shares), 2);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(shares[i].ns, 5000);
        assert_int_equal(shares[i].thread.name, 1 + (shares[i].thread.tid - 1) / 10 % 2);
    }
    cpu_runs_done(&c);
}

/* At any time, against the schedule itself. */
TEST(shares_are_those_of_any_schedule)
{
    struct cpu_runs c = { 0 };
    static uint32_t ran[20000]; /* by nanosecond */
    srand(1);
    for (uint32_t now = 2, tid = 0; now < 20000; now++) {
        if (!(rand() % 50)) {
            tid = (uint32_t)rand() % 5;
            cpu_runs_leave(&c, 0, now, thread(tid));
            if (tid != 4) /* which has no records of its own */
                cpu_runs_come(&c, 0, now, thread(tid));
        }
        ran[now] = tid;
        if (now < 1000 || rand() % 20)
            continue;
        uint64_t from = now - 1 - (uint64_t)(rand() % 600), sums[5] = { 0 };
        for (uint64_t i = from; i < now; i++)
            sums[ran[i]]++;
        for (uint32_t i = 0; i < 5; i++)
            assert_int_equal(share(&c, 0, from, now, i), sums[i]);
    }
    cpu_runs_done(&c);
}

TEST_MAIN(NULL, NULL)
