// SPDX-License-Identifier: GPL-2.0-or-later
/* What bench_unwind and its oracle share. */
#ifndef FLAMETOP_TESTS_BENCH_UNWIND_H
#define FLAMETOP_TESTS_BENCH_UNWIND_H

#include "process/world.h"
#include "unwind/unwind.h"

#define BENCH_BATCH   256
#define BENCH_FRAMES  512
#define BENCH_STACK   65536
#define BENCH_MODULES 4096

struct bench_module {
    bool tried, has_rows, jit;
    int fd;
    void *blob;
    struct unwind_rows rows;
    void *oracle; /* its own */
};
struct bench_world {
    struct world *world;
    enum unwind_arch arch;
    struct bench_module modules[BENCH_MODULES];
};
struct bench_sample {
    struct bench_world *w;
    uint32_t thread, pid;
    bool untabled; /* the walk met code without a table */
    struct unwind_input in;
    uint8_t stack[BENCH_STACK];
};

struct bench_module *bench_module_at(struct bench_world *w, uint32_t id);
/* False: the oracle says otherwise (and, verbose, prints it). */
bool bench_compare(struct bench_sample *s, const struct unwind_frame *frames, uint32_t n, enum unwind_end end,
                   bool verbose);
void bench_compare_report(void);

#endif
