// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"
#include "perf/event.h"
#include "perf/pair_command.h"
#include "perf/pair_rows.h"
#include "perf/tracepoint.h"
#include "profile/operation_data.h"
#include "unit_test.h"
#include "files.h"

static struct pair_rows rows;
static struct error error;
static char tracefs[64];

#define STATE_FORMAT                                                                                         \
    "\tfield:u16 id;\toffset:0;\tsize:2;\tsigned:0;\n"                                                       \
    "\tfield:s16 new;\toffset:2;\tsize:2;\tsigned:1;\n"                                                      \
    "\tfield:u8 old;\toffset:4;\tsize:1;\tsigned:0;\n"                                                       \
    "\tfield:char text[8];\toffset:5;\tsize:8;\tsigned:0;\n\n"                                               \
    "print fmt: \"%d %s %s\", REC->id, __print_symbolic((int)REC->new, { 1, \"OPEN\" }, { -1, \"BAD\" }), "  \
    "__print_symbolic(REC->old, { 1, \"OPEN\" }, { 7, \"SHUT\" })\n"

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
    put("t/state", "id", "14\n");
    put("t/state", "format", STATE_FORMAT);
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

TEST(a_row_has_its_columns)
{
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
    assert_int_equal(r->size_side, PAIR_BEGIN);
    assert_int_equal(r->stack, PAIR_END);
}

TEST(a_size_may_be_of_the_end)
{
    const struct pair_row *r = only_row("x a:b c:d dev - end(bytes) begin help");
    assert_string_equal(r->size, "bytes");
    assert_int_equal(r->size_side, PAIR_END);
    assert_int_equal(r->size_unit, 1);
    r = only_row("x a:b c:d dev - end-sectors(nr) begin help");
    assert_string_equal(r->size, "nr");
    assert_int_equal(r->size_side, PAIR_END);
    assert_int_equal(r->size_unit, 512);
    static const char *const wrong[] = { "begin(x)", "end(x",   "end()", "end-sectors(",
                                         "(x)",      "end(x)y", ")",     "(" };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        char text[100];
        snprintf(text, sizeof text, "x a:b c:d dev - %s begin help", wrong[i]);
        pair_rows_done(&rows);
        assert_false(pair_rows_read_text(&rows, "mine", text, &error));
        assert_non_null(strstr(error.text, "is no size"));
        error_clear(&error);
    }
}

TEST(a_row_may_be_of_main_threads_only)
{
    const struct pair_row *r = only_row("x a:b c:d process - - begin runs");
    assert_true(r->by_process && r->by_thread && !r->n_keys);
    r = only_row("x a:b c:d thread - - begin runs");
    assert_true(!r->by_process && r->by_thread && !r->n_keys);
}

TEST(a_row_may_be_named_by_command_lines)
{
    const struct pair_row *r = only_row("x a:b c:d process,successive command(filename) - begin runs");
    assert_true(r->command && r->successive && !r->nested);
    static const char *const wrong[] = {
        "x a:b c:d thread,dev command(filename) - begin runs",
        "x a:b c:d thread,cpu command(filename) - begin runs",
        "x a:b c:d cpu command(filename) - begin runs",
        "x a:b c:d thread command(filename)+pid - begin runs",
        "x a:b c:d thread,first,successive - - begin runs",
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        pair_rows_done(&rows);
        assert_false(pair_rows_read_text(&rows, "mine", wrong[i], &error));
    }
}

#define NONE SIZE_MAX

/* The payload of the probe at a program's start: argc, and where each word is. */
struct start {
    uint64_t argc;
    uint32_t words[PAIR_COMMAND_WORDS];
    uint64_t at[PAIR_COMMAND_WORDS + 2];
    char text[4096];
};

/* n_read: of n words, the kernel could read the first ones. cut: number of the one that is longer in
 * memory. */
static void expect_command(const char *file, const char *const *words, size_t n, size_t n_read, size_t cut,
                           const char *wanted)
{
    struct buf format = { 0 }, out = { 0 };
    struct start start = { .argc = n };
    uint64_t address = 0x7fff00000000;
    struct pair_command command;
    size_t at = 0;
    buf_puts(&format, "\tfield:u64 argc;\toffset:0;\tsize:8;\tsigned:0;\n");
    for (int i = 0; i < PAIR_COMMAND_WORDS; i++) {
        buf_printf(&format, "\tfield:__data_loc char[] word%d;\toffset:%d;\tsize:4;\tsigned:1;\n", i,
                   8 + 4 * i);
        size_t size = (size_t)i < n_read ? strlen(words[i]) + 1 : 0;
        assert_true(at + size <= sizeof start.text);
        start.words[i] = (uint32_t)(size << 16 | (offsetof(struct start, text) + at));
        memcpy(start.text + at, size ? words[i] : "", size);
        at += size;
    }
    for (size_t i = 0; i < PAIR_COMMAND_WORDS + 2; i++) {
        buf_printf(&format, "\tfield:u64 at%zu;\toffset:%zu;\tsize:8;\tsigned:0;\n", i,
                   offsetof(struct start, at) + 8 * i);
        start.at[i] = i == n ? 0 : address;
        if (i < n)
            address += strlen(words[i]) + 1 + (i == cut ? 5000 : 0);
    }
    struct payload_format *f = payload_format_new(buf_str(&format), format.len, false);
    assert_non_null(f);
    assert_true(pair_command_find(f, &command));
    struct payload p = { .format = f, .raw = &start, .size = sizeof start };
    pair_command_put(&command, &p, file, &out);
    assert_string_equal(buf_str(&out), wanted);
    p.size = 12; /* a short record has no words */
    pair_command_put(&command, &p, file, &out);
    assert_true(text_begins_with(buf_str(&out), file) && out.len <= strlen(file) + 4);
    payload_format_free(f);
    buf_done(&format);
    buf_done(&out);
}

#define COMMAND(file, wanted, ...)                                                                           \
    do {                                                                                                     \
        const char *words[] = { __VA_ARGS__ };                                                               \
        size_t n = sizeof words / sizeof *words;                                                             \
        expect_command(file, words, n, n < PAIR_COMMAND_WORDS ? n : PAIR_COMMAND_WORDS, NONE, wanted);       \
    } while (0)

TEST(a_command_line_is_read_as_a_shell_does)
{
    COMMAND("/bin/true", "/bin/true", "/bin/true");
    COMMAND("/bin/true", "/bin/true -x foo", "true", "-x", "foo");
    COMMAND("true", "true ''", "/usr/bin/true", "");
    COMMAND("/bin/cp", "/bin/cp 'a b' 'it'\\''s' '$x'", "cp", "a b", "it's", "$x");
    COMMAND("/bin/busybox", "/bin/busybox as ls -l", "ls", "-l");
    COMMAND("./script", "./script as /bin/sh ./script", "/bin/sh", "./script");
    COMMAND("/bin/bash", "/bin/bash as -bash", "-bash");
    COMMAND("/bin/x", "/bin/x as ''", "");
    expect_command("/bin/x", NULL, 0, 0, NONE, "/bin/x");
    COMMAND("/bin/x", "/bin/x '?[2J?done'", "x", "\033[2J\ndone");
}

TEST(a_long_command_line_is_truncated)
{
    static const char *const some[] = { "x", "a", "b", "c" };
    char word[3000], wanted[PAIR_COMMAND_MAX + 1];
    expect_command("/bin/x", some, 4, 2, NONE, "/bin/x a ..."); /* unmapped memory */
    expect_command("/bin/x", some, 4, 0, NONE, "/bin/x ...");
    expect_command("/bin/x", some, 4, 4, 2, "/bin/x a b ...");
    expect_command("/bin/x", some, 4, 4, 3, "/bin/x a b c ...");
    COMMAND("/bin/x", "/bin/x 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 ...", "x", "1", "2", "3", "4",
            "5", "6", "7", "8", "9", "10", "11", "12", "13", "14", "15", "16", "17", "18", "19", "20");
    memset(word, 'y', sizeof word - 1);
    word[sizeof word - 1] = '\0';
    snprintf(wanted, sizeof wanted, "/bin/x %.*s ...", PAIR_COMMAND_MAX - 7 - 4, word);
    COMMAND("/bin/x", wanted, "x", word, "z");
}

TEST(a_later_row_replaces_an_earlier_one)
{
    const struct pair_row *r =
        only_row("# comment\n\nx a:b c:d thread - - begin one\nx a:b c:e cpu - - end two\n");
    assert_string_equal(r->help, "two");
    assert_true(r->by_cpu && !r->by_thread);
    assert_string_equal(r->from, "mine:4: ");
}

TEST(the_built_in_rows_are_valid)
{
    static const char *const wanted[] = { "syscalls",   "block",       "block-queue", "fsync",
                                          "interrupts", "softirqs",    "reclaim",     "locks",
                                          "tcp",        "tcp-connect", "tcp-failed" };
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

TEST(fields_are_found_in_both_events)
{
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

TEST(what_this_kernel_lacks_is_told)
{
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

TEST(an_event_has_conditions)
{
    const struct pair_row *r =
        only_row("x t:begin|t:state[new=OPEN|-3,old!=1] t:state[new=2;old!=SHUT|9] id - - "
                 "process help\n");
    assert_string_equal(r->events[PAIR_BEGIN], "t:begin|t:state");
    assert_string_equal(r->events[PAIR_END], "t:state");
    assert_true(r->of_process);
    const struct pair_conditions *c = &r->conditions[PAIR_BEGIN];
    assert_int_equal(c->n, 2);
    assert_string_equal(c->items[0].field, "new");
    assert_int_equal(c->items[0].n_values, 2);
    assert_string_equal(c->items[0].values[1], "-3");
    assert_true(!c->items[0].differs && c->items[1].differs && !c->items[1].counts);
    c = &r->conditions[PAIR_END];
    assert_int_equal(c->n, 2);
    assert_true(!c->items[0].counts && c->items[1].counts && c->items[1].differs);
}

static bool passes(const struct pair_checks *checks, const struct payload_format *f, int id, int new, int old,
                   bool counts)
{
    uint8_t raw[16] = { (uint8_t)id, 0, (uint8_t) new, (uint8_t)(new < 0 ? 0xff : 0), (uint8_t)old };
    struct payload whole = { .format = f, .raw = raw, .size = sizeof raw };
    struct payload empty = { .format = f, .raw = raw, .size = 0 };
    assert_false(pair_checks_pass(checks, &empty, false));
    return pair_checks_pass(checks, &whole, counts);
}

TEST(conditions_are_checked)
{
    struct pair_events events;
    const struct pair_row *r =
        only_row("x t:state[new=OPEN|BAD,old!=1] t:state[new=2,id=5;old!=SHUT|9] id - - begin help\n");
    if (!pair_events_open(r, &events, &error))
        fail_msg("%s", error.text);
    const struct payload_format *f = events.formats[PAIR_BEGIN];
    const struct pair_checks *begin = &events.checks[PAIR_BEGIN], *end = &events.checks[PAIR_END];
    assert_true(passes(begin, f, 5, 1, 0, false));
    assert_true(passes(begin, f, 5, -1, 7, false)); /* the number is as wide as its field */
    assert_false(passes(begin, f, 5, 1, 1, false));
    assert_false(passes(begin, f, 5, 2, 0, false));
    assert_true(passes(begin, f, 5, 2, 1, true)); /* there is nothing behind a semicolon */
    assert_true(passes(end, f, 5, 2, 7, false));
    assert_false(passes(end, f, 6, 2, 7, false));
    assert_false(passes(end, f, 5, 2, 7, true));
    assert_false(passes(end, f, 5, 2, 9, true));
    assert_true(passes(end, f, 5, 2, 8, true));
    pair_events_close(&events);
}

TEST(wrong_conditions_are_told)
{
    static const struct {
        const char *row, *words;
    } cases[] = {
        { "x t:begin[dev=1 t:end thread - - begin help\n",
          "mine:1: \"t:begin[dev=1\" has conditions without a ] at the end" },
        { "x t:begin[dev=1]x t:end thread - - begin help\n", "has conditions without a ] at the end" },
        { "x t:begin[ t:end thread - - begin help\n", "has conditions without a ] at the end" },
        { "x t:begin[] t:end thread - - begin help\n",
          "mine:1: \"[]\" is no condition: up to 4 of FIELD=VALUE" },
        { "x t:begin[dev] t:end thread - - begin help\n", "\"[dev]\" is no condition" },
        { "x t:begin[=1] t:end thread - - begin help\n", "is no condition" },
        { "x t:begin[!=1] t:end thread - - begin help\n", "is no condition" },
        { "x t:begin[dev=] t:end thread - - begin help\n", "is no condition" },
        { "x t:begin[dev=1|] t:end thread - - begin help\n", "is no condition" },
        { "x t:begin[dev=1,] t:end thread - - begin help\n", "is no condition" },
        { "x t:begin[dev==1] t:end thread - - begin help\n", "is no condition" },
        { "x t:begin[dev=1|2|3|4|5] t:end thread - - begin help\n", "is no condition" },
        { "x t:begin[a=1,b=1,c=1,d=1,e=1] t:end thread - - begin help\n", "is no condition" },
        { "x t:begin t:end[a=1;b=1;c=1] thread - - begin help\n", "is no condition" },
        { "x t:begin[dev=1;bytes=2] t:end thread - - begin help\n",
          "only conditions of the end may have one" },
        { "x [dev=1] t:end thread - - begin help\n", "is no tracepoint" },
        { "x t:begin t:end thread - - middle help\n", "is no side: begin, end or process is needed" },
    };
    static const struct {
        const char *row, *words;
    } here[] = {
        { "x t:begin[nr=1] t:end thread - - begin help\n",
          "mine:1: latency row 'x': t:begin has no field 'nr'; its fields are dev, sector, " },
        { "x t:begin t:end[nr=1] thread - - begin help\n", "t:end has no field 'nr'" },
        { "x t:begin[rwbs=1] t:end thread - - begin help\n", "the field 'rwbs' of t:begin is no number" },
        { "x t:begin[dev=sda] t:end thread - - begin help\n",
          "mine:1: latency row 'x': 'sda' is no value of dev in t:begin: a number is needed" },
        { "x t:state[new=SHUT] t:end thread - - begin help\n",
          "'SHUT' is no value of new in t:state; its values are numbers and OPEN, BAD" },
        { "x t:state t:state thread - - process help\n", "t:state has no field 'common_flags'" },
        { "x t:state t:state thread tcp(new) - begin help\n", "t:state has no field 'saddr_v6'" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        pair_rows_done(&rows);
        error_clear(&error);
        assert_false(pair_rows_read_text(&rows, "mine", cases[i].row, &error));
        if (!strstr(error.text, cases[i].words))
            fail_msg("\"%s\" does not contain \"%s\"", error.text, cases[i].words);
    }
    for (size_t i = 0; i < sizeof here / sizeof *here; i++) {
        struct pair_events events;
        error_clear(&error);
        assert_false(pair_events_open(only_row(here[i].row), &events, &error));
        if (!strstr(error.text, here[i].words))
            fail_msg("\"%s\" does not contain \"%s\"", error.text, here[i].words);
    }
}

TEST(parts_are_sampled_as_the_row_needs_them)
{
    struct event latency = { .latency = true }, parts[PAIR_PARTS];
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
    put("t/state", "format", "\tfield:u8 common_flags;\toffset:0;\tsize:1;\tsigned:0;\n" STATE_FORMAT);
    latency.pair = only_row("x t:state[new=OPEN] t:state[new=2] id - - process help\n");
    if (!event_latency_parts(&latency, parts, &error))
        fail_msg("%s", error.text);
    for (int side = 0; side < PAIR_SIDES; side++) /* any of them may tell the process */
        assert_true(parts[side].everywhere && !parts[side].no_stack);
    assert_string_equal(parts[PAIR_BEGIN].filter, "(new == 1)");
    assert_string_equal(parts[PAIR_END].filter, "");
    latency.pair = only_row("x t:state[new=OPEN|BAD,old!=1|9] t:state[id=5;old=SHUT] id - - begin help\n");
    if (!event_latency_parts(&latency, parts, &error))
        fail_msg("%s", error.text);
    assert_string_equal(parts[PAIR_BEGIN].filter, "(new == 1 || new == -1) && (old != 1 && old != 9)");
    assert_string_equal(parts[PAIR_END].filter, "(id == 5)"); /* what counts is checked later */
    put("t/state", "format", STATE_FORMAT);
}

/* Rows share the events that they sample in the same way. */
TEST(a_list_has_each_event_once)
{
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

TEST(data_survives)
{
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

TEST_MAIN(setup, teardown)
