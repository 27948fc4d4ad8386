// SPDX-License-Identifier: GPL-2.0-or-later
/* Numbers the namespaces of processes. Many processes share a set, so each set is stored once. */
#ifndef FLAMETOP_PROCESS_NAMESPACES_H
#define FLAMETOP_PROCESS_NAMESPACES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/map.h"
#include "base/mem.h"

/* The kinds net, uts, ipc, pid, user, mnt, cgroup: in the order of perf's NAMESPACES records. */
#define NAMESPACES_KINDS 7

struct namespaces {
    struct namespaces_link {
        uint64_t dev, ino; /* of /proc/PID/ns/KIND; both 0: unknown */
    } links[NAMESPACES_KINDS];
};
struct namespaces_table { /* zero-initialised is empty */
    VEC(struct namespaces);
    struct map by_hash; /* → number */
};

/* dir: /proc/PID, open. False: none is readable. */
bool namespaces_read(int dir, struct namespaces *out);
bool namespaces_of_process(uint32_t pid, struct namespaces *out); /* same, by pid */
/* Fills `out` from a record's links; ignores unknown kinds. */
void namespaces_of_links(const void *links, uint64_t n, bool swap, struct namespaces *out);
/* Returns the set's number, from 1 on; 0: too many sets. */
uint32_t namespaces_number(struct namespaces_table *t, const struct namespaces *ns);
/* NULL: unknown. */
const struct namespaces *namespaces_get(const struct namespaces_table *t, uint32_t number);
void namespaces_done(struct namespaces_table *t);

#endif
