// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <linux/hw_breakpoint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "files.h"
#include "perf/event.h"
#include "perf/pmu.h"
#include "perf/tracepoint.h"
#include "unit_test.h"

#define COUNT(a) (sizeof(a) / sizeof *(a))
#define CACHE(cache, op, result)                                                                             \
    (PERF_COUNT_HW_CACHE_##cache | PERF_COUNT_HW_CACHE_OP_##op << 8 |                                        \
     PERF_COUNT_HW_CACHE_RESULT_##result << 16)

static struct event parse(const char *text)
{
    struct event ev;
    struct error e = { 0 };
    if (!event_parse(text, &ev, &e))
        fail_msg("'%s' is refused: %s", text, e.text);
    assert_string_equal(ev.name, text);
    assert_int_equal(ev.attr.size, sizeof ev.attr);
    return ev;
}

TEST(event_names_map_to_the_kernel_type_and_config)
{
    static const struct {
        const char *name;
        enum event_kind kind;
        uint32_t type;
        uint64_t config;
    } rows[] = {
// clang-format off
#define HW(name, c) { name, EVENT_HARDWARE, PERF_TYPE_HARDWARE, PERF_COUNT_HW_##c }
#define SW(name, c) { name, EVENT_SOFTWARE, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_##c }
#define CA(name, ...) { name, EVENT_CACHE, PERF_TYPE_HW_CACHE, CACHE(__VA_ARGS__) }
        // clang-format on
        HW("cycles", CPU_CYCLES),
        HW("cpu-cycles", CPU_CYCLES),
        HW("instructions", INSTRUCTIONS),
        HW("cache-references", CACHE_REFERENCES),
        HW("cache-misses", CACHE_MISSES),
        HW("branches", BRANCH_INSTRUCTIONS),
        HW("branch-instructions", BRANCH_INSTRUCTIONS),
        HW("branch-misses", BRANCH_MISSES),
        HW("bus-cycles", BUS_CYCLES),
        HW("stalled-cycles-frontend", STALLED_CYCLES_FRONTEND),
        HW("idle-cycles-frontend", STALLED_CYCLES_FRONTEND),
        HW("stalled-cycles-backend", STALLED_CYCLES_BACKEND),
        HW("idle-cycles-backend", STALLED_CYCLES_BACKEND),
        HW("ref-cycles", REF_CPU_CYCLES),
        SW("cpu-clock", CPU_CLOCK),
        SW("task-clock", TASK_CLOCK),
        SW("page-faults", PAGE_FAULTS),
        SW("faults", PAGE_FAULTS),
        SW("context-switches", CONTEXT_SWITCHES),
        SW("cs", CONTEXT_SWITCHES),
        SW("cpu-migrations", CPU_MIGRATIONS),
        SW("migrations", CPU_MIGRATIONS),
        SW("minor-faults", PAGE_FAULTS_MIN),
        SW("major-faults", PAGE_FAULTS_MAJ),
        SW("alignment-faults", ALIGNMENT_FAULTS),
        SW("emulation-faults", EMULATION_FAULTS),
        SW("dummy", DUMMY),
        SW("bpf-output", BPF_OUTPUT),
        SW("cgroup-switches", CGROUP_SWITCHES),
        CA("L1-dcache-loads", L1D, READ, ACCESS),
        CA("L1-dcache-load-misses", L1D, READ, MISS),
        CA("L1-dcache-stores", L1D, WRITE, ACCESS),
        CA("L1-dcache-store-misses", L1D, WRITE, MISS),
        CA("L1-dcache-prefetches", L1D, PREFETCH, ACCESS),
        CA("L1-dcache-misses", L1D, READ, MISS),
        CA("L1-dcache", L1D, READ, ACCESS),
        CA("l1d-speculative-read-miss", L1D, PREFETCH, MISS),
        CA("L1-icache-load-misses", L1I, READ, MISS),
        CA("L1-icache-prefetches", L1I, PREFETCH, ACCESS),
        CA("LLC-loads", LL, READ, ACCESS),
        CA("LLC-store-misses", LL, WRITE, MISS),
        CA("L2-write-access", LL, WRITE, ACCESS),
        CA("dTLB-load-misses", DTLB, READ, MISS),
        CA("d-tlb-store-refs", DTLB, WRITE, ACCESS),
        CA("dTLB-misses-store", DTLB, WRITE, MISS),
        CA("iTLB-loads", ITLB, READ, ACCESS),
        CA("branch-loads", BPU, READ, ACCESS),
        CA("branch-load-misses", BPU, READ, MISS),
        CA("bpu", BPU, READ, ACCESS),
        CA("node-prefetch-misses", NODE, PREFETCH, MISS),
        { "r1c2", EVENT_RAW, PERF_TYPE_RAW, 0x1c2 },
        { "r0", EVENT_RAW, PERF_TYPE_RAW, 0 },
        { "rFFFFFFFFFFFFFFFF", EVENT_RAW, PERF_TYPE_RAW, UINT64_MAX },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct event ev = parse(rows[i].name);
        if (ev.kind != rows[i].kind || ev.attr.type != rows[i].type || ev.attr.config != rows[i].config)
            fail_msg("%s: kind %d type %u config %llx", rows[i].name, ev.kind, ev.attr.type,
                     (unsigned long long)ev.attr.config);
        bool counter = ev.kind == EVENT_HARDWARE || ev.kind == EVENT_RAW;
        assert_int_equal(ev.precise_max, counter);
        assert_int_equal(ev.attr.exclude_guest, counter || ev.kind == EVENT_CACHE);
        assert_int_equal(ev.attr.exclude_user + ev.attr.exclude_kernel + ev.attr.exclude_hv, 0);
    }
}

TEST(modifiers_set_the_same_attributes_as_perf)
{
    static const struct {
        const char *name;
        unsigned no_user, no_kernel, no_hv, no_guest, no_host, no_idle, precise, max, pinned, exclusive;
    } rows[] = {
        // clang-format off
        { "cycles:u", 0, 1, 1, 1, 0, 0, 0, 1, 0, 0 },
        { "cycles:k", 1, 0, 1, 1, 0, 0, 0, 1, 0, 0 },
        { "cycles:h", 1, 1, 0, 1, 0, 0, 0, 1, 0, 0 },
        { "cycles:uk", 0, 0, 1, 1, 0, 0, 0, 1, 0, 0 },
        { "cycles:G", 0, 0, 0, 0, 1, 0, 0, 1, 0, 0 },
        { "cycles:H", 0, 0, 0, 1, 0, 0, 0, 1, 0, 0 },
        { "cycles:GH", 0, 0, 0, 0, 0, 0, 0, 1, 0, 0 },
        { "cycles:p", 0, 0, 0, 1, 0, 0, 1, 0, 0, 0 },
        { "cycles:ppu", 0, 1, 1, 1, 0, 0, 2, 0, 0, 0 },
        { "cycles:ppp", 0, 0, 0, 1, 0, 0, 3, 0, 0, 0 },
        { "cycles:P", 0, 0, 0, 1, 0, 0, 0, 1, 0, 0 },
        { "cycles:I", 0, 0, 0, 1, 0, 1, 0, 1, 0, 0 },
        { "cycles:D", 0, 0, 0, 1, 0, 0, 0, 1, 1, 0 },
        { "cycles:e", 0, 0, 0, 1, 0, 0, 0, 1, 0, 1 },
        { "cycles:SW", 0, 0, 0, 1, 0, 0, 0, 1, 0, 0 },
        { "cpu-clock:u", 0, 1, 1, 0, 0, 0, 0, 0, 0, 0 },
        { "LLC-loads:k", 1, 0, 1, 1, 0, 0, 0, 0, 0, 0 },
        { "rc0:up", 0, 1, 1, 1, 0, 0, 1, 0, 0, 0 },
        // clang-format on
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct event ev = parse(rows[i].name);
        const struct perf_event_attr *a = &ev.attr;
        if (a->exclude_user != rows[i].no_user || a->exclude_kernel != rows[i].no_kernel ||
            a->exclude_hv != rows[i].no_hv || a->exclude_guest != rows[i].no_guest ||
            a->exclude_host != rows[i].no_host || a->exclude_idle != rows[i].no_idle ||
            a->precise_ip != rows[i].precise || ev.precise_max != rows[i].max ||
            a->pinned != rows[i].pinned || a->exclusive != rows[i].exclusive)
            fail_msg("%s: u%u k%u h%u g%u H%u I%u p%u max%u D%u e%u", rows[i].name, a->exclude_user,
                     a->exclude_kernel, a->exclude_hv, a->exclude_guest, a->exclude_host, a->exclude_idle,
                     a->precise_ip, ev.precise_max, a->pinned, a->exclusive);
    }
}

TEST(breakpoints_are_parsed_into_address_length_and_access)
{
    static const struct {
        const char *name;
        uint64_t addr, len;
        uint32_t type;
        unsigned no_kernel;
    } rows[] = {
        { "mem:0x1000", 0x1000, 4, HW_BREAKPOINT_RW, 0 },
        { "mem:0xffffffff81000000:x", 0xffffffff81000000, sizeof(long), HW_BREAKPOINT_X, 0 },
        { "mem:4096/8:w", 4096, 8, HW_BREAKPOINT_W, 0 },
        { "mem:0x10/1:rw:u", 0x10, 1, HW_BREAKPOINT_RW, 1 },
        { "mem:0x10:u", 0x10, 4, HW_BREAKPOINT_RW, 1 },
        { "mem:0x10/2", 0x10, 2, HW_BREAKPOINT_RW, 0 },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct event ev = parse(rows[i].name);
        assert_int_equal(ev.kind, EVENT_BREAKPOINT);
        assert_int_equal(ev.attr.type, PERF_TYPE_BREAKPOINT);
        assert_true(ev.attr.bp_addr == rows[i].addr);
        assert_int_equal(ev.attr.bp_len, rows[i].len);
        assert_int_equal(ev.attr.bp_type, rows[i].type);
        assert_int_equal(ev.attr.exclude_kernel, rows[i].no_kernel);
        assert_false(ev.precise_max);
    }
}

/* A fake tracefs and sysfs, so that results do not depend on the machine. */
static char folder[64];

static int make_folder(void **state)
{
    static char pmus[96], tracefs[96];
    strcpy(folder, "/tmp/test_event.XXXXXX");
    if (!mkdtemp(folder))
        return -1;
    write_below(folder, "tracefs/events/sched/sched_switch/id", "372\n");
    write_below(folder, "tracefs/events/sched/sched_waking/id", "371\n");
    write_below(folder, "tracefs/events/block/block_rq_issue/id", "99\n");
    write_below(folder, "tracefs/events/enable", "0\n");
    write_below(folder, "pmu/cpu/type", "4\n");
    write_below(folder, "pmu/cpu/format/event", "config:0-7\n");
    write_below(folder, "pmu/cpu/format/umask", "config:8-15\n");
    write_below(folder, "pmu/cpu/events/mem-loads", "event=0xcd,umask=0x1\n");
    write_below(folder, "pmu/uncore_imc_0/type", "18\n");
    write_below(folder, "pmu/uncore_imc_0/format/event", "config:0-7\n");
    write_below(folder, "pmu/uncore_imc_0/cpumask", "0,18\n");
    snprintf(pmus, sizeof pmus, "%s/pmu", folder);
    snprintf(tracefs, sizeof tracefs, "%s/tracefs", folder);
    pmu_set_root(pmus);
    tracepoint_set_root(tracefs);
    return 0;
}

static int remove_folder(void **state)
{
    pmu_set_root(NULL);
    tracepoint_set_root(NULL);
    return remove_tree(folder);
}

#define FIXTURE_TEST(name) TEST_WITH(name, make_folder, remove_folder)

FIXTURE_TEST(tracepoint_ids_are_read_from_tracefs)
{
    struct event ev = parse("sched:sched_switch");
    assert_int_equal(ev.kind, EVENT_TRACEPOINT);
    assert_int_equal(ev.attr.type, PERF_TYPE_TRACEPOINT);
    assert_int_equal(ev.attr.config, 372);
    assert_false(ev.precise_max);
    assert_false(ev.attr.exclude_guest);
    ev = parse("block:block_rq_issue:k");
    assert_int_equal(ev.attr.config, 99);
    assert_true(ev.attr.exclude_user);
}

FIXTURE_TEST(pmu_events_accept_terms_and_modifiers)
{
    struct event ev = parse("cpu/event=0x3c,umask=0x2/u");
    assert_int_equal(ev.kind, EVENT_PMU);
    assert_int_equal(ev.attr.type, 4);
    assert_int_equal(ev.attr.config, 0x23c);
    assert_true(ev.attr.exclude_kernel && ev.attr.exclude_guest && ev.precise_max);
    ev = parse("mem-loads:pp");
    assert_int_equal(ev.attr.config, 0x1cd);
    assert_int_equal(ev.attr.precise_ip, 2);
    ev = parse("uncore_imc_0/event=4/");
    assert_int_equal(ev.attr.type, 18);
    assert_true(ev.cpus.words[0] == (1 | 1 << 18));
    assert_false(ev.precise_max || ev.attr.exclude_guest);
    struct error e = { 0 };
    assert_true(event_parse("cpu/event=1,name=mine/k", &ev, &e));
    assert_string_equal(ev.name, "mine:k");
}

FIXTURE_TEST(errors_name_the_invalid_part_and_the_nearest_name)
{
    static const struct {
        const char *text, *says, *also;
    } rows[] = {
        { "", "empty", "cpu-clock" },
        { "cyces", "'cyces'", "did you mean 'cycles'" },
        { "cyces:u", "'cyces'", "did you mean 'cycles'" },
        { "page-fualts", "'page-fualts'", "'page-faults'" },
        { "mem-lods", "'mem-lods'", "'mem-loads'" },
        { "cycles:q", "'q'", "precise" },
        { "cycles:upppp", "'p'", "too often" },
        { "cycles:uu", "'u'", "too often" },
        { "cycles:", "nothing follows", NULL },
        { "L1-icache-stores", "no CPU counts", "did you mean" },
        { "iTLB-prefetches", "no CPU counts", NULL },
        { "LLC-loads-stores", "unknown event", NULL },
        { "sched:sched_swich", "no tracepoint", "'sched:sched_switch'" },
        { "sched_switch", "unknown event", "'sched:sched_switch'" },
        { "sched", "unknown event", "'sched:*'" },
        { "sched:", "unknown event", "'sched:*'" },
        { ":sched_switch", "empty", "cpu-clock" },
        { "/event=1/", "empty", "cpu-clock" },
        { "shed:sched_switch", "'shed'", "'sched:" },
        { "sched:*", "wildcards", NULL },
        { "../x:y", "", NULL },
        { "..:id", "", NULL },
        { "cpu/event=0x3c", "second '/'", NULL },
        { "cqu/event=0x3c/", "no PMU 'cqu'", "'cpu'" },
        { "cpu/evnt=1/", "'evnt'", "'event'" },
        { "cpu/event=0x1ff/", "too large", "8 bits" },
        { "cpu/event=zz/", "'zz' is not a number", NULL },
        { "cpu/event=1,call-graph=fp/", "same for all events", "--call-graph" },
        { "cpu/event=1,inherit/", "leave it out", NULL },
        { "cycles/perod=1/", "'perod'", "did you mean 'period='" },
        { "cycles/period=0/", "at least 1", NULL },
        { "cycles/period=1,freq=1/", "exclude each other", NULL },
        { "cycles:u/period=1/", "behind the terms", NULL },
        { "sched:sched_switch/umask=1/", "not a term", NULL },
        { "uncore_imc/event=1/", "no PMU", "uncore_imc_0" },
        { "../cpu/event=1/", "no PMU", NULL },
        { "mem:", "no address", "mem:0xADDRESS" },
        { "mem:0x10/3", "length", NULL },
        { "mem:0x10:rr", "modifier", NULL },
        { "cycles,instructions", "more than one", "'cycles'" },
        { "{cycles,instructions}", "more than one", "'cycles'" },
        { "rfffffffffffffffff", "unknown event", NULL },
        { "cs;faults", "'cs;faults'", "separated by commas" },
        { "cs cs", "'cs cs'", "separated by commas" },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct event ev;
        struct error e = { 0 };
        if (event_parse(rows[i].text, &ev, &e))
            fail_msg("'%s' is accepted", rows[i].text);
        if (!*e.text || !strstr(e.text, rows[i].says) || (rows[i].also && !strstr(e.text, rows[i].also)))
            fail_msg("'%s' is refused with: %s", rows[i].text, e.text);
    }
}

TEST(names_that_are_too_long_are_refused)
{
    char text[400];
    struct event ev;
    struct error e = { 0 };
    memset(text, 'a', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    assert_false(event_parse(text, &ev, &e));
    assert_non_null(strstr(e.text, "too long"));
}

TEST(escape_characters_do_not_reach_names_and_messages)
{
    struct event ev;
    struct error e = { 0 };
    assert_false(event_parse("cy\033[2Jcles", &ev, &e));
    assert_null(strchr(ev.name, '\033'));
    assert_null(strchr(e.text, '\033'));
}

FIXTURE_TEST(missing_tracefs_is_reported_with_how_to_mount_it)
{
    struct event ev;
    struct error e = { 0 };
    tracepoint_set_root("");
    assert_false(event_parse("sched:sched_switch", &ev, &e));
    assert_non_null(strstr(e.text, "mount -t tracefs nodev /sys/kernel/tracing"));
}

TEST(the_default_event_is_cycles_at_the_highest_precision)
{
    struct event ev;
    event_default(&ev);
    assert_string_equal(ev.name, "cycles");
    assert_int_equal(ev.attr.type, PERF_TYPE_HARDWARE);
    assert_int_equal(ev.attr.config, PERF_COUNT_HW_CPU_CYCLES);
    assert_true(ev.precise_max);
    assert_false(event_is_clock(&ev));
}

TEST(clock_events_are_recognized)
{
    struct event ev = parse("cpu-clock:u");
    assert_true(event_is_clock(&ev));
    ev = parse("task-clock");
    assert_true(event_is_clock(&ev));
    ev = parse("context-switches");
    assert_false(event_is_clock(&ev));
    ev = parse("instructions");
    assert_false(event_is_clock(&ev));
}

struct unwind_start {
    unsigned hardware, software, cache, tracepoint, pmu, unhelped, stop_after, total;
};

static bool check_listed_event(void *ctx, const struct event_row *r)
{
    struct unwind_start *w = ctx;
    struct event ev;
    struct error e = { 0 };
    if (!event_parse(r->name, &ev, &e) || (r->alias && !event_parse(r->alias, &ev, &e)))
        fail_msg("the list contains '%s', which is refused: %s", r->name, e.text);
    w->hardware += !strcmp(r->group, "Hardware");
    w->software += !strcmp(r->group, "Software");
    w->cache += !strcmp(r->group, "Cache");
    w->tracepoint += !strncmp(r->group, "Tracepoint: ", 12);
    w->pmu += !strcmp(r->group, "PMU: cpu");
    w->unhelped += !r->help && strncmp(r->group, "Tracepoint: ", 12);
    return ++w->total != w->stop_after;
}

FIXTURE_TEST(the_event_list_contains_only_names_that_parse)
{
    struct unwind_start w = { 0 };
    bool no_tracefs = true;
    event_each(check_listed_event, &w, &no_tracefs);
    assert_false(no_tracefs);
    assert_int_equal(w.hardware, 10);
    assert_int_equal(w.software, 15);
    assert_int_equal(w.cache, 2 * (3 + 2 + 3 + 3 + 1 + 1 + 3));
    assert_int_equal(w.tracepoint, 3);
    assert_int_equal(w.pmu, 1);
    assert_int_equal(w.unhelped, 0);
}

FIXTURE_TEST(listing_stops_on_request_and_reports_missing_tracefs)
{
    struct unwind_start w = { .stop_after = 11 };
    bool no_tracefs = false;
    event_each(check_listed_event, &w, &no_tracefs);
    assert_int_equal(w.total, 11);
    w = (struct unwind_start){ 0 };
    tracepoint_set_root("");
    event_each(check_listed_event, &w, &no_tracefs);
    assert_true(no_tracefs);
    assert_int_equal(w.tracepoint, 0);
    assert_int_equal(w.hardware, 10);
}

TEST(event_support_is_determined_by_opening_it)
{
    struct event ev = parse("dummy");
    struct error e = { 0 };
    if (access("/proc/sys/kernel/perf_event_paranoid", F_OK))
        print_message("no perf_event in this kernel\n"), skip();
    if (!event_supported(&ev, &e) && e.class == ERROR_PERMISSION)
        print_message("%s\n", e.text), skip();
    assert_true(event_supported(&ev, &e));
    ev.attr.type = PERF_TYPE_SOFTWARE;
    ev.attr.config = 12345;
    assert_false(event_supported(&ev, &e));
    assert_int_equal(e.class, ERROR_UNSUPPORTED);
    assert_non_null(strstr(e.text, "dummy"));
}

#define NOBODY 65534

static struct error why;

/* Explains the kernel's refusal of cycles on a task (-1: on a CPU) for this user. */
static void explain_refusal_to(uid_t uid, pid_t pid, const char *words)
{
    struct event ev = parse("cycles");
    uid_t was = geteuid();
    assert_int_equal(seteuid(uid), 0);
    assert_false(event_explain(ev.name, &ev.attr, pid, EACCES, &why));
    assert_int_equal(seteuid(was), 0);
    if (!strstr(why.text, words))
        fail_msg("%s", why.text);
}

TEST(refusals_say_how_to_fix_them)
{
    explain_refusal_to(geteuid() ? geteuid() : NOBODY, -1, "sysctl kernel.perf_event_paranoid=0");
    assert_int_equal(why.class, ERROR_PERMISSION);
}

TEST(the_sysctl_is_not_suggested_for_another_users_task)
{
    if (geteuid())
        print_message("needs root, to become another user\n"), skip();
    explain_refusal_to(NOBODY, 1, "belongs to uid 0");
    assert_null(strstr(why.text, "sysctl"));
}

TEST(a_privileged_user_is_not_advised_to_gain_privileges)
{
    if (geteuid())
        print_message("needs root\n"), skip();
    explain_refusal_to(0, -1, "even with CAP_PERFMON");
    assert_null(strstr(why.text, "sysctl"));
}

TEST(each_kernel_errno_has_its_own_message)
{
    const struct {
        const char *event;
        int sys;
        enum error_class class;
        const char *words;
    } cases[] = {
        { "cycles", EMFILE, ERROR_LIMIT, "ulimit -n" },
        { "cycles", ENFILE, ERROR_LIMIT, "ulimit -n" },
        { "cycles", ENOENT, ERROR_UNSUPPORTED, "cycles: " },
        { "cs", ENOENT, ERROR_UNSUPPORTED, "this kernel does not have it" },
        { "cs", ENODEV, ERROR_UNSUPPORTED, "this kernel does not have it" },
        { "cycles", EBUSY, ERROR_LIMIT, "sysctl kernel.nmi_watchdog=0" },
        { "cycles", ENOSPC, ERROR_LIMIT, "no counter is left" },
        { "mem:0x1000:w", ENOSPC, ERROR_LIMIT, "choose fewer mem: events" },
        { "mem:0x1000:w", EBUSY, ERROR_LIMIT, "another profiler" },
        { "cs", EINVAL, ERROR_UNSUPPORTED, "rejects this combination" },
        { "mem:0x1000:rwx", EINVAL, ERROR_UNSUPPORTED, "not on both" },
        { "mem:0x1000:r", EINVAL, ERROR_UNSUPPORTED, "no breakpoints on reads only" },
        { "mem:0x1000/2:x", EINVAL, ERROR_UNSUPPORTED, "mem:0xADDRESS:x" },
        { "mem:0x1001/4:w", EINVAL, ERROR_UNSUPPORTED, "a multiple of its length" },
        { "cs", ENOSYS, ERROR_UNSUPPORTED, "without perf_event" },
        { "cs", ESRCH, ERROR_MISSING, "the task has ended" },
        { "cs", E2BIG, ERROR_SYSTEM, "the kernel did not open it" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct event ev = parse(cases[i].event);
        struct error e = { 0 };
        assert_false(event_explain(ev.name, &ev.attr, 0, cases[i].sys, &e));
        assert_int_equal(e.class, cases[i].class);
        if (!strstr(e.text, cases[i].words) || strncmp(e.text, ev.name, strlen(ev.name)))
            fail_msg("%s, %d: %s", ev.name, cases[i].sys, e.text);
    }
}

TEST(off_cpu_is_the_filtered_switch_tracepoint_with_switch_records)
{
    struct event ev = parse("off-cpu"), clock = parse("cpu-clock"), faults = parse("page-faults");
    assert_true(ev.off_cpu);
    assert_true(event_is_time(&ev) && !event_is_clock(&ev));
    assert_true(event_is_time(&clock) && !event_is_time(&faults) && !clock.off_cpu);
    assert_true(ev.attr.context_switch);
    assert_int_equal(ev.period, 1);
    if (ev.kind == EVENT_TRACEPOINT) {
        assert_string_equal(ev.tracepoint, "sched:sched_switch");
        assert_string_equal(ev.filter, "prev_state & 15");
    }
    tracepoint_set_root("");
    ev = parse("off-cpu");
    tracepoint_set_root(NULL);
    assert_true(ev.off_cpu);
    assert_int_equal(ev.attr.type, PERF_TYPE_SOFTWARE);
    assert_int_equal(ev.attr.config, PERF_COUNT_SW_CONTEXT_SWITCHES);
    assert_true(ev.attr.context_switch);
}

TEST_MAIN(NULL, NULL)
