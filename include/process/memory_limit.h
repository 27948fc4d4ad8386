// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads the memory limit of flametop's own cgroup, in bytes. See cgroup-v2.rst (memory.max) and
 * cgroup-v1/memory.rst in the kernel's Documentation/admin-guide. */
#ifndef FLAMETOP_PROCESS_MEMORY_LIMIT_H
#define FLAMETOP_PROCESS_MEMORY_LIMIT_H

#include <stdint.h>

uint64_t memory_limit(void); /* UINT64_MAX, or more than any machine has: no limit */
/* Same for the text of a /proc/PID/cgroup. `mounts` is used instead of /sys/fs/cgroup. */
uint64_t memory_limit_of_text(const char *text, const char *mounts);

#endif
