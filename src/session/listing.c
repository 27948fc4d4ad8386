// SPDX-License-Identifier: GPL-2.0-or-later
#include "process/cgroup_label.h"
#include "session/listing.h"

#include <pthread.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/thread.h"
#include "session/session_state.h"

#define SHARE_WINDOW_NS (10 * NS_PER_SEC)

/* --- recent samples --- */

/* Samples per thread in the window, later summed by process or cgroup. */
struct shares {
    uint64_t from_ns, all;
    uint32_t event;
    uint32_t *by_thread;
    uint32_t n;
};

static void share_run(void *ctx, struct sample *samples, size_t n)
{
    struct shares *sh = ctx;
    for (size_t i = 0; i < n; i++) {
        if (samples[i].time_ns < sh->from_ns || samples[i].event != sh->event ||
            samples[i].flags & SAMPLE_IDLE || samples[i].thread >= sh->n)
            continue;
        sh->by_thread[samples[i].thread]++;
        sh->all++;
    }
}

static void take_shares(struct session *s, struct shares *sh)
{
    uint64_t last = history_last_ns(s->store.history);
    sh->from_ns = last > SHARE_WINDOW_NS ? last - SHARE_WINDOW_NS : 0;
    sh->event = s->store.current_event;
    sh->n = world_thread_count(s->store.world);
    sh->by_thread = mem_array(sh->n + 1, sizeof *sh->by_thread);
    history_scan(s->store.history, sh->from_ns, 0, share_run, sh);
}

static void sum_shares(struct session *s, struct listing *l)
{
    struct shares sh = { 0 };
    bool by_cgroup = l->kind == SESSION_LIST_CGROUPS;
    pthread_mutex_lock(&s->store.lock);
    take_shares(s, &sh);
    for (uint32_t id = 0; id < sh.n; id++) {
        const struct world_thread *t = sh.by_thread[id] ? world_thread(s->store.world, id) : NULL;
        if (t)
            *map_at(&l->samples, by_cgroup ? t->cgroup : t->pid, 0, NULL) += sh.by_thread[id];
    }
    pthread_mutex_unlock(&s->store.lock);
    mem_free(sh.by_thread);
    l->all = sh.all;
}

/* --- the thread --- */

void listing_leave(struct listing *l)
{
    if (!l || atomic_fetch_sub(&l->users, 1) > 1)
        return;
    map_done(&l->samples);
    session_listing_done(&l->result);
    mem_free(l);
}

static void *listing_main(void *listing)
{
    struct listing *l = listing;
    if (l->kind == SESSION_LIST_PROCESSES)
        listing_read_processes(l);
    else
        listing_read_cgroups(l);
    l->done = true;
    listing_leave(l);
    return NULL;
}

void session_list_start(struct session *s, enum session_list kind)
{
    if (s->listings[kind] && !s->listings[kind]->done)
        return;
    listing_leave(s->listings[kind]);
    struct listing *l = s->listings[kind] = mem_zalloc(sizeof *l);
    l->kind = kind;
    l->users = 2;
    sum_shares(s, l);
    /* it may hang for as long as a process in the kernel does */
    int sys = thread_start_detached(listing_main, l);
    if (!sys)
        return;
    error_sys(&l->result.error, sys, "cannot start a thread that reads /proc");
    l->users = 1;
    l->done = true;
}

/* Labels only the container's own folder: folders below it are recognised by their position. */
static void label_cgroups(struct session *s, struct session_listing *l)
{
    struct cgroup_container container;
    for (uint32_t i = 0; l->cgroups && i < l->n; i++) {
        struct session_cgroup *c = &l->cgroups[i];
        if (cgroup_container(c->path, &container) && !container.below[0])
            containers_label(s->containers, c->path, c->label, sizeof c->label);
    }
}

bool session_list_take(struct session *s, enum session_list kind, struct session_listing *out)
{
    struct listing *l = s->listings[kind];
    if (!l || !l->done)
        return false;
    session_listing_done(out);
    *out = l->result;
    label_cgroups(s, out);
    l->result = (struct session_listing){ 0 };
    s->listings[kind] = NULL;
    listing_leave(l);
    return true;
}

void session_listing_done(struct session_listing *l)
{
    mem_free(l->processes);
    mem_free(l->cgroups);
    *l = (struct session_listing){ 0 };
}
