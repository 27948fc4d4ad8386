// SPDX-License-Identifier: GPL-2.0-or-later
/* Wall-clock time of threads, as samples of the event wall (perf/event.h): each wait, and each sample of a
 * running thread, weighted with the time that the thread ran since its previous one. The weights of a thread
 * add up to the time for which it was sampled. All functions: under the store's lock, by the collector. */
#ifndef FLAMETOP_SESSION_COLLECT_WALL_H
#define FLAMETOP_SESSION_COLLECT_WALL_H

#include <stdbool.h>
#include <stdint.h>

#include "profile/history.h"

struct perf_event_attr;
struct record;
struct session;
struct waits_part;

struct session_wall {
    bool runs; /* its samples are made, as this event: */
    uint32_t event;
};

/* Right after the attrs of the live events from `first` on are known: without off-cpu or an event that samples
 * CPU time, wall is left out. */
void wall_open(struct session *s, uint32_t first);
/* Follows the event wall among those from `first` on, if it is there. */
void wall_adopt(struct session *s, uint32_t first);
/* True if samples of this event become samples of wall. */
bool wall_is_from(const struct session *s, uint32_t event);
/* Before a sample of a running thread is appended: appends that of wall. Returns its number, or
 * WALL_NO_SAMPLE. */
uint64_t wall_sampled(struct session *s, const struct record *r, const struct sample *sample);
#define WALL_NO_SAMPLE UINT64_MAX
/* For waits.h: what a thread ran after its last sample belongs to the stack of that sample. */
void wall_rest(void *session, const struct waits_part *part);
/* A perf.data has the samples as offcpu.h says; the weight field of a sample on the CPU is 0. */
bool wall_is_saved(const char *name, const struct perf_event_attr *attr);

#endif
