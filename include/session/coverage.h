// SPDX-License-Identifier: GPL-2.0-or-later
/* How much of the CPU time of the scope the samples cover: samples × period, beside what the kernel has
 * accounted. */
#ifndef FLAMETOP_SESSION_COVERAGE_H
#define FLAMETOP_SESSION_COVERAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/map.h"
#include "process/cputime.h"

struct session;

struct coverage_member { /* a process of the scope, or a thread */
    uint32_t id, ppid;
    uint64_t start_ns;
    uint64_t base_ns; /* CPU time that it had before the scope was sampled */
    uint64_t now_ns;  /* as of the last look */
    bool drops_children, seen;
};

/* The members of a scope and their CPU time. Zero-initialised at first. */
struct coverage_members {
    struct coverage_member *list;
    size_t n, cap;
    struct map index; /* id → place in list */
    int64_t ended_ns; /* what members that have ended add to the sum */
    uint64_t n_lost;  /* members that ended, and whose last moments nobody tells of */
};
/* Begins a look: nobody was seen yet. */
void coverage_begin(struct coverage_members *m);
/* One that is there now, with its CPU time. since_ns: one that has started later had no CPU time before. */
void coverage_see(struct coverage_members *m, const struct coverage_member *now, uint64_t since_ns);
/* Ends a look: those that were not seen have ended. What they had is part of what their parent has waited
 * for, if it is a member (waits) and waits for its children; else it is what the look before saw. Returns the
 * CPU time of all since the first look. */
int64_t coverage_end(struct coverage_members *m, bool waits);
void coverage_members_done(struct coverage_members *m);

struct coverage {
    /* under source_lock */
    uint32_t scope_number;                     /* whose coverage it is; 0: nobody's yet */
    uint64_t since_ns, since_boot_ns, next_ns; /* the first look, and the next one */
    uint64_t base_weight_ns;                   /* at the first look */
    int64_t base_cpu_ns;
    uint64_t base_ended; /* tasks that had ended at the first look */
    struct coverage_members members;
    /* under both locks */
    uint32_t event;              /* its samples count */
    uint64_t weight_ns;          /* what they come to since the start */
    uint64_t sampled_ns, cpu_ns; /* since the first look, as of the last one */
    uint64_t n_lost;
    const char *unknown; /* why it cannot be told; NULL: it can */
};

/* What it comes to. */
struct session_coverage {
    const char *unknown; /* as a sentence's end; NULL: it is known */
    uint64_t sampled_ns, cpu_ns;
    double percent;
    bool user_only, kernel_only;
    uint64_t period_ns; /* of a sample */
    uint64_t n_lost;    /* of so many processes the last moments are not part of cpu_ns */
};
void session_get_coverage(struct session *s, struct session_coverage *out);
/* As a sentence: "samples cover 98.6% of 12.4 CPU seconds". */
void session_coverage_text(const struct session_coverage *c, char *dst, unsigned cap);
/* More than 5 % are missing, and three standard deviations of that many samples. */
bool session_coverage_is_short(const struct session_coverage *c);

#endif
