// SPDX-License-Identifier: GPL-2.0-or-later
/* Read one mapped ring of records (perf_event_open(2), "MMAP layout"), and merge many rings in time order. */
#ifndef FLAMETOP_PERF_RING_H
#define FLAMETOP_PERF_RING_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/mem.h"
#include "perf/record.h"

struct ring {
    struct perf_event_mmap_page *page;
    const uint8_t *data;
    uint64_t size_bytes; /* of data; a power of two */
    uint64_t head, tail; /* between ring_begin and ring_end: end of readable data, end of read data */
    bool has_gap;        /* it was full, so that records behind gap_at may be lost, and none was read yet */
    uint64_t gap_at;     /* the newest gap */
    uint64_t gap_ns;     /* when it was first seen empty since; 0: it was not */
    uint64_t last_ns;    /* time of the last record that order_drain read; 0: none, or not known */
};

/* Map a ring of size_bytes (a power of two, at least a page) on fd. False: see errno. */
bool ring_map(struct ring *r, int fd, uint64_t size_bytes);
void ring_unmap(struct ring *r);

/* Load the kernel's write position. False: the ring was inconsistent, and was emptied. */
bool ring_begin(struct ring *r);
/* After ring_begin: sets has_gap. The kernel reports lost records only in front of the next one that fits,
 * when records of other rings from the time between may have been read long ago. */
void ring_look_for_gap(struct ring *r, uint64_t now_ns);
/* Between ring_begin and ring_end: true if records may be lost between the last one read and the next. */
bool ring_is_at_gap(const struct ring *r);
/* Read the next record's header; *size is its length, 0 if there is none. False: the bytes cannot be a
 * record, and the rest was dropped. */
bool ring_next(struct ring *r, uint32_t *size);
uint32_t ring_type(const struct ring *r); /* PERF_RECORD_* of the next record found by ring_next */
/* The next record's first `size` bytes in one piece: borrowed from the ring, or copied to scratch (64 KiB).
 */
const void *ring_bytes(const struct ring *r, uint32_t size, void *scratch);
void ring_skip(struct ring *r, uint32_t size);
/* Return the space that was read to the kernel. */
void ring_end(struct ring *r);
double ring_fill(const struct ring *r);      /* unread share, 0..1 */
uint64_t ring_written(const struct ring *r); /* total bytes, as of now */
uint64_t ring_waiting(const struct ring *r); /* unread bytes, as of now */

#define RING_SCRATCH_BYTES (64 * 1024)

/* State of a merge. Zero-initialised is ready. */
struct order {
    BUFFER(struct order_entry) heap;
    BUFFER(bool) full; /* per ring: drain it entirely */
    uint8_t *scratch;
    uint64_t newest_ns; /* latest time in any ring at the last drain */
    uint64_t errors;    /* rings that were emptied unread, in total */
    double fill;        /* of the fullest ring at the last drain, 0..1 */
    bool gap; /* of this drain: a ring may lack records from the time of another's, see ring_is_at_gap */
};
struct order_rule {
    const struct record_layout *layout;
    uint64_t until_ns;  /* later records stay in their ring, unless it is more than 3/4 full */
    uint64_t absurd_ns; /* later times are invalid: such records go out at once */
    bool foreign_clock; /* ignore until_ns and absurd_ns; drain up to the newest time of the last drain */
    bool all;           /* everything */
};
/* Called with one record in one piece. Return false to stop (that record counts as read, the rest stays). */
typedef bool order_fn(void *ctx, const void *bytes, uint32_t size);
void order_drain(struct order *o, struct ring *const *rings, uint32_t n, const struct order_rule *rule,
                 order_fn *fn, void *ctx);
void order_done(struct order *o);

#endif
