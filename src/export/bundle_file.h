// SPDX-License-Identifier: GPL-2.0-or-later
/* The bundle: one archive to attach to a ticket. Its contents are made and listed first, then written if the
 * user agrees. */
#ifndef FLAMETOP_EXPORT_BUNDLE_FILE_H
#define FLAMETOP_EXPORT_BUNDLE_FILE_H

#include <stdatomic.h>

#include "export/export.h"
#include "perf/count.h"
#include "session/bundle_profile.h"
#include "session/machine_load.h"

struct bundle_item {
    char name[64]; /* below the archive's folder */
    const char *about;
    struct buf bytes; /* empty for the perf.data */
};
struct bundle_plan {
    char folder[96];
    struct session_bundle_profile profile;
    VEC(struct bundle_item); /* items[1] is the perf.data */
    /* used while the contents are made */
    int step;
    struct view_query all, shown;
    const struct export_options *options;
    char path[4096];
    struct count_set *counting; /* NULL: not counting (any more) */
    uint64_t counted_from_ns;
    struct machine_load load; /* measured over the same second */
    atomic_bool cancelled;
};

/* Adds a file, unless it is empty. Moves the contents of `bytes` into the plan. */
void bundle_add(struct bundle_plan *p, const char *name, const char *about, struct buf *bytes);
/* bundle_machine.c: adds the system's current state and starts to count for one second; if the session is an
 * opened bundle, adds the state stored in it instead. */
void bundle_add_machine(struct bundle_plan *p, struct session *s);
/* True until the second of counting is over. */
bool bundle_counts(const struct bundle_plan *p);
/* Reads the counters, adds them as a file, and stops counting. */
void bundle_add_counters(struct bundle_plan *p);

#endif
