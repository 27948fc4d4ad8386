// SPDX-License-Identifier: GPL-2.0-or-later
/* The store of a session: everything that samples become, and what queries read.
 *
 * The session owns all of it. `lock` protects all members and what they point to, except the symbolizer,
 * which has its own lock, and `generation`. The collector (or the reader of a file) adds samples; clear,
 * freeze and switches of event or scope change the rest; queries only read. */
#ifndef FLAMETOP_SESSION_STORE_STORE_H
#define FLAMETOP_SESSION_STORE_STORE_H

#include <pthread.h>
#include <stdatomic.h>

#include "base/error.h"
#include "base/mem.h"
#include "process/world.h"
#include "profile/history.h"
#include "profile/stacks.h"
#include "session/session.h"
#include "symbols/symbolizer.h"

struct session;

struct session_event {
    struct event event;
    struct event asked;          /* the requested event; `event` may run instead of it */
    bool named;                  /* requested by the user */
    bool left_out;               /* Of a group: it did not open. Of a file: not selected by -e. */
    bool removed;                /* no longer listed; its samples are not shown again */
    uint32_t instead;            /* while it is excluded from its group: the replacement; 0: none */
    uint64_t samples;            /* since the start, or since the last clear */
    uint32_t leader;             /* of its group; a single event leads itself. Members follow their leader. */
    uint32_t first;              /* first of the events sampled at the same time, which are consecutive */
    struct session_sampling how; /* as requested */
    uint64_t chosen;             /* period that flametop chose (period.c); 0: it was not flametop's choice */
    struct perf_event_attr attr; /* as opened; for a file: as read */
    uint64_t freq_hz, period;
    uint64_t seen_hz;  /* for a period: the rate that auto measured; 0: none */
    uint64_t lost;     /* lost samples, as far as records say */
    uint64_t since_ns; /* when sampling first started; 0: not yet, or from a file */
};

struct session_store {
    pthread_mutex_t lock; /* locked after source.lock, if both are needed */
    struct world *world;
    struct stacks *stacks;
    struct history *history;
    struct symbolizer *symbolizer;

    struct session_event *events; /* session_add_event */
    uint32_t n_events;
    size_t events_cap;
    uint32_t current_event; /* the shown event */
    uint32_t live_event;    /* the sampled event, or the leader of the sampled group */

    BUFFER(uint32_t) thread_scope; /* by thread: number of the scope in which it was last sampled */
    uint32_t scope_number;
    /* Since when samples cover the whole scope; 0: since the start. A range may begin earlier. */
    uint64_t scope_ns;

    uint64_t start_ns, clear_ns, frozen_ns; /* frozen_ns 0: not frozen */
    uint64_t drained_ns;                    /* all samples up to this time are in the history */
    pthread_cond_t drained;                 /* signalled when drained_ns grows */
    uint64_t samples;
    uint64_t forgotten; /* part of samples: from before the last clear */
    /* Grows when a query may give another result. Written by anyone, read without the lock. */
    atomic_uint_fast64_t generation;
};

/* False: the screen does not offer it, as it was removed or only other events need it. */
static inline bool session_event_is_listed(const struct session_event *ev)
{
    return !ev->removed && !ev->event.of_pair;
}
/* chosen.c: appends a zeroed event. Under lock. May invalidate pointers to other events. */
struct session_event *session_add_event(struct session *s);
/* Adds an event that is never listed, unless *number is one already; *number stays 0 if there are too
 * many. */
void session_add_hidden_event(struct session *s, uint32_t *number, const char *name);
/* Number of events sampled at the same time as `first`, itself included. */
uint32_t chosen_together(const struct session *s, uint32_t first);
/* Index of the measured cgroup that contains the thread, directly or below; -1: none. Under lock. */
int64_t scope_cgroup_of(struct session *s, const struct world_thread *t);
/* Index of the first of these events that are sampled together; CHOSEN_NOWHERE: not listed yet. */
#define CHOSEN_NOWHERE UINT32_MAX
uint32_t chosen_find(const struct session *s, const struct event *events, uint32_t n);
/* Of a file: marks the events that -e does not select as left out. False: no event matches a name; e lists
 * the events. */
bool chosen_events(struct session *s, struct error *e);
/* under lock: samples in the history by event; owned, SAMPLE_EVENTS entries */
uint64_t *chosen_counts(struct session *s);

#endif
