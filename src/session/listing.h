// SPDX-License-Identifier: GPL-2.0-or-later
/* Lists for the pickers, each made by its own thread: reading /proc is slow with many processes and may
 * hang. The thread uses only its own data, so it may outlive the session. Private to the session. */
#ifndef FLAMETOP_SESSION_LISTING_H
#define FLAMETOP_SESSION_LISTING_H

#include <stdatomic.h>

#include "base/map.h"
#include "session/session.h"

struct listing {
    enum session_list kind;
    struct map samples; /* in the last seconds: by pid, or by cgroup id */
    uint64_t all;       /* sum of the samples */
    struct session_listing result;
    atomic_bool done; /* the result is complete */
    atomic_uint users;
};
/* processes.c, cgroups.c */
void listing_read_processes(struct listing *l);
void listing_read_cgroups(struct listing *l);
/* listing.c */
/* Called by the session and by the thread: the last caller frees it. NULL is fine. */
void listing_leave(struct listing *l);

#endif
