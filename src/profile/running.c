// SPDX-License-Identifier: GPL-2.0-or-later
#include "profile/running.h"

#define BY_THREAD (UINT64_C(1) << 32) /* key of a thread; less: key of a CPU */

static uint64_t key_of(struct running_at at)
{
    return at.has_cpu ? at.cpu : BY_THREAD | at.tid;
}

static void set(struct running *r, struct running_at at, uint32_t tid)
{
    uint64_t *thread = map_at(&r->threads, key_of(at), 0, NULL);
    r->n += (tid != 0) - (*thread != 0);
    *thread = tid;
}

static void forget(struct running *r, uint64_t key)
{
    uint64_t thread = 0;
    map_get(&r->threads, key, &thread);
    r->n -= thread != 0;
    map_del(&r->threads, key);
}

void running_switch_in(struct running *r, struct running_at at)
{
    set(r, at, at.tid);
}

void running_switch_out(struct running *r, struct running_at at)
{
    set(r, at, 0);
}

/* A sample does not revive a thread that has left its CPU: the kernel may sample a thread in the switch itself,
 * after the record, and then no record would say that it no longer runs. */
uint32_t running_sample(struct running *r, struct running_at at)
{
    uint64_t thread;
    if (!at.tid)
        return 0;
    if (map_get(&r->threads, key_of(at), &thread))
        return r->n + (thread == 0);
    set(r, at, at.tid);
    return r->n;
}

void running_exit(struct running *r, struct running_at at)
{
    uint64_t thread;
    if (!at.has_cpu)
        forget(r, key_of(at));
    else if (map_get(&r->threads, at.cpu, &thread) && thread == at.tid)
        set(r, at, 0);
}

void running_lost(struct running *r, struct running_at at)
{
    if (at.has_cpu)
        forget(r, at.cpu);
    else
        running_forget(r);
}

void running_forget(struct running *r)
{
    map_clear(&r->threads);
    r->n = 0;
}

void running_done(struct running *r)
{
    map_done(&r->threads);
}
