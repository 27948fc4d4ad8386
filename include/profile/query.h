// SPDX-License-Identifier: GPL-2.0-or-later
/* A query: which samples, summed how → weights per (group, stack) with a private copy of the part of the trie
 * that they use, so that everything after the scan needs no lock. One linear pass over the history, or over what
 * was appended to it since the same question was asked before and what left its range. */
#ifndef FLAMETOP_PROFILE_QUERY_H
#define FLAMETOP_PROFILE_QUERY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profile/history.h"
#include "profile/stacks.h"

#define QUERY_TREND     8 /* buckets of the time range in each entry */
#define QUERY_ANY_EVENT UINT32_MAX
#define QUERY_BESIDE    7 /* other events that are summed up beside the one that is asked for */

struct query {
    uint64_t from_ns, to_ns;      /* inclusive; 0: open */
    uint32_t event;               /* index, or QUERY_ANY_EVENT */
    uint8_t need_flags;           /* samples must have one of these (0: any): SAMPLE_KERNEL, SAMPLE_USER */
    bool by_cpu;                  /* group is the CPU's number plus one */
    const uint32_t *thread_group; /* group of a thread by its id (NULL: all 0); ignored with by_cpu */
    const uint8_t *thread_pass;   /* 0: samples of this thread are left out (NULL: none are) */
    uint32_t n_threads;           /* length of both; ids beyond pass with group 0 */
    const bool *cpu_pass;         /* NULL: all; indexed below n_cpu_pass, CPUs beyond are left out */
    uint32_t n_cpu_pass;
    uint32_t only_cpu; /* a CPU's number plus one: those of all others are left out; 0: see cpu_pass */
    uint32_t n_beside;
    uint16_t beside[QUERY_BESIDE]; /* events; the rest is 0 */
};
/* Whether a sample is one of those that the query is about, by all but its event and the range of time. */
static inline bool query_passes_event_aside(const struct query *q, const struct sample *s)
{
    if (q->need_flags && !(s->flags & q->need_flags))
        return false;
    if (q->thread_pass && s->thread < q->n_threads && !q->thread_pass[s->thread])
        return false;
    if (q->only_cpu)
        return s->cpu + 1u == q->only_cpu;
    return !q->cpu_pass || (s->cpu < q->n_cpu_pass && q->cpu_pass[s->cpu]);
}
/* The same with its event. */
static inline bool query_passes(const struct query *q, const struct sample *s)
{
    return (q->event == QUERY_ANY_EVENT || s->event == q->event) && query_passes_event_aside(q, s);
}

/* How long each of the QUERY_TREND buckets of a range is. */
static inline uint64_t query_bucket_ns(uint64_t from_ns, uint64_t to_ns)
{
    return (to_ns - from_ns) / QUERY_TREND + 1;
}

struct result_entry {
    uint64_t weight;
    uint32_t group, node; /* node: index in the result's own trie; 0: the empty stack */
    uint32_t count;       /* samples */
    uint32_t broken;      /* those of the samples whose callchain ends in garbage */
    uint8_t idle;         /* all of them are of the idle task (idle and others make different entries) */
    uint32_t trend[QUERY_TREND]; /* samples per eighth of the time range, oldest first */
    uint32_t other;              /* of entries.c: between entries and what was added to them */
};

struct result {
    /* trie: parent[0] = 0; parents first */
    uint32_t *parent, *frame;
    uint32_t n_nodes;
    /* frames used: index 0 unused */
    uint32_t *frame_module;
    uint64_t *frame_offset;
    uint8_t
        *frame_interrupted; /* 1: the offset is where a signal interrupted: exact in spite of the callee */
    uint32_t n_frames;
    struct result_entry *entries;
    uint32_t n_entries;
    /* Of each entry, `besides` numbers: what the events beside the query's count there, and, last, how much of its
     * weight is of samples that are SAMPLE_PARTLY. 0 and NULL without such events; with them there are entries without samples. */
    uint64_t *beside;
    uint32_t besides;
    uint32_t n_left_out; /* entries that result_filter has put behind the others */
    /* Unlike any other result's. When `since` is not 0, this result is the one that had that version, with its trends
     * slid (result_slide_trend), and what is `added`: by entry, also of entries that are no more, what has come less what
     * has left, modulo 2^64 or 2^32. Nodes and frames that were there have their numbers still. For those who make
     * tables of it. */
    uint64_t version, since;
    uint32_t slid;  /* by so many buckets; mostly 0; or RESULT_WIDENED */
    bool some_left; /* entries may have left, and others moved up: it has slid, or stacks became others */
    struct result_entry *added;
    uint32_t n_added;
    uint32_t n_frames_before; /* frames below are those of the run before; 1: a new trie */
    uint64_t goes_on_from;    /* the version of that run, whose nodes these are with more; 0: a new trie */
    bool
        is_same_question; /* as in the run before; its range may have slid: what is added is the difference */
    uint64_t samples, weight; /* of all entries */
    uint64_t broken_samples;
    uint64_t first_ns, last_ns;   /* of the samples that were counted */
    uint64_t from_ns, to_ns;      /* the range that trends divide: the query's, open ends are the history's */
    struct result_memory *memory; /* kept between runs */
};

#define RESULT_WIDENED UINT32_MAX /* its range became twice as long: of two buckets one */
/* What is left of a trend when its range slides by so many buckets, or widens. */
static inline void result_slide_trend(uint32_t *trend, uint32_t buckets)
{
    for (uint32_t i = 0; i < QUERY_TREND; i++)
        if (buckets == RESULT_WIDENED)
            trend[i] = i < QUERY_TREND / 2 ? trend[2 * i] + trend[2 * i + 1] : 0;
        else
            trend[i] = i + buckets < QUERY_TREND ? trend[i + buckets] : 0;
}

/* Fills r, reusing the memory of an earlier result (zero-initialised at first), and what it says when the question
 * is the same: then only what was appended since is looked at, and what a range has left behind that moved on by whole
 * buckets, by half of its length at most, or has reached that became twice as long, and samples whose stacks became known
 * later. Entries are in the order of their first sample, which may have left since
 * then; who is left by all is not there. r is only to be read until then, but for `since`, which may be set to 0. */
void query_run(const struct query *q, struct history *h, const struct stacks *s, struct result *r);
/* What query_run looked at: so many samples of the history, when it and the stacks had these epochs. */
struct result_moment {
    uint64_t count, changes, history_epoch, stacks_epoch;
};
struct result_moment result_moment(const struct result *r);
/* The node that a stack has in r, which query_run filled in; 0: it has none. The stacks may have gone on since. */
uint32_t result_node(const struct result *r, uint32_t stack);
void result_done(struct result *r);
/* Leaves out the entries for which drop[i] is not 0 and updates the sums. Order is kept. The trie, the frames
 * and first_ns, last_ns stay as they are. Once after each query_run; `since` stays when what was there before is
 * dropped as it was then. */
void result_filter(struct result *r, const uint8_t *drop);

#endif
