// SPDX-License-Identifier: GPL-2.0-or-later
/* Skips tests that read settings or themes from files in a build without inih. */
#ifndef FLAMETOP_TESTS_NEED_INIH_H
#define FLAMETOP_TESTS_NEED_INIH_H

#include "base/ini.h"
#include "unit_test.h"

static inline void need_inih(void)
{
    if (!ini_read_text("", "", NULL, NULL, NULL)) {
        print_message("built without inih\n");
        skip();
    }
}

#endif
