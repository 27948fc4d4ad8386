// SPDX-License-Identifier: GPL-2.0-or-later
/* A folder with cgroups as tests make them, instead of /sys/fs/cgroup. */
#ifndef FLAMETOP_TESTS_MOUNTS_FIXTURE_H
#define FLAMETOP_TESTS_MOUNTS_FIXTURE_H

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "unit_test.h"
#include "files.h"

static char mounts[] = "/tmp/flametop-limit-XXXXXX";

static inline void folder(const char *name)
{
    char path[256];

    snprintf(path, sizeof path, "%s%s", mounts, name);
    assert_int_equal(mkdir(path, 0700), 0);
}

static inline void file(const char *name, const char *text)
{
    char path[256];

    snprintf(path, sizeof path, "%s%s", mounts, name);
    write_text(path, text);
}

static inline int tear_down(void **state)
{
    char command[64];

    snprintf(command, sizeof command, "rm -r %s", mounts);
    return system(command);
}

#endif
