// SPDX-License-Identifier: GPL-2.0-or-later
/* The live source of a session: the open events, as they run, and what they cost and lose.
 *
 * The session owns all of it. `lock` protects `live`, `targets_read`, `deep.bytes`, `thin` and `paced`: only
 * its holder drains or replaces the source. Queries read the other members under the store's lock, so they
 * are written under both. sample_source.c sets them when it opens or replaces the source, collector.c updates
 * the counts after each drain. The counts of dumps in `deep` change under the store's lock alone, as stacks
 * are also unwound late and over a file. Over a file only these counts, which nothing reads there,
 * `stats.lost` and `lost_recent_ns` change. */
#ifndef FLAMETOP_SESSION_COLLECT_SAMPLE_SOURCE_H
#define FLAMETOP_SESSION_COLLECT_SAMPLE_SOURCE_H

#include <pthread.h>

#include "base/error.h"
#include "perf/live.h"
#include "perf/rate.h"
#include "perf/scope.h"
#include "session/session.h"

struct session;

#define SESSION_RECORD_TYPES 32 /* the kernel's, with room for new ones */

/* deepstacks.c: the stack size that auto copies. */
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
    double budget_percent; /* of all CPUs */
    uint64_t dumped, cut, time_ns;
    double cpu_share; /* of the collector, in shares of one CPU */
};

/* thin.c: the stacks of how many waits are sampled. */
struct thin_counts {                  /* so far: */
    uint64_t time_ns, switches, lost; /* records of switches, lost records */
    uint64_t stacks[2];               /* samples of off-cpu and of wakers */
    double waits[2];                  /* the same, if each stack were sampled */
};
struct thin_calm {
    uint64_t fewer_ns; /* since when the budget allows more samples; 0: it does not */
    uint64_t lost_ns;  /* when records were last lost; 0: never */
};
struct thin_stacks {
    uint32_t one_in[2]; /* of off-cpu and of wakers; 0, 1: each; LIVE_NO_STACKS: none, times only */
    uint64_t full_ns;   /* from when on each wait has its stack again */
    bool wakers_by_fp;  /* their dumps, together with those of waits, exceed the budget of auto */
    double switches;    /* per second, at the last look */
    struct thin_counts last, before; /* at the last look, and at the one before */
    uint64_t source;                 /* at the last look: n_sources */
    uint64_t dumps_ns;      /* since when the rate allows stack dumps, where it did not before; 0: not */
    uint64_t dumps_wait_ns; /* how long it must allow them */
    struct thin_calm calm;
};
struct thin_seen {
    struct rate_waits rates;
    enum callchain_mode mode;
    uint32_t n_cpus, one_in[2]; /* one_in: at present */
    double budget_percent;
    bool lost; /* records since the last look */
};

/* selection.c: one in how many operations of latency:ROW are sampled. */
#define SELECTION_TURN_MS 20 /* between two selections: each costs a CPU some 0.1 ms */
struct selection_row {
    /* latency:ROW; its begin, its end and what completes the names (UINT32_MAX: nothing; by enum pair_side):
     * indices in the events of the source */
    uint32_t event, parts[EVENT_LATENCY_PARTS];
    uint32_t group, most; /* as in rate_operations */
    uint32_t one_in;
    uint64_t begins, counted; /* sampled until the last look; counted by the event that counts begins */
    double per_second;        /* at the last look, estimated */
};
struct session_selection {
    struct selection_row rows[EVENT_SET_MAX];
    uint32_t n;
    struct live_selection of[EVENT_SET_MAX]; /* by event of the source */
    bool runs;                               /* some operations are not sampled */
    bool pending;                            /* rows have numbers that need another source */
    bool measures;                           /* a rate that rose, since the last look */
    uint32_t turn, looked_turn;              /* number of selections; at the last look */
    uint64_t changed_ns, before_ns;          /* when the selection changed last, and the time before */
    uint64_t looked_ns, lost, source;        /* at the last look: lost records, n_sources */
    uint64_t refused_ns;                     /* when the kernel refused another number; 0: never */
    struct thin_calm calm;
};
struct selection_seen {
    struct rate_operations rows[EVENT_SET_MAX];
    uint32_t n, n_cpus, one_in[EVENT_SET_MAX]; /* one_in: at present */
    enum callchain_mode mode;
    double budget_percent;
    bool lost; /* records since the last look */
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
    struct thin_stacks thin; /* the share of waits with stacks */
    struct session_selection selection;
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

/* sample_source.c */
/* Opens the requested events. No other thread runs yet. False: e says why. */
bool source_open(struct session *s, struct error *e);
/* After each drain, under source.lock: reopens the source if auto's stack dumps are too many or too small. */
void source_keep_budget(struct session *s, uint64_t now_ns);
/* Under source.lock: reopens the source if the periods that flametop chose no longer fit the rate. */
void source_keep_periods(struct session *s, uint64_t now_ns);
/* coverage.c */
/* Under lock. Number of threads that ended without a sample, if each would have had one on all CPUs and
 * they are many; else 0. */
uint64_t source_unseen(const struct session *s);

/* period.c: fixed periods for events that count occurrences. */
/* Under lock. The first running event that is sampled by a period; NULL: all are sampled by frequency. */
const struct session_event *period_find_event(const struct session *s);
/* Sampling of an event. chosen: the period that flametop chose; 0: not known yet. */
struct session_sampling period_sampling_of(const struct session_config *cfg, const struct event *ev,
                                           const struct session_sampling *how, uint64_t chosen);
/* Chooses the periods that flametop is to choose and that are 0 in chosen[n], by counting the events for
 * 50 ms. No lock. */
void period_choose(const struct session_config *cfg, const struct event *events,
                   const struct session_sampling *hows, uint32_t n, uint64_t *chosen);
/* True if the chosen periods of the n running events give far too many or too few samples; chosen[n]:
 * better ones. Looks at three seconds of samples. Under source.lock. */
bool period_must_change(struct session *s, uint64_t now_ns, uint64_t *chosen, uint32_t n);

/* thin.c: keeps the cost of waits within the budget. */
/* Before events are opened, under source.lock. If off-cpu is among them and does not run yet, counts switches
 * for 50 ms, and sets s->source.thin.one_in. Returns the seen_hz of the source, see dumps_first_hz(). */
uint64_t thin_first(struct session *s, const struct session_config *cfg, const struct event *events,
                    uint32_t n);
/* Counts `waits` on from those of the last look; since then, one stack in one_in was sampled. */
void thin_count_waits(struct thin_counts *now, const struct thin_counts *last, const uint32_t one_in[2]);
/* Rates since the last look; with lost records, since the one before: the kernel reports a loss with the next
 * record, so it may have been before the last look. */
struct rate_waits thin_rates(const struct thin_counts *before, const struct thin_counts *last,
                             const struct thin_counts *now);
/* One stack of each kind in how many to sample, if it may change at once. */
void thin_choose(const struct thin_seen *seen, uint32_t one_in[2]);
/* By the collector, under source.lock, after each drain. True: s->source.thin changed, and needs another
 * source. */
bool thin_change(struct session *s, uint64_t now_ns);
/* The same if stack dumps exceed the budget of auto (live_over_budget). *seen_hz: samples per second and CPU,
 * for the next source; 0: as before. */
bool thin_over_budget(struct session *s, uint64_t *seen_hz);
/* Under lock. True if a switch at this time, of which the tracepoint said nothing, may be a wait whose stack
 * was not sampled. False for kernel threads: most are idle workers. */
bool thin_may_lack(const struct session *s, uint32_t thread, uint64_t time_ns);
/* Under lock. True if stacks of wakers are by frame pointers, while those of waits are dumps. */
bool thin_wakers_by_fp(const struct session *s);
/* Describes fewer stacks and the fix. Under lock. False: each wait has its stack. */
bool thin_tell(const struct session *s, char *what, size_t what_cap, char *fix, size_t fix_cap);

/* True if more may be sampled now: if the budget allows more, and did so for a while. */
bool thin_is_calm(struct thin_calm *c, bool more, bool lost, uint64_t now_ns);
/* True if this number of dumps per second, and of wakers, has allowed stack dumps for a while, where auto
 * does without because of the rate: the source must be reopened. Under lock. */
bool thin_dumps_again(struct session *s, double dumps, double wakers, uint64_t now_ns);

/* selection.c: keeps the cost of latencies within the budget. */
/* Before events are opened, under source.lock: counts the operations of rows that do not run yet for 50 ms,
 * and fills in `out`. *seen_hz is set if it is 0, see dumps_first_hz(). Returns out->of; NULL: all operations
 * are sampled. */
const struct live_selection *selection_first(struct session *s, const struct session_config *cfg,
                                             const struct event *events, uint32_t n,
                                             struct session_selection *out, uint64_t *seen_hz);
/* Under both locks, after operations_adopt: follows the selection of the source. */
void selection_adopt(struct session *s, const struct session_selection *selection);
/* Under source.lock: the source could not be reopened. */
void selection_refused(struct session *s);
/* Under both locks, after the last record of a source: sampled operations represent all that were counted,
 * and those whose records were lost. */
void selection_end(struct session *s);
/* One operation in how many to sample, by row, if it may change at once. */
void selection_choose(const struct selection_seen *seen, uint32_t *one_in);
/* By the collector, under source.lock, after each drain: selects other operations. True: the source must be
 * reopened. */
bool selection_change(struct session *s, uint64_t now_ns);
/* Describes the selection and the fix. Under lock. False: all operations are sampled. */
bool selection_tell(const struct session *s, char *what, size_t what_cap, char *fix, size_t fix_cap);

/* deepstacks.c: chooses the stack size that auto copies. */
uint32_t deepstacks_choose(const struct deep_seen *seen); /* the size to use from now on */
/* By the collector, under source.lock: checks once a second, and sets s->source.deep.bytes. True: the size
 * changed, and the source must be reopened. */
bool deepstacks_change(struct session *s, uint64_t now_ns);
void deepstacks_adopt(struct session *s);  /* under both locks: a source was opened */
void deepstacks_forget(struct session *s); /* under both locks: the scope changes */

#endif
