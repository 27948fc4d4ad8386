// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "process/cpu_limit.h"
#include "mounts_fixture.h"
#include "unit_test.h"

static int set_up(void **state)
{
    if (!mkdtemp(mounts))
        return -1;
    folder("/pod");
    folder("/pod/web");
    folder("/free");
    folder("/cpu");
    folder("/cpu/db");
    folder("/cpu/all");
    file("/cpu.stat", "usage_usec 1\nnr_periods 9\nnr_throttled 9\n");
    file("/pod/cpu.max", "150000 100000\n");
    file("/pod/cpu.stat", "usage_usec 5\nnr_periods 40\nnr_throttled 0\nthrottled_usec 0\n");
    file("/pod/web/cpu.max", "20000 100000\n");
    file("/pod/web/cpu.stat", "usage_usec 5\nnr_periods 30\nnr_throttled 12\nthrottled_usec 960000\n");
    file("/free/cpu.max", "max 100000\n");
    file("/free/cpu.stat", "usage_usec 5\nnr_periods 0\nnr_throttled 0\n");
    file("/cpu/db/cpu.cfs_quota_us", "50000\n");
    file("/cpu/db/cpu.cfs_period_us", "100000\n");
    file("/cpu/db/cpu.stat", "nr_periods 41\nnr_throttled 24\nthrottled_time 1409390317\n");
    file("/cpu/all/cpu.cfs_quota_us", "-1\n");
    file("/cpu/all/cpu.cfs_period_us", "100000\n");
    file("/cpu/all/cpu.stat", "nr_periods 0\nnr_throttled 0\nthrottled_time 0\n");
    return 0;
}

static void check(const struct cpu_limit *l, const char *cgroup, double cpus, uint64_t periods,
                  uint64_t throttled)
{
    assert_string_equal(l->cgroup, cgroup);
    assert_true(l->cpus > cpus - 0.001 && l->cpus < cpus + 0.001);
    assert_int_equal(l->periods, periods);
    assert_int_equal(l->throttled, throttled);
}

TEST(a_cgroup_and_its_parents_may_each_have_a_limit)
{
    struct cpu_limit l[CPU_LIMITS_MAX];

    assert_int_equal(cpu_limits_of_text("0::/pod/web\n", mounts, l), 2);
    check(&l[0], "/pod/web", 0.2, 30, 12);
    check(&l[1], "/pod", 1.5, 40, 0);
    assert_int_equal(cpu_limits_of_text("0::/pod/web/gone/below\n", mounts, l), 2);
}

TEST(v1_has_files_of_its_own)
{
    struct cpu_limit l[CPU_LIMITS_MAX];

    assert_int_equal(cpu_limits_of_text("4:memory:/x\n3:cpu:/db\n0::/\n", mounts, l), 1);
    check(&l[0], "/db", 0.5, 41, 24);
    assert_int_equal(cpu_limits_of_text("3:cpu:/all\n0::/free\n", mounts, l), 0);
}

TEST(other_texts_have_no_limit)
{
    struct cpu_limit l[CPU_LIMITS_MAX];
    char deep[3 * 4096] = "0::";

    assert_int_equal(cpu_limits_of_text("", mounts, l), 0);
    assert_int_equal(cpu_limits_of_text("0::/\n", mounts, l), 0);
    assert_int_equal(cpu_limits_of_text("0::\n", mounts, l), 0);
    assert_int_equal(cpu_limits_of_text("0::/free/../pod/web\n", mounts, l), 0);
    assert_int_equal(cpu_limits_of_text("0::/..\n", mounts, l), 0);
    memset(deep + 3, '/', sizeof deep - 4);
    assert_int_equal(cpu_limits_of_text(deep, mounts, l), 0);
    file("/pod/cpu.max", "5 0\n");
    file("/pod/web/cpu.max", "");
    assert_int_equal(cpu_limits_of_text("0::/pod/web\n", mounts, l), 0);
}

TEST(a_process_that_has_ended_has_none)
{
    struct cpu_limit l[CPU_LIMITS_MAX];

    assert_int_equal(cpu_limits_of_process(UINT32_MAX, l), 0);
    assert_true(cpu_limits_of_process((uint32_t)getpid(), l) <= CPU_LIMITS_MAX);
}

TEST_MAIN(set_up, tear_down)
