// SPDX-License-Identifier: GPL-2.0-or-later
/* Keeps the frames that the probe copied until their sample arrives. */
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "session/collect/interpreted.h"

/* The probe runs in its sample's interrupt: right before or, as seen on Linux 6.18, after the time stamp. */
#define APART_NS  NS_PER_MS
#define KEPT_NS   NS_PER_SEC /* older frames belong to a lost sample */
#define TAKEN_MAX 4096       /* 32 MB at most, if all are of maximum depth */

static void keep(void *ctx, const struct stackprobe_sample *s)
{
    struct interpreted *in = ctx;
    size_t bytes = offsetof(struct stackprobe_sample, frames) + s->n * sizeof *s->frames;
    if (in->taken.n - in->taken_first >= TAKEN_MAX)
        return;
    *VEC_PUSH(&in->taken) = memcpy(mem_alloc(bytes), s, bytes);
}

static void drop_old(struct interpreted *in, uint64_t now_ns)
{
    size_t i = in->taken_first;
    while (i < in->taken.n && (!in->taken.items[i] || in->taken.items[i]->time_ns + KEPT_NS < now_ns))
        mem_free(in->taken.items[i++]);
    in->taken_first = i;
    if (i < in->taken.n && i < 1024)
        return;
    if (i < in->taken.n)
        memmove(in->taken.items, in->taken.items + i, (in->taken.n - i) * sizeof *in->taken.items);
    in->taken.n -= i;
    in->taken_first = 0;
}

static uint64_t apart_ns(const struct stackprobe_sample *t, const struct record *r)
{
    return t->time_ns > r->id.time_ns ? t->time_ns - r->id.time_ns : r->id.time_ns - t->time_ns;
}

bool interpreted_is_of(const struct stackprobe_sample *t, const struct record *r)
{
    return t->tid == r->id.tid && t->pid == r->id.pid && apart_ns(t, r) <= APART_NS;
}

/* Returns the frames nearest in time. The others belong to lost samples. */
struct stackprobe_sample *interpreted_find(struct interpreted *in, const struct record *r)
{
    struct stackprobe_sample *taken = NULL;
    size_t found = 0;
    if (!in->probe)
        return NULL;
    stackprobe_read(in->probe, keep, in);
    for (size_t i = in->taken_first; i < in->taken.n; i++) {
        struct stackprobe_sample *t = in->taken.items[i];
        if (t && t->time_ns > r->id.time_ns + APART_NS)
            break;
        if (!t || !interpreted_is_of(t, r) || (taken && apart_ns(t, r) >= apart_ns(taken, r)))
            continue;
        taken = t;
        found = i;
    }
    if (taken)
        in->taken.items[found] = NULL;
    drop_old(in, r->id.time_ns);
    return taken;
}

void interpreted_drop_taken(struct interpreted *in)
{
    for (size_t i = in->taken_first; i < in->taken.n; i++)
        mem_free(in->taken.items[i]);
    VEC_FREE(&in->taken);
    in->taken_first = 0;
}
