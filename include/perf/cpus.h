// SPDX-License-Identifier: GPL-2.0-or-later
/* CPU lists as the kernel and users write them ("0-3,8"). */
#ifndef FLAMETOP_PERF_CPUS_H
#define FLAMETOP_PERF_CPUS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cpus {
    bool *in; /* in[i]: CPU i is in the list */
    uint32_t n;
};

/* Parse a list. False if the text is not a list, or names a CPU beyond any kernel's limit. Call cpus_done()
 * in any case. */
bool cpus_parse(const char *text, struct cpus *out);
/* Read a file of /sys/devices/system/cpu: "online", "possible". Falls back to sysconf(). */
void cpus_read(const char *which, struct cpus *out);
bool cpus_has(const struct cpus *c, uint32_t cpu);
void cpus_done(struct cpus *c);

/* Watch of "online": the file stays open, and is parsed only when its text changes. */
#define CPUS_WATCH_MAX 128
struct cpus_watch {
    int fd;   /* -1: not open */
    size_t n; /* length of text; 0: not read yet */
    char text[CPUS_WATCH_MAX];
};
void cpus_watch_init(struct cpus_watch *w);
/* True if *list (a list, or zero-initialised) was replaced; always true the first time. False: it is
 * unchanged. */
bool cpus_watch_look(struct cpus_watch *w, struct cpus *list);
void cpus_watch_done(struct cpus_watch *w);

/* A CPU list as a plain value; no bits: every CPU. */
#define CPU_MASK_MAX 8192 /* the most that a kernel is built for */
struct cpu_mask {
    uint64_t words[CPU_MASK_MAX / 64];
};
struct cpu_mask cpu_mask_of(const char *list); /* no bits if the text is not a list */
bool cpu_mask_any(const struct cpu_mask *m);
bool cpu_mask_has(const struct cpu_mask *m, uint32_t cpu); /* true for every CPU if no bit is set */
int cpu_mask_first(const struct cpu_mask *m);              /* -1: no bit */

#endif
