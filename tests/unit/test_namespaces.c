// SPDX-License-Identifier: GPL-2.0-or-later
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "process/namespaces.h"
#include "unit_test.h"

TEST(namespaces_of_a_process_are_read)
{
    struct namespaces ns;
    struct stat st;
    int dir = open("/proc/self", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    assert_true(dir >= 0);
    assert_true(namespaces_read(dir, &ns));
    assert_int_equal(fstatat(dir, "ns/mnt", &st, 0), 0);
    assert_true(ns.links[5].dev == st.st_dev && ns.links[5].ino == st.st_ino);
    close(dir);
    dir = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_false(namespaces_read(dir, &ns));
    close(dir);
    assert_true(namespaces_of_process((uint32_t)getpid(), &ns));
    assert_true(ns.links[5].dev == st.st_dev && ns.links[5].ino == st.st_ino);
    assert_false(namespaces_of_process(UINT32_MAX, &ns));
}

TEST(records_may_have_fewer_or_more_kinds_than_known)
{
    uint64_t links[2 * (NAMESPACES_KINDS + 1)];
    struct namespaces ns;

    for (unsigned i = 0; i < sizeof links / sizeof *links; i++)
        links[i] = i + 1;
    namespaces_of_links(links, 2, false, &ns);
    assert_true(ns.links[1].dev == 3 && ns.links[1].ino == 4);
    assert_true(ns.links[2].dev == 0 && ns.links[2].ino == 0);
    namespaces_of_links(links, NAMESPACES_KINDS + 1, false, &ns);
    assert_true(ns.links[NAMESPACES_KINDS - 1].ino == 2 * NAMESPACES_KINDS);
    links[0] = __builtin_bswap64(77);
    namespaces_of_links(links, 1, true, &ns);
    assert_true(ns.links[0].dev == 77);
}

TEST(equal_namespaces_share_one_number_up_to_a_limit)
{
    struct namespaces_table t = { 0 };
    struct namespaces ns;
    uint32_t last = 0;

    memset(&ns, 0, sizeof ns);
    for (uint64_t i = 0; i < 20000; i++) {
        ns.links[0].ino = i;
        uint32_t number = namespaces_number(&t, &ns);
        if (!number)
            break;
        assert_int_equal(number, last + 1);
        assert_int_equal(namespaces_number(&t, &ns), number);
        last = number;
    }
    assert_true(last >= 1000 && last < 20000);
    assert_true(namespaces_get(&t, last)->links[0].ino == last - 1);
    assert_null(namespaces_get(&t, 0));
    assert_null(namespaces_get(&t, last + 1));
    namespaces_done(&t);
}

TEST_MAIN(NULL, NULL)
