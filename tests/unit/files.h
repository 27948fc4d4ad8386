// SPDX-License-Identifier: GPL-2.0-or-later
/* Files and folders that a test creates. */
#ifndef FLAMETOP_TESTS_FILES_H
#define FLAMETOP_TESTS_FILES_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "unit_test.h"

/* Creates or replaces the file; its folder must exist. */
static inline void write_text(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    assert_int_equal(fclose(f), 0);
}

/* Same for ROOT/PATH, and creates the folders in PATH. */
static inline void write_below(const char *root, const char *path, const char *text)
{
    char full[256];
    assert_true(snprintf(full, sizeof full, "%s/%s", root, path) < (int)sizeof full);
    for (char *slash = full + strlen(root) + 1; (slash = strchr(slash, '/')); slash++) {
        *slash = '\0';
        mkdir(full, 0755);
        *slash = '/';
    }
    write_text(full, text);
}

/* Removes a folder and all that it contains. Returns 0, as a teardown does. */
static inline int remove_tree(const char *folder)
{
    char command[160];
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    return system(command);
}

#endif
