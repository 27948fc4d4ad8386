// SPDX-License-Identifier: GPL-2.0-or-later
/* How many threads of the scope run at the moment of each sample, for latency shares (session/group_column.h).
 * All functions: under the store's lock, by the collector, unless a comment says otherwise. */
#ifndef FLAMETOP_SESSION_COLLECT_LATENCY_H
#define FLAMETOP_SESSION_COLLECT_LATENCY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "profile/running.h"

struct live;
struct perf_event_attr;
struct record;
struct session;

struct session_latency {
    bool runs;     /* the source records switches */
    bool by_cpu;   /* records have a CPU */
    uint32_t cpus; /* of the live source, at the last look */
    bool saved;    /* a file that flametop wrote: its samples have the number */
    struct running running;
};

/* A live source was opened. Its switches are counted if they are wanted. */
void latency_adopt(struct session *s, const struct live *live, bool wanted);
/* After the events of a file were added. False: it does not say what ran, but the session needs that. */
bool latency_open_file(struct session *s, struct error *e);
/* False: the file has no switches. No lock is needed. */
bool latency_is_in_file(const struct session *s, struct error *e);
/* Any record but a sample, before it is applied. */
void latency_record(struct session *s, const struct record *r);
/* The number of running threads for a sample (struct sample); 0: unknown. */
uint32_t latency_of_sample(struct session *s, const struct record *r);
/* After each drain: nothing runs any more on CPUs that went offline. */
void latency_drained(struct session *s);
/* In a perf.data that flametop writes, there are no switches: the number is the weight field of a sample. */
void latency_saved_attr(const struct session *s, struct perf_event_attr *attr);

#endif
