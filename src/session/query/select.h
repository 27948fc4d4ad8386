// SPDX-License-Identifier: GPL-2.0-or-later
/* Selects the samples of a query: by time, event, mode, CPU and thread during the scan, then by names. */
#ifndef FLAMETOP_SESSION_QUERY_SELECT_H
#define FLAMETOP_SESSION_QUERY_SELECT_H

#include "session/session_state.h"

/* Makes the query of the scan, without groups. pass: one byte per thread (world_thread_count); must live
 * as long as the query. Under lock. */
struct query select_samples(struct session *s, const struct view_query *q, uint8_t *pass);

/* A function, as far as zooms, the filter and the idle setting depend on it. */
struct select_named {
    const char *name, *module;
    uint64_t key;
    bool idles; /* a CPU idles in it */
};
/* Returns, as bits, the zooms that a function is in, whether the filter matches it, and whether a CPU
 * idles in it. */
uint16_t select_hits(const struct view_query *q, const struct select_named *n);
/* True if no zoom and no filter depends on the names and keys of functions. */
bool select_ignores_names(const struct view_query *q);

/* A trie whose frames have hits. by_frame: function of a frame; NULL: hits are by frame. hits[0] is 0. */
struct select_trie {
    const uint32_t *parent, *frame, *by_frame;
    const uint16_t *hits;
    const uint32_t *frame_module; /* with samples of the event wakers; else NULL */
    uint16_t *path_hits;          /* By node, its callers' hits included. Filled by select_mark, if needed. */
    uint16_t path_wanted, leaf_wanted;
};
/* True if path_hits (one per node) is needed. Sets the wanted bits. */
bool select_by_path(struct select_trie *t, const struct view_query *q);
void select_mark(struct select_trie *t, uint32_t n_nodes);
/* select_passes: True if the stack passes zooms and filter. select_idles: True if a sample of the idle task
 * with this stack is idle, or it is a wait. select_shows: True if a sample passes, and is not idle unless
 * idle samples are shown; its `stack` is a node of the trie. */
bool select_passes(const struct select_trie *t, uint32_t node);
bool select_idles(const struct select_trie *t, uint32_t node);
bool select_shows(const struct select_trie *t, const struct sample *sample, bool show_idle);

#endif
