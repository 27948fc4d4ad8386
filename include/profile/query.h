// SPDX-License-Identifier: GPL-2.0-or-later
/* Runs queries over the history: sums the weights of samples per (group, stack).
 *
 * A result has a private copy of the used part of the trie, so that only the scan needs a lock. The scan
 * is one linear pass over the history. If the previous query was the same, it only reads the samples
 * that were appended since. */
#ifndef FLAMETOP_PROFILE_QUERY_H
#define FLAMETOP_PROFILE_QUERY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profile/history.h"
#include "profile/stacks.h"

#define QUERY_TREND      8 /* buckets of the time range in each entry */
#define QUERY_ANY_EVENT  UINT32_MAX
#define QUERY_GROUP_SUMS 7 /* limit of other events to sum up besides the query's event */

struct query {
    uint64_t from_ns, to_ns;      /* inclusive; 0: open */
    uint32_t event;               /* index, or QUERY_ANY_EVENT */
    uint32_t apart;               /* of any event, except this number minus one and those after it; 0: none */
    uint32_t hidden;              /* of any event, except this number minus one; 0: none */
    uint8_t need_flags;           /* samples need one of these flags: SAMPLE_KERNEL, SAMPLE_USER; 0: any */
    bool by_cpu;                  /* the group is the CPU number plus one */
    const uint32_t *thread_group; /* group per thread id (NULL: all 0); ignored with by_cpu */
    const uint8_t *thread_pass;   /* per thread id; 0: its samples are left out (NULL: none are) */
    uint32_t n_threads;           /* length of both; threads beyond pass with group 0 */
    const bool *cpu_pass;         /* NULL: all pass; CPUs beyond n_cpu_pass are left out */
    uint32_t n_cpu_pass;
    uint32_t only_cpu;                 /* CPU number plus one: only this CPU passes; 0: see cpu_pass */
    uint32_t running_from, running_to; /* samples at this parallelism (struct sample); to 0: any */
    uint64_t weight_from, weight_to;   /* samples with a weight of these, inclusive; to 0: any */
    bool latency;                      /* also sum up latencies: see struct result */
    uint32_t n_group_sums;
    uint16_t group_sums[QUERY_GROUP_SUMS]; /* other events to sum up; unused ones are 0 */
};
/* Returns true if a sample passes all conditions except event and time range. */
static inline bool query_passes_event_aside(const struct query *q, const struct sample *s)
{
    if (q->need_flags && !(s->flags & q->need_flags))
        return false;
    if (q->running_to && (s->running < q->running_from || s->running > q->running_to))
        return false;
    if (q->thread_pass && s->thread < q->n_threads && !q->thread_pass[s->thread])
        return false;
    if (q->only_cpu)
        return s->cpu + 1u == q->only_cpu;
    return !q->cpu_pass || (s->cpu < q->n_cpu_pass && q->cpu_pass[s->cpu]);
}
/* Returns true if a sample passes all conditions except the time range. */
static inline bool query_passes(const struct query *q, const struct sample *s)
{
    bool passes = q->event == QUERY_ANY_EVENT
                      ? (!q->apart || s->event + 1u < q->apart) && s->event + 1u != q->hidden
                      : s->event == q->event;
    if (q->weight_to && (s->weight < q->weight_from || s->weight > q->weight_to))
        return false;
    return passes && query_passes_event_aside(q, s);
}

/* Returns the length of a trend bucket of a range. */
static inline uint64_t query_bucket_ns(uint64_t from_ns, uint64_t to_ns)
{
    return (to_ns - from_ns) / QUERY_TREND + 1;
}

/* A sample's weight, divided by the number of threads that ran at its moment (perf report --latency): what a
 * user waits for. 0: not known. The numbers are integers, so that what was added can be removed. */
#define QUERY_LATENCY_UNIT 1024
static inline uint64_t query_latency(const struct sample *s)
{
    return s->running ? s->weight * QUERY_LATENCY_UNIT / s->running : 0;
}

struct result_entry {
    uint64_t weight;
    uint32_t group, node; /* node: index in the result's trie; 0: the empty stack */
    uint32_t count;       /* number of samples */
    uint32_t broken;      /* samples whose callchain ends in garbage */
    /* All samples are of the idle task; other samples have another entry. */
    uint8_t idle;
    uint32_t other;              /* for entries.c: links an entry and its delta */
    uint64_t trend[QUERY_TREND]; /* weight per eighth of the time range, oldest first */
};

struct result {
    /* The trie: parent[0] = 0; parents come first. */
    uint32_t *parent, *frame;
    uint32_t n_nodes;
    /* The frames in use; frame 0 is unused. */
    uint32_t *frame_module;
    uint64_t *frame_offset;
    /* 1: the offset is an interrupted pc: exact although the frame has a callee. */
    uint8_t *frame_interrupted;
    uint32_t n_frames;
    struct result_entry *entries;
    uint32_t n_entries;
    /* `group_events` sums per entry: of each of the other events; with query.latency, query_latency, and the
     * weight of the samples that have one, in the same unit; last, the weight of samples with SAMPLE_PARTLY.
     * NULL and 0 if the query has none of them. With other events, entries may have no samples. */
    uint64_t *group_sums;
    uint32_t group_events;
    uint32_t n_left_out; /* entries that result_filter has moved after the others */
    /* `version` is unique among all results. If `since` is not 0, this result is the one with that version
     * plus the deltas in `added`. There is a delta per entry, also of removed entries: what was added less
     * what was removed, modulo 2^64 or 2^32. Nodes and frames keep their numbers. For builders of tables. */
    uint64_t version, since;
    bool some_left; /* entries may have been removed or moved up: stacks have changed */
    struct result_entry *added;
    uint32_t n_added;
    /* Lower frames are those of the previous run; 1: a new trie. */
    uint32_t n_frames_before;
    /* The version of the previous run, if its nodes are unchanged here; 0: a new trie. */
    uint64_t goes_on_from;
    /* As in the previous run. `added` is the difference. */
    bool is_same_query;
    uint64_t samples, weight; /* of all entries */
    uint64_t broken_samples;
    uint64_t first_ns, last_ns;   /* of the counted samples */
    uint64_t from_ns, to_ns;      /* range of the trends: the query's; open ends are the history's */
    struct result_memory *memory; /* kept between runs */
};

/* Fills r, which is zero-initialised at first, and reuses its memory. Entries are in the order of their
 * first sample, which may have left since. Entries with no remaining samples are removed. The caller
 * must not change r before the next run, but may set `since` to 0.
 *
 * If the query and its range are the same as in the previous run, r is updated: only samples are read that
 * were appended since, or whose stacks became known later. */
void query_run(const struct query *q, struct history *h, const struct stacks *s, struct result *r);
/* What query_run has read: number of samples, and epochs of history and stacks. */
struct result_moment {
    uint64_t count, changes, history_epoch, stacks_epoch;
};
struct result_moment result_moment(const struct result *r);
/* Returns the node of a stack in r; 0: none. The stacks may have grown since. */
uint32_t result_node(const struct result *r, uint32_t stack);
void result_done(struct result *r);
/* Leaves out the entries with drop[i] != 0 and updates the sums. Keeps the order, the trie, the frames,
 * first_ns and last_ns. Call it once after each query_run. `since` stays if the previous entries are
 * dropped as before. */
void result_filter(struct result *r, const uint8_t *drop);

#endif
