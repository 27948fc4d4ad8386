// SPDX-License-Identifier: GPL-2.0-or-later
/* Metadata of a recording, for exports that list all of it. */
#ifndef FLAMETOP_SESSION_FACTS_H
#define FLAMETOP_SESSION_FACTS_H

#include "perfdata/reader.h"
#include "session/session.h"

struct session_event_facts {
    char name[128]; /* cleaned */
    uint64_t lost;
    bool has_cpu, has_time; /* its samples have a CPU, and a time */
    bool has_chain;         /* its samples have a callchain */
    bool is_tracepoint;
    bool left_out; /* not selected by -e: its samples were not read */
    struct perf_event_attr attr;
};
struct session_facts {
    /* of a file: its system information; NULL: live, this system */
    const struct perfdata_info *info;
    unsigned *features; /* of a file: numbers of its feature sections, rising; owned */
    uint32_t n_features;
    struct session_event_facts *events; /* owned */
    uint32_t n_events;
    struct perfdata_count *records; /* by type; owned */
    uint32_t n_records;
    const char *const *damage; /* borrowed from the file */
    uint32_t n_damage;
    uint64_t lost; /* of all events */
};
/* For a file: call after it is read. */
void session_get_facts(struct session *s, struct session_facts *out);
void session_facts_done(struct session_facts *f);

#endif
