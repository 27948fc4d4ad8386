// SPDX-License-Identifier: GPL-2.0-or-later
/* How much memory our cgroup allows, in bytes: cgroup-v2.rst (memory.max) and cgroup-v1/memory.rst in the kernel's
 * Documentation/admin-guide. */
#ifndef FLAMETOP_PROCESS_MEMORY_LIMIT_H
#define FLAMETOP_PROCESS_MEMORY_LIMIT_H

#include <stdint.h>

uint64_t memory_limit(void); /* UINT64_MAX, or a number beyond any machine's memory: no limit */
/* The same of the text of a /proc/PID/cgroup, with hierarchies below `mounts` as they are below /sys/fs/cgroup. */
uint64_t memory_limit_of_text(const char *text, const char *mounts);

#endif
