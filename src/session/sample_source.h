// SPDX-License-Identifier: GPL-2.0-or-later
/* The live source of a session: the open events, as they run, and what they cost and lose.
 *
 * The session owns all of it. `lock` protects `live`, `targets_read`, `deep` and `paced`: only its holder
 * drains or replaces the source. Queries read the other members under the store's lock, so they are written
 * under both. sample_source.c sets them when it opens or replaces the source, collector.c updates the counts
 * after each drain. Over a file only `stats.lost` and `lost_recent_ns` are used, under the store's lock. */
#ifndef FLAMETOP_SESSION_SAMPLE_SOURCE_H
#define FLAMETOP_SESSION_SAMPLE_SOURCE_H

#include <pthread.h>

#include "perf/live.h"
#include "perf/scope.h"

#define SESSION_RECORD_TYPES 32 /* the kernel's, with room for new ones */

/* deepstacks.c */
struct deep_stacks {
    uint32_t bytes;               /* that auto copies of each stack; 0: the default */
    uint32_t refused;             /* a size that was too expensive or refused; 0: none */
    uint32_t wanted;              /* size for which a source is being opened; 0: none */
    bool more;                    /* a larger size is available */
    uint64_t dumped, cut;         /* since since_ns: dumps, and dumps that were too small */
    uint64_t since_ns, looked_ns; /* since_ns 0: counting starts at the next look */
    uint64_t cpu_ns;              /* the collector's CPU time at since_ns */
};
struct deep_seen {                   /* observations of a source that copies `bytes` of each stack */
    uint32_t bytes, smaller, larger; /* larger 0: no affordable larger size */
    uint32_t n_cpus;
    uint64_t dumped, cut, time_ns;
    double cpu_share; /* of the collector, in shares of one CPU */
};

struct session_source {
    pthread_mutex_t lock; /* locked before the store's, if both are needed */
    struct live *live;    /* NULL: over a file, or the source could not be reopened */
    uint64_t n_sources;   /* number of sources so far, this one included */

    struct scope scope; /* after the fallback */
    enum callchain_mode callchain;
    uint32_t stack_bytes;
    uint32_t targets_read; /* the scope_number whose targets were read from /proc */
    bool targets_gone;
    struct live_note notes[LIVE_NOTES_MAX];
    uint32_t n_notes;
    struct {
        uint64_t samples, unseen;
    } opened; /* counts when the source was opened */

    struct live_stats stats;
    uint64_t records[SESSION_RECORD_TYPES]; /* by type */
    uint64_t lost_before, throttled_before; /* by earlier sources */
    uint64_t lost_recent_ns;                /* time of the last loss */
    uint32_t lost_cpus;                     /* live_lost_cpus() */
    bool starved;                           /* live_is_starved() */

    struct deep_stacks deep; /* the stack size that auto copies */
    struct {
        uint64_t samples, time_ns; /* of the live source, at the last look */
        double per_second;         /* since the previous look; 0: within the budget, or by frequency */
    } cost;                        /* of sampling by a period */
    struct {
        uint64_t samples, time_ns, source; /* at the last look; source: value of n_sources */
    } paced;                               /* whether chosen periods fit (period.c) */
    bool runs_wide;                        /* live_is_wide() */
    char fix_wide[200];                    /* live_fix_wide() */
};

#endif
