// SPDX-License-Identifier: GPL-2.0-or-later
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "perf/event.h"
#include "perf/pair_rows.h"
#include "perf/tracepoint.h"
#include "profile/operation_data.h"
#include "write_text.h"

static struct pair_rows rows;
static struct error error;
static char tracefs[64];

static void put(const char *event, const char *file, const char *text)
{
    char path[256];
    snprintf(path, sizeof path, "%s/events/%s", tracefs, event);
    mkdir(path, 0700);
    snprintf(path, sizeof path, "%s/events/%s/%s", tracefs, event, file);
    write_text(path, text);
}

/* A tracefs with the events t:begin and t:end, where not only the begin has sizes. */
static int setup(void **state)
{
    (void)state;
    char path[128];
    strcpy(tracefs, "/tmp/test_pair_rows.XXXXXX");
    assert_non_null(mkdtemp(tracefs));
    setenv("XDG_CONFIG_HOME", tracefs, 1);
    snprintf(path, sizeof path, "%s/flametop", tracefs);
    mkdir(path, 0700);
    snprintf(path, sizeof path, "%s/flametop/latency", tracefs);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs("device t:begin t:end dev,sector - - begin help\n"
          "again  t:begin t:end dev - - end help\n"
          "thread t:begin t:end thread - - begin help\n",
          f);
    fclose(f);
    snprintf(path, sizeof path, "%s/events", tracefs);
    mkdir(path, 0700);
    snprintf(path, sizeof path, "%s/events/t", tracefs);
    mkdir(path, 0700);
    put("t/begin", "id", "11\n");
    put("t/begin", "format",
        "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
        "\tfield:u32 dev;\toffset:8;\tsize:4;\tsigned:0;\n"
        "\tfield:u64 sector;\toffset:16;\tsize:8;\tsigned:0;\n"
        "\tfield:u32 bytes;\toffset:24;\tsize:4;\tsigned:0;\n"
        "\tfield:char rwbs[8];\toffset:28;\tsize:8;\tsigned:0;\n");
    put("t/end", "id", "12\n");
    put("t/end", "format",
        "\tfield:u64 sector;\toffset:8;\tsize:8;\tsigned:0;\n"
        "\tfield:u32 dev;\toffset:16;\tsize:4;\tsigned:0;\n");
    put("t/half", "id", "13\n");
    tracepoint_set_root(tracefs);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    char command[128];
    pair_rows_done(&rows);
    tracepoint_set_root(NULL);
    snprintf(command, sizeof command, "rm -r '%s'", tracefs);
    return system(command);
}

static const struct pair_row *only_row(const char *text)
{
    pair_rows_done(&rows);
    error_clear(&error);
    if (!pair_rows_read_text(&rows, "mine", text, &error))
        fail_msg("%s", error.text);
    assert_int_equal(rows.n, 1);
    return &rows.items[0];
}

static void a_row_has_its_columns(void **state)
{
    (void)state;
    const struct pair_row *r =
        only_row("io t:begin|t:other t:end cpu,dev,sector,nested device(dev)+io(rwbs)+bytes "
                 "bytes end  I/O of a device \n");
    assert_string_equal(r->name, "io");
    assert_string_equal(r->events[PAIR_BEGIN], "t:begin|t:other");
    assert_string_equal(r->events[PAIR_END], "t:end");
    assert_string_equal(r->help, "I/O of a device");
    assert_string_equal(r->from, "mine:1: ");
    assert_true(r->by_cpu && r->nested && !r->by_thread && !r->first);
    assert_int_equal(r->n_keys, 2);
    assert_string_equal(r->keys[0], "dev");
    assert_string_equal(r->keys[1], "sector");
    assert_int_equal(r->n_names, 3);
    assert_int_equal(r->names[0].kind, PAIR_NAME_DEVICE);
    assert_string_equal(r->names[0].field, "dev");
    assert_int_equal(r->names[1].kind, PAIR_NAME_IO);
    assert_int_equal(r->names[2].kind, PAIR_NAME_PLAIN);
    assert_string_equal(r->names[2].field, "bytes");
    assert_string_equal(r->size, "bytes");
    assert_int_equal(r->stack, PAIR_END);
}

static void a_row_may_be_of_main_threads_only(void **state)
{
    (void)state;
    const struct pair_row *r = only_row("x a:b c:d process - - begin runs");
    assert_true(r->by_process && r->by_thread && !r->n_keys);
    r = only_row("x a:b c:d thread - - begin runs");
    assert_true(!r->by_process && r->by_thread && !r->n_keys);
}

static void a_later_row_replaces_an_earlier_one(void **state)
{
    (void)state;
    const struct pair_row *r =
        only_row("# comment\n\nx a:b c:d thread - - begin one\nx a:b c:e cpu - - end two\n");
    assert_string_equal(r->help, "two");
    assert_true(r->by_cpu && !r->by_thread);
    assert_string_equal(r->from, "mine:4: ");
}

static void the_built_in_rows_are_valid(void **state)
{
    (void)state;
    static const char *const wanted[] = { "syscalls",   "block",    "block-queue", "fsync",
                                          "interrupts", "softirqs", "reclaim",     "locks" };
    pair_rows_done(&rows);
    assert_true(pair_rows_read(&rows, &error));
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        const struct pair_row *r = pair_row_find(wanted[i], &error);
        assert_non_null(r);
        assert_true(*r->help && !*r->from && (r->by_thread || r->by_cpu || r->n_keys));
    }
    assert_null(pair_row_find("sofirqs", &error));
    assert_non_null(strstr(error.text, "did you mean 'softirqs'?"));
}

static void fields_are_found_in_both_events(void **state)
{
    (void)state;
    struct pair_events events;
    const struct pair_row *r = only_row("io t:none|t:begin t:end dev,sector io(rwbs)+dev bytes begin help\n");
    assert_true(pair_events_open(r, &events, &error));
    assert_string_equal(events.names[PAIR_BEGIN], "t:begin");
    assert_string_equal(events.names[PAIR_END], "t:end");
    assert_true(events.keys[PAIR_BEGIN][1] != events.keys[PAIR_END][1]);
    assert_true(events.size >= 0);
    pair_events_close(&events);
    r = only_row("io t:begin t:end thread - - begin help\n");
    assert_true(pair_events_open(r, &events, &error));
    assert_int_equal(events.size, -1);
    pair_events_close(&events);
}

static void what_this_kernel_lacks_is_told(void **state)
{
    (void)state;
    static const struct {
        const char *row, *words;
    } cases[] = {
        { "x t:begun t:end thread - - begin help\n", "mine:1: latency row 'x': no tracepoint 't:begun'" },
        { "x t:none|t:nothing t:end thread - - begin help\n", "'t:none'" },
        { "x t:begin u:end thread - - begin help\n", "no event or tracepoint system 'u'" },
        { "x t:begin t:end bytes - - begin help\n",
          "t:end has no field 'bytes'; its fields are sector, dev" },
        { "x t:begin t:end dev,nr - - begin help\n",
          "t:begin has no field 'nr'; its fields are dev, sector, " },
        { "x t:begin t:end thread ret - begin help\n", "t:begin has no field 'ret'" },
        { "x t:begin t:end thread syscall(rwbs) - begin help\n", "the field 'rwbs' of t:begin is no number" },
        { "x t:begin t:end thread - rwbs begin help\n", "the field 'rwbs' of t:begin is no number" },
        { "x t:begin t:half thread - - begin help\n", "the format of t:half is not readable" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct pair_events events;
        error_clear(&error);
        assert_false(pair_events_open(only_row(cases[i].row), &events, &error));
        if (!strstr(error.text, cases[i].words))
            fail_msg("\"%s\" does not contain \"%s\"", error.text, cases[i].words);
    }
}

static void parts_are_sampled_as_the_row_needs_them(void **state)
{
    (void)state;
    struct event latency = { .latency = true }, parts[PAIR_SIDES];
    latency.pair = only_row("x t:begin t:end dev,sector - - begin help\n");
    assert_true(event_latency_parts(&latency, parts, &error));
    assert_string_equal(parts[PAIR_BEGIN].tracepoint, "t:begin");
    assert_int_equal(parts[PAIR_BEGIN].attr.config, 11);
    assert_int_equal(parts[PAIR_END].attr.config, 12);
    assert_int_equal(parts[PAIR_BEGIN].period, 1);
    assert_true(parts[PAIR_BEGIN].of_pair && parts[PAIR_BEGIN].implied);
    assert_false(parts[PAIR_BEGIN].no_stack);
    assert_true(parts[PAIR_END].no_stack);
    assert_true(parts[PAIR_END].everywhere); /* any thread may be interrupted by the end */
    assert_false(parts[PAIR_BEGIN].everywhere);
    latency.pair = only_row("x t:begin t:end thread,dev - - end help\n");
    assert_true(event_latency_parts(&latency, parts, &error));
    assert_true(parts[PAIR_BEGIN].no_stack && !parts[PAIR_END].no_stack && !parts[PAIR_END].everywhere);
}

/* Rows share the events that they sample in the same way. */
static void a_list_has_each_event_once(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        bool everywhere, no_stack;
    } wanted[] = {
        { "t:begin", false, false },
        { "t:end", true, false },
        { "latency:device", false, false },
        { "latency:again", false, false }, /* takes the stack at the end */
        { "t:end", false, true },
        { "latency:thread", false, false },
    };
    struct event_list list = { 0 };
    const char *text = "latency:device,latency:again,latency:thread,latency:device";
    if (!event_list_parse(&list, text, &error))
        fail_msg("%s", error.text);
    assert_int_equal(list.n, sizeof wanted / sizeof *wanted);
    for (size_t i = 0; i < list.n; i++) {
        assert_string_equal(list.items[i].name, wanted[i].name);
        assert_int_equal(list.items[i].everywhere, wanted[i].everywhere);
        assert_int_equal(list.items[i].no_stack, wanted[i].no_stack);
        assert_int_equal(list.items[i].of_pair, !list.items[i].latency);
    }
    assert_ptr_equal(event_shown_first(list.items, (uint32_t)list.n), &list.items[2]);
    event_list_done(&list);
}

static void data_survives(void **state)
{
    (void)state;
    struct operation_data d = { .magic = OPERATION_MAGIC, .name_size = 4, .size = 1 << 20 }, back;
    unsigned char bytes[sizeof d + 5];
    char name[OPERATION_NAME_MAX];
    memcpy(bytes + 1, &d, sizeof d); /* at any address */
    memcpy(bytes + 1 + sizeof d, "read", 4);
    assert_true(operation_data_read(bytes + 1, sizeof d + 4, &back, name));
    assert_string_equal(name, "read");
    assert_int_equal(back.size, 1 << 20);
    assert_false(operation_data_read(bytes + 1, sizeof d + 3, &back, name)); /* truncated */
    assert_string_equal(name, "");
    assert_false(operation_data_read(bytes, sizeof d + 4, &back, name));
    assert_false(operation_data_read(NULL, 0, &back, name));
    d.name_size = OPERATION_NAME_MAX;
    memcpy(bytes, &d, sizeof d);
    assert_false(operation_data_read(bytes, UINT16_MAX, &back, name));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_row_has_its_columns),
        cmocka_unit_test(a_row_may_be_of_main_threads_only),
        cmocka_unit_test(a_later_row_replaces_an_earlier_one),
        cmocka_unit_test(the_built_in_rows_are_valid),
        cmocka_unit_test(fields_are_found_in_both_events),
        cmocka_unit_test(what_this_kernel_lacks_is_told),
        cmocka_unit_test(parts_are_sampled_as_the_row_needs_them),
        cmocka_unit_test(a_list_has_each_event_once),
        cmocka_unit_test(data_survives),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
