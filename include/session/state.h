// SPDX-License-Identifier: GPL-2.0-or-later
/* The inside of a session, shared by the rooms of this folder only.
 *
 * Two locks, always taken in this order: `source_lock` (who may drain or replace the live source), then `lock`
 * (world, stacks, history and every counter). The collector holds both while it works on a batch, the screen takes
 * `lock` just for the scan of a query, and a switch of event or scope takes `source_lock` for as long as the events
 * are opened anew. Nothing is ever drawn, written or waited for under `lock`. */
#ifndef FLAMETOP_SESSION_STATE_H
#define FLAMETOP_SESSION_STATE_H

#include <pthread.h>
#include <stdatomic.h>
#include <sys/types.h>

#include "base/map.h"
#include "perfdata/reader.h"
#include "process/world.h"
#include "profile/history.h"
#include "profile/stacks.h"
#include "session/box.h"
#include "session/session.h"
#include "symbols/symbolizer.h"

/* Frames of addresses that were looked up lately. */
#define PLACE_CACHE_SLOTS 8192
struct place_slot {
    uint64_t addr;
    uint32_t image, version; /* image 0: kernel */
    uint32_t frame;
};

/* The stacks of callers that were seen lately. */
#define CALLERS_CACHE_SLOTS 4096
struct callers_slot {
    uint64_t hash; /* of the owner and the addresses; 0: empty */
    uint32_t stack;
    bool broken;
};

struct session_event {
    struct event event;
    struct event asked;          /* the one in whose place it may run */
    bool named;                  /* asked, by the user */
    struct perf_event_attr attr; /* as opened; for a file as read */
    uint64_t freq_hz, period;
};

struct session {
    struct session_config cfg; /* as asked for, following the live switches; scope is owned */

    pthread_mutex_t source_lock;
    struct live *live;           /* NULL over a file, or when the source could not be opened again */
    struct perfdata *file;
    struct scope running_scope;  /* after the fallback */

    pthread_mutex_t lock;
    struct world *world;
    struct stacks *stacks;
    struct history *history;
    struct symbolizer *symbolizer; /* has its own lock */
    struct place_slot *places;
    struct callers_slot callers[CALLERS_CACHE_SLOTS];
    struct session_event events[SESSION_EVENTS_MAX];
    uint32_t n_events, current_event;
    uint32_t *thread_scope;      /* by thread: number of the scope it was last sampled under */
    size_t thread_scope_cap;
    uint32_t scope_number;
    uint64_t budget_bytes, world_floor_bytes; /* floor: what the world took after the last collection */
    uint64_t world_live_bytes;   /* of that, for those who live */
    uint64_t start_ns, clear_ns, frozen_ns; /* frozen_ns 0: not frozen */
    uint64_t drained_ns;         /* all samples up to then are in the history */
    uint64_t samples, lost_before, throttled_before;
    struct live_stats stats;
    struct live_note notes[LIVE_NOTES_MAX];
    uint32_t n_notes;
    uint32_t spark[SESSION_SPARK];
    uint64_t spark_sec;          /* CLOCK_MONOTONIC second of the newest bucket */
    uint64_t file_first_ns, file_last_ns;
    uint64_t file_left_out;      /* samples of more events than a history tells apart */
    struct box box;
    double self_percent;
    uint64_t lost_recent_ns;     /* when something was last lost */
    char fatal[160];
    bool targets_gone;
    bool trim_wanted;            /* stacks were collected: names may go too, when the screen next asks for some */

    atomic_uint_fast64_t generation;
    atomic_bool stop, loaded;
    double load_progress;
    pthread_t collector, resolver;
    bool collector_runs, resolver_runs;
    int wake_fd;                 /* eventfd: stop, or a switch */

    struct listing *listings[SESSION_LISTS]; /* made, or on their way; the screen's thread only */

    char *const *command;        /* NULL: none */
    pid_t command_pid;
    int command_pipe;            /* its output, drained into the log; -1: none */
    char command_line[256];      /* of its output, as far as it has come */
    bool command_floods; /* it prints more than is kept: it is read less often */
    uint32_t command_line_n;
    uint64_t command_cpu_ns;     /* that it took, once it was reaped */
    atomic_int command_status;   /* -1: runs or none */
};

/* collector.c */
void *collector_main(void *session);
void collector_record(struct session *s, const struct record *r); /* under lock */
void collector_forget_places(struct session *s); /* frames, stacks or the kernel's map changed; under lock */
void collector_final_drain(struct session *s);                    /* under source_lock */
/* bounds.c */
void bounds_enforce(struct session *s); /* under lock */
void bounds_forget_all(struct session *s);
uint8_t *bounds_modules_in_use(struct session *s, uint32_t *n); /* a byte per module id below n; the caller frees */
/* source.c */
bool source_open(struct session *s, struct error *e);
/* load.c */
bool load_open(struct session *s, struct error *e);
void *load_main(void *session);
/* command.c */
bool command_spawn(struct session *s, int release_fd[2], struct error *e);
bool command_release(struct session *s, int release_fd[2], struct error *e);
void command_poll(struct session *s); /* reaps it, moves its output to the log */
void command_end(struct session *s);

#endif
