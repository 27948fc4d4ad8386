// SPDX-License-Identifier: GPL-2.0-or-later
/* Counts the threads that run at this moment, from records of the scheduler (PERF_RECORD_SWITCH), which must
 * come in order of time (perf/order.h). This is the parallelism of perf report --latency.
 *
 * A CPU runs one thread, so a missed record is corrected by the CPU's next one. Threads that ran before the
 * first record have no switch: their first sample tells that they run. */
#ifndef FLAMETOP_PROFILE_RUNNING_H
#define FLAMETOP_PROFILE_RUNNING_H

#include <stdbool.h>
#include <stdint.h>

#include "base/map.h"

/* Zero-initialised: nothing is known. */
struct running {
    struct map threads; /* by CPU, or by thread where records have no CPU: the thread that runs; 0: none */
    uint32_t n;         /* threads that run */
};

/* What wrote a record, and where. */
struct running_at {
    uint32_t tid, cpu; /* tid 0: the idle task */
    bool has_cpu;      /* false: the records of a file have no CPU */
};

void running_switch_in(struct running *r, struct running_at at);
void running_switch_out(struct running *r, struct running_at at);
/* A sample of the thread. Returns the number of threads that run, this one included; 0: the idle task. */
uint32_t running_sample(struct running *r, struct running_at at);
void running_exit(struct running *r, struct running_at at); /* the thread of the record ends */
/* Records were lost: what runs on this CPU, or on any if it is not known, is unknown. */
void running_lost(struct running *r, struct running_at at);
void running_forget(struct running *r); /* everything */
void running_done(struct running *r);

#endif
