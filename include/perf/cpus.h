// SPDX-License-Identifier: GPL-2.0-or-later
/* Lists of CPUs as the kernel and people write them ("0-3,8"). */
#ifndef FLAMETOP_PERF_CPUS_H
#define FLAMETOP_PERF_CPUS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cpus {
    bool *in; /* in[i]: CPU i is in the list */
    uint32_t n;
};

/* False when the text is no list, or names a CPU beyond what any kernel has. cpus_done() in any case. */
bool cpus_parse(const char *text, struct cpus *out);
/* A file of /sys/devices/system/cpu: "online", "possible". Where there is none: what sysconf() says. */
void cpus_read(const char *which, struct cpus *out);
bool cpus_has(const struct cpus *c, uint32_t cpu);
void cpus_done(struct cpus *c);

/* "online", read again and again: the file stays open, and is taken apart only when it says something else. */
#define CPUS_WATCH_MAX 128
struct cpus_watch {
    int fd;   /* -1: not open */
    size_t n; /* of text; 0: not known */
    char text[CPUS_WATCH_MAX];
};
void cpus_watch_init(struct cpus_watch *w);
/* True: *list, which was a list or zero-initialised, is now another one; the first time always. False: it still holds. */
bool cpus_watch_look(struct cpus_watch *w, struct cpus *list);
void cpus_watch_done(struct cpus_watch *w);

/* The same as a plain value; without a bit: every CPU. */
#define CPU_MASK_MAX 8192 /* the most that a kernel is built for */
struct cpu_mask {
    uint64_t words[CPU_MASK_MAX / 64];
};
struct cpu_mask cpu_mask_of(const char *list); /* a list that is none gives no bit */
bool cpu_mask_any(const struct cpu_mask *m);
bool cpu_mask_has(const struct cpu_mask *m, uint32_t cpu); /* true for every CPU when there is no bit */
int cpu_mask_first(const struct cpu_mask *m);              /* -1: no bit */

#endif
