// SPDX-License-Identifier: GPL-2.0-or-later
/* Lists for the pickers, made by threads of their own: a walk over /proc takes long where processes are many, and may
 * hang where one of them does. Inside of the session only: what a thread works on is its own, so that it may outlive
 * the session. */
#ifndef FLAMETOP_SESSION_LISTING_H
#define FLAMETOP_SESSION_LISTING_H

#include <stdatomic.h>

#include "base/map.h"
#include "session/session.h"

struct listing {
    enum session_list kind;
    struct map samples; /* in the last seconds: by pid, or by the cgroup's id */
    uint64_t all;       /* of them */
    struct session_listing result;
    atomic_bool done; /* the result is whole */
    atomic_uint users;
};
/* processes.c, cgroups.c */
void listing_read_processes(struct listing *l);
void listing_read_cgroups(struct listing *l);
/* listing.c */
void listing_leave(
    struct listing *l); /* by the session, or by the thread: the last one frees it; NULL is fine */

#endif
