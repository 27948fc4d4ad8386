// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/ini.h"
#include "need_inih.h"
#include "unit_test.h"

/* Records each setting as "section.key=value|". Refuses the key "bad" with a message, "worse" without one. */
static bool collect_setting(void *ctx, const char *section, const char *key, const char *value,
                            struct error *e)
{
    struct buf *heard = ctx;

    buf_printf(heard, "%s.%s=%s|", section, key, value);
    if (!strcmp(key, "bad"))
        return error_set(e, ERROR_ARGUMENT, "no setting '%s'", key);
    return strcmp(key, "worse") != 0;
}

static void assert_settings(const char *text, const char *expected)
{
    struct buf heard = { 0 };
    struct error e = { 0 };

    if (!ini_read_text("config", text, collect_setting, &heard, &e))
        fail_msg("%s", e.text);
    assert_string_equal(buf_str(&heard), expected);
    buf_done(&heard);
}

static void assert_refused(const char *text, const char *message)
{
    struct buf heard = { 0 };
    struct error e = { 0 };

    assert_false(ini_read_text("config", text, collect_setting, &heard, &e));
    assert_string_equal(e.text, message);
    buf_done(&heard);
}

TEST(settings_are_reported_with_their_section)
{
    need_inih();
    assert_settings("", "");
    assert_settings("delay = 2\n[keys]\nquit = q\nhelp=F1", ".delay=2|keys.quit=q|keys.help=F1|");
    assert_settings("[a]\r\nx = 1 \r\n", "a.x=1|");
}

TEST(comments_and_empty_lines_are_skipped)
{
    need_inih();
    assert_settings("# one\n\n; two\n[a] # of\nx = 1 ; three\n", "a.x=1|");
    assert_settings("fg = #ff8000\n", ".fg=#ff8000|");
}

TEST(an_indented_setting_is_a_separate_setting)
{
    need_inih();
    assert_settings("[a]\n  x = 1\n\ty = 2\n", "a.x=1|a.y=2|");
}

TEST(a_refused_setting_stops_reading_and_names_file_and_line)
{
    struct buf heard = { 0 };
    struct error e = { 0 };

    need_inih();
    assert_false(ini_read_text("config", "a = 1\n\nbad = 2\nc = 3\n", collect_setting, &heard, &e));
    assert_string_equal(e.text, "config:3: no setting 'bad'");
    assert_int_equal(e.class, ERROR_ARGUMENT);
    assert_string_equal(buf_str(&heard), ".a=1|.bad=2|");
    buf_done(&heard);
}

TEST(a_refusal_without_a_message_is_still_an_error)
{
    need_inih();
    assert_refused("worse = 1\n", "config:1: the setting was refused");
}

TEST(lines_that_are_not_settings_are_refused)
{
    need_inih();
    assert_refused("a = 1\nnonsense\nb = 2\n", "config:2: neither [section] nor key = value");
    assert_refused("[unclosed\n", "config:1: neither [section] nor key = value");
    assert_refused("nonsense\nbad = 2\n", "config:1: neither [section] nor key = value");
    assert_refused("bad = 2\nnonsense\n", "config:1: no setting 'bad'");
}

TEST(overlong_lines_are_refused_and_not_split)
{
    char text[2000], *p = text;
    struct buf heard = { 0 };
    struct error e = { 0 };

    need_inih();
    p += sprintf(p, "a = 1\nb = ");
    memset(p, 'x', 1000);
    strcpy(p + 1000, "\nc = 2\n");
    assert_false(ini_read_text("config", text, collect_setting, &heard, &e));
    assert_int_equal(e.class, ERROR_FORMAT);
    assert_int_equal(strncmp(e.text, "config:2: the line is longer than ", 34), 0);
    assert_string_equal(buf_str(&heard), ".a=1|");
    buf_done(&heard);
}

TEST(the_error_argument_may_be_null)
{
    struct buf heard = { 0 };

    assert_false(ini_read_text("config", "bad = 1\n", collect_setting, &heard, NULL));
    assert_false(ini_read_text("config", "nonsense\n", collect_setting, &heard, NULL));
    assert_false(ini_read("no/such/file", collect_setting, &heard, NULL));
    buf_done(&heard);
}

static char path[] = "test_ini.XXXXXX";

static int make_file(void **state)
{
    int fd = mkstemp(strcpy(path, "test_ini.XXXXXX"));

    return fd < 0 || write(fd, "[a]\nx = 1\n", 10) != 10 || close(fd) < 0;
}

static int remove_file(void **state)
{
    return unlink(path);
}

#define FIXTURE_TEST(name) TEST_WITH(name, make_file, remove_file)

static void assert_file_refused(const char *name, enum error_class class, const char *word)
{
    struct buf heard = { 0 };
    struct error e = { 0 };

    assert_false(ini_read(name, collect_setting, &heard, &e));
    assert_int_equal(e.class, class);
    assert_non_null(strstr(e.text, name));
    if (!strstr(e.text, word))
        fail_msg("'%s' does not contain '%s'", e.text, word);
    assert_string_equal(buf_str(&heard), "");
    buf_done(&heard);
}

static void assert_file_settings(const char *name)
{
    struct buf heard = { 0 };
    struct error e = { 0 };

    if (!ini_read(name, collect_setting, &heard, &e))
        fail_msg("%s", e.text);
    assert_string_equal(buf_str(&heard), "a.x=1|");
    buf_done(&heard);
}

FIXTURE_TEST(an_own_file_is_read_directly_and_through_a_symlink)
{
    char link[32];

    need_inih();
    assert_file_settings(path);
    snprintf(link, sizeof link, "%s.l", path);
    assert_int_equal(symlink(path, link), 0);
    assert_file_settings(link);
    assert_int_equal(unlink(link), 0);
}

FIXTURE_TEST(files_writable_by_others_are_refused)
{
    need_inih();
    assert_int_equal(chmod(path, 0620), 0);
    assert_file_refused(path, ERROR_PERMISSION, "chmod go-w");
    assert_int_equal(chmod(path, 0602), 0);
    assert_file_refused(path, ERROR_PERMISSION, "chmod go-w");
    assert_int_equal(chmod(path, 0644), 0);
    assert_file_settings(path);
}

FIXTURE_TEST(files_of_another_user_are_refused)
{
    if (geteuid() != 0) {
        print_message("needs root, to change the owner of a file\n");
        skip();
    }
    assert_int_equal(chown(path, 12345, (gid_t)-1), 0);
    assert_file_refused(path, ERROR_PERMISSION, "user 12345");
}

FIXTURE_TEST(files_over_the_size_limit_are_refused)
{
    assert_int_equal(truncate(path, 256 * 1024 + 1), 0);
    assert_file_refused(path, ERROR_LIMIT, "larger than 262144 bytes");
}

FIXTURE_TEST(files_with_nul_bytes_are_refused)
{
    assert_int_equal(truncate(path, 100), 0);
    assert_file_refused(path, ERROR_FORMAT, "NUL");
}

FIXTURE_TEST(files_that_are_not_regular_are_refused)
{
    assert_file_refused("/", ERROR_ARGUMENT, "no regular file");
    assert_file_refused("/dev/null", ERROR_ARGUMENT, "no regular file");
    assert_int_equal(unlink(path), 0);
    assert_int_equal(mkfifo(path, 0600), 0);
    alarm(10);
    assert_file_refused(path, ERROR_ARGUMENT, "no regular file");
    alarm(0);
}

TEST(a_missing_file_has_its_own_error_class)
{
    assert_file_refused("no/such/file", ERROR_MISSING, "No such file");
}

TEST_MAIN(NULL, NULL)
