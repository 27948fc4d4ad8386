// SPDX-License-Identifier: GPL-2.0-or-later
/* The collector of a session, or the reader of its file: its thread, when it wakes, the limit of memory that
 * it keeps, and what it measures about the system and itself.
 *
 * The session owns all of it. The collector writes it under the store's lock and queries read it under that
 * lock, unless a comment says otherwise. */
#ifndef FLAMETOP_SESSION_COLLECT_COLLECT_H
#define FLAMETOP_SESSION_COLLECT_COLLECT_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "profile/history.h"
#include "session/collect/cpu_limits.h"
#include "session/collect/idle_cpus.h"
#include "session/collect/latency.h"
#include "session/collect/offcpu.h"
#include "session/collect/operations.h"
#include "session/collect/wall.h"
#include "session/coverage.h"
#include "session/session.h"
#include "session/system_stats.h"

struct record;
struct session;

struct session_collect {
    pthread_t thread; /* set by session.c, as is runs */
    bool runs;
    int wake_fd; /* eventfd: stop, or a switch */
    /* session_looks; 0: no redraw is scheduled. Written by the screen, without a lock. */
    atomic_uint_fast64_t look_ns, look_every_ns;
    /* By CPU: the time of the last record that was applied; until when the previous source delivered the
     * records of this source, too. */
    uint64_t applied_ns[SAMPLE_CPUS], twice_ns[SAMPLE_CPUS];
    uint64_t stale_paid_ns; /* reading stale processes: the time until which it has used its share */
    struct {
        bool over;
        uint64_t end_ns, records;
    } slice; /* of the drain: see collector.c */
    struct {
        struct sample sample;
        uint64_t number; /* of the first that is made from it, for wall or itself */
    } sampled;           /* the last sample, shared by the other events of its group */

    /* bounds.c */
    uint64_t budget_bytes;
    uint64_t memory_limit;      /* of flametop's cgroup, if it limited budget_bytes; else 0 */
    uint64_t world_floor_bytes; /* size of the world after the last collection */
    uint64_t world_live_bytes;  /* part of it that belongs to live processes */
    bool trim_wanted;           /* stacks were collected: the next query trims names, and clears this */

    uint32_t spark[SESSION_SPARK]; /* samples per second */
    uint64_t spark_sec;            /* CLOCK_MONOTONIC second of the newest bucket */
    struct system_stats system_stats;
    double self_percent;
    uint32_t holders; /* the event of stacks that wait for unwind tables (kept_stack.h); 0: none yet */
    struct session_offcpu offcpu;
    struct session_limits limits;
    struct session_idle_cpus idle_cpus;
    struct session_operations operations;
    struct session_wall wall;
    struct session_latency latency;
    struct coverage coverage; /* session/coverage.h says what protects it */
    struct {
        uint64_t time_ns; /* of the last look */
        /* time that the collector, and all of flametop, had waited for CPUs by then */
        uint64_t own_ns, all_ns;
        uint64_t told_ns, waited_ns; /* when it last waited for CPUs, and how long */
        enum { CROWD_NEVER, CROWD_RAISED, CROWD_REFUSED } priority;
        struct crowd_real_time {
            bool on;
            uint64_t cpu_ns, time_ns; /* of the collector, at the last look */
            uint64_t off_until_ns;    /* it used too much */
        } real_time;
    } crowd;
};

void *collector_main(void *session); /* collector_thread.c */
/* collector.c */
/* Processes a record. Under lock. False, over a file only: the sample's stack waits for the unwind table
 * of module s->unwind.user.awaits, and nothing was done. */
bool collector_record(struct session *s, const struct record *r);
void collector_drain(struct session *s, bool final); /* under source.lock, with a live source */
void collector_final_drain(struct session *s);       /* under source.lock */
void collector_wake(struct session *s);              /* makes it drain at once */

/* append.c, under lock. */
/* Appends a sample to the history and counts it. Returns its number. */
uint64_t append_sample(struct session *s, const struct sample *sample, const void *raw, uint32_t raw_size);
/* Advances the sparkline to the second of time_ns. False: that second is older than the sparkline. */
bool append_reach_second(struct session *s, uint64_t time_ns);

/* scan_proc.c: scans /proc. */
/* once per process, under lock, which is unlocked meanwhile */
void scan_proc_of(struct session *s, uint32_t pid);
/* Reads the namespaces of all sampled live processes again, since a process may change them. Not under
 * lock. */
void scan_proc_namespaces(struct session *s);
/* After a switch: scans the processes that the scope names, since one may end before it is sampled. Under
 * source.lock, not under lock. */
void scan_proc_of_targets(struct session *s);

/* coverage.c: reads the CPU time of the scope if it is due, or `now`. Under source.lock, right after a
 * drain. */
void coverage_look(struct session *s, bool now);
void coverage_get(const struct session *s, struct session_coverage *out); /* under lock */
/* crowd.c: detects that flametop itself gets too little CPU time, and then raises its priority. */
void crowd_start(struct session *s, uint64_t now_ns); /* before the first look; no other thread runs yet */
void crowd_look(struct session *s, uint64_t now_ns);  /* by the collector, once a second, under lock */
/* By the collector, after each drain, under source.lock: real-time priority while off-cpu runs. */
void crowd_keep_real_time(struct session *s, uint64_t now_ns);
/* Describes the problem and its fix. Under lock. False: no problem. */
bool crowd_tell(const struct session *s, char *what, size_t what_cap, char *fix, size_t fix_cap);

/* bounds.c: under lock. */
void bounds_enforce(struct session *s);    /* drops the oldest samples beyond budget_bytes */
void bounds_forget_all(struct session *s); /* drops all samples, and what only they refer to */
/* One byte per module id below n; not 0: a frame is in the module. The caller frees it with mem_free. */
uint8_t *bounds_modules_in_use(struct session *s, uint32_t *n);

#endif
