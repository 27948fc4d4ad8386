// SPDX-License-Identifier: GPL-2.0-or-later
/* Which samples a query is about, for screens and for files that are written: by time, event, mode, CPU and thread
 * while the history is scanned, and by what needs names after it. */
#ifndef FLAMETOP_SESSION_SELECT_H
#define FLAMETOP_SESSION_SELECT_H

#include "session/state.h"

/* The query of the scan, without groups. pass: room for a byte per thread (world_thread_count), the caller's for as
 * long as the query is used. Under lock. */
struct query select_samples(struct session *s, const struct view_query *q, uint8_t *pass);

/* Which of the cgroups that are measured a thread is in or below; -1: in none. Under lock. */
int64_t select_cgroup(struct session *s, const struct world_thread *t);

/* What names decide of a function, as bits: the zooms that it is in, whether the filter matches it, whether a CPU
 * idles in it. */
struct select_named {
    const char *name, *module;
    uint64_t key;
    bool idles;
};
uint16_t select_hits(const struct view_query *q, const struct select_named *n);
/* Nothing but the module of a function matters, and whether it idles. */
bool select_ignores_names(const struct view_query *q);

/* A trie whose frames have hits. by_frame: the function of a frame, NULL: hits are by frame. hits[0] is 0. */
struct select_trie {
    const uint32_t *parent, *frame, *by_frame;
    const uint16_t *hits;
    uint16_t
        *path_hits; /* by node, with those of its callers; filled in by select_mark, where it is needed */
    uint16_t path_wanted, leaf_wanted;
};
/* Whether path_hits is needed, one per node; sets what is wanted. */
bool select_by_path(struct select_trie *t, const struct view_query *q);
void select_mark(struct select_trie *t, uint32_t n_nodes);
/* Does the stack pass the zooms and the filter? Does a CPU in the idle task idle there? */
bool select_passes(const struct select_trie *t, uint32_t node);
bool select_idles(const struct select_trie *t, uint32_t node);

#endif
