// SPDX-License-Identifier: GPL-2.0-or-later
/* A bundle: one file to attach to a ticket. What will be in it is made first, told, and written if that is wanted. */
#ifndef FLAMETOP_EXPORT_BUNDLE_H
#define FLAMETOP_EXPORT_BUNDLE_H

#include <stdatomic.h>

#include "export/export.h"
#include "perf/count.h"
#include "session/parcel.h"

struct bundle_item {
    char name[64]; /* below the archive's folder */
    const char *about;
    struct buf bytes; /* unless it is the perf.data */
};
struct bundle_plan {
    char folder[96];
    struct session_parcel parcel;
    struct bundle_item *items; /* items[1] is the perf.data */
    size_t n, cap;
    /* while it is made */
    int step;
    struct view_query all, shown;
    const struct export_options *options;
    char path[4096];
    struct count_set *counting; /* NULL: nothing is counted, or no longer */
    uint64_t counted_from_ns;
    atomic_bool cancelled;
};

/* Adds a file; nothing is added that is empty. Its bytes are taken. */
void bundle_add(struct bundle_plan *p, const char *name, const char *about, struct buf *bytes);
/* bundle_machine.c: what the machine says of itself now, with counters that are counted for a second; or what an opened
 * bundle brought. */
void bundle_add_machine(struct bundle_plan *p, struct session *s);
bool bundle_counts(const struct bundle_plan *p); /* that second is not over */
void bundle_add_counters(struct bundle_plan *p);

#endif
