// SPDX-License-Identifier: GPL-2.0-or-later
/* CPUs that hide what interrupts their idle task, while events run that miss it there. All functions: under
 * the store's lock. */
#ifndef FLAMETOP_SESSION_COLLECT_IDLE_CPUS_H
#define FLAMETOP_SESSION_COLLECT_IDLE_CPUS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct event;
struct idle_check;
struct session;

struct session_idle_cpus {
    struct idle_check *check; /* NULL: not needed yet */
    uint64_t next_ns, pause_ns;
};

/* True if the event may occur in an interrupt. */
bool idle_cpus_concern(const struct event *ev);
/* By the collector, once a second: starts a check, and checks again CPUs that were busy. */
void idle_cpus_look(struct session *s, uint64_t now_ns);
/* Describes the CPUs and the fix. False: none is known, or no event that runs misses anything there. */
bool idle_cpus_tell(const struct session *s, char *what, size_t what_cap, char *fix, size_t fix_cap);
void idle_cpus_done(struct session *s);

#endif
