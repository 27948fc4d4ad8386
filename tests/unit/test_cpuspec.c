// SPDX-License-Identifier: GPL-2.0-or-later
/* A fake sysfs: two sockets of two cores with two threads each, one node per socket, CPU 7 offline. */

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "perf/cpuspec.h"
#include "unit_test.h"
#include "files.h"

static char root[] = "/tmp/flametop-cpus-XXXXXX";
static struct error error;

static int make_machine(void **state)
{
    char path[64], text[16];
    if (!mkdtemp(root))
        return -1;
    write_below(root, "cpu/possible", "0-7\n");
    for (int cpu = 0; cpu < 7; cpu++) {
        snprintf(path, sizeof path, "cpu/cpu%d/topology/core_id", cpu);
        snprintf(text, sizeof text, "%d\n", cpu / 2 % 2);
        write_below(root, path, text);
        snprintf(path, sizeof path, "cpu/cpu%d/topology/physical_package_id", cpu);
        snprintf(text, sizeof text, "%d\n", cpu / 4);
        write_below(root, path, text);
    }
    write_below(root, "node/possible", "0-1\n");
    write_below(root, "node/node0/cpulist", "0-3\n");
    write_below(root, "node/node1/cpulist", "4-7\n");
    return 0;
}

static int remove_entry(const char *path, const struct stat *st, int type, struct FTW *at)
{
    (void)st;
    (void)type;
    (void)at;
    return remove(path);
}

static int remove_machine(void **state)
{
    return nftw(root, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}

/* Returns the selected CPUs as digits, CPU by CPU: "0110". */
static const char *cpus_of(const char *text)
{
    static char bits[64];
    struct cpus c;
    bool ok = cpuspec_parse(text, root, &c, &error);
    uint32_t n = 0;
    for (; ok && n < c.n; n++)
        bits[n] = c.in[n] ? '1' : '0';
    bits[n] = '\0';
    cpus_done(&c);
    if (!ok)
        fail_msg("%s", error.text);
    return bits;
}

static void assert_refused(const char *text, const char *word)
{
    struct cpus c;
    error_clear(&error);
    assert_false(cpuspec_parse(text, root, &c, &error));
    cpus_done(&c);
    if (!strstr(error.text, word))
        fail_msg("\"%s\" does not contain \"%s\"", error.text, word);
}

TEST(cpus_are_selected_by_number_core_socket_and_node)
{
    assert_string_equal(cpus_of("0-2,5"), "11100100");
    assert_string_equal(cpus_of("7"), "00000001");
    assert_string_equal(cpus_of("core:0"), "11001100");
    assert_string_equal(cpus_of("core:1.0"), "00001100");
    assert_string_equal(cpus_of("core:1.1"), "00000010");
    assert_string_equal(cpus_of("core:0-1"), "11111110");
    assert_string_equal(cpus_of("socket:1"), "00001110");
    assert_string_equal(cpus_of("node:1"), "00001111");
    assert_string_equal(cpus_of("node:0-1"), "11111111");
    assert_string_equal(cpus_of("node:0,core:1.1,7"), "11110011");
}

TEST(missing_cpus_are_named_in_the_error)
{
    assert_refused("8", "there is no CPU 8: this machine has 0-7");
    assert_refused("0-4294967295", "not a list of CPUs");
    assert_refused("0-2147483647", "there is no CPU 8");
    assert_refused("core:2", "there is no core 2: this machine has 0-1");
    assert_refused("core:2.0", "no core 0 in socket 2");
    assert_refused("socket:2", "there is no socket 2");
    assert_refused("node:2", "there is no NUMA node 2");
}

TEST(invalid_cpu_lists_are_refused)
{
    static const char *const bad[] = { "",        ",",      "0,",      "x",       "3-1",        "-1",
                                       "core:",   "core:x", "core:.",  "core:1.", "core:1.2.3", "node:0.1",
                                       "cores:1", "0-",     "node:-1", "1 " };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_refused(bad[i], "not a list of CPUs");
}

TEST(a_machine_without_topology_has_cpus_only)
{
    struct cpus c;
    uint32_t n;
    struct cpu_target *at = cpuspec_targets("/nonexistent", &n);
    assert_true(n >= 1);
    assert_int_equal(at[0].core, -1);
    assert_int_equal(at[0].node, -1);
    mem_free(at);
    assert_true(cpuspec_parse("0", "/nonexistent", &c, &error));
    cpus_done(&c);
    assert_false(cpuspec_parse("node:0", "/nonexistent", &c, &error));
    assert_non_null(strstr(error.text, "does not report"));
    cpus_done(&c);
}

TEST(each_cpu_has_its_core_socket_and_node)
{
    uint32_t n;
    struct cpu_target *at = cpuspec_targets(root, &n);
    assert_int_equal(n, 8);
    assert_int_equal(at[6].cpu, 6);
    assert_int_equal(at[6].core, 1);
    assert_int_equal(at[6].socket, 1);
    assert_int_equal(at[6].node, 1);
    assert_int_equal(at[7].core, -1);
    assert_int_equal(at[7].node, 1);
    mem_free(at);
}

TEST(an_unchanged_cpu_list_is_not_parsed_again)
{
    struct cpus_watch watch;
    struct cpus list = { 0 }, now;
    cpus_watch_init(&watch);
    assert_true(cpus_watch_look(&watch, &list));
    for (int i = 0; i < 100 && cpus_watch_look(&watch, &list); i++)
        if (watch.n == 0) { /* the list is too long or missing: it is read each time */
            cpus_watch_done(&watch);
            cpus_done(&list);
            skip();
        }
    assert_false(cpus_watch_look(&watch, &list));
    cpus_read("online", &now);
    assert_true(now.n && now.n == list.n && !memcmp(now.in, list.in, now.n * sizeof *now.in));
    watch.text[0] ^= 1; /* as if the list had been different */
    list.in[0] = !list.in[0];
    assert_true(cpus_watch_look(&watch, &list));
    assert_memory_equal(now.in, list.in, now.n * sizeof *now.in);
    cpus_watch_done(&watch);
    cpus_done(&now);
    cpus_done(&list);
}

TEST_MAIN(make_machine, remove_machine)
