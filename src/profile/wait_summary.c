// SPDX-License-Identifier: GPL-2.0-or-later
#include "profile/wait_summary.h"

#include <stddef.h>
#include <string.h>

#define HEAD_SIZE offsetof(struct wait_summary, durations)

uint32_t wait_summary_size(const struct wait_summary *w)
{
    return (uint32_t)(HEAD_SIZE + w->n * sizeof *w->durations);
}

static bool read_payload(struct wait_summary *w, const void *raw, uint32_t size)
{
    if (!raw || size < HEAD_SIZE)
        return false;
    memcpy(w, raw, HEAD_SIZE);
    if (w->magic != WAIT_SUMMARY_MAGIC || w->n > DURATION_BUCKETS || size < wait_summary_size(w))
        return false;
    memcpy(w->durations, (const char *)raw + HEAD_SIZE, w->n * sizeof *w->durations);
    for (uint32_t i = 0; i < w->n; i++)
        if (w->durations[i].bucket >= DURATION_BUCKETS)
            return false;
    return true;
}

uint32_t wait_waker_at(struct wait_waker *out, const void *raw, uint32_t size)
{
    struct wait_summary w;
    if (!read_payload(&w, raw, size))
        return 0;
    uint32_t at = wait_summary_size(&w);
    if (size - at < sizeof *out)
        return 0;
    memcpy(out, (const char *)raw + at, sizeof *out);
    bool whole = (size - at - sizeof *out) / sizeof(uint64_t) >= out->n;
    return out->magic == WAIT_WAKER_MAGIC && whole ? at : 0;
}

static void be_one_wait(struct wait_summary *w, uint64_t weight_ns)
{
    w->magic = WAIT_SUMMARY_MAGIC;
    w->state = 'S';
    w->n = 1;
    w->from_ns = 0;
    w->max_ns = w->sum_ns = weight_ns;
    w->durations[0] = (struct wait_duration){ duration_bucket(weight_ns), 1 };
}

void wait_summary_read(struct wait_summary *w, const void *raw, uint32_t size, uint64_t weight_ns)
{
    if (!read_payload(w, raw, size))
        be_one_wait(w, weight_ns);
}

bool wait_summary_is_plain(const struct wait_summary *w, uint64_t weight_ns)
{
    return w->state == 'S' && w->n == 1 && w->durations[0].count == 1 && w->max_ns == weight_ns &&
           w->sum_ns == weight_ns;
}
