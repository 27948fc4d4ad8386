// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ui/preset.h"
#include "unit_test.h"
#include "files.h"

static struct preset_list list;
static struct error error;

static int setup(void **state)
{
    setenv("XDG_CONFIG_HOME", "/nonexistent", 1);
    error_clear(&error);
    return 0;
}

static int teardown(void **state)
{
    preset_list_done(&list);
    return 0;
}

#define FIXTURE_TEST(name) TEST_WITH(name, setup, teardown)

static const struct preset *only_preset(const char *row)
{
    preset_list_done(&list);
    if (!preset_read_text(&list, "mine", row, &error))
        fail_msg("%s", error.text);
    assert_int_equal(list.n, 1);
    return &list.items[0];
}

static void expect_refused(const char *text, const char *word)
{
    preset_list_done(&list);
    error_clear(&error);
    assert_false(preset_read_text(&list, "mine", text, &error));
    if (!strstr(error.text, word))
        fail_msg("\"%s\" does not contain \"%s\"", error.text, word);
}

FIXTURE_TEST(built_in_presets_are_valid)
{
    static const char *const wanted[] = { "cpu",      "off-cpu",    "wall",    "cycles", "cache", "branch",
                                          "tlb",      "memory",     "faults",  "disk",   "files", "dns",
                                          "fork",     "blocking",   "connect", "exec",   "locks", "syscalls",
                                          "runqueue", "interrupts", "tcp" };
    assert_true(preset_read(&list, &error));
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        const struct preset *p = preset_find(&list, wanted[i], &error);
        assert_non_null(p);
        assert_non_null(p->view);
        assert_true(p->group >= 0 || (!strcmp(p->view, "latency") && !strncmp(p->events, "latency:", 8)));
    }
}

/* Tracepoints are excluded: not every machine has them. */
FIXTURE_TEST(their_software_events_are_parsed)
{
    static const char *const names[] = { "cpu", "cycles", "cache", "branch", "tlb", "memory", "blocking" };
    assert_true(preset_read(&list, &error));
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct event events[SESSION_EVENTS_MAX];
        uint32_t n = 0;
        if (!event_parse_list(preset_find(&list, names[i], NULL)->events, events, SESSION_EVENTS_MAX, &n,
                              &error))
            fail_msg("%s", error.text);
    }
}

FIXTURE_TEST(a_row_defines_a_preset_completely)
{
    const struct preset *p =
        only_preset("  x\tpage-faults,cpu-clock  1/1000 flame comm  user=root+cpus=0  who does what  \n");
    assert_string_equal(p->name, "x");
    assert_string_equal(p->events, "page-faults,cpu-clock");
    assert_string_equal(p->help, "who does what");
    assert_string_equal(p->view, "flame");
    assert_int_equal(p->group, VIEW_GROUP_COMM);
    assert_int_equal(p->how.period, 1000);
    assert_int_equal(p->how.freq_hz, 0);
    assert_int_equal(only_preset("x e 250Hz - - - h")->how.freq_hz, 250);
    assert_int_equal(only_preset("x e each - - - h")->how.period, 1);
    p = only_preset("x e - - - - h");
    assert_true(!p->how.period && !p->how.freq_hz && !p->view && p->group < 0);
}

FIXTURE_TEST(comments_and_empty_lines_are_skipped)
{
    assert_string_equal(only_preset("# NAME EVENT\n\n   \n#\nx e - - - - h\r\n\n")->help, "h");
}

FIXTURE_TEST(a_later_row_replaces_one_with_the_same_name)
{
    assert_true(preset_read(&list, &error));
    size_t n = list.n;
    assert_true(preset_read_text(&list, "mine", "memory minor-faults - - - - mine", &error));
    assert_int_equal(list.n, n);
    assert_string_equal(preset_find(&list, "memory", NULL)->events, "minor-faults");
}

FIXTURE_TEST(errors_name_file_and_line)
{
    expect_refused("x e - - - - h\n\nname event -", "mine:3: 3 of 7 columns");
    expect_refused("x e often - - - h", "mine:1: \"often\" is no rate");
    expect_refused("x e 0Hz - - - h", "no rate");
    expect_refused("x e 1/0 - - - h", "no rate");
    expect_refused("x e 99999999999999999999Hz - - - h", "no rate");
    expect_refused("x e - flam - - h", "did you mean flame");
    expect_refused("x e - - proces - h", "did you mean process");
    expect_refused("x e - - - everybody h", "\"everybody\" is no scope");
    expect_refused("x e - - - user= h", "is no scope");
    expect_refused("x e - - - allx h", "is no scope");
    expect_refused("x e - \x1b[31m - - h", "there is no view");
    assert_null(strchr(error.text, '\x1b'));
}

FIXTURE_TEST(the_nearest_name_is_suggested)
{
    assert_true(preset_read(&list, &error));
    assert_null(preset_find(&list, "memroy", &error));
    assert_non_null(strstr(error.text, "memory"));
    assert_non_null(strstr(error.text, "--list-presets"));
}

FIXTURE_TEST(a_scope_is_set_and_a_missing_target_is_reported_with_file_and_line)
{
    struct scope s;
    scope_init(&s);
    assert_true(preset_set_scope(only_preset("x e - - - user=0+cpus=0 h"), &s, &error));
    assert_int_equal(s.kind, SCOPE_USER);
    assert_true(s.cpus[0]);
    assert_true(preset_set_scope(only_preset("x e - - - - h"), &s, &error));
    assert_int_equal(s.kind, SCOPE_USER);
    assert_true(preset_set_scope(only_preset("x e - - - all h"), &s, &error));
    assert_int_equal(s.kind, SCOPE_ALL);
    assert_false(preset_set_scope(only_preset("x e - - - user=nobody-of-that-name h"), &s, &error));
    assert_non_null(strstr(error.text, "mine:1: "));
    scope_done(&s);
}

/* The printed presets can be the beginning of a user's file. */
FIXTURE_TEST(listed_presets_can_be_read_back)
{
    struct buf first = { 0 }, second = { 0 };
    assert_true(preset_read(&list, &error));
    preset_print(&list, &first);
    preset_list_done(&list);
    assert_true(preset_read_text(&list, "listed", buf_str(&first), &error));
    preset_print(&list, &second);
    assert_string_equal(buf_str(&first), buf_str(&second));
    buf_done(&first);
    buf_done(&second);
}

FIXTURE_TEST(rows_of_the_users_file_are_added)
{
    char folder[] = "/tmp/flametop-presets-XXXXXX", path[80];
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/flametop", folder);
    assert_int_equal(mkdir(path, 0700), 0);
    snprintf(path, sizeof path, "%s/flametop/presets", folder);
    write_text(path, "mine cpu-clock 49Hz - - - my own\n");
    chmod(path, 0600);
    setenv("XDG_CONFIG_HOME", folder, 1);
    bool ok = preset_read(&list, &error);
    unlink(path);
    *strrchr(path, '/') = '\0';
    rmdir(path);
    rmdir(folder);
    if (!ok)
        fail_msg("%s", error.text);
    assert_non_null(preset_find(&list, "cpu", NULL));
    assert_int_equal(preset_find(&list, "mine", NULL)->how.freq_hz, 49);
}

FIXTURE_TEST(the_first_alternative_that_opens_is_used)
{
    char folder[] = "/tmp/test_preset_XXXXXX", path[64],
         text[] = "one no:such_tracepoint[a|b&1]|page-faults|context-switches auto - - - x\n"
                  "two no:such_tracepoint|no:other_one each - - - x\n";
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/flametop", folder);
    assert_int_equal(mkdir(path, 0700), 0);
    snprintf(path, sizeof path, "%s/flametop/presets", folder);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    assert_int_equal(fchmod(fileno(f), 0600), 0);
    fclose(f);
    setenv("XDG_CONFIG_HOME", folder, 1);
    bool ok = preset_read(&list, &error);
    unlink(path);
    *strrchr(path, '/') = '\0';
    rmdir(path);
    rmdir(folder);
    if (!ok)
        fail_msg("%s", error.text);
    assert_string_equal(preset_find(&list, "one", NULL)->events, "page-faults");
    assert_true(preset_find(&list, "one", NULL)->how.fitted);
    assert_string_equal(preset_find(&list, "two", NULL)->events,
                        "no:other_one"); /* its error is reported when it is used */
}

TEST_MAIN(NULL, NULL)
