// SPDX-License-Identifier: GPL-2.0-or-later
/* Finds the names of cgroups by their id, which is the inode number of their directory. */
#ifndef FLAMETOP_PROCESS_CGROUP_H
#define FLAMETOP_PROCESS_CGROUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CGROUPS_MAX 65536u /* most names cached */

struct cgroups;
/* root: mount point of the hierarchy. With "" or NULL only the names from cgroups_add are known. */
struct cgroups *cgroups_new(const char *root);
void cgroups_free(struct cgroups *c);
void cgroups_add(struct cgroups *c, uint64_t id, const char *path); /* path NULL: it is gone */
/* Returns "/system.slice/ssh.service", cleaned; "" if unknown. Borrowed until the next call. A new id is
 * looked up through the kernel if permitted, else by a scan of the hierarchy, at most once a second. */
const char *cgroups_path(struct cgroups *c, uint64_t id);
size_t cgroups_bytes(const struct cgroups *c);

/* Returns the mount point of the hierarchy whose ids samples carry, found once; "" if there is none.
 * Thread-safe. */
const char *cgroup_root(void);
/* Extracts the path in that hierarchy from the text of /proc/PID/cgroup: v2's, or v1's perf_event. NULL: not
 * listed. */
char *cgroup_path_of(const char *text, bool v2); /* free with mem_free */
/* Same for the hierarchy of another v1 controller; "": v2's. */
char *cgroup_path_in(const char *text, const char *controller); /* free with mem_free */
/* True if the path is that of `root` or below it. */
bool cgroup_is_below(const char *path, const char *root);
/* Returns the id of a process's cgroup; 0: unknown. proc_dir: /proc/PID. */
uint64_t cgroup_of_process(int proc_dir);

#endif
