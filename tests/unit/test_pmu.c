// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "files.h"
#include "perf/namelist.h"
#include "perf/pmu.h"
#include "unit_test.h"

#define COUNT(a) (sizeof(a) / sizeof *(a))

/* A fake sysfs: PMUs as on an Intel server and a POWER machine. */
static char folder[64];

static int make_sysfs(void **state)
{
    strcpy(folder, "/tmp/test_pmu.XXXXXX");
    if (!mkdtemp(folder))
        return -1;
    write_below(folder, "cpu/type", "4\n");
    write_below(folder, "cpu/format/event", "config:0-7,32-35\n");
    write_below(folder, "cpu/format/umask", "config:8-15\n");
    write_below(folder, "cpu/format/inv", "config:23\n");
    write_below(folder, "cpu/format/cmask", "config:24-31\n");
    write_below(folder, "cpu/format/ldlat", "config1:0-15\n");
    write_below(folder, "cpu/format/whole", "config2:0-63\n");
    write_below(folder, "cpu/format/strange", "config7:0-63\n");
    write_below(folder, "cpu/format/broken", "config:z\n");
    write_below(folder, "cpu/events/instructions", "event=0xc0\n");
    write_below(folder, "cpu/events/mem-loads", "event=0xcd,umask=0x1,ldlat=3\n");
    write_below(folder, "cpu/events/mem-loads.unit", "x\n");
    write_below(folder, "cpu/events/circle", "circle\n");
    write_below(folder, "hv_24x7/type", "13\n");
    write_below(folder, "hv_24x7/format/domain", "config:0-3\n");
    write_below(folder, "hv_24x7/format/core", "config:16-31\n");
    write_below(folder, "hv_24x7/events/HPM_0THRD", "domain=0x2,core=?\n");
    write_below(folder, "uncore_imc/type", "18\n");
    write_below(folder, "uncore_imc/cpumask", "0,24-25,70\n");
    write_below(folder, "cpu_atom/type", "10\n");
    write_below(folder, "cpu_atom/cpus", "16-23\n");
    write_below(folder, "notype/format/event", "config:0-7\n");
    pmu_set_root(folder);
    return 0;
}

static int remove_sysfs(void **state)
{
    pmu_set_root(NULL);
    return remove_tree(folder);
}

#define FIXTURE_TEST(name) TEST_WITH(name, make_sysfs, remove_sysfs)

FIXTURE_TEST(pmus_have_a_type_and_cpus)
{
    struct pmu pmu;
    assert_true(pmu_find("cpu", &pmu, NULL));
    assert_string_equal(pmu.name, "cpu");
    assert_int_equal(pmu.type, 4);
    assert_true(pmu.core && !cpu_mask_any(&pmu.cpus));
    assert_true(pmu_find("uncore_imc", &pmu, NULL));
    assert_true(!pmu.core && pmu.cpus.words[0] == (1 | UINT64_C(3) << 24) && pmu.cpus.words[1] == 1 << 6);
    assert_true(pmu_find("cpu_atom", &pmu, NULL));
    assert_true(pmu.core && pmu.cpus.words[0] == UINT64_C(0xff) << 16);
    assert_true(pmu_has_core());
}

FIXTURE_TEST(unknown_pmus_are_refused)
{
    static const struct {
        const char *name, *says;
    } rows[] = {
        { "cpo", "'cpu'" },     { "notype", "no PMU" },
        { "", "no PMU" },       { "uncore", "'uncore_imc'" },
        { "../cpu", "no PMU" }, { "zzzzzzzzzzzzzzzzzz", "available: cpu, cpu_atom" },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct pmu pmu;
        struct error e = { 0 };
        assert_false(pmu_find(rows[i].name, &pmu, &e));
        if (!strstr(e.text, rows[i].says))
            fail_msg("'%s': %s", rows[i].name, e.text);
    }
}

FIXTURE_TEST(terms_are_placed_in_the_bits_of_their_format)
{
    static const struct {
        const char *terms;
        uint64_t config, config1, config2;
    } rows[] = {
        { "", 0, 0, 0 },
        { "event=0x3c", 0x3c, 0, 0 },
        { "event=60,umask=0x1", 0x13c, 0, 0 },
        { "event=0xfab", 0xf000000abULL, 0, 0 }, /* the field in two parts */
        { "inv", 1 << 23, 0, 0 },
        { "event=1,inv=0,cmask=0xff", 0xff000001, 0, 0 },
        { "ldlat=30", 0, 30, 0 },
        { "whole=0xffffffffffffffff", 0, 0, UINT64_MAX },
        { "config=0x1c2", 0x1c2, 0, 0 },
        { "config=0x1,config1=0x2,config2=0x3", 1, 2, 3 },
        { "instructions", 0xc0, 0, 0 },
        { "mem-loads", 0x1cd, 3, 0 },
        { "mem-loads,ldlat=16", 0x1cd, 16, 0 }, /* the last value counts: bits of the first are cleared */
        { "event=1,event=2", 2, 0, 0 },
    };
    struct pmu pmu;
    assert_true(pmu_find("cpu", &pmu, NULL));
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct perf_event_attr attr = { 0 };
        struct error e = { 0 };
        struct event_terms more = { .name = "as it was" };
        if (!pmu_apply(&pmu, rows[i].terms, &attr, &more, &e))
            fail_msg("'%s': %s", rows[i].terms, e.text);
        assert_int_equal(attr.type, 4);
        assert_string_equal(more.name, "as it was");
        if (attr.config != rows[i].config || attr.config1 != rows[i].config1 ||
            attr.config2 != rows[i].config2)
            fail_msg("'%s': config %llx %llx %llx", rows[i].terms, (unsigned long long)attr.config,
                     (unsigned long long)attr.config1, (unsigned long long)attr.config2);
    }
}

FIXTURE_TEST(wrong_terms_are_named)
{
    static const struct {
        const char *pmu, *terms, *says;
    } rows[] = {
        { "cpu", "umsk=1", "'umask'" },
        { "cpu", "mem-load", "'mem-loads'" },
        { "cpu", "zzzzzzzzzzzz", "it has config, config1, config2, " },
        { "cpu", "inv=2", "1 bits" },
        { "cpu", "event=0x1000", "12 bits (at most 0xfff)" },
        { "cpu", "event=", "not a number" },
        { "cpu", "event=1x", "not a number" },
        { "cpu", "event=-1", "not a number" },
        { "cpu", "event=99999999999999999999", "not a number" },
        { "cpu", "strange=1", "not supported" },
        { "cpu", "broken=1", "not supported" },
        { "cpu", "circle", "no term" },
        { "cpu", "../type=1", "no term" },
        { "cpu", "freq=x", "not a number" },
        { "hv_24x7", "HPM_0THRD", "needs a value for 'core'" },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct pmu pmu;
        struct perf_event_attr attr = { 0 };
        struct error e = { 0 };
        assert_true(pmu_find(rows[i].pmu, &pmu, NULL));
        if (pmu_apply(&pmu, rows[i].terms, &attr, NULL, &e))
            fail_msg("'%s' is accepted", rows[i].terms);
        if (!strstr(e.text, rows[i].says))
            fail_msg("'%s': %s", rows[i].terms, e.text);
    }
}

FIXTURE_TEST(open_parameters_are_given_by_the_user)
{
    struct pmu pmu;
    struct perf_event_attr attr = { 0 };
    assert_true(pmu_find("hv_24x7", &pmu, NULL));
    assert_true(pmu_apply(&pmu, "HPM_0THRD,core=5", &attr, NULL, NULL));
    assert_int_equal(attr.config, 0x50002);
}

FIXTURE_TEST(a_name_term_names_the_event)
{
    struct pmu pmu;
    struct perf_event_attr attr = { 0 };
    struct event_terms more = { .name = "" };
    assert_true(pmu_find("cpu", &pmu, NULL));
    assert_true(pmu_apply(&pmu, "event=1,name='my,\033event',period=5", &attr, &more, NULL));
    assert_string_equal(more.name, "my,?event");
    assert_int_equal(more.period, 5);
    assert_int_equal(attr.config, 1);
}

static bool add_name(void *ctx, const char *name, const char *terms)
{
    assert_non_null(terms);
    namelist_add(ctx, name);
    return true;
}

FIXTURE_TEST(named_events_are_listed_without_unit_and_scale_files)
{
    struct pmu pmu;
    struct namelist names = { 0 };
    assert_true(pmu_find("cpu", &pmu, NULL));
    assert_true(pmu_each_alias(&pmu, add_name, &names));
    assert_int_equal(names.n, 3);
    assert_string_equal(names.items[2], "mem-loads");
    namelist_done(&names);
    assert_true(pmu_find_alias("HPM_0THRD", &pmu));
    assert_string_equal(pmu.name, "hv_24x7");
    assert_false(pmu_find_alias("HPM_1THRD", &pmu));
    assert_false(pmu_find_alias("../type", &pmu));
}

FIXTURE_TEST(a_machine_without_sysfs_has_no_pmus)
{
    struct pmu pmu;
    struct error e = { 0 };
    pmu_set_root("/there/is/no/such/folder");
    assert_false(pmu_has_core());
    assert_false(pmu_find("cpu", &pmu, &e));
    assert_non_null(strstr(e.text, "/sys"));
}

TEST(the_kernels_pmus_are_found)
{
    struct pmu pmu;
    if (access("/sys/bus/event_source/devices/software/type", R_OK)) {
        print_message("no /sys/bus/event_source here\n");
        skip();
    }
    assert_true(pmu_find("software", &pmu, NULL));
    assert_int_equal(pmu.type, PERF_TYPE_SOFTWARE);
}

TEST_MAIN(NULL, NULL)
