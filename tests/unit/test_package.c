// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "symbols/package.h"
#include "unit_test.h"
#include "files.h"

static char dir[64];

static void write_list(const char *name, const char *text)
{
    char path[128];

    snprintf(path, sizeof path, "%s/%s", dir, name);
    write_text(path, text);
}

static int make_lists(void **state)
{
    strcpy(dir, "/tmp/flametop-package-XXXXXX");
    if (!mkdtemp(dir))
        return -1;
    write_list("libfoo1:amd64.list", "/.\n/lib\n/lib/libfoo.so.1\n/usr/share/doc/libfoo1\n");
    write_list("bar.list", "/.\n/usr\n/usr/bin/bar\n/usr/bin/barbecue\n/opt/last");
    write_list("bar.md5sums", "/usr/bin/sum\n");
    write_list("B\033ad.list", "/usr/bin/bad\n");
    return 0;
}

static int remove_lists(void **state)
{
    return remove_tree(dir);
}

#define FIXTURE_TEST(name) TEST_WITH(name, make_lists, remove_lists)

static const char *package_of(const char *path)
{
    static char name[64];

    return package_of_file(dir, path, name, sizeof name) ? name : "-";
}

FIXTURE_TEST(a_file_has_the_package_that_lists_it)
{
    assert_string_equal(package_of("/usr/bin/bar"), "bar");
    assert_string_equal(package_of("/opt/last"), "bar");
    assert_string_equal(package_of("/lib/libfoo.so.1"), "libfoo1");
    assert_string_equal(package_of("/usr/bin/ba"), "-");
    assert_string_equal(package_of("/usr/bin/barbe"), "-");
    assert_string_equal(package_of("bin/bar"), "-");
    assert_string_equal(package_of("/usr/bin/sum"), "-");
    assert_string_equal(package_of("/usr/bin/bad"), "-");
}

FIXTURE_TEST(paths_with_and_without_usr_are_the_same_file)
{
    assert_string_equal(package_of("/usr/lib/libfoo.so.1"), "libfoo1");
    assert_string_equal(package_of("/bin/bar"), "bar");
}

TEST(a_machine_without_dpkg_has_no_packages)
{
    char name[64];

    assert_false(package_of_file("/nonexistent", "/usr/bin/bar", name, sizeof name));
}

TEST(symbols_are_in_a_companion_package)
{
    char name[64];

    package_of_symbols("coreutils", name, sizeof name);
    assert_string_equal(name, "coreutils-dbgsym");
    package_of_symbols("libc6", name, sizeof name);
    assert_string_equal(name, "libc6-dbg");
    package_of_symbols("python3.11", name, sizeof name);
    assert_string_equal(name, "python3.11-dbg");
    package_of_symbols("python3.11-minimal", name, sizeof name);
    assert_string_equal(name, "python3.11-minimal-dbgsym");
}

TEST_MAIN(NULL, NULL)
