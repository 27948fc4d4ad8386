// SPDX-License-Identifier: GPL-2.0-or-later
#include "perf/ring.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/clock.h"

#define GAP_NS (2 * NS_PER_SEC) /* a drain may be late */

bool ring_map(struct ring *r, int fd, uint64_t size_bytes)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    void *p = mmap(NULL, page + size_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (p == MAP_FAILED)
        return false;
    *r = (struct ring){ .page = p, .data = (const uint8_t *)p + page, .size_bytes = size_bytes };
    return true;
}

void ring_unmap(struct ring *r)
{
    if (r->page)
        munmap(r->page, (size_t)sysconf(_SC_PAGESIZE) + r->size_bytes);
    *r = (struct ring){ 0 };
}

bool ring_begin(struct ring *r)
{
    /* Pairs with the kernel's smp_wmb() between the records and data_head. */
    r->head = __atomic_load_n(&r->page->data_head, __ATOMIC_ACQUIRE);
    r->tail = r->page->data_tail;
    if (r->head - r->tail <= r->size_bytes && r->tail % 8 == 0)
        return true;
    r->tail = r->head;
    return false;
}

/* The space is free since the last ring_end, so an empty ring has lost nothing since then. Records of that
 * time in other rings have been read a while later. */
void ring_look_for_gap(struct ring *r, uint64_t now_ns)
{
    uint64_t most = r->size_bytes / 8 < RING_SCRATCH_BYTES ? r->size_bytes / 8 : RING_SCRATCH_BYTES;
    if (r->size_bytes - (r->head - r->tail) < most) {
        r->has_gap = true;
        r->gap_at = r->head;
        r->gap_ns = 0;
    } else if (r->has_gap && r->tail == r->head && !r->gap_ns) {
        r->gap_ns = now_ns;
    }
    bool was_read = r->tail - r->gap_at - 1 < UINT64_MAX / 2;
    if (was_read || (r->gap_ns && now_ns - r->gap_ns > GAP_NS))
        r->has_gap = false;
}

static const struct perf_event_header *header_at(const struct ring *r)
{
    return (const void *)(r->data + (r->tail & (r->size_bytes - 1)));
}

/* The kernel pads every record to 8 bytes, so a header or u64 field never wraps. */
bool ring_next(struct ring *r, uint32_t *size)
{
    *size = 0;
    uint64_t left = r->head - r->tail;
    if (left == 0)
        return true;
    uint16_t n = left < sizeof(struct perf_event_header) ? 0 : header_at(r)->size;
    if (n < sizeof(struct perf_event_header) || n % 8 || n > left) {
        r->tail = r->head;
        return false;
    }
    *size = n;
    return true;
}

uint32_t ring_type(const struct ring *r)
{
    return header_at(r)->type;
}

/* The kernel reports the loss in front of the first record behind a gap. Of the newest gap, no record may be
 * behind it yet. */
bool ring_is_at_gap(const struct ring *r)
{
    if (r->tail == r->head)
        return r->has_gap && r->tail == r->gap_at;
    return ring_type(r) == PERF_RECORD_LOST;
}

const void *ring_bytes(const struct ring *r, uint32_t size, void *scratch)
{
    uint64_t at = r->tail & (r->size_bytes - 1), room = r->size_bytes - at;
    if (size <= room)
        return r->data + at;
    memcpy(scratch, r->data + at, room);
    memcpy((uint8_t *)scratch + room, r->data, size - room);
    return scratch;
}

void ring_skip(struct ring *r, uint32_t size)
{
    r->tail += size;
}

void ring_end(struct ring *r)
{
    /* The data must be read before the kernel may overwrite it. */
    if (r->tail != r->page->data_tail)
        __atomic_store_n(&r->page->data_tail, r->tail, __ATOMIC_RELEASE);
}

uint64_t ring_written(const struct ring *r)
{
    return __atomic_load_n(&r->page->data_head, __ATOMIC_RELAXED);
}

uint64_t ring_waiting(const struct ring *r)
{
    return ring_written(r) - r->page->data_tail;
}

double ring_fill(const struct ring *r)
{
    return (double)(r->head - r->tail) / (double)r->size_bytes;
}
