// SPDX-License-Identifier: GPL-2.0-or-later
/* Coverage: the share of the scope's CPU time that the samples account for (samples × period, compared
 * with the kernel's accounting). */
#ifndef FLAMETOP_SESSION_COVERAGE_H
#define FLAMETOP_SESSION_COVERAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/map.h"
#include "base/mem.h"
#include "process/cputime.h"

struct session;

struct coverage_member { /* a process or a thread of the scope */
    uint32_t id, ppid;
    uint64_t start_ns;
    uint64_t base_ns; /* CPU time before the scope was sampled */
    uint64_t now_ns;  /* CPU time at the last read */
    bool drops_children, seen;
};

/* The members of a scope and their CPU time. Zero-initialised at first. */
struct coverage_members {
    VEC(struct coverage_member);
    struct map index; /* id → index in items */
    int64_t ended_ns; /* CPU time that ended members add to the sum */
    uint64_t n_lost;  /* ended members whose last CPU time is unknown */
};
/* Starts a read: marks all members as not seen. */
void coverage_begin(struct coverage_members *m);
/* Adds a running member with its CPU time. since_ns: a member that started later had no CPU time before. */
void coverage_see(struct coverage_members *m, const struct coverage_member *now, uint64_t since_ns);
/* Ends a read: members that were not seen have ended. With `waits`, a member's ended children are in its
 * waited-for CPU time, unless it ignores them (drops_children); otherwise the last known time of an ended
 * member counts. Returns the CPU time of all members since the first read. */
int64_t coverage_end(struct coverage_members *m, bool waits);
void coverage_members_done(struct coverage_members *m);

struct coverage {
    /* under source.lock */
    uint32_t scope_number;                     /* scope that is covered; 0: none yet */
    uint64_t since_ns, since_boot_ns, next_ns; /* the first read, and the next one */
    uint64_t base_weight_ns;                   /* at the first read */
    int64_t base_cpu_ns;
    uint64_t base_ended; /* tasks that had ended at the first read */
    struct coverage_members members;
    /* under both locks */
    uint32_t event;              /* the event whose samples count */
    uint64_t weight_ns;          /* weight of its samples since the start */
    uint64_t sampled_ns, cpu_ns; /* between the first read and the last one */
    uint64_t n_lost;
    const char *unknown; /* why coverage is unknown; NULL: it is known */
};

/* The result. */
struct session_coverage {
    const char *unknown; /* end of a sentence; NULL: it is known */
    uint64_t sampled_ns, cpu_ns;
    double percent;
    bool user_only, kernel_only;
    uint64_t period_ns; /* of a sample */
    uint64_t n_lost;    /* processes whose last CPU time is not in cpu_ns */
};
void session_get_coverage(struct session *s, struct session_coverage *out);
/* Formats coverage as a sentence: "samples cover 98.6% of 12.4 CPU seconds". */
void session_coverage_text(const struct session_coverage *c, char *dst, unsigned cap);
/* True if more than 5 % are missing, and more than three standard deviations of the sample count. */
bool session_coverage_is_short(const struct session_coverage *c);

#endif
