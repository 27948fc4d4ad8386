// SPDX-License-Identifier: GPL-2.0-or-later
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/ini_edit.h"
#include "unit_test.h"
#include "files.h"

static const struct ini_pair pairs[] = { { "theme", "light" }, { "delay", "2" } };
static char folder[64], path[128];

static int setup(void **state)
{
    strcpy(folder, "/tmp/flametop-ini-XXXXXX");
    if (!mkdtemp(folder))
        return 1;
    snprintf(path, sizeof path, "%s/a/flametop/config", folder);
    return 0;
}

static int teardown(void **state)
{
    return remove_tree(folder);
}

#define FIXTURE_TEST(name) TEST_WITH(name, setup, teardown)

static void assert_edited(const char *text, const char *expected)
{
    struct buf out = { 0 };
    ini_edit(&out, text, "options", pairs, 2);
    assert_string_equal(buf_str(&out), expected);
    buf_done(&out);
}

static void assert_file(const char *expected)
{
    struct buf text = { 0 };
    struct error e = { 0 };
    assert_true(file_read(path, 65536, &text, &e));
    assert_string_equal(buf_str(&text), expected);
    buf_done(&text);
}

static void put_file(const char *text)
{
    char command[200];
    snprintf(command, sizeof command, "mkdir -p %s/a/flametop", folder);
    assert_int_equal(system(command), 0);
    write_text(path, text);
    chmod(path, 0600);
}

FIXTURE_TEST(an_empty_text_becomes_a_section)
{
    assert_edited("", "[options]\ntheme = light\ndelay = 2\n");
}

FIXTURE_TEST(values_are_replaced_in_place)
{
    assert_edited("# mine\n[options]\n  theme=solarized\nevent = cycles\ndelay : 5 ; slow line\n",
                  "# mine\n[options]\ntheme = light\nevent = cycles\ndelay = 2 ; slow line\n");
    assert_edited("theme = mono\ndelay = 1\n", "theme = light\ndelay = 2\n");
}

FIXTURE_TEST(missing_keys_are_appended_to_their_section)
{
    assert_edited("[options]\nfreq = 199\n\n[keys]\nfreeze = z\n",
                  "[options]\nfreq = 199\ntheme = light\ndelay = 2\n\n[keys]\nfreeze = z\n");
    assert_edited("[keys]\nfreeze = z", "[keys]\nfreeze = z\n\n[options]\ntheme = light\ndelay = 2\n");
    assert_edited("[options]\n", "[options]\ntheme = light\ndelay = 2\n");
}

FIXTURE_TEST(other_sections_and_comments_stay_unchanged)
{
    assert_edited(
        "[keys]\ntheme = F9\n[options]\n# theme = mono\n; delay = 3\nthemes = x\ntheme = mono\ndelay=9\n",
        "[keys]\ntheme = F9\n[options]\n# theme = mono\n; delay = 3\nthemes = x\ntheme = light\ndelay = 2\n");
}

FIXTURE_TEST(editing_is_idempotent)
{
    struct buf once = { 0 }, twice = { 0 };
    ini_edit(&once, "\n\n# x\r\n[options]\r\n\ntheme=1\n\n", "options", pairs, 2);
    ini_edit(&twice, buf_str(&once), "options", pairs, 2);
    assert_string_equal(buf_str(&once), buf_str(&twice));
    buf_done(&once);
    buf_done(&twice);
}

FIXTURE_TEST(files_and_folders_are_created_readable_only_by_the_owner)
{
    struct error e = { 0 };
    struct stat st;
    assert_true(ini_write(path, NULL, "options", pairs, 2, &e));
    assert_file("[options]\ntheme = light\ndelay = 2\n");
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
    *strrchr(path, '/') = '\0';
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0700);
}

FIXTURE_TEST(an_existing_file_keeps_its_other_lines)
{
    struct error e = { 0 };
    put_file("# hello\n[options]\nmouse = yes\ndelay = 1\n");
    assert_true(ini_write(path, NULL, "options", pairs, 2, &e));
    assert_file("# hello\n[options]\nmouse = yes\ndelay = 2\ntheme = light\n");
}

FIXTURE_TEST(a_new_file_starts_as_a_copy_of_its_model)
{
    char model[128];
    struct error e = { 0 };
    snprintf(model, sizeof model, "%s/model", folder);
    assert_true(ini_write(path, model, "options", pairs, 2, &e)); /* the model does not exist */
    assert_int_equal(unlink(path), 0);
    put_file("# all users\n[options]\nfreq = 49\n");
    assert_int_equal(rename(path, model), 0);
    assert_true(ini_write(path, model, "options", pairs, 2, &e));
    assert_file("# all users\n[options]\nfreq = 49\ntheme = light\ndelay = 2\n");
}

FIXTURE_TEST(symlinks_are_followed_to_the_file)
{
    char target[128];
    struct error e = { 0 };
    struct stat st;
    put_file("x = 1\n");
    snprintf(target, sizeof target, "%s/elsewhere", folder);
    assert_int_equal(rename(path, target), 0);
    assert_int_equal(symlink(target, path), 0);
    assert_true(ini_write(path, NULL, "options", pairs, 2, &e));
    assert_int_equal(lstat(path, &st), 0);
    assert_true(S_ISLNK(st.st_mode));
    assert_file("x = 1\n\n[options]\ntheme = light\ndelay = 2\n");
}

FIXTURE_TEST(settings_that_could_not_be_read_back_are_not_written)
{
    static const struct ini_pair bad[] = { { "theme", "a ; b" } }, broken[] = { { "theme", "a\n[keys" } };
    struct error e = { 0 };
    put_file("[options]\ntheme = mono\n");
    assert_false(ini_write(path, NULL, "options", bad, 1, &e));
    assert_false(ini_write(path, NULL, "options", broken, 1, &e));
    assert_false(ini_write("relative/config", NULL, "options", pairs, 2, &e));
    assert_file("[options]\ntheme = mono\n");
    put_file("[options]\nno setting at all\n");
    assert_false(ini_write(path, NULL, "options", pairs, 2, &e));
    assert_file("[options]\nno setting at all\n");
    assert_int_equal(chmod(path, 0666), 0);
    assert_false(ini_write(path, NULL, "options", pairs, 2, &e));
    assert_non_null(strstr(e.text, "others"));
}

FIXTURE_TEST(a_folder_of_another_user_is_not_written_to)
{
    struct error e = { 0 };
    if (geteuid() != 0)
        skip();
    put_file("");
    *strrchr(path, '/') = '\0';
    assert_int_equal(chown(path, 65534, 65534), 0);
    path[strlen(path)] = '/';
    assert_false(ini_write(path, NULL, "options", pairs, 2, &e));
    assert_non_null(strstr(e.text, "65534"));
}

TEST_MAIN(NULL, NULL)
