// SPDX-License-Identifier: GPL-2.0-or-later
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "files.h"
#include "opened.h"
#include "symbols/debugfile.h"
#include "unit_test.h"

static const uint8_t id[] = { 0xab, 0xcd, 0xef };
static char folder[64];

static int set_up(void **state)
{
    strcpy(folder, "/tmp/flametop-kept-XXXXXX");
    return mkdtemp(folder) && !setenv("PERF_BUILDID_DIR", folder, 1) ? 0 : -1;
}

static int tear_down(void **state)
{
    return remove_tree(folder);
}

#define FIXTURE_TEST(name) TEST_WITH(name, set_up, tear_down)

static void run_in_home(const char *command_format)
{
    char command[512];

    snprintf(command, sizeof command, command_format, folder, folder, folder);
    assert_int_equal(system(command), 0);
}

FIXTURE_TEST(files_in_the_perf_build_id_cache_are_found)
{
    char text[8] = "";
    int fd;

    run_in_home("mkdir -p '%s/.build-id/ab' '%s/usr/bin/x/abcdef' && echo kept >'%s/usr/bin/x/abcdef/elf'");
    run_in_home("ln -s ../../usr/bin/x/abcdef '%s/.build-id/ab/cdef'");
    fd = opened_readable(debugfile_open_kept(id, sizeof id, "elf"));
    assert_true(fd >= 0);
    assert_int_equal(read(fd, text, 4), 4);
    assert_string_equal(text, "kept");
    close(fd);
    assert_int_equal(debugfile_open_kept(id, sizeof id, "vdso"), -1);
    assert_int_equal(debugfile_open_kept(id, 2, "elf"), -1);
    assert_int_equal(debugfile_open_kept(id, 0, "elf"), -1);
}

FIXTURE_TEST(symlinks_out_of_the_build_id_folder_are_refused)
{
    run_in_home("mkdir -p '%s/.build-id/ab/cdef' && ln -s /etc/passwd '%s/.build-id/ab/cdef/elf'");
    assert_int_equal(debugfile_open_kept(id, sizeof id, "elf"), -1);
}

TEST_MAIN(NULL, NULL)
