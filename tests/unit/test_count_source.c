// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "files.h"
#include "perf/count_set.h"
#include "perf/pmu.h"
#include "unit_test.h"

#define COUNT(a) (sizeof(a) / sizeof *(a))

/* A fake sysfs. */
static char folder[64];

static int make_folder(void **state)
{
    strcpy(folder, "/tmp/test_count_source.XXXXXX");
    if (!mkdtemp(folder))
        return -1;
    pmu_set_root(folder);
    topology_set_root(folder);
    return 0;
}

static int remove_folder(void **state)
{
    pmu_set_root(NULL);
    topology_set_root(NULL);
    return remove_tree(folder);
}

#define FIXTURE_TEST(name) TEST_WITH(name, make_folder, remove_folder)

static struct count_set *open_set(enum scope_kind kind)
{
    struct count_set *c = mem_zalloc(sizeof *c);
    scope_init(&c->scope);
    c->scope.kind = kind;
    c->tasks = kind == SCOPE_PIDS;
    c->how.detail = 3;
    count_sources_find(c);
    return c;
}

static void free_set(struct count_set *c)
{
    count_sources_done(c);
    scope_done(&c->scope);
    mem_free(c);
}

static void put_topdown(const char *pmu, bool slots)
{
    static const char *const names[] = { "topdown-retiring", "topdown-bad-spec", "topdown-fe-bound",
                                         "topdown-be-bound" };
    char path[128], terms[64];
    for (size_t i = 0; i < COUNT(names); i++) {
        snprintf(path, sizeof path, "%s/events/%s", pmu, names[i]);
        snprintf(terms, sizeof terms, "event=0x00,umask=0x%zx", 0x80 + i);
        write_below(folder, path, terms);
    }
    snprintf(path, sizeof path, "%s/events/slots", pmu);
    if (slots)
        write_below(folder, path, "event=0x00,umask=0x4");
    snprintf(path, sizeof path, "%s/format/event", pmu);
    write_below(folder, path, "config:0-7");
    snprintf(path, sizeof path, "%s/format/umask", pmu);
    write_below(folder, path, "config:8-15");
}

FIXTURE_TEST(a_server_has_topdown_energy_and_memory_controller_counters)
{
    write_below(folder, "cpu/type", "4");
    put_topdown("cpu", true);
    write_below(folder, "msr/type", "9");
    write_below(folder, "msr/format/event", "config:0-63");
    write_below(folder, "msr/events/tsc", "event=0x00");
    write_below(folder, "msr/events/aperf", "event=0x01");
    write_below(folder, "msr/events/mperf", "event=0x02");
    write_below(folder, "power/type", "21");
    write_below(folder, "power/cpumask", "0,70");
    write_below(folder, "power/format/event", "config:0-7");
    write_below(folder, "power/events/energy-pkg", "event=0x02");
    write_below(folder, "power/events/energy-pkg.scale", "2.3283064365386962890625e-10");
    write_below(folder, "power/events/energy-pkg.unit", "Joules");
    write_below(folder, "uncore_imc_0/type", "30");
    write_below(folder, "uncore_imc_0/cpumask", "0,70");
    write_below(folder, "uncore_imc_0/format/event", "config:0-7");
    write_below(folder, "uncore_imc_0/format/umask", "config:8-15");
    write_below(folder, "uncore_imc_0/events/cas_count_read", "event=0x04,umask=0x03");
    write_below(folder, "uncore_imc_0/events/cas_count_read.scale", "6.103515625e-5");
    write_below(folder, "uncore_imc_0/events/cas_count_read.unit", "MiB");
    write_below(folder, "uncore_imc_0/events/cas_count_write", "event=0x04,umask=0x0c");
    write_below(folder, "uncore_imc_0/events/cas_count_write.scale", "6.103515625e-5");
    write_below(folder, "uncore_imc_0/events/cas_count_write.unit", "MiB");
    write_below(folder, "uncore_imc_free_running_0/type", "40");
    write_below(folder, "uncore_imc_free_running_0/events/data_read", "event=0xff,umask=0x10");
    struct count_set *c = open_set(SCOPE_ALL);
    assert_int_equal(c->n_cores, 1);
    const struct count_core *core = &c->cores[0];
    assert_int_equal(core->topdown.model, TOPDOWN_METRICS);
    assert_int_equal(core->sources[COUNT_TOPDOWN_0].attr.config, 0x400);
    assert_int_equal(core->sources[COUNT_TOPDOWN_1].attr.config, 0x8000);
    assert_int_equal(core->sources[COUNT_CYCLES].attr.config, PERF_COUNT_HW_CPU_CYCLES);
    assert_int_equal(c->sources[COUNT_APERF].attr.type, 9);
    assert_int_equal(c->sources[COUNT_MPERF].attr.config, 2);
    assert_int_equal(c->uncores.n, 2);
    const struct count_source *energy = &c->uncores.items[0].sources[COUNT_ENERGY_PKG];
    assert_true(energy->have && energy->scale > 2.3e-10 && energy->scale < 2.4e-10);
    assert_false(c->uncores.items[0].sources[COUNT_ENERGY_RAM].have);
    assert_true(cpus_has(&c->uncores.items[0].cpus, 0) && cpus_has(&c->uncores.items[0].cpus, 70));
    const struct count_source *reads = &c->uncores.items[1].sources[COUNT_MEMORY_READS];
    assert_int_equal(reads->attr.config, 0x304);
    assert_true(reads->scale == 64); /* bytes per cache line */
    free_set(c);
    c = open_set(SCOPE_PIDS);
    assert_int_equal(c->uncores.n, 0);
    free_set(c);
}

FIXTURE_TEST(each_cpu_type_has_its_own_counters)
{
    write_below(folder, "cpu_core/type", "4");
    write_below(folder, "cpu_core/cpus", "0-15");
    put_topdown("cpu_core", true);
    write_below(folder, "cpu_atom/type", "10");
    write_below(folder, "cpu_atom/cpus", "16-23");
    put_topdown("cpu_atom", false);
    struct count_set *c = open_set(SCOPE_ALL);
    assert_int_equal(c->n_cores, 2);
    uint32_t atom = count_core_of(c, 20), core = count_core_of(c, 3);
    assert_int_not_equal(atom, core);
    assert_int_equal(c->cores[atom].sources[COUNT_CYCLES].attr.config, (uint64_t)10 << 32);
    assert_int_equal(c->cores[core].sources[COUNT_INSTRUCTIONS].attr.config, (uint64_t)4 << 32 | 1);
    assert_int_equal(c->cores[atom].topdown.model, TOPDOWN_ATOM);
    assert_int_equal(c->cores[core].topdown.model, TOPDOWN_METRICS);
    assert_int_equal(c->cores[atom].sources[COUNT_TOPDOWN_0].attr.type, 10);
    assert_false(c->cores[atom].sources[COUNT_TOPDOWN_4].have);
    assert_true(c->sources[COUNT_CONTEXT_SWITCHES].have);
    assert_false(c->sources[COUNT_TSC].have);
    free_set(c);
}

FIXTURE_TEST(arm_reports_its_slots_per_cycle)
{
    static const char *const names[] = { "cpu_cycles", "stall_slot_frontend", "stall_slot_backend",
                                         "op_retired", "op_spec" };
    write_below(folder, "armv8_pmuv3_0/type", "8");
    write_below(folder, "armv8_pmuv3_0/cpus", "0-3");
    write_below(folder, "armv8_pmuv3_0/format/event", "config:0-15");
    for (size_t i = 0; i < COUNT(names); i++) {
        char path[128];
        snprintf(path, sizeof path, "armv8_pmuv3_0/events/%s", names[i]);
        write_below(folder, path, i ? "event=0x003e" : "event=0x0011");
    }
    write_below(folder, "armv8_pmuv3_0/caps/slots", "0x00000000");
    struct count_set *c = open_set(SCOPE_ALL);
    assert_int_equal(c->cores[0].topdown.model, TOPDOWN_NONE); /* 0: this CPU does not report it */
    assert_false(c->cores[0].sources[COUNT_TOPDOWN_0].have);
    assert_int_equal(c->cores[0].sources[COUNT_CYCLES].attr.config, PERF_COUNT_HW_CPU_CYCLES);
    free_set(c);
    write_below(folder, "armv8_pmuv3_0/caps/slots", "0x00000005");
    c = open_set(SCOPE_ALL);
    assert_int_equal(c->cores[0].topdown.model, TOPDOWN_ARM);
    assert_true(c->cores[0].topdown.width == 5);
    assert_int_equal(c->cores[0].sources[COUNT_TOPDOWN_0].attr.config, 0x11);
    free_set(c);
}

FIXTURE_TEST(amd_memory_controllers_count_cache_lines)
{
    for (int i = 0; i < 2; i++) {
        char path[64];
        snprintf(path, sizeof path, "amd_umc_%d/type", i);
        write_below(folder, path, i ? "31" : "30");
        snprintf(path, sizeof path, "amd_umc_%d/cpumask", i);
        write_below(folder, path, "0");
        snprintf(path, sizeof path, "amd_umc_%d/format/event", i);
        write_below(folder, path, "config:0-7");
        snprintf(path, sizeof path, "amd_umc_%d/format/rdwrmask", i);
        write_below(folder, path, "config:8-9");
    }
    struct count_set *c = open_set(SCOPE_ALL);
    assert_int_equal(c->uncores.n, 2);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(c->uncores.items[i].sources[COUNT_MEMORY_READS].attr.config, 0x10a);
        assert_int_equal(c->uncores.items[i].sources[COUNT_MEMORY_WRITES].attr.config, 0x20a);
        assert_true(c->uncores.items[i].sources[COUNT_MEMORY_WRITES].scale == 64);
    }
    free_set(c);
}

FIXTURE_TEST(a_machine_without_pmus_has_the_software_counters)
{
    struct count_set *c = open_set(SCOPE_ALL);
    assert_int_equal(c->n_cores, 1);
    /* opened anyway, so that the error can be reported */
    assert_true(c->cores[0].sources[COUNT_CYCLES].have);
    assert_int_equal(c->uncores.n, 0);
    assert_true(c->sources[COUNT_CLOCK].have);
    free_set(c);
}

static void assert_near(double got, double wanted)
{
    if (got < wanted - 1e-6 || got > wanted + 1e-6)
        fail_msg("%g is not %g", got, wanted);
}

TEST(each_topdown_model_splits_the_slots)
{
    static const struct {
        struct topdown how;
        double in[TOPDOWN_INPUTS];
        struct topdown_slots out;
    } rows[] = {
        { { TOPDOWN_METRICS, 0, { 0 } }, { 999, 40, 10, 20, 30 }, { 100, 40, 10, 20, 30 } },
        { { TOPDOWN_ATOM, 0, { 0 } }, { 40, 10, 20, 30, 0 }, { 100, 40, 10, 20, 30 } },
        /* inputs: total, issued, retired, fetch bubbles, recovery bubbles */
        { { TOPDOWN_BUBBLES, 0, { 0 } }, { 1000, 500, 400, 250, 50 }, { 1000, 400, 150, 250, 200 } },
        /* inputs: cycles, retired, dispatched, frontend, backend; the SMT sibling used the rest */
        { { TOPDOWN_AMD, 6, { 0 } }, { 100, 200, 260, 90, 150 }, { 600, 200, 60, 90, 150 } },
        /* inputs: cycles, stalled front, stalled back, retired, speculated */
        { { TOPDOWN_ARM, 8, { 0 } }, { 100, 200, 100, 300, 400 }, { 800, 375, 125, 200, 100 } },
        /* inputs counted at slightly different times: results are never negative */
        { { TOPDOWN_AMD, 6, { 0 } }, { 100, 270, 260, 90, 150 }, { 600, 270, 0, 90, 150 } },
        { { TOPDOWN_ARM, 8, { 0 } }, { 100, 500, 400, 10, 5 }, { 800, 0, 0, 500, 400 } },
        { { TOPDOWN_NONE, 0, { 0 } }, { 1, 2, 3, 4, 5 }, { 0, 0, 0, 0, 0 } },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct topdown_slots got;
        topdown_make(&rows[i].how, rows[i].in, &got);
        assert_near(got.all, rows[i].out.all);
        assert_near(got.retiring, rows[i].out.retiring);
        assert_near(got.bad_speculation, rows[i].out.bad_speculation);
        assert_near(got.frontend, rows[i].out.frontend);
        assert_near(got.backend, rows[i].out.backend);
    }
}

/* A task that ran a quarter of its time on a P-core and the rest on an E-core, as both sets of counters
 * report. */
TEST(slots_of_a_task_on_hybrid_cpus_are_summed)
{
    static const uint64_t counts[2][COUNT_TOPDOWN_INPUTS] = { { 999, 40, 10, 20, 30 },
                                                              { 120, 30, 60, 90, 0 } };
    struct count_slot *slots = mem_array(2, sizeof *slots);
    struct count_set *c = mem_zalloc(sizeof *c);
    uint32_t both[] = { 0, 1 };
    c->slots.items = slots;
    c->slots.n = c->n_cores = 2;
    c->cores[0].topdown = (struct topdown){ TOPDOWN_METRICS, 0, { "a", "b", "c", "d", "e" } };
    c->cores[1].topdown = (struct topdown){ TOPDOWN_ATOM, 0, { "a", "b", "c", "d" } };
    for (uint32_t kind = 0; kind < 2; kind++) {
        slots[kind].kind = SLOT_TASK;
        slots[kind].source = kind;
        slots[kind].main = kind == 0;
        for (int event = 0; event < COUNT_EVENTS; event++)
            slots[kind].fds[event] = -1;
        for (int i = 0; i < (kind ? 4 : 5); i++) {
            slots[kind].fds[COUNT_TOPDOWN_0 + i] = 9;
            slots[kind].diff[COUNT_TOPDOWN_0 + i] =
                (struct count_raw){ counts[kind][i], 1000, kind ? 750 : 250 };
        }
    }
    count_merge_kinds(c);
    for (uint32_t kind = 0; kind < 2; kind++)
        count_topdown(c, &slots[kind]);
    count_sum(c, both, 2, c->total);
    assert_near(c->total[COUNT_SLOTS].value, 400);
    assert_near(c->total[COUNT_RETIRING].value, 160);
    assert_near(c->total[COUNT_BACKEND_BOUND].value, 120);
    assert_near(c->total[COUNT_SLOTS].running, 1);
    assert_int_equal(c->total[COUNT_SLOTS].state, COUNT_OK);
    mem_free(slots);
    mem_free(c);
}

TEST(topdown_events_are_used_only_on_amd_cores_that_have_them)
{
    static const struct {
        const char *cpuinfo;
        double width;
    } rows[] = {
        { "vendor_id\t: AuthenticAMD\ncpu family\t: 25\nmodel\t\t: 17\nmodel name\t: AMD EPYC 9654\n", 6 },
        { "vendor_id\t: AuthenticAMD\ncpu family\t: 25\nmodel\t\t: 1\nmodel name\t: AMD EPYC 7763\n", 0 },
        { "vendor_id\t: AuthenticAMD\ncpu family\t: 26\nmodel\t\t: 2\nmodel name\t: AMD EPYC 9755\n", 8 },
        { "vendor_id\t: GenuineIntel\ncpu family\t: 25\nmodel\t\t: 17\n", 0 },
        { "", 0 },
        { "AuthenticAMD cpu family", 0 },
    };
    for (size_t i = 0; i < COUNT(rows); i++)
        assert_true(topdown_amd_width(rows[i].cpuinfo) == rows[i].width);
}

FIXTURE_TEST(cores_and_sockets_are_read_from_sysfs)
{
    write_below(folder, "devices/system/cpu/cpu3/topology/core_id", "1");
    write_below(folder, "devices/system/cpu/cpu3/topology/physical_package_id", "1");
    struct topology_cpu known = topology_of(3), unknown = topology_of(9);
    assert_true(known.core == 1 && known.socket == 1);
    assert_true(unknown.core == 9 && unknown.socket == 0);
}

FIXTURE_TEST(only_package_temperature_sensors_are_read)
{
    struct topology_heat heats[4];
    assert_int_equal(topology_heats(heats, 4), 0);
    write_below(folder, "class/hwmon/hwmon0/name", "nvme");
    write_below(folder, "class/hwmon/hwmon0/temp1_input", "99000");
    write_below(folder, "class/hwmon/hwmon1/name", "coretemp");
    write_below(folder, "class/hwmon/hwmon1/temp1_input", "71000");
    write_below(folder, "class/hwmon/hwmon1/temp1_label", "Package id 1");
    write_below(folder, "class/hwmon/hwmon1/temp2_input", "88000");
    write_below(folder, "class/hwmon/hwmon1/temp2_label", "Core 0");
    write_below(folder, "class/hwmon/hwmon2/name", "k10temp");
    write_below(folder, "class/hwmon/hwmon2/temp1_input", "54500");
    write_below(folder, "class/hwmon/hwmon2/temp1_label", "Tctl");
    assert_int_equal(topology_heats(heats, 4), 2);
    assert_int_equal(heats[0].socket, 1);
    assert_near(heats[0].celsius, 71);
    assert_near(heats[1].celsius, 54.5);
    assert_int_equal(topology_heats(heats, 1), 1);
}

TEST_MAIN(NULL, NULL)
