// SPDX-License-Identifier: GPL-2.0-or-later
/* Names of cgroups by their id, which is the inode number of their directory. */
#ifndef FLAMETOP_PROCESS_CGROUP_H
#define FLAMETOP_PROCESS_CGROUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CGROUPS_MAX 65536u /* remembered */

struct cgroups;
/* root: where the hierarchy is mounted, "" or NULL: only what cgroups_add tells is known. */
struct cgroups *cgroups_new(const char *root);
void cgroups_free(struct cgroups *c);
void cgroups_add(struct cgroups *c, uint64_t id, const char *path);
/* "/system.slice/ssh.service", cleaned; "" when not known. An id that is new is asked of the kernel where we
 * may, else found by a walk over the hierarchy, at most once a second. Borrowed until the next call. */
const char *cgroups_path(struct cgroups *c, uint64_t id);
size_t cgroups_bytes(const struct cgroups *c);

/* The mount of the hierarchy in which samples name cgroups, found once; "" if there is none. Safe from any
 * thread. */
const char *cgroup_root(void);
/* From the text of /proc/PID/cgroup the path in that hierarchy: v2's, or v1's perf_event; NULL: it is not
 * there. */
char *cgroup_path_of(const char *text, bool v2); /* mem_free */
/* The same in the hierarchy of another controller of v1; "": v2's. */
char *cgroup_path_in(const char *text, const char *controller); /* mem_free */
/* Id of the cgroup that a process is in, 0: not known. proc_dir: /proc/PID. */
uint64_t cgroup_of_process(int proc_dir);

#endif
