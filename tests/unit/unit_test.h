// SPDX-License-Identifier: GPL-2.0-or-later
/* cmocka, with the headers that it needs before it. Most tests do not use the parameter `state` that it
 * passes to each. */
#ifndef FLAMETOP_TESTS_UNIT_TEST_H
#define FLAMETOP_TESTS_UNIT_TEST_H

#pragma GCC diagnostic ignored "-Wunused-parameter"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#endif
