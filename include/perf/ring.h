// SPDX-License-Identifier: GPL-2.0-or-later
/* One mapped ring of records (perf_event_open(2), "MMAP layout"), and records of many rings in order of time. */
#ifndef FLAMETOP_PERF_RING_H
#define FLAMETOP_PERF_RING_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "perf/record.h"

struct ring {
    struct perf_event_mmap_page *page;
    const uint8_t *data;
    uint64_t size_bytes; /* of data; a power of two */
    uint64_t head, tail; /* between ring_begin and ring_end: what may be read, what was read */
};

/* Maps a ring of size_bytes (a power of two, at least a page) on fd. False: errno says why. */
bool ring_map(struct ring *r, int fd, uint64_t size_bytes);
void ring_unmap(struct ring *r);

/* Looks at what the kernel has written by now. False: the ring contradicts itself, and was emptied. */
bool ring_begin(struct ring *r);
/* The next record's header and, in *size, its length: 0 when there is none. False: what stands there cannot be
 * a record; whatever is left was dropped. */
bool ring_next(struct ring *r, uint32_t *size);
uint32_t ring_type(const struct ring *r); /* of the next record, if ring_next found one: PERF_RECORD_* */
/* The next record's first `size` bytes, in one piece: borrowed from the ring, or put together in scratch (64 KiB). */
const void *ring_bytes(const struct ring *r, uint32_t size, void *scratch);
void ring_skip(struct ring *r, uint32_t size);
/* Gives what was read back to the kernel. */
void ring_end(struct ring *r);
double ring_fill(const struct ring *r);      /* share that was not read yet, 0..1 */
uint64_t ring_written(const struct ring *r); /* bytes in all, as of now */
uint64_t ring_waiting(const struct ring *r); /* bytes that were not read yet, as of now */

#define RING_SCRATCH_BYTES (64 * 1024)

/* Merging. Zero-initialised is ready. */
struct order {
    struct order_entry *heap;
    size_t cap;
    bool *full; /* per ring: nothing may stay in it */
    size_t full_cap;
    uint8_t *scratch;
    uint64_t newest_ns; /* the latest time that was in any ring at the last drain */
    uint64_t errors;    /* rings that had to be emptied unread, ever */
    double fill;        /* the fullest ring at the last drain */
};
struct order_rule {
    const struct record_layout *layout;
    uint64_t until_ns;  /* later records stay in their ring, unless it is more than 3/4 full */
    uint64_t absurd_ns; /* a time behind this is none: such records go out at once */
    bool foreign_clock; /* until_ns and absurd_ns mean nothing: up to what was newest at the last drain */
    bool all;           /* everything */
};
/* Called with one record in one piece; false stops (that record counts as read, the rest stays). */
typedef bool order_fn(void *ctx, const void *bytes, uint32_t size);
void order_drain(struct order *o, struct ring *const *rings, uint32_t n, const struct order_rule *rule,
                 order_fn *fn, void *ctx);
void order_done(struct order *o);

#endif
