// SPDX-License-Identifier: GPL-2.0-or-later
/* Tests whose program is also the worker of its symbolizer. */
#ifndef FLAMETOP_TESTS_WORKER_TEST_H
#define FLAMETOP_TESTS_WORKER_TEST_H

#include <string.h>

#include "symbols/symbolizer.h"
#include "unit_test.h"

/* Becomes the worker, if the arguments say so. */
static inline void be_worker(int argc, char **argv)
{
    if (argc > 1 && !strcmp(argv[1], SYMBOL_WORKER_ARG))
        symbol_worker_main(3);
}
#define WORKER_TEST_MAIN(setup, teardown)                                                                    \
    int main(int argc, char **argv)                                                                          \
    {                                                                                                        \
        be_worker(argc, argv);                                                                               \
        return run_listed_tests(setup, teardown);                                                            \
    }

#endif
