// SPDX-License-Identifier: GPL-2.0-or-later
/* The command line, the config file, and which of them takes precedence. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "need_inih.h"
#include "cli/options.h"
#include "unit_test.h"
#include "files.h"

static struct options o;
static struct error error;
static char folder[] = "/tmp/flametop-options-XXXXXX";
static char config[64];

static int make_folder(void **state)
{
    if (!mkdtemp(folder))
        return -1;
    snprintf(config, sizeof config, "%s/flametop", folder);
    mkdir(config, 0700);
    snprintf(config, sizeof config, "%s/flametop/config", folder);
    return setenv("XDG_CONFIG_HOME", folder, 1);
}

static int remove_folder(void **state)
{
    unlink(config);
    *strrchr(config, '/') = '\0';
    return rmdir(config) || rmdir(folder);
}

static int tear_down(void **state)
{
    options_done(&o);
    memset(&o, 0, sizeof o);
    unlink(config);
    return 0;
}

#define FIXTURE_TEST(name) TEST_WITH(name, NULL, tear_down)

/* Words are divided by single spaces; a command line can hold up to 15. */
static bool parse(const char *line)
{
    static char words[512];
    static char *argv[17]; /* the command points into it */
    int argc = 1;
    memset(argv, 0, sizeof argv);
    argv[0] = "flametop";
    options_done(&o);
    error_clear(&error);
    snprintf(words, sizeof words, "%s", line);
    for (char *save, *word = strtok_r(words, " ", &save); word && argc < 16;
         word = strtok_r(NULL, " ", &save))
        argv[argc++] = word;
    return options_parse(&o, argc, argv, &error);
}

static void write_config(const char *text)
{
    write_text(config, text);
}

#define ASSERT_PARSES(line)                                                                                  \
    do {                                                                                                     \
        if (!parse(line))                                                                                    \
            fail_msg("%s: %s", line, error.text);                                                            \
    } while (0)

FIXTURE_TEST(defaults_match_the_manual)
{
    ASSERT_PARSES("");
    assert_int_equal(o.mode, RUN_SCREEN);
    assert_int_equal(o.session.n_events, 1);
    assert_false(o.session.event_named || o.session.freq_named);
    assert_int_equal(o.session.freq_hz, 99);
    assert_int_equal(o.session.callchain, OPTIONS_DEFAULT_CALLCHAIN);
    assert_int_equal(o.session.history_bytes, 64 << 20);
    assert_int_equal(o.session.scope.kind, SCOPE_ALL);
    assert_true(o.ui.delay_s == 1);
    assert_int_equal(o.ui.query.window_ns, 60 * NS_PER_SEC);
    assert_true(o.session.command_to_log);
}

static void check_parallelism(uint32_t from, uint32_t to)
{
    const struct zoom *z = &o.ui.query.zooms[0];
    assert_true(o.ui.query.n_zooms == 1 && z->kind == ZOOM_PARALLELISM);
    assert_true((uint32_t)z->number == from && z->number >> 32 == to);
}

FIXTURE_TEST(every_option_sets_its_setting)
{
    char line[64];
    ASSERT_PARSES("-e cpu-clock -e page-faults:u");
    assert_int_equal(o.session.n_events, 2);
    assert_string_equal(o.session.events[1].name, "page-faults:u");
    assert_true(o.session.event_named);
    ASSERT_PARSES("-e cpu-clock,page-faults:u -e cs/period=3/");
    assert_int_equal(o.session.n_events, 3);
    assert_int_equal(o.session.events[2].period, 3);
    ASSERT_PARSES("--stat=csv -e cs,faults -o x.csv");
    assert_true(o.mode == RUN_STAT && o.stat_csv && o.events.n == 2);
    ASSERT_PARSES("--stat -e cs -- ls");
    assert_true(o.mode == RUN_STAT && !o.stat_csv && o.session.command);
    ASSERT_PARSES("--latency");
    assert_true(o.session.latency && !o.ui.query.n_zooms);
    ASSERT_PARSES("--parallelism 1");
    assert_true(o.session.latency);
    check_parallelism(1, 1);
    ASSERT_PARSES("--parallelism 2-8");
    check_parallelism(2, 8);
    ASSERT_PARSES("--threads -p 1");
    assert_true(o.mode == RUN_THREADS && o.session.scope.n_ids == 1 && !o.threads_json);
    ASSERT_PARSES("--threads=json -p 1");
    assert_true(o.mode == RUN_THREADS && o.threads_json);
    ASSERT_PARSES("-F 199 --call-graph none -K");
    assert_true(o.session.freq_hz == 199 && o.session.freq_named && o.session.scope.no_kernel);
    assert_int_equal(o.session.callchain, CALLCHAIN_NONE);
    ASSERT_PARSES("--call-graph none -g -U -c 1000");
    assert_int_equal(o.session.callchain, CALLCHAIN_AUTO);
    assert_true(o.session.scope.no_user && o.session.period == 1000);
    snprintf(line, sizeof line, "-p %d", (int)getpid());
    ASSERT_PARSES(line);
    assert_true(o.session.scope.kind == SCOPE_PIDS && o.session.scope.ids[0] == (uint32_t)getpid());
    snprintf(line, sizeof line, "-t %d", (int)getpid());
    ASSERT_PARSES(line);
    assert_int_equal(o.session.scope.kind, SCOPE_TIDS);
    ASSERT_PARSES("-u 12345 -C 0");
    assert_true(o.session.scope.kind == SCOPE_USER && o.session.scope.uid == 12345 &&
                o.session.scope.cpus[0]);
    ASSERT_PARSES("--history 2M -d 0.5 -s total --view flame --group-by comm,symbol --window 10");
    assert_true(o.session.history_bytes == 2 << 20 && o.ui.delay_s == 0.5 &&
                o.ui.query.window_ns == 10 * NS_PER_SEC);
    assert_string_equal(o.ui.sort, "total");
    assert_string_equal(o.ui.view, "flame");
    assert_int_equal(o.ui.query.group, VIEW_GROUP_COMM_SYMBOL);
    ASSERT_PARSES("--detail 3 --split socket");
    assert_true(o.ui.counters_detail == 3 && o.ui.counters_by == COUNT_BY_SOCKET);
    ASSERT_PARSES("--window 0 --idle --theme mono --no-color --no-unicode --mouse");
    assert_true(!o.ui.query.window_ns && o.given[OPTION_WINDOW] && o.ui.query.show_idle && o.ui.no_color &&
                o.ui.no_unicode && o.ui.mouse);
    assert_string_equal(o.ui.theme, "mono");
    ASSERT_PARSES("-b -n 3");
    assert_true(o.mode == RUN_BATCH && o.iterations == 3 && !o.session.command_to_log);
    ASSERT_PARSES("--budget 0.5");
    assert_true(o.session.budget_percent == 0.5);
    ASSERT_PARSES("--duration 2.5 -o x.folded --export report");
    assert_true(o.mode == RUN_RECORD && o.duration_s == 2.5);
    assert_string_equal(o.output, "x.folded");
    assert_string_equal(o.export_format, "report");
    ASSERT_PARSES("-i x.data -o - --export folded --symfs /s --kallsyms /k");
    assert_int_equal(o.mode, RUN_REPORT);
    assert_string_equal(o.session.input, "x.data");
    assert_string_equal(o.session.symfs, "/s");
    assert_string_equal(o.session.kallsyms, "/k");
    ASSERT_PARSES("--list-events sched:*");
    assert_true(o.mode == RUN_LIST_EVENTS && !strcmp(o.mode_arg, "sched:*"));
    ASSERT_PARSES("--list-events=mem*");
    assert_string_equal(o.mode_arg, "mem*");
    ASSERT_PARSES("--list-exports");
    assert_int_equal(o.mode, RUN_LIST_EXPORTS);
    ASSERT_PARSES("--generate man");
    assert_true(o.mode == RUN_GENERATE && !strcmp(o.mode_arg, "man"));
    ASSERT_PARSES("--version");
    assert_int_equal(o.mode, RUN_VERSION);
    ASSERT_PARSES("-h");
    assert_int_equal(o.mode, RUN_HELP);
}

FIXTURE_TEST(words_are_in_the_order_of_their_values)
{
    static const char *const palettes[SVG_PALETTES] = {
        [SVG_MIXED] = "mixed", [SVG_HOT] = "hot",       [SVG_MEM] = "mem",       [SVG_IO] = "io",
        [SVG_JAVA] = "java",   [SVG_JS] = "js",         [SVG_PERL] = "perl",     [SVG_WAKEUP] = "wakeup",
        [SVG_CHAIN] = "chain", [SVG_AQUA] = "aqua",     [SVG_RED] = "red",       [SVG_GREEN] = "green",
        [SVG_BLUE] = "blue",   [SVG_YELLOW] = "yellow", [SVG_PURPLE] = "purple", [SVG_ORANGE] = "orange",
    };
    char line[64];
    for (unsigned g = 0; g < VIEW_GROUP_COUNT; g++) {
        snprintf(line, sizeof line, "--group-by %s", view_group_names[g]);
        ASSERT_PARSES(line);
        assert_int_equal(o.ui.query.group, g);
    }
    for (unsigned by = 0; by < COUNT_BY_KINDS; by++) {
        snprintf(line, sizeof line, "--split %s", count_by_names[by]);
        ASSERT_PARSES(line);
        assert_int_equal(o.ui.counters_by, by);
    }
    for (unsigned p = 0; p < SVG_PALETTES; p++) {
        snprintf(line, sizeof line, "--colors %s", palettes[p]);
        ASSERT_PARSES(line);
        assert_int_equal(o.exports.svg.palette, p);
    }
    ASSERT_PARSES("--diff x --diff-by period");
    assert_int_equal(o.exports.compare_by, COMPARE_BY_PERIOD);
}

FIXTURE_TEST(a_command_keeps_its_own_options)
{
    ASSERT_PARSES("-o x.data -- ls -p --bogus");
    assert_int_equal(o.mode, RUN_RECORD);
    assert_false(o.session.command_to_log);
    assert_string_equal(o.session.command[0], "ls");
    assert_string_equal(o.session.command[2], "--bogus");
    assert_null(o.session.command[3]);
    ASSERT_PARSES("-- top");
    assert_true(o.session.command_to_log);
}

FIXTURE_TEST(scope_options_select_a_part_of_a_file)
{
    ASSERT_PARSES("-K -p 99999999 -i f -C 700");
    assert_int_equal(o.ui.query.n_zooms, 2);
    assert_int_equal(o.ui.query.zooms[0].kind, ZOOM_PROCESS);
    assert_int_equal(o.ui.query.zooms[0].number, 99999999);
    assert_int_equal(o.ui.query.zooms[1].kind, ZOOM_CPU);
    assert_int_equal(o.ui.query.zooms[1].number, 700);
    assert_int_equal(o.ui.query.mode, VIEW_MODE_USER);
    assert_int_equal(o.session.scope.kind, SCOPE_ALL);
    ASSERT_PARSES("-i f -p no-such-program -U --took 1ms-40ms");
    assert_int_equal(o.ui.query.zooms[0].kind, ZOOM_COMM);
    assert_string_equal(o.ui.query.zooms[0].text, "no-such-program");
    assert_int_equal(o.ui.query.mode, VIEW_MODE_KERNEL);
    assert_int_equal(o.ui.query.min_ns, 1000000);
    assert_int_equal(o.ui.query.max_ns, 39999999);
    ASSERT_PARSES("-i f -p name-of-a-long-program");
    assert_string_equal(o.ui.query.zooms[0].text, "name-of-a-long-");
    ASSERT_PARSES("-i f -t 12");
    assert_int_equal(o.ui.query.zooms[0].kind, ZOOM_THREAD);
}

FIXTURE_TEST(wrong_options_are_named)
{
    static const struct {
        const char *line, *says;
    } rows[] = {
        { "--hisory 1M", "did you mean --history?" },
        { "-z", "unknown option -z" },
        { "-Kz", "unknown option -z" },
        { "-zK", "unknown option -z" },
        { "--batch=x", "--batch takes no argument" },
        { "-F", "-F: an argument is needed" },
        { "-b -F", "-F: an argument is needed" },
        { "--freq", "--freq: an argument is needed" },
        { "-F 0", "--freq 0: a whole number from 1" },
        { "-F 99x", "--freq 99x" },
        { "-c -1", "--count -1" },
        { "-n 0 -b", "--iterations 0" },
        { "-d 0", "--delay 0: seconds" },
        { "-d 0.001", "--delay 0.001: at least 0.1" },
        { "-d nan", "--delay nan" },
        { "--history 5", "--history 5: at least 1M" },
        { "--history lots", "--history lots: a size" },
        { "--budget 0", "--budget 0: a number from 0.01 to 100 per cent" },
        { "--budget 5%", "--budget 5%: a number" },
        { "--budget -1", "--budget -1: a number" },
        { "--call-graph magic", "one of auto|fp|dwarf[,SIZE]|lbr|none" },
        { "--call-graph dwaf", "did you mean dwarf?" },
        { "--call-graph dwarf,", "--call-graph dwarf,: a size is needed" },
        { "--call-graph dwarf,big", "a size is needed, such as 16K" },
        { "--call-graph dwarf,0", "a multiple of 8" },
        { "--call-graph dwarf,1001", "a multiple of 8" },
        { "--call-graph dwarf,64K", "65528 bytes of a stack at most" },
        { "--call-graph dwarf,99999999999999999999", "a size is needed" },
        { "--call-graph fp,8K", "only dwarf takes a size" },
        { "--call-graph dwarfdwarfdwarfdwarfdwarfdwarf", "one of auto" },
        { "--group-by comm,symbl", "did you mean comm,symbol?" },
        { "--detail 4", "one of 1|2|3 is needed" },
        { "--split cor", "did you mean core?" },
        { "--window x", "--window x: seconds" },
        { "--parallelism 0", "--parallelism 0: a number of threads is needed, or two: 1, or 2-8" },
        { "--parallelism 3-2", "--parallelism 3-2: a number" },
        { "--parallelism 2-", "--parallelism 2-: a number" },
        { "--parallelism 1x", "--parallelism 1x: a number" },
        { "-e no-such-event", "no-such-event" },
        { "-u no-such-user", "no-such-user" },
        { "-C core:99999", "core" },
        { "-C node:x", "not a list of CPUs" },
        { "-p 1 -u 0", "-p and -u exclude each other" },
        { "-u 0 -t 1", "-u and -t exclude each other" },
        { "--no-inherit", "all CPUs are measured" },
        { "-u 0 --no-inherit", "a user's processes" },
        { "-p 0", "\"0\" is not a process id" },
        { "-C 0-", "-" },
        { "ls", "a command to run and profile goes after --" },
        { "-K -U", "leave nothing to sample" },
        { "-F 99 -c 10", "-F and -c exclude" },
        { "-u 0 -- ls", "exclude each other" },
        { "-i f -u 0", "-i opens a file" },
        { "-i f -G /", "-i opens a file" },
        { "-i f -C 1-0", "-C 1-0: in a file a short list of CPUs, as in 0-3,8, is selected" },
        { "-i f -C 0,8192", "-C 0,8192: in a file a short list of CPUs, as in 0-3,8, is selected" },
        { "-i f -C 1,", "-C 1,: in a file a short list of CPUs, as in 0-3,8, is selected" },
        { "-p 1,,2 -i f", "-p 1,,2: in a file a short list of process ids and names is selected" },
        { "-i f -t 1,a", "-t 1,a: in a file a short list of thread ids is selected" },
        { "-i f -K -U", "leave nothing to sample" },
        { "--took 1", "\"1\" is no range of durations" },
        { "--took 2ms-1ms", "is no range of durations" },
        { "-i f -- ls", "-i opens a file" },
        { "--export folded", "--export needs -o" },
        { "-n 3", "-n goes with -b" },
        { "--duration 1 -n 3", "-n goes with -b" },
        { "-b -o f", "leave out -o" },
        { "-o", "-o: an argument is needed" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (parse(rows[i].line))
            fail_msg("%s was accepted", rows[i].line);
        if (!strcasestr(error.text, rows[i].says))
            fail_msg("%s: \"%s\" does not contain \"%s\"", rows[i].line, error.text, rows[i].says);
        assert_int_not_equal(error.class, ERROR_NONE);
    }
}

FIXTURE_TEST(a_stack_mode_is_read_with_its_size)
{
    static const struct {
        const char *line;
        enum callchain_mode mode;
        uint32_t bytes;
    } rows[] = {
        { "--call-graph auto", CALLCHAIN_AUTO, 0 },
        { "--call-graph fp", CALLCHAIN_FP, 0 },
        { "--call-graph dwarf", CALLCHAIN_DWARF, 0 },
        { "--call-graph dwarf,8192", CALLCHAIN_DWARF, 8192 },
        { "--call-graph=dwarf,16K", CALLCHAIN_DWARF, 16384 },
        { "--call-graph dwarf,65528", CALLCHAIN_DWARF, 65528 },
        { "--call-graph dwarf,8 --call-graph dwarf", CALLCHAIN_DWARF, 0 },
        { "--call-graph lbr", CALLCHAIN_LBR, 0 },
        { "--call-graph none", CALLCHAIN_NONE, 0 },
        { "--call-graph dwarf,8K -g", CALLCHAIN_AUTO, 0 },
    };
    need_inih();
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        ASSERT_PARSES(rows[i].line);
        assert_int_equal(o.session.callchain, rows[i].mode);
        assert_int_equal(o.session.stack_bytes, rows[i].bytes);
    }
    write_config("[options]\ncall-graph = dwarf,16K\n");
    ASSERT_PARSES("");
    assert_true(o.session.callchain == CALLCHAIN_DWARF && o.session.stack_bytes == 16384);
    ASSERT_PARSES("--call-graph fp");
    assert_int_equal(o.session.callchain, CALLCHAIN_FP);
}

FIXTURE_TEST(debuginfod_servers_are_used_only_with_the_option)
{
    if (!symbolizer_can_fetch())
        skip();
    setenv("DEBUGINFOD_URLS", " http://one\t  https://two/x ", 1);
    ASSERT_PARSES("");
    assert_null(o.session.debuginfod);
    ASSERT_PARSES("--debuginfod");
    assert_string_equal(o.session.debuginfod, "http://one https://two/x");
    ASSERT_PARSES("--debuginfod=file:///srv -- true");
    assert_string_equal(o.session.debuginfod, "file:///srv");
    write_config("[options]\ndebuginfod = yes\n");
    ASSERT_PARSES("");
    assert_string_equal(o.session.debuginfod, "http://one https://two/x");
    ASSERT_PARSES("--debuginfod=no");
    assert_null(o.session.debuginfod);
    write_config("[options]\ndebuginfod = http://three\n");
    ASSERT_PARSES("");
    assert_string_equal(o.session.debuginfod, "http://three");
    unsetenv("DEBUGINFOD_URLS");
}

FIXTURE_TEST(invalid_server_urls_are_refused)
{
    char line[500] = "--debuginfod=";
    if (!symbolizer_can_fetch())
        skip();
    assert_false(parse("--debuginfod=example.org"));
    assert_non_null(strstr(error.text, "example.org"));
    assert_false(parse("--debuginfod=http://"));
    assert_false(parse("--debuginfod http://one,two ./program"));
    memset(line + strlen(line), 'x', 400);
    assert_false(parse(line));
    setenv("DEBUGINFOD_URLS", "gopher://one", 1);
    assert_false(parse("--debuginfod"));
    assert_non_null(strstr(error.text, "gopher://one"));
    unsetenv("DEBUGINFOD_URLS");
}

FIXTURE_TEST(too_many_events_are_refused)
{
    char *argv[2 * SESSION_EVENTS_MAX + 4] = { "flametop" };
    int argc = 1;
    for (int i = 0; i <= SESSION_EVENTS_MAX; i++) {
        argv[argc++] = "-e";
        argv[argc++] = "cpu-clock";
    }
    assert_false(options_parse(&o, argc, argv, &error));
    assert_int_equal(error.class, ERROR_LIMIT);
}

FIXTURE_TEST(the_command_line_overrides_the_config)
{
    need_inih();
    write_config(
        "[options]\nfreq = 199\nevent = page-faults\nhistory = 4M\nwindow = 10\nno-color = yes\nidle = no\n"
        "group-by = thread\n[keys]\nquit = q x\n");
    ASSERT_PARSES("");
    assert_true(o.session.freq_hz == 199 && o.session.freq_named && o.session.event_named);
    assert_string_equal(o.session.events[0].name, "page-faults");
    assert_true(o.session.history_bytes == 4 << 20 && o.ui.query.window_ns == 10 * NS_PER_SEC &&
                o.ui.no_color);
    assert_false(o.ui.query.show_idle);
    assert_int_equal(o.ui.query.group, VIEW_GROUP_THREAD);
    assert_int_equal(o.ui.n_keys, 1);
    assert_string_equal(o.ui.keys[0].action, "quit");
    assert_string_equal(o.ui.keys[0].keys, "q x");
    ASSERT_PARSES("-F 49 -e cpu-clock -e cycles --history 8M");
    assert_true(o.session.freq_hz == 49 && o.session.history_bytes == 8 << 20);
    assert_int_equal(o.session.n_events, 2);
    assert_string_equal(o.session.events[0].name, "cpu-clock");
}

FIXTURE_TEST(a_flag_in_the_config_has_four_words_for_yes)
{
    static const char *const words[] = { "yes", "true", "on", "1", "no", "false", "off", "0" };
    char text[64];
    need_inih();
    for (int i = 0; i < 8; i++) {
        snprintf(text, sizeof text, "[options]\nidle = %s\n", words[i]);
        write_config(text);
        ASSERT_PARSES("");
        assert_int_equal(o.ui.query.show_idle, i < 4);
    }
}

FIXTURE_TEST(a_period_replaces_the_configs_frequency)
{
    need_inih();
    write_config("[options]\nfreq = 199\n");
    ASSERT_PARSES("-c 1000");
    assert_int_equal(o.session.period, 1000);
    assert_false(o.session.freq_named);
}

FIXTURE_TEST(config_errors_are_named_with_their_line)
{
    static const struct {
        const char *text, *says;
    } rows[] = {
        { "[options]\n\nfrek = 99\n", "did you mean freq?" }, { "[options]\nfreq = many\n", "many" },
        { "[option]\nfreq = 9\n", "unknown section" },        { "[options]\nidle = perhaps\n", "yes or no" },
        { "[options]\npid = 1\n", "unknown option pid" },
    };
    need_inih();
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        write_config(rows[i].text);
        if (parse(""))
            fail_msg("%s was accepted", rows[i].text);
        if (!strstr(error.text, rows[i].says) || !strstr(error.text, i ? ":2" : ":3"))
            fail_msg("%s: %s", rows[i].text, error.text);
    }
}

FIXTURE_TEST(help_works_with_a_broken_config)
{
    write_config("nonsense = here\n");
    assert_false(parse(""));
    ASSERT_PARSES("--help");
    ASSERT_PARSES("--version");
    ASSERT_PARSES("--generate man");
}

FIXTURE_TEST(another_config_can_be_named)
{
    char other[80], line[96];
    need_inih();
    write_config("nonsense = here\n");
    ASSERT_PARSES("--config /dev/null");
    snprintf(other, sizeof other, "%s/other", folder);
    snprintf(line, sizeof line, "-F 5 --config %s", other);
    assert_false(parse(line));
    assert_non_null(strstr(error.text, other));
    assert_int_equal(rename(config, other), 0);
    write_config("");
    FILE *f = fopen(other, "w");
    fputs("[options]\nfreq = 7\nhistory = 3M\n", f);
    fclose(f);
    ASSERT_PARSES(line);
    assert_true(o.session.freq_hz == 5 && o.session.history_bytes == 3 << 20);
    unlink(other);
}

FIXTURE_TEST(the_help_lists_every_option)
{
    struct buf help = { 0 };
    char name[64];
    options_help(&help);
    for (int i = 0; i < OPTION_COUNT_ALL; i++) {
        snprintf(name, sizeof name, "--%s", option_table[i].name);
        if (!strstr(buf_str(&help), name))
            fail_msg("%s is not in --help", name);
    }
    for (const char *line = buf_str(&help); *line; line += strcspn(line, "\n") + 1)
        assert_true(strcspn(line, "\n") <= 110);
    buf_done(&help);
}

TEST_MAIN(make_folder, remove_folder)
