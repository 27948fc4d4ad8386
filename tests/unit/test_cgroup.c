// SPDX-License-Identifier: GPL-2.0-or-later
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/clock.h"
#include "files.h"
#include "process/cgroup.h"
#include "unit_test.h"

static char root[64];

static int make_tree(void **state)
{
    static const char *const dirs[] = { "/system.slice", "/system.slice/ssh.service", "/user.slice",
                                        "/user.slice/a\033b" };
    char path[256];

    strcpy(root, "/tmp/flametop-cgroup-XXXXXX");
    if (!mkdtemp(root))
        return -1;
    for (size_t i = 0; i < sizeof dirs / sizeof *dirs; i++) {
        snprintf(path, sizeof path, "%s%s", root, dirs[i]);
        if (mkdir(path, 0755))
            return -1;
    }
    return 0;
}

static int tear_down(void **state)
{
    return remove_tree(root);
}

static uint64_t id_of(const char *below)
{
    char path[256];
    struct stat st;

    snprintf(path, sizeof path, "%s%s", root, below);
    assert_int_equal(stat(path, &st), 0);
    return st.st_ino;
}

TEST(a_scan_finds_cgroup_names_by_inode)
{
    struct cgroups *c = cgroups_new(root);

    assert_string_equal(cgroups_path(c, id_of("/system.slice/ssh.service")), "/system.slice/ssh.service");
    assert_string_equal(cgroups_path(c, id_of("/system.slice")), "/system.slice");
    assert_string_equal(cgroups_path(c, id_of("")), "/");
    assert_string_equal(cgroups_path(c, id_of("/user.slice/a\033b")), "/user.slice/a?b");
    assert_string_equal(cgroups_path(c, 0), "");
    cgroups_free(c);
}

TEST(a_new_cgroup_is_found_by_the_next_scan_a_second_later)
{
    struct cgroups *c = cgroups_new(root);
    uint64_t id, unwind_ns = clock_now_ns(), end = unwind_ns + 60 * NS_PER_SEC;
    char path[256], found[256];

    assert_string_equal(cgroups_path(c, id_of("")), "/");
    snprintf(path, sizeof path, "%s/new", root);
    assert_int_equal(mkdir(path, 0755), 0);
    id = id_of("/new");
    snprintf(found, sizeof found, "%s", cgroups_path(c, id));
    if (clock_now_ns() - unwind_ns < NS_PER_SEC) /* unless the machine delayed the test longer */
        assert_string_equal(found, "");
    while (!*cgroups_path(c, id) && clock_now_ns() < end)
        usleep(50 * 1000);
    assert_string_equal(cgroups_path(c, id), "/new");
    cgroups_free(c);
}

TEST(records_give_names_without_a_mounted_hierarchy)
{
    struct cgroups *c = cgroups_new(NULL);

    cgroups_add(c, 77, "/docker/1\nx");
    cgroups_add(c, 1, "");
    assert_string_equal(cgroups_path(c, 77), "/docker/1?x");
    assert_string_equal(cgroups_path(c, 1), "/");
    assert_string_equal(cgroups_path(c, 78), "");
    cgroups_add(c, 77, "/renamed");
    assert_string_equal(cgroups_path(c, 77), "/renamed");
    cgroups_free(c);
}

TEST(the_number_of_known_cgroups_is_bounded)
{
    struct cgroups *c = cgroups_new(NULL);
    size_t most = 0;
    char path[32];

    for (uint64_t id = 1; id <= 3 * CGROUPS_MAX; id++) {
        snprintf(path, sizeof path, "/job-%llu", (unsigned long long)id);
        cgroups_add(c, id, path);
        if (cgroups_bytes(c) > most)
            most = cgroups_bytes(c);
    }
    assert_string_equal(cgroups_path(c, 3 * CGROUPS_MAX), path);
    assert_true(most < (size_t)CGROUPS_MAX * 64 * 2);
    cgroups_free(c);
}

TEST(cgroup_path_of_selects_the_v2_or_the_perf_event_hierarchy)
{
    static const char text[] = "9:name=systemd:/x\n4:cpu,memory:/y\n3:perf_event:/a:b\n0::/c\n";
    char *path;

    path = cgroup_path_of(text, true);
    assert_string_equal(path, "/c");
    mem_free(path);
    path = cgroup_path_of(text, false);
    assert_string_equal(path, "/a:b");
    mem_free(path);
    assert_null(cgroup_path_of("4:cpu:/y\n", true));
    assert_null(cgroup_path_of("garbage\n:\n::", false));
}

TEST(the_own_cgroup_has_an_id_and_a_name)
{
    struct cgroups *c = cgroups_new(cgroup_root());
    int dir = open("/proc/self", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    uint64_t id = *cgroup_root() ? cgroup_of_process(dir) : 0;

    close(dir);
    if (!id) {
        print_message("no cgroup v2 or perf_event hierarchy is mounted\n");
        cgroups_free(c);
        skip();
    }
    assert_int_equal(cgroups_path(c, id)[0], '/');
    assert_string_equal(cgroups_path(c, UINT64_C(0x7777777777)), "");
    cgroups_free(c);
}

TEST(a_live_cgroup_is_named_by_its_file_handle_or_by_a_scan)
{
    struct cgroups *c;
    char path[512];
    struct stat st;

    snprintf(path, sizeof path, "%s/flametop-test-%d", cgroup_root(), (int)getpid());
    if (!*cgroup_root() || mkdir(path, 0755)) {
        print_message("cannot create cgroups on this system\n");
        skip();
    }
    assert_int_equal(stat(path, &st), 0);
    c = cgroups_new(cgroup_root());
    assert_string_equal(cgroups_path(c, st.st_ino), path + strlen(cgroup_root()));
    rmdir(path);
    assert_string_equal(cgroups_path(c, st.st_ino), path + strlen(cgroup_root()));
    cgroups_free(c);
    c = cgroups_new(cgroup_root());
    assert_string_equal(cgroups_path(c, st.st_ino), "");
    cgroups_free(c);
}

TEST_MAIN(make_tree, tear_down)
