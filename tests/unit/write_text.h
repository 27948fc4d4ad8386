// SPDX-License-Identifier: GPL-2.0-or-later
/* Writes a text file that a test reads. */
#ifndef FLAMETOP_TESTS_WRITE_TEXT_H
#define FLAMETOP_TESTS_WRITE_TEXT_H

#include <stdio.h>

#include "unit_test.h"

/* Creates or replaces the file; its folder must exist. */
static inline void write_text(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    assert_int_equal(fclose(f), 0);
}

#endif
