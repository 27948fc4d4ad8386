// SPDX-License-Identifier: GPL-2.0-or-later
/* What the samples of a file hold besides what the history keeps of them: their records, read from the file once more. */
#ifndef FLAMETOP_SESSION_RECORDED_H
#define FLAMETOP_SESSION_RECORDED_H

#include "perf/record.h"
#include "session/samples.h"

struct session_recorded;
/* A sample and its record, in order of time. at: for session_recorded_path. False stops. */
typedef bool session_recorded_fn(void *ctx, const struct sample *sample, const struct record *r,
                                 struct session_recorded *at);
/* For samples that were taken numbered (session_samples). False: live, or the file is still being read. */
bool session_each_recorded(struct session *s, const struct session_samples *samples, session_recorded_fn *fn,
                           void *ctx, struct error *e);
/* What was mapped at an address of a record's process at that time, data as well; NULL: nothing that the file tells of.
 * Raw; valid until the next record. */
const char *session_recorded_path(struct session_recorded *at, const struct record *r, uint64_t address);

#endif
