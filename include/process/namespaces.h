// SPDX-License-Identifier: GPL-2.0-or-later
/* The namespaces of processes. There are few of them, which many share: they are kept once, and go by a number. */
#ifndef FLAMETOP_PROCESS_NAMESPACES_H
#define FLAMETOP_PROCESS_NAMESPACES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/map.h"

#define NAMESPACES_KINDS                                                                                     \
    7 /* net, uts, ipc, pid, user, mnt, cgroup: in the order of perf's NAMESPACES records */

struct namespaces {
    struct namespaces_link {
        uint64_t dev, ino; /* of /proc/PID/ns/KIND; both 0: not known */
    } links[NAMESPACES_KINDS];
};
struct namespaces_table { /* zero-initialised is empty */
    struct namespaces *sets;
    uint32_t n;
    size_t cap;
    struct map by_hash; /* → number */
};

/* dir: /proc/PID, open. False: nothing of it may be read. */
bool namespaces_read(int dir, struct namespaces *out);
bool namespaces_of_process(uint32_t pid, struct namespaces *out); /* the same */
/* From a record's links; those of kinds that we do not know are left out. */
void namespaces_of_links(const void *links, uint64_t n, bool swap, struct namespaces *out);
/* Its number, from 1 on; 0: too many are known. */
uint32_t namespaces_number(struct namespaces_table *t, const struct namespaces *ns);
const struct namespaces *namespaces_get(const struct namespaces_table *t, uint32_t number); /* NULL */
void namespaces_done(struct namespaces_table *t);

#endif
