// SPDX-License-Identifier: GPL-2.0-or-later
/* The doctor: what is missing in the profile, how much, why, and how to fix it. */
#ifndef FLAMETOP_SESSION_DOCTOR_H
#define FLAMETOP_SESSION_DOCTOR_H

#include <stdint.h>

#include "base/error.h"
#include "base/mem.h"
#include "session/coverage.h"
#include "session/session.h"

enum doctor_subject {
    DOCTOR_SYSTEM, /* the whole profile: no PMU, hidden addresses, lost samples */
    DOCTOR_STACKS, /* truncated stacks, by module and reason */
    DOCTOR_NAMES,  /* frames without a name, by module */
    DOCTOR_LINES,  /* frames with unreadable debug information: no inlined functions */
};
enum doctor_action { /* what the fix key does */
                     DOCTOR_NOTHING,
                     DOCTOR_AUTO,    /* collect registers and stack instead of frame pointers */
                     DOCTOR_DEEPER,  /* copy more of each stack: stack_bytes */
                     DOCTOR_JVM_MAP, /* request the symbol map from the Java VM pid */
};
struct doctor_row {
    enum doctor_subject subject;
    /* Cleaned. process: the most affected one, "java/1234"; "" for DOCTOR_SYSTEM. */
    char module[64], process[64];
    uint64_t samples; /* affected; 0 for DOCTOR_SYSTEM */
    double percent;   /* of the shown samples */
    char cause[200], fix[260];
    enum doctor_action action;
    uint32_t pid;         /* DOCTOR_JVM_MAP */
    uint32_t stack_bytes; /* DOCTOR_DEEPER */
    bool grows;           /* DOCTOR_DEEPER: auto grows by itself when many stacks are truncated */
    uint64_t key;         /* stable identity of the row */
};
struct doctor {
    VEC(struct doctor_row) rows; /* the whole profile first, then by samples */
    uint64_t samples;            /* shown samples, without idle */
    uint64_t whole, cut;         /* samples with a user part: stack reaches its root; truncated */
    uint64_t waiting;            /* neither: their unwind tables are still being read */
    uint64_t unnamed;            /* with at least one unnamed frame */
    struct session_coverage coverage;
    struct view view; /* the result that the rows were made from */
};

/* Fills d for the samples that q selects. d: zero-initialised, reused between calls. UI thread. */
void session_examine(struct session *s, const struct view_query *q, struct doctor *d);
void doctor_done(struct doctor *d);
/* For the header: the row with the largest share, if it is at least 1 % of the samples; else NULL. */
const struct doctor_row *doctor_worst(const struct doctor *d);

#endif
