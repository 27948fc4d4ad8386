// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "process/memory_limit.h"
#include "mounts_fixture.h"
#include "unit_test.h"

static int set_up(void **state)
{
    if (!mkdtemp(mounts))
        return -1;
    folder("/a");
    folder("/a/b");
    folder("/memory");
    folder("/memory/c");
    folder("/unified");
    folder("/unified/d");
    file("/a/memory.max", "1000\n");
    file("/a/b/memory.max", "max\n");
    file("/memory/memory.limit_in_bytes", "9223372036854771712\n");
    file("/memory/c/memory.limit_in_bytes", "3000\n");
    file("/unified/d/memory.max", "4000\n");
    return 0;
}

TEST(the_lowest_limit_of_all_parent_cgroups_applies)
{
    assert_int_equal(memory_limit_of_text("0::/a/b\n", mounts), 1000);
    assert_int_equal(memory_limit_of_text("0::/d\n", mounts), 4000); /* combined with v1 hierarchies */
    assert_int_equal(memory_limit_of_text("5:cpu,cpuacct:/a\n4:memory:/c\n0::/\n", mounts), 3000);
}

TEST(unlimited_cgroups_have_no_limit)
{
    assert_true(memory_limit_of_text("", mounts) == UINT64_MAX);
    assert_true(memory_limit_of_text("0::/\n", mounts) == UINT64_MAX);
    assert_true(memory_limit_of_text("0::/gone/away\n", mounts) == UINT64_MAX);
    /* the root's limit: more than any memory */
    assert_true(memory_limit_of_text("4:memory:/other\n", mounts) == 9223372036854771712u);
    assert_true(memory_limit_of_text("nonsense\n:\n::\n4:memory\n", mounts) == UINT64_MAX);
}

TEST_MAIN(set_up, tear_down)
