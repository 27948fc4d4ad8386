// SPDX-License-Identifier: GPL-2.0-or-later
/* The single samples of a query in order of time, for screens and exports that need each sample. */
#ifndef FLAMETOP_SESSION_SAMPLES_H
#define FLAMETOP_SESSION_SAMPLES_H

#include "base/buf.h"
#include "process/world.h"
#include "profile/history.h"
#include "session/session.h"

#define SESSION_NOT_RECORDED UINT32_MAX
struct session_samples { /* zero-initialise, except with_raw */
    bool with_raw;       /* collect payloads of tracepoints */
    bool with_running;   /* also times on the CPU, which belong to no listed event (collect/offcpu.h) */
    /* Files only: `raw` of a sample is its number among the read samples of the file, and no payloads are
     * collected. SESSION_NOT_RECORDED: it was made from others (collect/offcpu_file.h). */
    bool numbered;
    size_t newest;       /* only the newest this many that pass the scan; 0: all */
    uint64_t from;       /* with `newest`: only from this number of the history on */
    uint64_t next;       /* with `newest`: where the next call goes on */
    bool older;          /* there are older ones */
    struct sample *list; /* stack: the node of the view's result, inlined functions included */
    size_t n, cap;
    /* by the thread of a sample; only threads with samples are set */
    struct world_thread *threads;
    uint32_t n_threads;
    char (*events)[128]; /* event names, by the event of a sample; cleaned */
    uint32_t n_events;
    struct buf raw;
    bool no_memory;
};

/* Runs session_query, and collects in `out` (cleared before) the samples of its result: those that pass
 * the zooms, the filter and the idle setting, from the same moment. False: not enough memory for them; the
 * view is complete. */
bool session_samples(struct session *s, const struct view_query *q, struct view *v,
                     struct session_samples *out, struct error *e);
/* Payload of a sample, aligned to 4; NULL (and size 0): it has none. */
const void *session_sample_raw(const struct session_samples *samples, const struct sample *sample,
                               uint32_t *size);
/* world_address for an address space of world_thread; address 0: unknown. */
void session_address(struct session *s, uint32_t image, uint32_t module, uint64_t offset, uint64_t time_ns,
                     struct world_address *out);
/* Path of the cgroup with this number (from world_thread); "unknown": no path was recorded. */
void session_cgroup_path(struct session *s, uint64_t cgroup, char *dst, size_t cap);
void session_samples_done(struct session_samples *samples);

/* For src/session. Under store.lock: copies the samples that pass the scan, their threads, and their stacks
 * as the history has them. */
void samples_take(struct session_samples *to, struct session *s, const struct query *scan);
/* Keeps the samples for which `keep` returns true; `keep` may change them. */
void samples_keep(struct session_samples *samples, bool (*keep)(void *ctx, struct sample *sample), void *ctx);
void samples_sort(struct session_samples *samples); /* by time */

#endif
