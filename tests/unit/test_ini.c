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

#include "base/buf.h"
#include "base/ini.h"
#include "need_inih.h"

/* Records each setting as "section.key=value|". Refuses the key "bad" with a message, "worse" without one. */
static bool collect(void *ctx, const char *section, const char *key, const char *value, struct error *e)
{
    struct buf *heard = ctx;

    buf_printf(heard, "%s.%s=%s|", section, key, value);
    if (!strcmp(key, "bad"))
        return error_set(e, ERROR_ARGUMENT, "no setting '%s'", key);
    return strcmp(key, "worse") != 0;
}

static void assert_heard(const char *text, const char *expected)
{
    struct buf heard = { 0 };
    struct error e = { 0 };

    if (!ini_read_text("config", text, collect, &heard, &e))
        fail_msg("%s", e.text);
    assert_string_equal(buf_str(&heard), expected);
    buf_done(&heard);
}

static void assert_refused(const char *text, const char *message)
{
    struct buf heard = { 0 };
    struct error e = { 0 };

    assert_false(ini_read_text("config", text, collect, &heard, &e));
    assert_string_equal(e.text, message);
    buf_done(&heard);
}

static void settings_come_with_their_section(void **state)
{
    (void)state;
    need_inih();
    assert_heard("", "");
    assert_heard("delay = 2\n[keys]\nquit = q\nhelp=F1", ".delay=2|keys.quit=q|keys.help=F1|");
    assert_heard("[a]\r\nx = 1 \r\n", "a.x=1|");
}

static void comments_and_empty_lines_are_passed_over(void **state)
{
    (void)state;
    need_inih();
    assert_heard("# one\n\n; two\n[a] # of\nx = 1 ; three\n", "a.x=1|");
    assert_heard("fg = #ff8000\n", ".fg=#ff8000|");
}

static void an_indented_setting_is_a_setting_of_its_own(void **state)
{
    (void)state;
    need_inih();
    assert_heard("[a]\n  x = 1\n\ty = 2\n", "a.x=1|a.y=2|");
}

static void a_refusal_names_file_and_line_and_stops(void **state)
{
    struct buf heard = { 0 };
    struct error e = { 0 };

    (void)state;
    need_inih();
    assert_false(ini_read_text("config", "a = 1\n\nbad = 2\nc = 3\n", collect, &heard, &e));
    assert_string_equal(e.text, "config:3: no setting 'bad'");
    assert_int_equal(e.class, ERROR_ARGUMENT);
    assert_string_equal(buf_str(&heard), ".a=1|.bad=2|");
    buf_done(&heard);
}

static void a_refusal_without_words_is_still_an_error(void **state)
{
    (void)state;
    need_inih();
    assert_refused("worse = 1\n", "config:1: the setting was refused");
}

static void a_line_that_is_no_setting_is_refused(void **state)
{
    (void)state;
    need_inih();
    assert_refused("a = 1\nnonsense\nb = 2\n", "config:2: neither [section] nor key = value");
    assert_refused("[unclosed\n", "config:1: neither [section] nor key = value");
    assert_refused("nonsense\nbad = 2\n", "config:1: neither [section] nor key = value");
    assert_refused("bad = 2\nnonsense\n", "config:1: no setting 'bad'");
}

static void a_line_that_does_not_fit_is_refused_not_split(void **state)
{
    char text[2000], *p = text;
    struct buf heard = { 0 };
    struct error e = { 0 };

    (void)state;
    need_inih();
    p += sprintf(p, "a = 1\nb = ");
    memset(p, 'x', 1000);
    strcpy(p + 1000, "\nc = 2\n");
    assert_false(ini_read_text("config", text, collect, &heard, &e));
    assert_int_equal(e.class, ERROR_FORMAT);
    assert_int_equal(strncmp(e.text, "config:2: the line is longer than ", 34), 0);
    assert_string_equal(buf_str(&heard), ".a=1|");
    buf_done(&heard);
}

static void nobody_need_ask_for_the_error(void **state)
{
    struct buf heard = { 0 };

    (void)state;
    assert_false(ini_read_text("config", "bad = 1\n", collect, &heard, NULL));
    assert_false(ini_read_text("config", "nonsense\n", collect, &heard, NULL));
    assert_false(ini_read("no/such/file", collect, &heard, NULL));
    buf_done(&heard);
}

static char path[] = "test_ini.XXXXXX";

static int make_file(void **state)
{
    int fd = mkstemp(strcpy(path, "test_ini.XXXXXX"));

    (void)state;
    return fd < 0 || write(fd, "[a]\nx = 1\n", 10) != 10 || close(fd) < 0;
}

static int remove_file(void **state)
{
    (void)state;
    return unlink(path);
}

static void assert_file_refused(const char *name, enum error_class class, const char *word)
{
    struct buf heard = { 0 };
    struct error e = { 0 };

    assert_false(ini_read(name, collect, &heard, &e));
    assert_int_equal(e.class, class);
    assert_non_null(strstr(e.text, name));
    if (!strstr(e.text, word))
        fail_msg("'%s' does not say '%s'", e.text, word);
    assert_string_equal(buf_str(&heard), "");
    buf_done(&heard);
}

static void assert_file_heard(const char *name)
{
    struct buf heard = { 0 };
    struct error e = { 0 };

    if (!ini_read(name, collect, &heard, &e))
        fail_msg("%s", e.text);
    assert_string_equal(buf_str(&heard), "a.x=1|");
    buf_done(&heard);
}

static void a_file_of_ours_is_read_also_through_a_link(void **state)
{
    char link[32];

    (void)state;
    need_inih();
    assert_file_heard(path);
    snprintf(link, sizeof link, "%s.l", path);
    assert_int_equal(symlink(path, link), 0);
    assert_file_heard(link);
    assert_int_equal(unlink(link), 0);
}

static void a_file_that_others_may_write_to_is_refused(void **state)
{
    (void)state;
    need_inih();
    assert_int_equal(chmod(path, 0620), 0);
    assert_file_refused(path, ERROR_PERMISSION, "chmod go-w");
    assert_int_equal(chmod(path, 0602), 0);
    assert_file_refused(path, ERROR_PERMISSION, "chmod go-w");
    assert_int_equal(chmod(path, 0644), 0);
    assert_file_heard(path);
}

static void a_file_of_another_user_is_refused(void **state)
{
    (void)state;
    if (geteuid() != 0) {
        print_message("only root may give a file away\n");
        skip();
    }
    assert_int_equal(chown(path, 12345, (gid_t)-1), 0);
    assert_file_refused(path, ERROR_PERMISSION, "user 12345");
}

static void too_large_a_file_is_refused(void **state)
{
    (void)state;
    assert_int_equal(truncate(path, 256 * 1024 + 1), 0);
    assert_file_refused(path, ERROR_LIMIT, "larger than 262144 bytes");
}

static void a_file_with_nul_bytes_is_refused(void **state)
{
    (void)state;
    assert_int_equal(truncate(path, 100), 0);
    assert_file_refused(path, ERROR_FORMAT, "NUL");
}

static void what_is_no_regular_file_is_refused(void **state)
{
    (void)state;
    assert_file_refused("/", ERROR_ARGUMENT, "no regular file");
    assert_file_refused("/dev/null", ERROR_ARGUMENT, "no regular file");
    assert_int_equal(unlink(path), 0);
    assert_int_equal(mkfifo(path, 0600), 0);
    alarm(10);
    assert_file_refused(path, ERROR_ARGUMENT, "no regular file");
    alarm(0);
}

static void a_missing_file_is_told_from_others(void **state)
{
    (void)state;
    assert_file_refused("no/such/file", ERROR_MISSING, "No such file");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(settings_come_with_their_section),
        cmocka_unit_test(comments_and_empty_lines_are_passed_over),
        cmocka_unit_test(an_indented_setting_is_a_setting_of_its_own),
        cmocka_unit_test(a_refusal_names_file_and_line_and_stops),
        cmocka_unit_test(a_refusal_without_words_is_still_an_error),
        cmocka_unit_test(a_line_that_is_no_setting_is_refused),
        cmocka_unit_test(a_line_that_does_not_fit_is_refused_not_split),
        cmocka_unit_test(nobody_need_ask_for_the_error),
        cmocka_unit_test_setup_teardown(a_file_of_ours_is_read_also_through_a_link, make_file, remove_file),
        cmocka_unit_test_setup_teardown(a_file_that_others_may_write_to_is_refused, make_file, remove_file),
        cmocka_unit_test_setup_teardown(a_file_of_another_user_is_refused, make_file, remove_file),
        cmocka_unit_test_setup_teardown(too_large_a_file_is_refused, make_file, remove_file),
        cmocka_unit_test_setup_teardown(a_file_with_nul_bytes_is_refused, make_file, remove_file),
        cmocka_unit_test_setup_teardown(what_is_no_regular_file_is_refused, make_file, remove_file),
        cmocka_unit_test(a_missing_file_is_told_from_others),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
