// SPDX-License-Identifier: GPL-2.0-or-later
/* What a sample of off-CPU time says of its waits besides the sum of their times: the payload of the
 * sample in the history, its AUX data in a perf.data that flametop saved. A sample without one is one
 * whole wait in the state S. */
#ifndef FLAMETOP_PROFILE_WAIT_SUMMARY_H
#define FLAMETOP_PROFILE_WAIT_SUMMARY_H

#include <stdbool.h>
#include <stdint.h>

#include "profile/durations.h"

/* Numbers are in the order of bytes of the machine. */
struct wait_summary {
    uint32_t magic; /* WAIT_SUMMARY_MAGIC */
    uint16_t state; /* 'S', 'D', as in /proc/PID/stat; 0: not known, or told by the reason */
    uint16_t n;     /* of `durations` */
    /* When the first wait began, if it was before the end less the weight; else 0 or any later time. */
    uint64_t from_ns;
    uint64_t max_ns;            /* of the longest wait, also of one that goes on */
    uint64_t sum_ns;            /* of the waits that ended, with the time before this sample */
    struct wait_duration {      /* of the waits that ended */
        uint32_t bucket, count; /* bucket: see durations.h; each one at most once */
    } durations[DURATION_BUCKETS];
};
#define WAIT_SUMMARY_MAGIC UINT32_C(0x57544c46)

/* Of a sample of the event wakers: who ended its waits, behind the summary in the same payload. In a
 * perf.data its chain follows: n numbers of 64 bits, as in a callchain of <linux/perf_event.h> (leaf first,
 * with PERF_CONTEXT_* before each exact address). It is the waker's stack, or of an interrupt its part of the
 * stack; user addresses are those of the waker's process. */
struct wait_waker {
    uint32_t magic;    /* WAIT_WAKER_MAGIC */
    uint16_t kind, n;  /* kind: enum waker (process/waker.h), from a file any number; n: in a history 0 */
    uint32_t pid, tid; /* of the thread that woke, or that the interrupt interrupted */
    uint32_t thread;   /* in a history: its number there; in a perf.data 0 */
    uint32_t reserved; /* 0 */
};
#define WAIT_WAKER_MAGIC UINT32_C(0x574b4c46)
#define WAIT_WAKER_CHAIN 1024 /* most entries that are written */

uint32_t wait_summary_size(const struct wait_summary *w); /* bytes in use */
/* Reads the payload of a sample with this weight, from any file. Anything else than a payload as above, also
 * NULL, is one wait of this length. */
void wait_summary_read(struct wait_summary *w, const void *raw, uint32_t size, uint64_t weight_ns);
/* Returns the offset of the waker in a payload of any file, whose chain is complete; 0: it has none. */
uint32_t wait_waker_at(struct wait_waker *out, const void *raw, uint32_t size);
/* True if this is what wait_summary_read returns without a payload. */
bool wait_summary_is_plain(const struct wait_summary *w, uint64_t weight_ns);

#endif
