// SPDX-License-Identifier: GPL-2.0-or-later
/* The cgroups whose CPU limit stopped their threads. All functions are called by the collector, except
 * limits_tell. */
#ifndef FLAMETOP_SESSION_COLLECT_CPU_LIMITS_H
#define FLAMETOP_SESSION_COLLECT_CPU_LIMITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "process/cpu_limit.h"

#define LIMITED_PIDS    16 /* processes whose limits are read at each look */
#define LIMITED_CGROUPS 32 /* cgroups that are remembered */

struct session;
struct waits_part;

struct session_limits {
    uint32_t pids[LIMITED_PIDS], n_pids; /* for the next look */
    struct limited_cgroup {
        struct cpu_limit limit;
        uint64_t time_ns; /* when it was read; 0: unused */
    } cgroups[LIMITED_CGROUPS];
    struct cpu_limit told; /* the one that was stopped most often, with the counts since the look before */
    uint64_t told_ns;
};

void limits_on_part(struct session *s, const struct waits_part *part); /* under lock */
void limits_look(struct session *s, uint64_t now_ns);                  /* under source.lock, once a second */
/* Describes the cgroup that was stopped lately. Under lock. False: none. */
bool limits_tell(const struct session *s, char *what, size_t what_cap, char *fix, size_t fix_cap);

#endif
