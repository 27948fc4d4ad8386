// SPDX-License-Identifier: GPL-2.0-or-later
/* Internals of a session, private to src/session. A record comes from the source (sample_source.h) or a
 * file (load.h). The collector (collect.h) makes its stack (unwinding.h) and a sample of the store (store.h).
 *
 * Two locks, always locked in this order: `source.lock` (to drain or replace the live source), then
 * `store.lock` (world, stacks, history and all counters): below, "under lock" is the latter. The collector
 * holds both while it processes a batch, a file is read under `store.lock`, batch by batch, and a switch of
 * event or scope holds `source.lock` while the events are reopened. All others hold `store.lock` while they
 * scan or copy (queries, status, doctor, snapshots, lists) or complete stacks (settle.c). Nothing is drawn,
 * written or waited for under `store.lock`. Reading interpreters has a lock of its own, locked between these
 * two (interpreted.h). */
#ifndef FLAMETOP_SESSION_SESSION_STATE_H
#define FLAMETOP_SESSION_SESSION_STATE_H

#include <pthread.h>
#include <stdatomic.h>
#include <sys/types.h>

#include "base/map.h"
#include "process/containers.h"
#include "process/world.h"
#include "profile/history.h"
#include "profile/stacks.h"
#include "session/collect/collect.h"
#include "session/collect/command.h"
#include "session/collect/jit_stacks.h"
#include "session/collect/load.h"
#include "session/collect/sample_source.h"
#include "session/session.h"
#include "session/store/store.h"
#include "session/collect/unwinding.h"
#include "symbols/symbolizer.h"

/* A session: the parts on the path of a sample, in its order, then what opening, switching and jobs need. */
struct session {
    struct session_source source;
    struct session_load load;
    struct session_collect collect;
    struct session_unwinding unwind;
    struct session_store store;
    struct session_command command;

    struct session_config cfg;     /* as requested, updated by live switches; scope is owned */
    struct containers *containers; /* has its own lock; NULL: over a file */
    char fatal[160];               /* why there is no source, or no more of the file; "": no error */
    uint64_t patience_ns;          /* session_set_patience; 0: the default */
    bool (*out_of_patience)(void);

    atomic_bool stop; /* all threads end */
    pthread_t resolver, fetcher;
    bool resolver_runs, fetcher_runs;

    /* ask.c: requests the symbol map of a Java VM */
    pthread_t ask;
    bool ask_started, asking; /* asking: under store.lock */
    uint32_t ask_pid, said_number;
    char said[200];

    struct rates *rates;                     /* rates.c: in progress; UI thread only */
    struct listing *listings[SESSION_LISTS]; /* complete or in progress; UI thread only */
    struct threads_job *threads;             /* the newest, or NULL; UI thread only */
};

/* Under lock. Index of a record's event. */
static inline uint32_t session_event_of(const struct session *s, const struct record *r)
{
    return s->load.file ? r->source : s->store.live_event + r->source;
}
/* True for the event of times on the CPU (collect/offcpu.h), if there is one. */
static inline bool session_is_on_cpu(const struct session *s, uint32_t event)
{
    return event && event == s->collect.offcpu.running;
}
/* Over a file: true if samples of the event are put into the history. */
static inline bool session_reads_event(const struct session *s, uint32_t event)
{
    return event < s->store.n_events && (session_is_on_cpu(s, event) || !s->store.events[event].left_out);
}
/* Under lock: counts a sample of the history. Idle samples are no task's CPU time. */
static inline void coverage_count(struct session *s, const struct sample *sample)
{
    if (sample->event == s->collect.coverage.event && !(sample->flags & SAMPLE_IDLE))
        s->collect.coverage.weight_ns += sample->weight;
}

/* thread.c: starts a thread with all signals blocked. False: e says why. */
bool session_start_thread(pthread_t *thread, void *(*body)(void *), struct session *s, struct error *e);

/* status.c: "auto 8K", "auto->fp": the running stack mode, and the requested one. Under lock. */
void status_stacks(const struct session *s, char *dst, size_t cap);

/* threads_job.c: called by all users of a job; the last one frees it. NULL is fine. */
struct threads_job;
void threads_job_forget(struct threads_job *j);

#endif
