// SPDX-License-Identifier: GPL-2.0-or-later
/* Samples of the event wakers in a snapshot: each has the stacks of two threads, and a record of perf.data
 * has only one. The record has the stack of the wait; profile/wait_summary.h says where the waker is. */
#include <string.h>

#include "process/wait_reason.h"
#include "process/waker.h"
#include "session/save/snapshot.h"

void snapshot_wakers_copy(struct snapshot *sn)
{
    struct session_samples *samples = &sn->samples;
    for (size_t i = 0; i < samples->n && !samples->numbered; i++) {
        const struct sample *sample = &samples->list[i];
        uint32_t size;
        const void *raw = session_sample_raw(samples, sample, &size);
        uint32_t waker = wakers_thread(sn->s, sample, raw, size);
        const struct world_thread *t =
            waker < samples->n_threads ? world_thread(sn->s->store.world, waker) : NULL;
        if (t)
            samples->threads[waker] = *t;
    }
}

/* The frame that names the waker, between its stack and that of the wait; 0: none. */
static uint32_t find_boundary(const struct snapshot *sn, uint32_t node)
{
    while (node && (sn->frame_module[sn->frame[node]] != MODULE_ID_WAIT ||
                    sn->frame_offset[sn->frame[node]] < WAIT_REASONS))
        node = sn->parent[node];
    return node;
}

bool snapshot_wakers_split(struct snapshot *sn, const struct sample *sample, struct woken *out)
{
    uint32_t size, boundary = find_boundary(sn, sample->stack);
    const void *raw = session_sample_raw(&sn->samples, sample, &size);
    if (!sn->events[sample->event].event.wakers || !boundary)
        return false;
    struct wait_waker told;
    bool known = wait_waker_at(&told, raw, size) && told.thread < sn->samples.n_threads;
    *out = (struct woken){ .wait = *sample, .waker = *sample, .boundary = boundary };
    out->wait.stack = sn->parent[boundary];
    out->waker.thread = known ? told.thread : 0;
    return true;
}

const void *snapshot_wakers_aux(struct snapshot *sn, const struct woken *w, const uint64_t *chain, uint32_t n,
                                uint32_t *size)
{
    const struct world_thread *t = w->waker.thread ? &sn->samples.threads[w->waker.thread] : NULL;
    struct wait_waker told;
    const char *raw = session_sample_raw(&sn->samples, &w->wait, size);
    uint32_t at = wait_waker_at(&told, raw, *size);
    if (!at)
        return raw;
    buf_clear(&sn->aux);
    buf_add(&sn->aux, raw, at);
    *size = at;
    if (!t && told.kind != WAKER_IDLE && told.kind != WAKER_UNSEEN) /* the thread is gone */
        return sn->aux.data;
    told.pid = t ? t->pid : 0;
    told.tid = t ? t->tid : 0;
    told.thread = 0;
    told.n = (uint16_t)n;
    buf_add(&sn->aux, &told, sizeof told);
    buf_add(&sn->aux, chain, n * sizeof *chain);
    *size = (uint32_t)sn->aux.len;
    return sn->aux.data;
}
