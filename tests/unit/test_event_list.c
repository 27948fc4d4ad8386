// SPDX-License-Identifier: GPL-2.0-or-later
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

/* A hybrid machine with two memory controllers, and a tracefs. */
static char folder[64], tracefs[96];

static int make_folder(void **state)
{
    static char pmus[96];
    strcpy(folder, "/tmp/test_event_list.XXXXXX");
    if (!mkdtemp(folder))
        return -1;
    write_below(folder, "pmu/cpu_core/type", "4\n");
    write_below(folder, "pmu/cpu_core/cpus", "0-3\n");
    write_below(folder, "pmu/cpu_core/format/event", "config:0-7\n");
    write_below(folder, "pmu/cpu_core/events/slots", "event=0x00,umask=0x4\n");
    write_below(folder, "pmu/cpu_core/format/umask", "config:8-15\n");
    write_below(folder, "pmu/cpu_atom/type", "10\n");
    write_below(folder, "pmu/cpu_atom/cpus", "4-7\n");
    write_below(folder, "pmu/uncore_imc_0/type", "18\n");
    write_below(folder, "pmu/uncore_imc_0/cpumask", "0,64\n");
    write_below(folder, "pmu/uncore_imc_0/format/event", "config:0-7\n");
    write_below(folder, "pmu/uncore_imc_0/events/reads", "event=0x4\n");
    write_below(folder, "pmu/uncore_imc_0/events/reads.scale", "6.103515625e-5\n");
    write_below(folder, "pmu/uncore_imc_0/events/reads.unit", "MiB\n");
    write_below(folder, "pmu/uncore_imc_1/type", "19\n");
    write_below(folder, "pmu/uncore_imc_1/cpumask", "0,64\n");
    write_below(folder, "pmu/uncore_imc_1/format/event", "config:0-7\n");
    write_below(folder, "pmu/uncore_imc_1/events/reads", "event=0x4\n");
    write_below(folder, "pmu/uncore_imc_free/type", "20\n");
    write_below(folder, "tracefs/events/sched/sched_switch/id", "372\n");
    write_below(folder, "tracefs/events/sched/sched_switch/format",
                "name: sched_switch\nformat:\n\tfield:unsigned short common_type;\toffset:0;\n\n"
                "\tfield:char prev_comm[16];\toffset:8;\n"
                "\tfield:pid_t prev_pid;\toffset:24;\n\tfield:__data_loc char[] file;\toffset:28;\n\n"
                "print fmt: field:none;\n");
    write_below(folder, "tracefs/events/sched/sched_waking/id", "371\n");
    write_below(folder, "tracefs/events/odd/odd/id", "373\n");
    write_below(folder, "tracefs/events/odd/odd/format",
                "\tfield:__data_loc char where;\toffset:8;\n\tfield:__data_loc cha");
    write_below(folder, "tracefs/events/sched/enable", "0\n");
    write_below(folder, "tracefs/events/syscalls/sys_enter_read/id", "500\n");
    write_below(folder, "tracefs/events/syscalls/sys_exit_read/id", "501\n");
    write_below(folder, "tracefs/events/uprobes/hit/id", "900\n");
    write_below(folder, "tracefs/events/uprobes/hit/format",
                "format:\n\tfield:unsigned long __probe_ip;\toffset:8;\n");
    write_below(folder, "tracefs/dynamic_events",
                "p:uprobes/hitch /bin/x:0x1\np:uprobes/hit /bin/sh:0x0000000000001234 size=%di\n");
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

static struct event_list parse(const char *text)
{
    struct event_list list = { 0 };
    struct error e = { 0 };
    if (!event_list_parse(&list, text, &e))
        fail_msg("'%s' is refused: %s", text, e.text);
    return list;
}

static void expect_names(const char *text, const char *names)
{
    struct event_list list = parse(text);
    char joined[1024] = "";
    for (size_t i = 0; i < list.n; i++)
        snprintf(joined + strlen(joined), sizeof joined - strlen(joined), "%s%s", i ? " " : "",
                 list.items[i].name);
    assert_string_equal(joined, names);
    event_list_done(&list);
}

TEST(commas_separate_events_but_not_their_terms)
{
    expect_names("cs", "cs");
    expect_names("cycles:u,cs,mem:0x10/8:w,page-faults", "cycles:u cs mem:0x10/8:w page-faults");
    expect_names("cpu_core/event=1,umask=2/u,cs", "cpu_core/event=1,umask=2/u cs");
    expect_names("cs/name='a,b',period=7/,mem:0x10/4:rw/name=x/u", "a,b x:u");
    expect_names("{cs,mem:0x10/8:w},faults", "cs mem:0x10/8:w faults");
}

TEST(globs_expand_to_all_matching_tracepoints)
{
    expect_names("sched:*", "sched:sched_switch sched:sched_waking");
    expect_names("s*:*_read:u", "syscalls:sys_enter_read:u syscalls:sys_exit_read:u");
    expect_names("syscalls:sys_enter_[a-z]*", "syscalls:sys_enter_read");
    expect_names("sched:sched_sw*/period=10/,cs", "sched:sched_switch/period=10/ cs");
}

TEST(a_pmu_prefix_expands_to_all_instances)
{
    expect_names("uncore_imc/event=4/", "uncore_imc_0/event=4/ uncore_imc_1/event=4/");
    expect_names("imc/reads/", "uncore_imc_0/reads/ uncore_imc_1/reads/");
    expect_names("uncore_imc_1/reads/", "uncore_imc_1/reads/");
    expect_names("uncore_*_[01]/reads/", "uncore_imc_0/reads/ uncore_imc_1/reads/");
    struct event_list list = parse("imc/reads/");
    assert_int_equal(list.items[1].attr.type, 19);
    assert_true(cpu_mask_has(&list.items[0].cpus, 64));
    assert_false(cpu_mask_has(&list.items[0].cpus, 63));
    assert_string_equal(list.items[0].unit, "MiB");
    assert_true(list.items[0].scale > 6e-5 && list.items[0].scale < 6.2e-5);
    event_list_done(&list);
}

TEST(braced_groups_have_a_leader_and_share_modifiers)
{
    struct event_list list =
        parse("cs,{cycles:p,sched:sched_switch,instructions}:uS,pair{branches,branch-misses},faults");
    static const uint8_t members[] = { 0, 3, 0, 0, 2, 0, 0 };
    assert_int_equal(list.n, COUNT(members));
    for (size_t i = 0; i < COUNT(members); i++)
        assert_int_equal(list.items[i].members, members[i]);
    assert_true(list.items[1].reads && !list.items[4].reads);
    assert_string_equal(list.items[1].name, "cycles:pu");
    assert_true(list.items[1].attr.exclude_kernel && list.items[1].attr.precise_ip == 1);
    assert_true(list.items[2].attr.exclude_kernel);
    assert_string_equal(list.items[2].name, "sched:sched_switch:u");
    assert_false(list.items[0].attr.exclude_kernel || list.items[4].attr.exclude_kernel);
    event_list_done(&list);
}

TEST(terms_set_the_name_and_rate_of_an_event)
{
    struct event_list list =
        parse("cs/period=100/,cycles/freq=499,name=mine/k,sched:sched_switch/name=switch/");
    assert_int_equal(list.items[0].period, 100);
    assert_int_equal(list.items[1].freq_hz, 499);
    assert_string_equal(list.items[1].name, "mine:k");
    assert_int_equal(list.items[1].kind, EVENT_HARDWARE);
    assert_string_equal(list.items[2].name, "switch");
    assert_string_equal(list.items[2].tracepoint, "sched:sched_switch");
    event_list_done(&list);
}

TEST(hybrid_cores_get_their_own_event_config)
{
    struct event_list list = parse("cycles,r1c2,cpu_atom/cycles/,cpu_core/L1-dcache-loads/,cs,slots");
    struct perf_event_attr on;
    event_attr_on_cpu(&list.items[0].attr, 2, &on);
    assert_true(on.type == PERF_TYPE_HARDWARE && on.config == UINT64_C(4) << 32);
    event_attr_on_cpu(&list.items[0].attr, 5, &on);
    assert_true(on.type == PERF_TYPE_HARDWARE && on.config == UINT64_C(10) << 32);
    event_attr_on_cpu(&list.items[1].attr, 5, &on);
    assert_true(on.type == 10 && on.config == 0x1c2);
    event_attr_on_cpu(&list.items[2].attr, 2, &on); /* that CPU type was requested */
    assert_true(on.type == PERF_TYPE_HARDWARE && on.config == UINT64_C(10) << 32);
    assert_true(cpu_mask_has(&list.items[2].cpus, 4) && !cpu_mask_has(&list.items[2].cpus, 3));
    assert_true(list.items[3].attr.type == PERF_TYPE_HW_CACHE && list.items[3].attr.config == UINT64_C(4)
                                                                                                  << 32);
    event_attr_on_cpu(&list.items[4].attr, 5, &on);
    assert_true(on.type == PERF_TYPE_SOFTWARE && on.config == PERF_COUNT_SW_CONTEXT_SWITCHES);
    assert_true(list.items[5].attr.type == 4 && list.items[5].attr.config == 0x400);
    event_list_done(&list);
}

TEST(blanks_around_events_are_ignored)
{
    struct event_list list = { 0 };
    struct error e = { 0 };
    assert_true(event_list_parse(&list, " cs , faults:u,\n{ cs , faults }:S ", &e));
    assert_int_equal(list.n, 4);
    assert_string_equal(list.items[1].name, "faults:u");
    assert_string_equal(list.items[3].name, "faults");
    assert_int_equal(list.items[2].members, 2);
    assert_true(list.items[2].reads);
    event_list_done(&list);
}

TEST(errors_mark_the_column_of_the_invalid_event)
{
    static const struct {
        const char *text, *from; /* the caret is below the start of this text, or after the end */
        const char *says;
    } rows[] = {
        { "cs,page-fualts", "page-fualts", "'page-faults'" },
        { "cs,,faults", ",faults", "empty" },
        { "cs,faults}", "}", "no open group" },
        { "cs,", "", "empty" },
        { "cs,cycles:uq", "q", "'q' is unknown" },
        { "{cs,faults}:zu", "zu", "'z' is unknown" },
        { "{cs,fualts}:u", "fualts", "'faults'" },
        { "{cs,faults", "{", "not closed" },
        { "{cs,{faults}}", "{faults", "nest" },
        { "{cs}x", "x", "follows the brace" },
        { "{cs}:", "", "nothing follows" },
        { "cs,sched:sched_swich", "sched_swich", "'sched:sched_switch'" },
        { "cs,shed:sched_switch", "shed", "'sched:" },
        { "cs,sched:zz*", "zz*", "no tracepoint matches" },
        { "shed:s*", "shed", "did you mean 'sched:s*'" },
        { "cs,cpu_core/event=1,umsk=2/", "umsk", "'umask'" },
        { "cpu_core/event=0x100/,cs", "0x100", "too large" },
        { "cpu_core/event=1,umask=x/", "x/", "not a number" },
        { "cs,cpu_cor/event=1/", "cpu_cor/", "'cpu_core'" },
        { "cpu_core/event=1", "/event", "second '/'" },
        { "cs,mem:0x10/3:w", "3:w", "length" },
        { "cs,mem:zz", "zz", "no address" },
        { "cs,mem:0x10:rr", "rr", "modifier" },
        { "cs/perid=1/", "perid", "did you mean 'period='" },
        { "faults,cs/freq=fast/", "fast", "not a number" },
        { "cs, page-fualts ,faults", "page-fualts", "'page-faults'" },
        { "{ cs ,  fualts }:u", "fualts", "'faults'" },
        { "cs, ,faults", ",faults", "empty" },
        { "cs,r1g", "g", "1 to 16 hexadecimal digits" },
        { "cs,r0123456789012345f", "f", "1 to 16 hexadecimal digits" },
        { "cs,rzz", "rzz", "as in r01c2" },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct event_list list = { 0 };
        struct error e = { 0 };
        if (event_list_parse(&list, rows[i].text, &e))
            fail_msg("'%s' is accepted", rows[i].text);
        size_t at = *rows[i].from ? (size_t)(strstr(rows[i].text, rows[i].from) - rows[i].text)
                                  : strlen(rows[i].text);
        if (!strstr(e.text, rows[i].says) || strcmp(e.shown, rows[i].text) || e.column != at)
            fail_msg("'%s': %s\n%s\n%*s^", rows[i].text, e.text, e.shown, (int)e.column, "");
        assert_int_equal(list.n, 0);
        event_list_done(&list);
    }
}

TEST(errors_in_long_lists_show_the_text_around_the_column)
{
    struct event_list list = { 0 };
    struct error e = { 0 };
    char text[1000] = "";
    for (int i = 0; i < 60; i++)
        strcat(text, "page-faults,");
    strcat(text, "cyces,cs");
    assert_false(event_list_parse(&list, text, &e));
    assert_true(strlen(e.shown) < sizeof e.shown);
    assert_int_equal(strncmp(e.shown + e.column, "cyces", 5), 0);
    event_list_done(&list);
}

TEST(a_pmu_removed_at_run_time_is_reported)
{
    char command[128];
    struct event ev;
    struct error e = { 0 };
    assert_true(event_parse("uncore_imc_free/config=1/", &ev, &e));
    snprintf(command, sizeof command, "rm -r '%s/pmu/uncore_imc_free'", folder);
    assert_int_equal(system(command), 0);
    assert_false(event_parse("uncore_imc_free/config=1/", &ev, &e));
    assert_non_null(strstr(e.text, "no PMU 'uncore_imc_free' on this machine"));
}

TEST(a_failed_parse_leaves_the_list_unchanged)
{
    struct event_list list = parse("cs");
    struct error e = { 0 };
    assert_false(event_list_parse(&list, "faults,nothing-like-that", &e));
    assert_int_equal(list.n, 1);
    event_list_done(&list);
}

TEST(filters_apply_only_to_tracepoints)
{
    struct event_list list = parse("cs,{faults,sched:*}");
    struct error e = { 0 };
    assert_int_equal(list.last, 2);
    event_list_done(&list);
    list = parse("cs,sched:*");
    assert_int_equal(list.last, 1);
    assert_true(event_list_filter(&list, 1, "prev_pid > 3", &e));
    assert_string_equal(list.items[2].filter, "prev_pid > 3");
    assert_true(event_list_filter(&list, 2, "prev_pid < 9", &e));
    assert_string_equal(list.items[1].filter, "prev_pid > 3");
    assert_string_equal(list.items[2].filter, "(prev_pid > 3) && (prev_pid < 9)");
    assert_false(event_list_filter(&list, 0, "x > 3", &e));
    assert_non_null(strstr(e.text, "cs is not a tracepoint"));
    assert_false(event_list_filter(&list, list.n, "x > 3", &e));
    assert_non_null(strstr(e.text, "must follow a tracepoint"));
    assert_false(event_list_filter(&list, 1, "", &e));
    char *long_one = calloc(1, EVENT_FILTER_MAX + 1);
    memset(long_one, 'x', EVENT_FILTER_MAX);
    assert_false(event_list_filter(&list, 1, long_one, &e));
    free(long_one);
    event_list_done(&list);
}

TEST(off_cpu_and_wakers_come_together)
{
    struct error e = { 0 };
    expect_names("off-cpu", "off-cpu wakers");
    expect_names("cs,wakers", "cs off-cpu wakers");
    expect_names("off-cpu,wakers,off-cpu", "off-cpu wakers"); /* else the samples of one would be lost */
    expect_names("{off-cpu,cs}", "off-cpu cs");               /* a group is sampled by its leader */
    struct event_list list = parse("off-cpu");
    assert_true(list.items[1].wakers && !list.items[1].off_cpu && !list.items[1].shown);
    assert_string_equal(list.items[1].tracepoint, "sched:sched_waking");
    assert_int_equal(list.items[1].period, 1);
    assert_true(event_list_filter(&list, list.last, "prev_pid > 3", &e));
    assert_string_equal(list.items[0].filter, "(prev_state & 15) && (prev_pid > 3)");
    assert_string_equal(list.items[1].filter, "");
    event_list_done(&list);
    static const char *const shown[] = { "wakers", "off-cpu,wakers" };
    for (size_t i = 0; i < sizeof shown / sizeof *shown; i++) {
        list = parse(shown[i]);
        assert_true(list.items[1].shown && !list.items[0].shown);
        event_list_done(&list);
    }
    list = parse("wall,off-cpu");
    assert_true(list.items[0].implied && !list.items[1].implied && !list.items[2].implied);
    event_list_done(&list);
    assert_false(event_list_parse(&list, "{cs,wakers}", &e));
    assert_non_null(strstr(e.text, "no member of a group"));
    assert_false(event_list_parse(&list, "off-cpu/period=10/", &e));
    assert_non_null(strstr(e.text, "no period or frequency"));
    assert_false(event_list_parse(&list, "wakers/freq=10/", &e));
    event_list_done(&list);
    tracepoint_set_root("");
    expect_names("off-cpu", "off-cpu");
    assert_false(event_list_parse(&list, "wakers", &e));
    assert_non_null(strstr(e.text, "tracefs is not mounted"));
    event_list_done(&list);
    tracepoint_set_root(tracefs);
}

TEST(waits_for_a_cpu_come_with_off_cpu)
{
    struct error e = { 0 };
    expect_names("latency:runqueue", "off-cpu wakers latency:runqueue");
    expect_names("wakers,latency:runqueue", "off-cpu wakers latency:runqueue");
    struct event_list list = parse("cs,latency:runqueue,latency:runqueue");
    assert_int_equal(list.n, 4);
    assert_true(list.items[1].implied && list.items[2].implied && list.items[3].shown);
    assert_false(list.items[0].implied || list.items[3].implied);
    event_list_done(&list);
    assert_false(event_list_parse(&list, "{cs,latency:runqueue}", &e));
    assert_non_null(strstr(e.text, "no member of a group"));
    tracepoint_set_root("");
    assert_false(event_list_parse(&list, "latency:runqueue", &e));
    assert_non_null(strstr(e.text, "tracefs is not mounted"));
    event_list_done(&list);
    tracepoint_set_root(tracefs);
}

TEST(wall_comes_with_what_it_is_made_from)
{
    struct error e = { 0 };
    expect_names("wall", "cycles off-cpu wakers wall");
    expect_names("wall,cs", "cycles off-cpu wakers wall cs");
    expect_names("cpu-clock,wall", "cpu-clock off-cpu wakers wall");
    expect_names("off-cpu,wall", "off-cpu wakers cycles wall");
    struct event_list list = parse("task-clock:u,wall");
    assert_int_equal(list.n, 4);
    assert_true(list.items[3].wall && list.items[3].shown && event_is_time(&list.items[3]));
    assert_false(event_is_wait(&list.items[3]));
    assert_false(list.items[0].implied || list.items[3].implied);
    assert_true(list.items[1].implied && list.items[2].implied);
    event_list_done(&list);
    assert_false(event_list_parse(&list, "{cs,wall}", &e));
    assert_non_null(strstr(e.text, "no member of a group"));
    assert_false(event_list_parse(&list, "wall:u", &e));
    assert_non_null(strstr(e.text, "cycles:u,wall"));
    assert_false(event_list_parse(&list, "wall/period=10/", &e));
    assert_non_null(strstr(e.text, "no period or frequency"));
    event_list_done(&list);
    tracepoint_set_root("");
    expect_names("wall", "cycles off-cpu wall");
    tracepoint_set_root(tracefs);
}

TEST(tracepoint_fields_and_probes_are_described_in_one_line)
{
    char text[200];
    assert_true(tracepoint_fields("sched", "sched_switch", text, sizeof text));
    assert_string_equal(text, "prev_comm, prev_pid, file");
    assert_true(tracepoint_fields("uprobes", "hit", text, sizeof text));
    assert_string_equal(text, "uprobe /bin/sh:0x0000000000001234 size=%di");
    assert_true(tracepoint_fields("odd", "odd", text, sizeof text));
    assert_string_equal(text, "where, cha");
    assert_false(tracepoint_fields("sched", "sched_waking", text, sizeof text));
    assert_false(tracepoint_fields("..", "sched", text, sizeof text));
}

/* ---- into an array ---- */

static struct event few[8];
static uint32_t n;
static struct error error;

static bool parse_into(const char *text)
{
    memset(few, 0, sizeof few);
    n = 0;
    error = (struct error){ 0 };
    return event_parse_list(text, few, 8, &n, &error);
}

TEST(a_filter_may_follow_in_brackets)
{
    struct event events[4];
    uint32_t n = 0;
    assert_true(event_parse_list("sched:sched_switch[prev_state & 255]", events, 4, &n, &error));
    assert_int_equal(n, 1);
    assert_string_equal(events[0].filter, "prev_state & 255");
    assert_string_equal(events[0].name, "sched:sched_switch");
    n = 0;
    error_clear(&error);
    assert_false(event_parse_list("page-faults[address > 4]", events, 4, &n, &error));
    assert_non_null(strstr(error.text, "not a tracepoint"));
}

TEST(a_single_event_is_a_list_of_one)
{
    assert_true(parse_into("page-faults:u"));
    assert_int_equal(n, 1);
    assert_string_equal(few[0].name, "page-faults:u");
    assert_int_equal(few[0].members, 0);
}

TEST(a_group_has_a_leader_and_members)
{
    assert_true(parse_into("{cycles,instructions,page-faults}"));
    assert_int_equal(n, 3);
    assert_int_equal(few[0].members, 3);
    assert_false(few[0].reads);
    assert_int_equal(few[1].members, 0);
    assert_string_equal(few[2].name, "page-faults");
}

TEST(the_s_modifier_makes_the_group_leader_read_its_members)
{
    assert_true(parse_into("{cpu-clock,page-faults}:S"));
    assert_true(few[0].reads);
    assert_string_equal(few[0].name, "cpu-clock");
    assert_string_equal(few[1].name, "page-faults");
    assert_true(parse_into("{cpu-clock:S,page-faults}"));
    assert_true(few[0].reads);
    assert_string_equal(few[0].name, "cpu-clock");
    assert_true(parse_into("{cpu-clock,page-faults:S}"));
    assert_false(few[0].reads);
}

TEST(group_modifiers_are_added_to_event_modifiers)
{
    assert_true(parse_into("{cycles:u,instructions,page-faults:k}:Sk"));
    assert_string_equal(few[0].name, "cycles:uk");
    assert_string_equal(few[1].name, "instructions:k");
    assert_string_equal(few[2].name, "page-faults:k");
    assert_int_equal(few[0].attr.exclude_kernel, 0);
    assert_int_equal(few[1].attr.exclude_user, 1);
}

TEST(only_the_group_leader_is_pinned)
{
    assert_true(parse_into("{cycles,instructions}:D"));
    assert_int_equal(few[0].attr.pinned, 1);
    assert_int_equal(few[1].attr.pinned, 0);
}

TEST(groups_and_single_events_can_be_mixed)
{
    assert_true(parse_into("page-faults,{cycles,instructions}:S,faulty{cpu-clock,cs},mem:0x1000/8:w"));
    assert_int_equal(n, 6);
    assert_int_equal(few[0].members, 0);
    assert_int_equal(few[1].members, 2);
    assert_true(few[1].reads);
    assert_int_equal(few[3].members, 2);
    assert_false(few[3].reads);
    assert_int_equal(few[5].kind, EVENT_BREAKPOINT);
}

TEST(a_group_of_one_event_is_not_a_group)
{
    assert_true(parse_into("{cycles}:S"));
    assert_int_equal(n, 1);
    assert_int_equal(few[0].members, 0);
    assert_false(few[0].reads);
}

TEST(more_events_than_the_limit_are_refused)
{
    assert_false(parse_into("cs,cs,cs,cs,cs,cs,cs,cs,cs"));
    assert_non_null(strstr(error.text, "at most 8 events"));
    assert_int_equal(n, 0);
    assert_false(parse_into("{cs,cs,cs,cs,cs,cs,cs,cs,cs}"));
    assert_non_null(strstr(error.text, "in a group"));
}

TEST_MAIN(make_folder, remove_folder)
