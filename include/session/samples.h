// SPDX-License-Identifier: GPL-2.0-or-later
/* The single samples that a query shows, in order of time: for what is drawn or written sample by sample. */
#ifndef FLAMETOP_SESSION_SAMPLES_H
#define FLAMETOP_SESSION_SAMPLES_H

#include "base/buf.h"
#include "process/world.h"
#include "profile/history.h"
#include "session/session.h"

struct session_samples { /* zero-initialised at first, but for with_raw */
    bool with_raw;       /* payloads of tracepoints are wanted */
    bool numbered;       /* instead of them, raw is the sample's number in the history (over a file) */
    struct sample *list; /* stack: the node of the view's result, where inlined functions are nodes, too */
    size_t n, cap;
    struct world_thread *threads; /* by the thread of a sample; only those that have some are filled in */
    uint32_t n_threads;
    char (*events)[128]; /* their names, by the event of a sample; cleaned */
    uint32_t n_events;
    struct buf raw;
    bool no_memory;
};

/* session_query, and in `out` (emptied before) the samples that its answer is made of: those that pass its zooms,
 * its filter and the idle loop, of the same moment. False: there is no memory for them; the view is whole. */
bool session_samples(struct session *s, const struct view_query *q, struct view *v,
                     struct session_samples *out, struct error *e);
/* The payload of one of them, aligned to 4; NULL (and size 0): it has none. */
const void *session_sample_raw(const struct session_samples *samples, const struct sample *sample,
                               uint32_t *size);
/* world_address for an address space of world_thread; address 0: it is not known. */
void session_address(struct session *s, uint32_t image, uint32_t module, uint64_t offset, uint64_t time_ns,
                     struct world_address *out);
/* The path of the cgroup with that number, of world_thread; "unknown": nobody told. */
void session_cgroup_path(struct session *s, uint64_t cgroup, char *dst, size_t cap);
void session_samples_done(struct session_samples *samples);

/* For this folder. Under lock: copies what the scan passes, with the stacks that the history knows, and the threads. */
void samples_take(struct session_samples *to, struct session *s, const struct query *scan);
/* Keeps those for which it is true; `keep` may change the sample. */
void samples_keep(struct session_samples *samples, bool (*keep)(void *ctx, struct sample *sample), void *ctx);
void samples_sort(struct session_samples *samples); /* by time */

#endif
