// SPDX-License-Identifier: GPL-2.0-or-later
/* What is missing in what the screens show, how much of it, why, and what would mend it. */
#ifndef FLAMETOP_SESSION_DOCTOR_H
#define FLAMETOP_SESSION_DOCTOR_H

#include <stdint.h>

#include "base/error.h"
#include "session/coverage.h"
#include "session/session.h"

enum doctor_subject {
    DOCTOR_BOX,    /* of the whole profile: no PMU, hidden addresses, lost samples */
    DOCTOR_STACKS, /* stacks that were cut, by module in which and reason for which */
    DOCTOR_NAMES,  /* frames without a name, by module */
    DOCTOR_LINES,  /* frames whose debug information cannot be read: what is inlined into them is not shown */
};
enum doctor_action { /* what a key can do about it */
                     DOCTOR_NOTHING,
                     DOCTOR_AUTO,    /* take registers and stack instead of frame pointers */
                     DOCTOR_DEEPER,  /* take more of each stack: stack_bytes */
                     DOCTOR_JVM_MAP, /* ask the Java VM pid for its map */
};
struct doctor_row {
    enum doctor_subject subject;
    char module[64],
        process[64];  /* cleaned; process: the one most concerned, "java/1234"; "" for DOCTOR_BOX */
    uint64_t samples; /* concerned; 0 for DOCTOR_BOX */
    double percent;   /* of the samples that are shown */
    char cause[200], mend[260];
    enum doctor_action action;
    uint32_t pid;         /* DOCTOR_JVM_MAP */
    uint32_t stack_bytes; /* DOCTOR_DEEPER */
    bool grows;           /* DOCTOR_DEEPER: auto takes more by itself, where many stacks are cut */
    uint64_t key;         /* stable identity of the row */
};
struct doctor {
    struct doctor_row *rows; /* the box first, then by samples */
    uint32_t n_rows;
    size_t rows_cap;
    uint64_t samples;    /* that are shown, without idle */
    uint64_t whole, cut; /* of those with a user part: whose stacks reach their root, or not */
    uint64_t waiting;    /* neither: their unwind tables are still being read */
    uint64_t unnamed;    /* with a frame without a name */
    struct session_coverage coverage;
    struct view view; /* the answer that it was made from */
};

/* Fills d (zero at first, reused between calls) over what q selects. UI thread. */
void session_examine(struct session *s, const struct view_query *q, struct doctor *d);
void doctor_done(struct doctor *d);
/* The row with the largest share, if any has at least a hundredth of the samples: for the header; NULL. */
const struct doctor_row *doctor_worst(const struct doctor *d);

#endif
